import { describe, expect, it } from "vitest";
import type { WireEvent } from "@/api/types";
import { prepend, reduce } from "./reduce";
import { ANSWER, deltas, number, RUN } from "./script.test-data";
import { activeRun, answerText, lastAsked } from "./selectors";
import { EMPTY, isFact, type ReplyRow, type ThreadState, type ToolRow } from "./state";

const EVENTS = number(RUN);
const fold = (events: readonly WireEvent[], from: ThreadState = EMPTY) => events.reduce(reduce, from);
const WHOLE = fold(EVENTS);

function rowsOf(state: ThreadState) {
  return state.runs.r1!.rows;
}

describe("a whole run", () => {
  it("becomes the rows that a person reads", () => {
    expect(rowsOf(WHOLE).map((row) => row.kind)).toEqual(["user", "reply", "tool", "user", "notice", "reply"]);
    expect(answerText(WHOLE.runs.r1!)).toBe(ANSWER);
    expect(lastAsked(WHOLE)).toBe("写");
    expect(activeRun(WHOLE)).toBeNull();
    expect(WHOLE.runs.r1!.end).toMatchObject({ status: "done", steps: 2 });
    expect(WHOLE.gap).toBe(false);
  });

  it("says the same without any delta", () => {
    expect(fold(EVENTS.filter(isFact))).toEqual(WHOLE);
  });

  it("is the same when it is cut anywhere and resumed after any earlier fact", () => {
    for (let cut = 0; cut <= EVENTS.length; cut += 1) {
      const head = fold(EVENTS.slice(0, cut));
      for (const back of [0, 1, 3, 7]) {
        const after = Math.max(0, head.seq - back);
        const resumed = EVENTS.filter((event) => isFact(event) && event.seq > after);
        expect(fold(resumed, head)).toEqual({ ...WHOLE, gap: expect.any(Boolean) });
      }
    }
  });

  it("does not change when everything comes twice", () => {
    const twice = EVENTS.flatMap((event) => [event, event]);
    expect(fold(twice)).toEqual(WHOLE);
    expect(fold(EVENTS, WHOLE)).toEqual(WHOLE);
  });

  it("is the same from a snapshot with partials as it was live", () => {
    for (let cut = 1; cut <= EVENTS.length; cut += 1) {
      const live = fold(EVENTS.slice(0, cut));
      const facts = EVENTS.slice(0, cut).filter(isFact);
      const partials = rowsOf(live).flatMap((row) =>
        row.kind !== "reply" || !row.live
          ? []
          : row.blocks.map((block) => ({
              ...deltas(row.id, block.kind, block.index, block.text, 1e9, row.attempt)[0]!,
              run_id: "r1",
              session_id: "s1",
              seq: 0,
            })),
      ) as unknown as WireEvent[];
      const shown = fold([...facts, ...partials]);
      const withoutProgress = rowsOf(live).map((row) => (row.kind === "tool" ? { ...row, progress: null } : row));
      expect(rowsOf(shown)).toEqual(withoutProgress);
    }
  });
});

describe("the offset rule", () => {
  const start = fold(EVENTS.slice(0, 3));
  const text = "𠮷a😀b";
  const delta = (off: number, words: string, attempt = 1) =>
    number([{ ...deltas("m1", "text", 0, words, 1e9, attempt)[0]!, off } as never])[0]!;
  const shown = (state: ThreadState) => (rowsOf(state).at(-1) as ReplyRow).blocks[0]?.text;

  it.each([1, 2, 3, 4, 5])("joins pieces of %i code units, also through the middle of a character", (size) => {
    expect(shown(fold(number(deltas("m1", "text", 0, text, size)), start))).toBe(text);
  });

  it("cuts at the offset and appends", () => {
    const state = fold([delta(0, text), delta(2, "a"), delta(3, "😀c")], start);
    expect(shown(state)).toBe("𠮷a😀c");
    expect(state.gap).toBe(false);
  });

  it("knows a gap and leaves the text alone", () => {
    const state = fold([delta(0, "𠮷"), delta(5, "x")], start);
    expect(shown(state)).toBe("𠮷");
    expect(state.gap).toBe(true);
  });

  it("starts over with a later try and ignores an earlier one", () => {
    const state = fold([delta(0, "first"), delta(0, "second", 2), delta(6, "late")], start);
    expect(shown(state)).toBe("second");
  });

  it("ignores what comes after the message has been finished", () => {
    expect(fold([delta(0, "late")], WHOLE)).toBe(WHOLE);
  });
});

describe("a try that was given up", () => {
  const start = fold(EVENTS.slice(0, 3));
  const reset = number([{ type: "step.reset", step: 1, message_id: "m1", attempt: 2, reason: "overload" } as never], "r1", 50);
  const last = (state: ThreadState) => rowsOf(state).findLast((row) => row.kind === "reply") as ReplyRow;

  it("takes back what was shown and says why", () => {
    const shown = fold([...number(deltas("m1", "text", 0, "half", 4)), ...reset], start);
    expect(last(shown)).toMatchObject({ blocks: [], attempt: 2, retry: "overload", live: true });
  });

  it("is forgotten when the reply is there", () => {
    const finished = RUN.find((event) => event.type === "message.finished")!;
    expect(last(fold([...reset, ...number([finished], "r1", 60)], start))).toMatchObject({ live: false, retry: null });
  });
});

describe("what does not fit", () => {
  it("moves the position and nothing else", () => {
    const odd = { type: "later.than.us", seq: 99, ts: 0, run_id: "r1", session_id: "s1" } as unknown as WireEvent;
    expect(fold([odd], WHOLE)).toEqual({ ...WHOLE, seq: 99 });
    const stray = { ...EVENTS[1]!, run_id: "unknown", seq: 100 } as WireEvent;
    expect(fold([stray], WHOLE)).toEqual({ ...WHOLE, seq: 100 });
  });

  it("keeps what was seen of a reply that the end cut off", () => {
    const stopped = number([...RUN.slice(0, 5), { ...RUN.at(-1)!, status: "stopped", reason: "cancelled_by_user" } as never]);
    const [, reply] = rowsOf(fold(stopped));
    expect(reply).toMatchObject({ kind: "reply", live: false, blocks: [{ text: "先想一想😀".slice(0, 6) }] });
  });

  it("shows a call that was refused before it started", () => {
    const finish = RUN.find((event) => event.type === "tool.finished")!;
    const state = fold(number([...RUN.slice(0, 3), finish]));
    expect(rowsOf(state).at(-1)).toMatchObject({ kind: "tool", id: "c1", phase: "done" } satisfies Partial<ToolRow>);
  });
});

describe("earlier runs", () => {
  it("go in front, once", () => {
    const older = number(RUN, "r0", -RUN.length);
    const state = prepend(WHOLE, [...older.map((event) => ({ ...event, seq: event.seq + 1000 })), ...EVENTS]);
    expect(state.order).toEqual(["r0", "r1"]);
    expect(state.seq).toBe(WHOLE.seq);
    expect(state.runs.r1).toBe(WHOLE.runs.r1);
  });
});
