import { RotateCcw, StepForward } from "lucide-react";
import { isKey, useT } from "@/i18n/t";
import { formatSeconds, formatTokens } from "@/lib/format";
import { answerText } from "@/run/selectors";
import { outcomeOf } from "@/run/reasons";
import type { RunEnd, RunView } from "@/run/state";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy-button";
import { cx } from "@/ui/cx";

const LOOKS: Record<RunEnd["status"], string> = {
  done: "",
  partial: "border-warn/40 bg-warn-soft text-warn",
  expired: "border-warn/40 bg-warn-soft text-warn",
  stopped: "border-line-2 bg-sunken text-ink-2",
  failed: "border-bad/40 bg-bad-soft text-bad",
};

interface Props {
  run: RunView;
  end: RunEnd;
  isLast: boolean;
  onSend: (text: string) => Promise<boolean>;
}

export function EndMarker({ run, end, isLast, onSend }: Props) {
  const t = useT();
  const answer = answerText(run);
  return (
    <footer data-testid="run-end" data-status={end.status} className="flex flex-col gap-2">
      {end.status !== "done" && (
        <div className={cx("rounded-lg border px-3.5 py-2.5 text-sm", LOOKS[end.status])}>
          <p>{t(`reason.${end.reason}`)}</p>
          <Cause end={end} />
          {isLast && <WayOn run={run} end={end} onSend={onSend} />}
        </div>
      )}
      <div className="tabular flex min-h-7 flex-wrap items-center gap-x-2.5 text-xs text-ink-3">
        {end.status === "done" && <span>{t("run.done")}</span>}
        <span>{t("run.steps", { n: end.steps })}</span>
        {end.tool_calls > 0 && <span>{t("run.calls", { n: end.tool_calls })}</span>}
        <Tokens end={end} />
        <span>{formatSeconds(Math.max(0, end.ts - run.startedAt))}</span>
        <span aria-hidden className="h-px flex-1 bg-line" />
        {answer && <CopyButton label={t("chat.copy")} text={() => answer} className="-my-1 !size-7 max-md:!size-11 [&_svg]:!size-3.5" />}
      </div>
    </footer>
  );
}

/** Unknown is not zero: without a count nothing is said. */
function Tokens({ end }: { end: RunEnd }) {
  const t = useT();
  const { input, output, estimated } = end.usage;
  if (input + output === 0) return null;
  const params = { input: formatTokens(input), output: formatTokens(output) };
  return <span title={t("run.tokens.title")}>{t(estimated ? "run.tokens.estimated" : "run.tokens", params)}</span>;
}

function Cause({ end }: { end: RunEnd }) {
  const t = useT();
  const key = `failure.${end.failure?.kind ?? ""}`;
  return isKey(key) ? <p className="mt-0.5 text-[13px]">{t(key)}</p> : null;
}

function WayOn({ run, end, onSend }: Omit<Props, "isLast">) {
  const t = useT();
  const { retryable, resumable } = outcomeOf(end.reason);
  const asked = run.rows.find((row) => row.kind === "user" && row.source === "user");
  if (!retryable && !resumable) return null;
  return (
    <div className="mt-2.5 flex gap-2">
      {retryable && asked?.kind === "user" && (
        <Button size="s" onClick={() => void onSend(asked.text)}>
          <RotateCcw aria-hidden className="size-3.5" />
          {t("run.retry")}
        </Button>
      )}
      {resumable && (
        <Button size="s" onClick={() => void onSend(t("run.go_on.words"))}>
          <StepForward aria-hidden className="size-3.5" />
          {t("run.go_on")}
        </Button>
      )}
    </div>
  );
}
