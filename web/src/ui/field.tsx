import { useId, type ComponentProps } from "react";
import { cx } from "./cx";

interface Props extends ComponentProps<"input"> {
  label: string;
  hint?: string | undefined;
  problem?: string | null;
}

export function Field({ label, hint, problem = null, className, ...rest }: Props) {
  const id = useId();
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      <input
        id={id}
        aria-invalid={problem !== null || undefined}
        aria-describedby={problem || hint ? `${id}-note` : undefined}
        className={cx(
          "h-10 w-full rounded-lg border bg-surface px-3 text-[15px] transition-colors focus:border-accent disabled:text-ink-3 max-md:h-11",
          problem ? "border-bad" : "border-line-2",
        )}
        {...rest}
      />
      {(problem || hint) && (
        <p id={`${id}-note`} className={cx("mt-1 text-[13px]", problem ? "text-bad" : "text-ink-3")}>
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}

interface SelectProps<V extends string> {
  label: string;
  /** In a row that says already what is chosen: the label is for those who do not see it. */
  bare?: boolean;
  className?: string;
  hint?: string | undefined;
  value: V;
  options: readonly { value: V; label: string }[];
  disabled?: boolean;
  onChange: (value: V) => void;
}

/** One of many, by the system's own list. */
export function Select<V extends string>({ label, bare = false, className, hint, value, options, disabled, onChange }: SelectProps<V>) {
  const id = useId();
  return (
    <div className={className}>
      <label htmlFor={id} className={bare ? "sr-only" : "mb-1 block text-sm font-medium"}>
        {label}
      </label>
      <select
        id={id}
        value={value}
        disabled={disabled}
        aria-describedby={hint ? `${id}-note` : undefined}
        onChange={(event) => onChange(event.target.value as V)}
        className="h-10 w-full rounded-lg border border-line-2 bg-surface px-2.5 text-[15px] transition-colors focus:border-accent disabled:text-ink-3 max-md:h-11"
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {hint && (
        <p id={`${id}-note`} className="mt-1 text-[13px] text-ink-3">
          {hint}
        </p>
      )}
    </div>
  );
}
