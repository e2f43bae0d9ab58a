import { Chunk, getChunks, getOriginalDoc, unifiedMergeView } from "@codemirror/merge";
import { EditorState, Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import { lineBreakOf } from "../editor/setup";
import { lineFirst } from "./line-first";
import { sharedBreak, textOf } from "./pair";
import { passagesIn, passagesOf, placeIn } from "./passages";
import { settle, type Verdict } from "./settle";

/** The same numbers in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const WORDS = ["", "", "夜色渐深。", "　　他推开了门。", "𠮷", "a_b", "a_b c", "---", "\r", " "];

function pick<T>(random: () => number, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!;
}

/** Few different lines, many of them blank: the hardest for alignment. */
function someText(random: () => number): string {
  const lines = Array.from({ length: Math.floor(random() * 14) }, () => pick(random, WORDS));
  return lines.join(pick(random, ["\n", "\n", "\r\n", "\n\n"]));
}

function changed(random: () => number, text: string): string {
  const lines = text.split("\n");
  for (let left = Math.floor(random() * 5); left > 0; left -= 1) {
    const at = Math.floor(random() * (lines.length + 1));
    const gone = Math.floor(random() * 3);
    lines.splice(at, gone, ...Array.from({ length: Math.floor(random() * 3) }, () => pick(random, WORDS)));
  }
  return lines.join("\n");
}

function stateOf(before: string, now: string): EditorState {
  const lineBreak = sharedBreak(before, now);
  const original = textOf(before, lineBreak);
  const extensions = [EditorState.lineSeparator.of(lineBreak), unifiedMergeView({ original, diffConfig: { override: lineFirst } })];
  return EditorState.create({ doc: now, extensions });
}

const originalOf = (state: EditorState) => getOriginalDoc(state).sliceString(0, undefined, state.lineBreak);

const PAIRS = Array.from({ length: 400 }, (_, seed): [string, string] => {
  const random = randomFrom(seed);
  const before = someText(random);
  return [before, random() < 0.8 ? changed(random, before) : someText(random)];
});

describe("passages that differ", () => {
  it("all that lies between them is the same", () => {
    const same = (text: Text, from: number, to: number) => text.sliceString(Math.min(from, text.length), Math.min(to, text.length));
    for (const [before, now] of PAIRS) {
      const state = stateOf(before, now);
      const original = getOriginalDoc(state);
      let [fromA, fromB] = [0, 0];
      for (const chunk of [...passagesOf(state), { fromA: original.length, fromB: state.doc.length, toA: 0, toB: 0 }]) {
        expect([before, now, same(state.doc, fromB, chunk.fromB)]).toEqual([before, now, same(original, fromA, chunk.fromA)]);
        [fromA, fromB] = [chunk.toA, chunk.toB];
      }
    }
  });

  it.each<Verdict>(["accept", "reject"])("%s one by one, in any order, or all at once ends in one text, byte for byte (UI-5)", (verdict) => {
    for (const [seed, [before, now]] of PAIRS.entries()) {
      const random = randomFrom(seed);
      let state = stateOf(before, now);
      for (let most = 100; passagesOf(state).length > 0 && most > 0; most -= 1) {
        state = state.update(settle(state, [pick(random, passagesOf(state))], verdict)).state;
      }
      expect([before, now, state.sliceDoc()]).toEqual([before, now, verdict === "reject" ? before : now]);
      expect(originalOf(state)).toBe(state.sliceDoc());
      const whole = stateOf(before, now);
      const settled = whole.update(settle(whole, passagesOf(whole), verdict)).state;
      expect([settled.sliceDoc(), passagesOf(settled).length]).toEqual([verdict === "reject" ? before : now, 0]);
    }
  });

  it("are found at the caret and behind it", () => {
    const state = stateOf("一\n二\n三\n四\n五\n", "一\n二改\n三\n四\n五改\n");
    const at = (head: number) => placeIn(passagesOf(state), head);
    expect([at(0), at(3), at(8), at(state.doc.length)]).toEqual([0, 0, 1, 1]);
    expect(placeIn([], 0)).toBe(-1);
  });

  it.each([
    ["a\r\nb", "a\r\nc", "\r\n"],
    ["a\r\nb", "a\nb", "\n"],
    ["no end", "a\r\nb", "\r\n"],
    ["a\nb", "", "\n"],
    ["", "", "\n"],
    ["a\r\nb\nc", "a\r\nb", "\n"],
  ])("%j and %j are split at %j", (a, b, expected) => {
    expect(sharedBreak(a, b)).toBe(expected);
    for (const text of [a, b]) expect(textOf(text, sharedBreak(a, b)).sliceString(0, undefined, expected)).toBe(text);
    expect(sharedBreak(a, a)).toBe(lineBreakOf(a));
  });
});

describe("long texts", () => {
  const random = randomFrom(7);
  const letters = [..."夜色渐深雨还没有停他推开那扇沉重的门轴发出一声长叹像是替谁把藏了多年话说出来"];
  const paragraphs = Array.from({ length: 5000 }, () => Array.from({ length: 100 }, () => pick(random, letters)).join(""));
  const text = paragraphs.join("\n\n");
  const apply = (a: string, b: string) => {
    let [made, at] = ["", 0];
    for (const { fromA, toA, fromB, toB } of lineFirst(a, b)) {
      made += a.slice(at, fromA) + b.slice(fromB, toB);
      at = toA;
    }
    return made + a.slice(at);
  };

  it.each([
    ["every tenth paragraph", paragraphs.map((each, at) => (at % 10 === 3 ? `${each}改` : each)).join("\n\n"), 500],
    ["every paragraph", paragraphs.map((each) => `${each}改`).join("\n\n"), 5000],
  ])("%s changed is so many passages", (_, now, passages) => {
    const [a, b] = [textOf(text, "\n"), textOf(now, "\n")];
    expect(passagesIn(Chunk.build(a, b, { override: lineFirst }), a, b)).toHaveLength(passages);
    expect(apply(text, now)).toBe(now);
  });

  it("more different lines than there are codes are one passage", () => {
    const lines = Array.from({ length: 70_000 }, (_, at) => String(at)).join("\n");
    const now = `new\n${lines}`;
    expect(lineFirst(lines, now)).toHaveLength(1);
    expect(apply(lines, now)).toBe(now);
    expect(getChunks(stateOf("a", "b"))?.chunks).toHaveLength(1);
  });

  it("lines beyond the halves of pairs have codes of their own", () => {
    const lines = Array.from({ length: 60_000 }, (_, at) => `${at}\n`);
    const now = lines.with(59_000, "changed\n").join("");
    expect(lineFirst(lines.join(""), now).every(({ fromA, toA }) => toA - fromA < 10)).toBe(true);
    expect(apply(lines.join(""), now)).toBe(now);
  });
});
