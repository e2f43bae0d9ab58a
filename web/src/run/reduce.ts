import type { Fact, WireEvent } from "@/api/types";
import { isFact, type Block, type ReplyRow, type Row, type RunView, type ThreadState, type ToolRow } from "./state";

/**
 * The one reducer over the wire's events: pure, and safe to feed the same fact twice. Facts carry the
 * state, deltas only fill the time until the fact that says everything again. Events of unknown types
 * and of runs whose start was not seen change nothing.
 */
export function reduce(state: ThreadState, event: WireEvent): ThreadState {
  if (!isFact(event)) return onLive(state, event);
  if (event.seq <= state.seq) return state;
  const next = { ...state, seq: event.seq };
  if (event.type === "run.started") return start(next, event);
  const run = state.runs[event.run_id];
  if (!run) return next;
  return put(next, onFact(run, event));
}

/** Facts that came before those of `state`, for "load earlier". */
export function prepend(state: ThreadState, frames: readonly WireEvent[]): ThreadState {
  const older = frames.reduce(reduce, { seq: 0, order: [], runs: {}, gap: false } satisfies ThreadState);
  const order = [...older.order.filter((id) => !state.runs[id]), ...state.order];
  return { ...state, order, runs: { ...older.runs, ...state.runs } };
}

function start(state: ThreadState, event: Fact<"run.started">): ThreadState {
  const known = state.runs[event.run_id];
  if (known) return state;
  const run: RunView = {
    id: event.run_id,
    sessionId: event.session_id,
    startedAt: event.ts,
    model: event.model,
    rows: [],
    end: null,
  };
  return put({ ...state, order: [...state.order, run.id] }, run);
}

function put(state: ThreadState, run: RunView): ThreadState {
  return state.runs[run.id] === run ? state : { ...state, runs: { ...state.runs, [run.id]: run } };
}

function onFact(run: RunView, event: WireEvent): RunView {
  switch (event.type) {
    case "user.message":
      return add(run, { kind: "user", id: event.message_id, text: event.text, source: event.source });
    case "step.started":
      return add(run, emptyReply(event.message_id, 1));
    case "step.reset":
      return change(run, event.message_id, (row) =>
        row.kind === "reply" ? { ...emptyReply(row.id, Math.max(row.attempt, event.attempt)), retry: event.reason } : row,
      );
    case "message.finished":
      return onMessage(run, event);
    case "tool.started":
      return onTool(run, event.call_id, event.name, event.args, { phase: "running" });
    case "tool.finished":
      return onTool(run, event.call_id, event.name, event.args, {
        phase: "done",
        result: event.result,
        progress: null,
      });
    case "notice":
      return add(run, {
        kind: "notice",
        id: `notice-${event.seq}`,
        level: event.level,
        code: event.code,
        params: event.params ?? {},
      });
    case "run.finished":
      return onEnd(run, event);
    default:
      return run;
  }
}

function emptyReply(id: string, attempt: number): ReplyRow {
  return { kind: "reply", id, attempt, blocks: [], live: true, retry: null, usage: null };
}

function add(run: RunView, row: Row): RunView {
  return run.rows.some((each) => each.id === row.id) ? run : { ...run, rows: [...run.rows, row] };
}

function change(run: RunView, id: string, map: (row: Row) => Row): RunView {
  const at = run.rows.findLastIndex((row) => row.id === id);
  const row = run.rows[at];
  if (!row) return run;
  const mapped = map(row);
  return mapped === row ? run : { ...run, rows: run.rows.with(at, mapped) };
}

function onMessage(run: RunView, event: Fact<"message.finished">): RunView {
  const blocks: Block[] = [];
  let next = add(run, emptyReply(event.message_id, 1));
  for (const [index, block] of event.message.content.entries()) {
    if (block.type === "text" || block.type === "thinking") {
      blocks.push({ index, kind: block.type, text: block.text, name: null });
    } else {
      next = onTool(next, block.id, block.name, block.arguments, {});
    }
  }
  return change(next, event.message_id, (row) =>
    row.kind === "reply" ? { ...row, blocks, live: false, retry: null, usage: event.message.usage } : row,
  );
}

function onTool(
  run: RunView,
  id: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
  patch: Partial<ToolRow>,
): RunView {
  const fresh: ToolRow = { kind: "tool", id, name, args, phase: "waiting", progress: null, result: null };
  return change(add(run, fresh), id, (row) => (row.kind === "tool" && row.phase !== "done" ? { ...row, ...patch } : row));
}

/** After the end nothing is live: a reply that never finished keeps what was seen of it. */
function onEnd(run: RunView, event: Fact<"run.finished">): RunView {
  const { status, reason, usage, steps, tool_calls, failure, ts } = event;
  const rows = run.rows.map((row) => (row.kind === "reply" && row.live ? { ...row, live: false } : row));
  return { ...run, rows, end: { status, reason, usage, steps, tool_calls, failure, ts } };
}

function onLive(state: ThreadState, event: WireEvent): ThreadState {
  const run = state.runs[event.run_id];
  if (!run || run.end) return state;
  if (event.type === "tool.progress") {
    const progress = { text: event.text, fraction: event.fraction ?? null };
    return put(
      state,
      change(run, event.call_id, (row) => (row.kind === "tool" && row.phase !== "done" ? { ...row, progress } : row)),
    );
  }
  return event.type === "message.delta" ? onDelta(state, run, event) : state;
}

function onDelta(state: ThreadState, run: RunView, delta: Fact<"message.delta">): ThreadState {
  const known = run.rows.findLast((row) => row.id === delta.message_id);
  if (!known || known.kind !== "reply" || !known.live || delta.attempt < known.attempt) return state;
  const row = delta.attempt > known.attempt ? emptyReply(known.id, delta.attempt) : known;
  const at = row.blocks.findIndex((block) => block.index === delta.index);
  const text = row.blocks[at]?.text ?? "";
  if (text.length < delta.off) return state.gap ? state : { ...state, gap: true };
  const block: Block = {
    index: delta.index,
    kind: delta.kind,
    text: text.slice(0, delta.off) + delta.text,
    name: delta.name ?? row.blocks[at]?.name ?? null,
  };
  const blocks =
    at < 0 ? [...row.blocks, block].toSorted((a, b) => a.index - b.index) : row.blocks.with(at, block);
  return put(state, change(run, row.id, () => ({ ...row, blocks })));
}
