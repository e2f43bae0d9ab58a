import { api, ask } from "@/api/client";
import { keys, refresh } from "@/api/queries";
import type { Run, Session } from "@/api/types";

export function createSession(projectId: string): Promise<Session> {
  return ask(api.POST("/api/projects/{pid}/sessions", { params: { path: { pid: projectId } }, body: {} })).then(
    (session) => {
      refresh(keys.sessions(projectId));
      return session;
    },
  );
}

/** `requestId` makes it safe to send the same words again after a lost answer. */
export function startRun(sessionId: string, text: string, requestId: string): Promise<Run> {
  return ask(
    api.POST("/api/sessions/{sid}/runs", {
      params: { path: { sid: sessionId } },
      body: { text, request_id: requestId },
    }),
  );
}

export function stopRun(runId: string): Promise<Run> {
  return ask(api.POST("/api/runs/{rid}/stop", { params: { path: { rid: runId } } }));
}

export function steerRun(runId: string, text: string): Promise<Run> {
  return ask(api.POST("/api/runs/{rid}/steer", { params: { path: { rid: runId } }, body: { text } }));
}
