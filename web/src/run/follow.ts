import { api, ApiError, ask } from "@/api/client";
import { whenLoggedIn } from "@/api/login";
import { keys, refresh } from "@/api/queries";
import { readStream } from "@/api/stream";
import type { Fact, WireEvent } from "@/api/types";
import { resetTo, takeEarlier, takeEvents, takeSnapshot, useRuns, type Link } from "./store";

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 8000;

type FileListener = (event: Fact<"file.changed">) => void;
const fileListeners = new Set<FileListener>();

/** Hear of files that changed, by whomever. Returns the way to stop. */
export function onFileChanged(listener: FileListener): () => void {
  fileListeners.add(listener);
  return () => fileListeners.delete(listener);
}

type SyncListener = (projectId: string) => void;
const syncListeners = new Set<SyncListener>();

/** Hear when a snapshot was taken: changes of files before it were not told one by one. */
export function onSynced(listener: SyncListener): () => void {
  syncListeners.add(listener);
  return () => syncListeners.delete(listener);
}

/**
 * Keep the store in step with one session: a snapshot, then the project's stream from there on. There
 * is one stream per tab and only while the tab is seen (six of them would stall the browser); a drop is
 * resumed after the last fact, a gap is mended by a new snapshot. Returns the way to stop.
 */
export function follow(projectId: string, sessionId: string | null): () => void {
  const stop = new AbortController();
  resetTo(projectId, sessionId);
  void keepUp(projectId, sessionId, stop.signal);
  return () => stop.abort();
}

async function keepUp(projectId: string, sessionId: string | null, stopped: AbortSignal): Promise<void> {
  let wait = FIRST_WAIT_MS;
  let fresh = false;
  let gap = false;
  while (!stopped.aborted) {
    await visible(stopped);
    const line = new AbortController();
    const close = () => line.abort();
    const hide = () => document.hidden && close();
    stopped.addEventListener("abort", close);
    document.addEventListener("visibilitychange", hide);
    const batch = new Batch(() => {
      gap = true;
      close();
    });
    try {
      gap = false;
      if (!fresh) fresh = await snapshot(projectId, sessionId, line.signal);
      const url = `/api/projects/${encodeURIComponent(projectId)}/events?after=${useRuns.getState().thread.seq}`;
      const open = () => {
        wait = FIRST_WAIT_MS;
        setLink("live", stopped);
      };
      await readStream(url, line.signal, open, (event) => batch.add(event));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        setLink(error.code === "session_not_found" ? "lost" : "gone", stopped);
        return;
      }
      if (error instanceof ApiError && error.status === 400) fresh = false;
      // Asking again before somebody has logged in would be in vain.
      if (error instanceof ApiError && error.code === "login_required") {
        await until(stopped, whenLoggedIn);
        wait = FIRST_WAIT_MS;
        continue;
      }
    } finally {
      batch.flush();
      stopped.removeEventListener("abort", close);
      document.removeEventListener("visibilitychange", hide);
    }
    if (gap) fresh = false;
    if (stopped.aborted || document.hidden || gap) continue;
    setLink("reconnecting", stopped);
    await pause(wait, stopped);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

function setLink(link: Link, stopped: AbortSignal): void {
  if (!stopped.aborted) useRuns.setState({ link });
}

async function snapshot(projectId: string, sessionId: string | null, signal: AbortSignal): Promise<boolean> {
  if (sessionId === null) {
    takeSnapshot(useRuns.getState().thread.seq, [], [], false);
  } else {
    const query = { session_id: sessionId };
    const shot = await ask(
      api.GET("/api/projects/{pid}/snapshot", { params: { path: { pid: projectId }, query }, signal }),
    );
    takeSnapshot(shot.seq, shot.frames, shot.partials, shot.more);
  }
  refresh(keys.files(projectId), keys.versions(projectId), keys.sessions(projectId));
  for (const listener of syncListeners) listener(projectId);
  return true;
}

export async function loadEarlier(): Promise<void> {
  const { projectId, sessionId, earlier } = useRuns.getState();
  if (projectId === null || sessionId === null || earlier === null) return;
  const query = { session_id: sessionId, before: earlier };
  const shot = await ask(api.GET("/api/projects/{pid}/snapshot", { params: { path: { pid: projectId }, query } }));
  if (useRuns.getState().sessionId === sessionId) takeEarlier(shot.frames, shot.more);
}

/** Collects what arrives between two frames: one state change and one paint for all of it. */
class Batch {
  private events: WireEvent[] = [];
  private frame = 0;

  constructor(private readonly onGap: () => void) {}

  add(event: WireEvent): void {
    this.events.push(event);
    this.frame ||= requestAnimationFrame(() => this.flush());
  }

  flush(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.events.length === 0) return;
    const events = this.events;
    this.events = [];
    takeEvents(events);
    tell(events);
    if (useRuns.getState().thread.gap) this.onGap();
  }
}

/** What other parts of the screen must know. */
function tell(events: readonly WireEvent[]): void {
  const projectId = useRuns.getState().projectId ?? "";
  let [files, sessions] = [false, false];
  for (const event of events) {
    if (event.type === "file.changed") {
      files = true;
      for (const listener of fileListeners) listener(event);
    }
    sessions ||= ["session.changed", "run.started", "run.finished"].includes(event.type);
  }
  if (files) refresh(keys.files(projectId), keys.versions(projectId));
  if (sessions) refresh(keys.sessions(projectId), keys.projects);
}

function visible(stopped: AbortSignal): Promise<void> {
  return until(stopped, (done) => {
    if (!document.hidden) return done();
    const check = () => !document.hidden && done();
    document.addEventListener("visibilitychange", check);
    return () => document.removeEventListener("visibilitychange", check);
  });
}

/** Waits, but not longer than it takes the network to come back. */
function pause(ms: number, stopped: AbortSignal): Promise<void> {
  return until(stopped, (done) => {
    const timer = setTimeout(done, ms);
    window.addEventListener("online", done);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
    };
  });
}

function until(stopped: AbortSignal, start: (done: () => void) => (() => void) | void): Promise<void> {
  return new Promise((resolve) => {
    let clean: (() => void) | void;
    const done = () => {
      stopped.removeEventListener("abort", done);
      clean?.();
      resolve();
    };
    stopped.addEventListener("abort", done);
    clean = start(done);
    if (stopped.aborted) done();
  });
}
