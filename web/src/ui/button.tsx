import { LoaderCircle } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { cx } from "./cx";
import { Tooltip } from "./tooltip";

const LOOKS = {
  primary: "bg-accent text-accent-ink hover:brightness-110 active:brightness-95 disabled:bg-sunken disabled:text-ink-3",
  plain: "border border-line-2 bg-raised text-ink hover:border-ink-3 disabled:text-ink-3",
  ghost: "text-ink-2 hover:bg-sunken hover:text-ink disabled:text-ink-3",
  danger: "border border-line-2 bg-raised text-bad hover:border-bad disabled:text-ink-3",
} as const;

interface Props extends ComponentProps<"button"> {
  look?: keyof typeof LOOKS;
  size?: "s" | "m";
  busy?: boolean;
}

export function Button({ look = "plain", size = "m", busy = false, className, children, disabled, ...rest }: Props) {
  return (
    <button
      type="button"
      aria-busy={busy || undefined}
      disabled={disabled || busy}
      className={cx(
        "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-lg font-medium whitespace-nowrap transition-colors select-none",
        size === "m" ? "h-9 px-3.5 text-sm max-md:h-11" : "h-7 px-2.5 text-[13px] max-md:h-11",
        LOOKS[look],
        className,
      )}
      {...rest}
    >
      {busy && <LoaderCircle aria-hidden className="size-4 animate-spin" />}
      {children}
    </button>
  );
}

interface IconProps extends ComponentProps<"button"> {
  label: string;
  /** The keys that do the same, shown in the tooltip. */
  keys?: string;
  children: ReactNode;
}

export function IconButton({ label, keys, className, children, ...rest }: IconProps) {
  return (
    <Tooltip text={keys ? `${label}  ${keys}` : label}>
      <button
        type="button"
        aria-label={label}
        className={cx(
          "inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-ink-2 transition-colors hover:bg-sunken hover:text-ink disabled:text-ink-3 max-md:size-11 [&_svg]:size-[18px]",
          className,
        )}
        {...rest}
      >
        {children}
      </button>
    </Tooltip>
  );
}
