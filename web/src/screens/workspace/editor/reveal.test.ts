import { Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import { rangeOf } from "./reveal";

const found = (text: string, place: { line: number; column: number; text: string }) => {
  const { from, to } = rangeOf(Text.of(text.split("\n")), place);
  return [from, text.slice(from, to)];
};

describe("rangeOf", () => {
  it.each([
    ["the place itself", "雨夜\n夜雨 雨", { line: 2, column: 4, text: "雨" }, 6, "雨"],
    ["characters of two units", "𠮷😀雨夜", { line: 1, column: 3, text: "雨" }, 4, "雨"],
    ["what was found is wide itself", "a𠮷b", { line: 1, column: 2, text: "𠮷" }, 1, "𠮷"],
    ["lines were put before it", "新\n新\n夜雨", { line: 1, column: 2, text: "雨" }, 5, "雨"],
    ["the nearer one of two", "雨......x..雨", { line: 1, column: 8, text: "雨" }, 10, "雨"],
    ["it is gone: the place stays", "一\n二三", { line: 2, column: 2, text: "雨" }, 3, ""],
    ["the line is gone: the end", "一", { line: 9, column: 9, text: "雨" }, 1, ""],
    ["nothing is left", "", { line: 3, column: 1, text: "雨" }, 0, ""],
  ])("%s", (_, text, place, from, selected) => {
    expect(found(text, place)).toEqual([from, selected]);
  });
});
