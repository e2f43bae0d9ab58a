import { describe, expect, it } from "vitest";
import { unitsIn } from "./chars";

describe("unitsIn", () => {
  it.each([
    ["", 3, 0],
    ["abc", 0, 0],
    ["abc", -1, 0],
    ["abc", 2, 2],
    ["雨夜", 9, 2],
    ["𠮷x", 1, 2],
    ["a😀𠮷b", 3, 5],
    ["\ufeff雨", 1, 1],
    ["👨‍👩‍👧", 2, 3], // a family is five code points
  ])("%j holds %i characters in %i units", (text, chars, units) => {
    expect(unitsIn(text, chars)).toBe(units);
  });
});
