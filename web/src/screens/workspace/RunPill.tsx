import { useEffect, useState } from "react";
import { useT } from "@/i18n/t";
import { formatSeconds } from "@/lib/format";
import { activeRun } from "@/run/selectors";
import { useRuns } from "@/run/store";
import { StopButton } from "./chat/StopButton";

export function RunPill() {
  const t = useT();
  const run = useRuns((state) => activeRun(state.thread));
  const now = useSeconds(run !== null);
  if (!run) return null;
  return (
    <div className="flex items-center gap-2 rounded-full border border-line bg-raised pr-1 pl-3 text-[13px]">
      <span aria-hidden className="animate-dot size-2 rounded-full bg-accent" />
      <span className="max-md:sr-only">{t("run.running")}</span>
      <span className="tabular text-ink-3">{formatSeconds(Math.floor(Math.max(0, now - run.startedAt)))}</span>
      <StopButton runId={run.id} />
    </div>
  );
}

function useSeconds(isTicking: boolean): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    if (!isTicking) return undefined;
    setNow(Date.now() / 1000);
    const timer = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}
