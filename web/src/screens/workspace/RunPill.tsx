import { useT } from "@/i18n/t";
import { formatElapsed } from "@/lib/format";
import { useNow } from "@/lib/now";
import { activeRun } from "@/run/selectors";
import { useRuns } from "@/run/store";
import { StopButton } from "./chat/StopButton";

export function RunPill() {
  const t = useT();
  const run = useRuns((state) => activeRun(state.thread));
  const now = useNow(1000, run !== null);
  if (!run) return null;
  return (
    <div className="flex items-center gap-2 rounded-full border border-line bg-raised pr-1 pl-3 text-[13px] max-md:border-0 max-md:bg-transparent max-md:pr-0">
      <span aria-hidden className="animate-dot size-2 rounded-full bg-accent" />
      <span className="max-md:sr-only">{t("run.running")}</span>
      <span className="tabular text-ink-3">{formatElapsed(now - run.startedAt)}</span>
      <StopButton runId={run.id} />
    </div>
  );
}
