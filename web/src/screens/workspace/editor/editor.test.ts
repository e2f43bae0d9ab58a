import { EditorState, Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import { lineFirst } from "../diff/line-first";
import { rank } from "../rank";
import type { Entry } from "@/api/types";
import { above, shelve } from "../tree/paths";
import { count } from "./count";
import { lineBreakOf } from "./setup";

describe("lineBreakOf", () => {
  it.each([
    "a\nb",
    "a\r\nb\r\n",
    "mixed\r\nand\nplain",
    "lone \r return",
    "\r\n\n",
    "\n\r\n",
    "no end",
    "",
    "\ufeff有 BOM\r\n",
  ])("gives back the same characters: %j", (text) => {
    const state = EditorState.create({ doc: text, extensions: EditorState.lineSeparator.of(lineBreakOf(text)) });
    expect(state.sliceDoc()).toBe(text);
  });
});

describe("count", () => {
  it.each([
    ["　　夜色 渐深。\n\nab c", { chars: 8, paragraphs: 2 }],
    ["𠮷😀", { chars: 2, paragraphs: 1 }],
    ["", { chars: 0, paragraphs: 0 }],
  ])("%j", (text, expected) => {
    expect(count(Text.of(text.split("\n")))).toMatchObject(expected);
  });

  it("counts a selection", () => {
    expect(count(Text.of(["一二三四"]), 1, 3).chars).toBe(2);
  });
});

describe("lineFirst", () => {
  const apply = (a: string, b: string) =>
    lineFirst(a, b).reduceRight((text, at) => text.slice(0, at.fromA) + b.slice(at.fromB, at.toB) + text.slice(at.toA), a);

  it.each([
    ["same\ntext\n", "same\ntext\n"],
    ["", "new\n"],
    ["old\n", ""],
    ["一\n二\n三\n", "一\n二改\n三\n四"],
    ["no end", "no end\n"],
  ])("turns %j into %j", (a, b) => {
    expect(apply(a, b)).toBe(b);
  });

  it("marks only what changed in a long text", () => {
    const lines = Array.from({ length: 5000 }, (_, at) => `第 ${at} 段，夜色渐深，他推开了那扇门。`);
    const a = lines.join("\n");
    const b = lines.map((line, at) => (at % 500 === 7 ? line.replace("推开", "猛地推开") : line)).join("\n");
    const changes = lineFirst(a, b);
    expect(changes).toHaveLength(10);
    expect(apply(a, b)).toBe(b);
  });
});

describe("the tree", () => {
  const entry = (path: string, kind: "file" | "folder"): Entry => ({
    id: path,
    path,
    kind,
    type: kind === "folder" ? "folder" : "draft",
    size_bytes: 0,
    words: null,
    modified_at: 0,
    revision: null,
  });

  it("keeps the reading order", () => {
    const shelf = shelve([entry("序.md", "file"), entry("资料", "folder"), entry("资料/a.md", "file"), entry("跋.md", "file")]);
    expect(shelf.children.get("/")).toEqual(["序.md", "资料", "跋.md"]);
    expect(shelf.children.get("资料")).toEqual(["资料/a.md"]);
  });

  it("names the folders above", () => {
    expect(above("a/b/c.md")).toEqual(["a", "a/b"]);
  });

  it("finds by letters in order, the name before the folder", () => {
    expect(rank(["正文/第一章.md", "第一/说明.md", "x.md"], "第一")).toEqual(["正文/第一章.md", "第一/说明.md"]);
    expect(rank(["a.md"], "zz")).toEqual([]);
  });
});
