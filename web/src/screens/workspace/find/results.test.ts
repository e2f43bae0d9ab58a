import { describe, expect, it } from "vitest";
import { grouped, partsOf, stepped } from "./results";

const hit = (path: string, line: number) => ({ path, line, column: 1, excerpt: "雨", start: 0, end: 1 });

describe("grouped", () => {
  it("keeps the order and says where each file begins", () => {
    const groups = grouped([hit("a", 1), hit("a", 2), hit("b", 1), hit("c", 4)]);
    expect(groups.map(({ path, first, hits }) => [path, first, hits.map(({ line }) => line)])).toEqual([
      ["a", 0, [1, 2]],
      ["b", 2, [1]],
      ["c", 3, [4]],
    ]);
    expect(grouped([])).toEqual([]);
  });
});

describe("partsOf", () => {
  it.each([
    ["夜雨声烦", 1, 2, "夜", "雨", "声烦"],
    ["𠮷😀雨夜", 2, 3, "𠮷😀", "雨", "夜"],
    ["a𠮷b", 1, 2, "a", "𠮷", "b"],
    ["　　雨", 2, 3, "", "雨", ""],
    ["一二三四五六七八九十甲乙丙雨", 13, 14, "…二三四五六七八九十甲乙丙", "雨", ""],
    ["😀".repeat(13) + "雨", 13, 14, "…" + "😀".repeat(12), "雨", ""],
    [" x ", 0, 1, "", " ", "x "],
  ])("%j from %i to %i", (excerpt, start, end, before, match, after) => {
    expect(partsOf({ excerpt, start, end })).toEqual({ before, match, after });
  });
});

describe("stepped", () => {
  it.each([
    [0, 1, 3, 1],
    [2, 1, 3, 0],
    [0, -1, 3, 2],
    [0, 10, 3, 2],
    [15, -10, 30, 5],
    [5, -10, 30, 0],
    [-1, 1, 0, 0],
    [0, -10, 0, 0],
  ])("from %i by %i of %i", (at, by, count, to) => expect(stepped(at, by, count)).toBe(to));
});
