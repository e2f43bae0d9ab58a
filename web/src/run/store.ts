import { create } from "zustand";
import type { WireEvent } from "@/api/types";
import { prepend, reduce } from "./reduce";
import { EMPTY, type ThreadState } from "./state";

/** "gone": there is no such project; "lost": no such session. */
export type Link = "idle" | "connecting" | "live" | "reconnecting" | "gone" | "lost";

interface Store {
  projectId: string | null;
  sessionId: string | null;
  thread: ThreadState;
  /** Where "load earlier" goes on, null if everything is here. */
  earlier: number | null;
  loaded: boolean;
  link: Link;
}

/** The one store of live state: the open thread and the line to the server. */
export const useRuns = create<Store>(() => ({
  projectId: null,
  sessionId: null,
  thread: EMPTY,
  earlier: null,
  loaded: false,
  link: "idle",
}));

/** In the same project the position in the log stays: a session that is yet to begin goes on from it. */
export function resetTo(projectId: string, sessionId: string | null): void {
  useRuns.setState((old) => {
    const seq = old.projectId === projectId ? old.thread.seq : 0;
    return { projectId, sessionId, thread: { ...EMPTY, seq }, earlier: null, loaded: false, link: "connecting" };
  });
}

export function takeSnapshot(seq: number, frames: readonly WireEvent[], partials: readonly WireEvent[], more: boolean): void {
  const folded = [...frames, ...partials].reduce(reduce, EMPTY);
  const first = frames[0]?.seq ?? null;
  useRuns.setState({ thread: { ...folded, seq }, earlier: more ? first : null, loaded: true });
}

/** One state change for everything that came since the last frame was painted. */
export function takeEvents(events: readonly WireEvent[]): void {
  useRuns.setState((store) => {
    const mine = (event: WireEvent) => !event.session_id || event.session_id === store.sessionId;
    const thread = events.reduce((state, event) => (mine(event) ? reduce(state, event) : pass(state, event)), store.thread);
    return thread === store.thread ? store : { thread };
  });
}

/** A fact of another session moves the cursor only. */
function pass(state: ThreadState, event: WireEvent): ThreadState {
  return event.seq > state.seq ? { ...state, seq: event.seq } : state;
}

export function takeEarlier(frames: readonly WireEvent[], more: boolean): void {
  useRuns.setState((store) => ({
    thread: prepend(store.thread, frames),
    earlier: more ? (frames[0]?.seq ?? null) : null,
  }));
}
