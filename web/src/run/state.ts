import type { Fact, ToolResult, Usage, WireEvent } from "@/api/types";

/** What a thread shows: the fold of its facts, plus what is being streamed right now. */
export interface ThreadState {
  /** The last fact taken; a fact is taken once. */
  readonly seq: number;
  readonly order: readonly string[];
  readonly runs: Readonly<Record<string, RunView>>;
  /** A delta did not fit: something was missed and a snapshot is needed. */
  readonly gap: boolean;
}

export interface RunView {
  readonly id: string;
  readonly sessionId: string;
  readonly startedAt: number;
  readonly model: string;
  readonly rows: readonly Row[];
  readonly end: RunEnd | null;
}

export type RunEnd = Pick<
  Fact<"run.finished">,
  "status" | "reason" | "usage" | "steps" | "tool_calls" | "failure" | "ts"
>;

export type Row = UserRow | ReplyRow | ToolRow | NoticeRow;

export interface UserRow {
  readonly kind: "user";
  readonly id: string;
  readonly text: string;
  readonly source: Fact<"user.message">["source"];
}

export interface ReplyRow {
  readonly kind: "reply";
  readonly id: string;
  readonly attempt: number;
  readonly blocks: readonly Block[];
  readonly live: boolean;
  /** Why the last try for this reply was given up, until it is there. */
  readonly retry: string | null;
  readonly usage: Usage | null;
}

export interface Block {
  readonly index: number;
  readonly kind: Fact<"message.delta">["kind"];
  readonly text: string;
  readonly name: string | null;
}

export interface ToolRow {
  readonly kind: "tool";
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly phase: "waiting" | "running" | "done";
  readonly progress: { readonly text: string; readonly fraction: number | null } | null;
  readonly result: ToolResult | null;
}

export interface NoticeRow {
  readonly kind: "notice";
  readonly id: string;
  readonly level: Fact<"notice">["level"];
  readonly code: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export const EMPTY: ThreadState = { seq: 0, order: [], runs: {}, gap: false };

export function isFact(event: WireEvent): boolean {
  return event.type !== "message.delta" && event.type !== "tool.progress";
}
