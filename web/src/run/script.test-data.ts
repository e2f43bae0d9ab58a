import type { WireEvent } from "@/api/types";

const usage = { input: 10, output: 5, cache_read: 0, reasoning: 0, estimated: false };
const at = { run_id: "r1", session_id: "s1", ts: 100 };

type Given = Omit<WireEvent, "seq" | "run_id" | "session_id" | "ts"> & { type: WireEvent["type"] };

/** Number the facts as a journal would; deltas and progress carry no number. */
export function number(events: readonly Given[], run = "r1", from = 0): WireEvent[] {
  let seq = from;
  return events.map((event) => {
    const isFact = event.type !== "message.delta" && event.type !== "tool.progress";
    if (isFact) seq += 1;
    return { ...at, run_id: run, ts: at.ts + seq, ...event, seq: isFact ? seq : 0 } as WireEvent;
  });
}

/** Deltas of one block, cut into pieces of `size` code units as the server would. */
export function deltas(
  message_id: string,
  kind: "text" | "thinking" | "call",
  index: number,
  text: string,
  size: number,
  attempt = 1,
): Given[] {
  const pieces: Given[] = [];
  for (let off = 0; off < text.length; off += size) {
    const piece = text.slice(off, off + size);
    pieces.push({ type: "message.delta", step: 1, message_id, attempt, kind, index, off, text: piece, name: null } as Given);
  }
  return pieces;
}

export const ANSWER = "夜色渐深，𠮷野家的灯还亮着 😀。\n\n他推开了门。";

/** A whole run: thought, call, progress, a reset, an added word, an answer. */
export const RUN: Given[] = [
  { type: "run.started", agent: "solo", model: "m", dialect: "native" } as Given,
  { type: "user.message", message_id: "u1", text: "写", source: "user" } as Given,
  { type: "step.started", step: 1, message_id: "m1", model: "m" } as Given,
  ...deltas("m1", "thinking", 0, "先想一想😀", 3),
  ...deltas("m1", "call", 1, '{"path":"大纲"}', 4),
  {
    type: "message.finished",
    step: 1,
    message_id: "m1",
    message: {
      role: "assistant",
      stop: "tool_use",
      usage,
      model: "m",
      attempts: [],
      error: null,
      content: [
        { type: "thinking", text: "先想一想😀", redacted: false },
        { type: "tool_call", id: "c1", name: "list_files", arguments: { path: "大纲" }, repaired: [] },
      ],
    },
  } as unknown as Given,
  { type: "tool.started", call_id: "c1", name: "list_files", args: { path: "大纲" }, access: "read", replay: "read" } as Given,
  { type: "tool.progress", call_id: "c1", text: "1/2", fraction: 0.5 } as Given,
  {
    type: "tool.finished",
    call_id: "c1",
    name: "list_files",
    args: { path: "大纲" },
    result: { call_id: "c1", name: "list_files", content: [{ type: "text", text: "一.md" }], is_error: false, role: "tool_result" },
  } as unknown as Given,
  { type: "user.message", message_id: "u2", text: "更冷峻", source: "steer" } as Given,
  { type: "notice", level: "info", code: "limit_reached", params: {} } as Given,
  { type: "step.started", step: 2, message_id: "m2", model: "m" } as Given,
  ...deltas("m2", "text", 0, "半句话", 2),
  { type: "step.reset", step: 2, message_id: "m2", attempt: 2, reason: "network", usage } as Given,
  ...deltas("m2", "text", 0, ANSWER, 3, 2),
  {
    type: "message.finished",
    step: 2,
    message_id: "m2",
    message: {
      role: "assistant",
      stop: "stop",
      usage,
      model: "m",
      attempts: [],
      error: null,
      content: [{ type: "text", text: ANSWER }],
    },
  } as unknown as Given,
  { type: "run.finished", status: "done", reason: "completed", answer: ANSWER, usage, steps: 2, tool_calls: 1, failure: null } as Given,
];
