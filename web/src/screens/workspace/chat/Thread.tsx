import { useQuery } from "@tanstack/react-query";
import { ArrowDown } from "lucide-react";
import { memo, useEffect, useImperativeHandle, useState, type Ref } from "react";
import { modelQuery } from "@/api/queries";
import { isKey, useT } from "@/i18n/t";
import { formatElapsed } from "@/lib/format";
import { useNow } from "@/lib/now";
import { loadEarlier } from "@/run/follow";
import { answerText } from "@/run/selectors";
import type { RunView } from "@/run/state";
import { useRuns } from "@/run/store";
import { Button } from "@/ui/button";
import { Skeleton } from "@/ui/states";
import { toastError } from "@/ui/toast";
import type { Pending } from "./Chat";
import { Hello } from "./Hello";
import { EndMarker } from "./rows/EndMarker";
import { RowView } from "./rows/RowView";
import { UserRow } from "./rows/UserRow";
import { useFollow } from "./use-follow";

export interface ThreadHandle {
  follow: () => void;
}

interface Props {
  ref: Ref<ThreadHandle>;
  pending: Pending | null;
  onSend: (text: string) => Promise<boolean>;
}

export function Thread({ ref, pending, onSend }: Props) {
  const t = useT();
  const { order, runs } = useRuns((state) => state.thread);
  const isLoaded = useRuns((state) => state.loaded);
  const sessionId = useRuns((state) => state.sessionId);
  const { scroller, content, isBehind, follow } = useFollow();
  useImperativeHandle(ref, () => ({ follow }), [follow]);
  useEffect(follow, [sessionId, follow]);
  const isWaiting = pending !== null && !(pending.runId && runs[pending.runId]);
  const isEmpty = order.length === 0 && !isWaiting;
  return (
    <div className="relative min-h-0 flex-1">
      <div ref={scroller} tabIndex={0} role="log" aria-live="off" aria-label={t("chat.log")} className="h-full overflow-y-auto -outline-offset-2">
        <div ref={content} className="mx-auto flex max-w-3xl flex-col gap-7 px-5 py-5 max-md:px-4">
          <Earlier />
          {!isLoaded && !isWaiting && <Loading />}
          {isLoaded && isEmpty && <Hello onSend={onSend} />}
          {order.map((id, at) => (
            <RunRows key={id} run={runs[id]!} isLast={at === order.length - 1} onSend={onSend} />
          ))}
          {isWaiting && <UserRow text={pending.text} source="user" isPending />}
        </div>
      </div>
      {isBehind && (
        <Button
          onClick={follow}
          size="s"
          className="animate-rise absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-float"
        >
          <ArrowDown aria-hidden className="size-3.5" />
          {t("chat.latest")}
        </Button>
      )}
      <Announcer run={runs[order.at(-1) ?? ""] ?? null} />
    </div>
  );
}

interface RunProps {
  run: RunView;
  isLast: boolean;
  onSend: Props["onSend"];
}

/** One request and everything done about it. */
const RunRows = memo(function RunRows({ run, isLast, onSend }: RunProps) {
  const t = useT();
  return (
    <article aria-label={t("chat.run")} className="flex flex-col gap-3 [contain-intrinsic-size:auto_30rem] not-last:[content-visibility:auto]">
      {run.rows.map((row) => (
        <RowView key={row.id} row={row} runId={run.id} isRunning={run.end === null} />
      ))}
      {run.end ? <EndMarker run={run} end={run.end} isLast={isLast} onSend={onSend} /> : <Working run={run} />}
    </article>
  );
});

function Working({ run }: { run: RunView }) {
  const last = run.rows.at(-1);
  const isVisible = (last?.kind === "reply" && last.blocks.length > 0) || (last?.kind === "tool" && last.phase !== "done");
  const isFirst = !run.rows.some((row) => row.kind === "tool");
  return isVisible ? null : <Waiting key={last?.id} isFirst={isFirst} retry={last?.kind === "reply" ? last.retry : null} />;
}

const SHOWS_TIME_AFTER = 3;
const EXPLAINS_AFTER = 5;

/** Says that something is going on while nothing can be seen of it yet. */
function Waiting({ isFirst, retry }: { isFirst: boolean; retry: string | null }) {
  const t = useT();
  const now = useNow(1000);
  const [since] = useState(now);
  const { data: model } = useQuery(modelQuery);
  const seconds = now - since;
  const failure = `failure.${retry ?? ""}`;
  const isLoading = isFirst && seconds >= EXPLAINS_AFTER && model?.provider === "embedded";
  return (
    <div className="flex flex-col gap-1 text-sm text-ink-3">
      <p className="flex items-center gap-2">
        <span aria-hidden className="animate-dot size-2 rounded-full bg-accent" />
        {retry === null ? t("chat.working") : t("chat.retrying")}
        {seconds >= SHOWS_TIME_AFTER && <span className="tabular">{formatElapsed(seconds)}</span>}
      </p>
      {isKey(failure) && <p>{t(failure)}</p>}
      {isLoading && <p>{t("chat.working.local")}</p>}
    </div>
  );
}

function Earlier() {
  const t = useT();
  const earlier = useRuns((state) => state.earlier);
  const [busy, setBusy] = useState(false);
  if (earlier === null) return null;
  const load = () => {
    setBusy(true);
    loadEarlier()
      .catch(toastError)
      .finally(() => setBusy(false));
  };
  return (
    <Button look="ghost" size="s" busy={busy} onClick={load} className="self-center">
      {t("chat.earlier")}
    </Button>
  );
}

/** Screen readers hear the finished answer, once, and not its pieces. */
function Announcer({ run }: { run: RunView | null }) {
  const t = useT();
  const text = run?.end ? `${t(`reason.${run.end.reason}`)} ${answerText(run)}` : run ? t("run.running") : "";
  return (
    <div aria-live="polite" className="sr-only">
      {text}
    </div>
  );
}

function Loading() {
  const t = useT();
  return (
    <div role="status" className="flex flex-col gap-3">
      <span className="sr-only">{t("common.loading")}</span>
      <Skeleton className="h-10 w-2/3 self-end" />
      <Skeleton className="h-4" />
      <Skeleton className="h-4" />
      <Skeleton className="h-4 w-1/2" />
    </div>
  );
}
