import { useT } from "@/i18n/t";

/** `fraction` is 0..1, null while unknown. */
export function Progress({ label, fraction }: { label: string; fraction: number | null }) {
  const t = useT();
  const percent = fraction === null ? null : Math.floor(fraction * 100);
  return (
    <div className="flex min-w-0 flex-1 items-center gap-2">
      <div
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        {...(percent === null ? {} : { "aria-valuenow": percent })}
        className="h-1.5 min-w-0 flex-1 overflow-hidden rounded-full bg-sunken"
      >
        <div
          className={percent === null ? "skeleton h-full" : "h-full rounded-full bg-accent transition-[width]"}
          style={percent === null ? {} : { width: `${percent}%` }}
        />
      </div>
      {percent !== null && <span className="tabular text-xs text-ink-3">{t("common.percent", { n: percent })}</span>}
    </div>
  );
}
