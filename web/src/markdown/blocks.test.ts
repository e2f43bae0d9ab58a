import { describe, expect, it } from "vitest";
import { splitBlocks } from "./blocks";

describe("splitBlocks", () => {
  it.each([
    ["paragraphs", "a\n\nb\n\n\nc", ["a", "b", "c"]],
    ["a fence with blank lines", "a\n\n```py\nx\n\ny\n```\n\nb", ["a", "```py\nx\n\ny\n```", "b"]],
    ["a fence that is still open", "```\nx\n\ny", ["```\nx\n\ny"]],
    ["a longer fence around a shorter one", "````\n```\n\n```\n````\n\nb", ["````\n```\n\n```\n````", "b"]],
    ["a list with an indented paragraph", "- a\n\n  more\n\nb", ["- a\n\n  more", "b"]],
    ["nothing", "\n\n", []],
  ])("cuts %s", (_, text, expected) => {
    expect(splitBlocks(text)).toEqual(expected);
  });

  it("only ever changes the last piece of a text that grows", () => {
    const text = "# 一\n\n- a\n- b\n\n```\n1\n\n2\n```\n\n> 引\n\n末段 **粗**";
    for (let end = 1; end < text.length; end += 1) {
      const [now, next] = [splitBlocks(text.slice(0, end)), splitBlocks(text.slice(0, end + 1))];
      expect(next.slice(0, now.length - 1)).toEqual(now.slice(0, -1));
    }
  });
});
