import { RadioGroup } from "radix-ui";
import { cx } from "./cx";

interface Props<V extends string> {
  label: string;
  value: V;
  options: readonly { value: V; label: string }[];
  disabled?: boolean;
  onChange: (value: V) => void;
  className?: string;
}

/** A choice of a few, all in view. */
export function Segmented<V extends string>({ label, value, options, disabled, onChange, className }: Props<V>) {
  return (
    <RadioGroup.Root
      aria-label={label}
      value={value}
      disabled={disabled}
      orientation="horizontal"
      onValueChange={(next) => onChange(next as V)}
      className={cx("inline-flex gap-0.5 rounded-lg bg-sunken p-0.5", className)}
    >
      {options.map((option) => (
        <RadioGroup.Item
          key={option.value}
          value={option.value}
          className="h-8 rounded-md px-3 text-sm text-ink-2 transition-colors hover:text-ink data-[state=checked]:bg-raised data-[state=checked]:text-ink data-[state=checked]:shadow-sm max-md:h-11"
        >
          {option.label}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}
