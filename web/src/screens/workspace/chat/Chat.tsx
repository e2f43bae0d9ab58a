import { useCallback, useRef, useState } from "react";
import { useIsViewer } from "@/api/account";
import { ApiError } from "@/api/client";
import { useT } from "@/i18n/t";
import { createSession, startRun, steerRun } from "@/run/act";
import { activeRun, lastAsked } from "@/run/selectors";
import { useRuns } from "@/run/store";
import { toastError } from "@/ui/toast";
import { useWorkspace } from "../context";
import { Composer } from "./Composer";
import { LinkBanner } from "./LinkBanner";
import { SessionBar } from "./SessionBar";
import { Thread, type ThreadHandle } from "./Thread";

export interface Pending {
  text: string;
  requestId: string;
  runId: string | null;
}

export function Chat() {
  const t = useT();
  const { projectId, sessionId, openSession } = useWorkspace();
  const isViewer = useIsViewer(projectId);
  const thread = useRef<ThreadHandle>(null);
  const [pending, setPending] = useState<Pending | null>(null);
  /** The session that was begun here: what is being typed moves over to it. */
  const [begun, setBegun] = useState<string | null>(null);
  const run = useRuns((state) => activeRun(state.thread));
  const asked = useRuns((state) => lastAsked(state.thread));
  const runId = run?.id ?? null;

  const send = useCallback(
    async (text: string): Promise<boolean> => {
      thread.current?.follow();
      try {
        if (runId !== null) {
          await steerRun(runId, text);
          return true;
        }
        const requestId = crypto.randomUUID();
        setPending({ text, requestId, runId: null });
        const session = sessionId ?? (await createSession(projectId)).id;
        if (sessionId === null) {
          setBegun(session);
          openSession(session);
        }
        const started = await startRun(session, text, requestId);
        setPending((now) => (now?.requestId === requestId ? { ...now, runId: started.id } : now));
        return true;
      } catch (error) {
        setPending(null);
        // The run ended in between: the words are a new request, not an addition.
        toastError(error instanceof ApiError && error.code === "run_finished" ? new ApiError("steer_late", 409, "") : error);
        return false;
      }
    },
    [projectId, sessionId, runId, openSession],
  );

  return (
    <section aria-label={t("workspace.tab.chat")} className="flex h-full flex-col bg-paper">
      <SessionBar />
      <LinkBanner />
      <Thread ref={thread} pending={pending} onSend={send} />
      {isViewer ? (
        <p className="shrink-0 border-t border-line px-4 py-3 text-center text-[13px] text-ink-3">{t("viewer.text")}</p>
      ) : (
        <Composer begun={begun} runId={runId} lastAsked={asked} onSend={send} />
      )}
    </section>
  );
}
