import { describe, expect, it } from "vitest";
import { BodyReader } from "./bodies";

const NAMES = { file: "path", text: "content" };

/** Read `json` in pieces of every length; what was shown at each cut. */
function cuts(json: string, length: number): string[] {
  const reader = new BodyReader(NAMES);
  const shown: string[] = [];
  for (let end = length; end < json.length + length; end += length) shown.push(reader.read(json.slice(0, end)).text);
  return shown;
}

const TEXTS = ["", "夜色渐深。\n　　没有人。", '他说："走吧。"\\n', "𠮷😀\u2028\u0000\t\r\n", "a\\\\", "{}[],:\""];

describe("a text in the arguments of a call", () => {
  it.each(TEXTS)("is the same however it comes: %j", (text) => {
    for (const path of ["第一章.md", 'a"b.md']) {
      for (const value of [
        { path, content: text },
        { content: text, path },
        { other: { content: "no", path: "no" }, list: ["content", { content: "no" }], path, content: text },
      ]) {
        for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2), ascii(JSON.stringify(value))]) {
          for (const length of [1, 2, 3, 7, 1000]) {
            const shown = cuts(json, length);
            expect(shown.at(-1)).toBe(text);
            for (const each of shown) expect(text.startsWith(each)).toBe(true);
          }
          expect(new BodyReader(NAMES).read(json).file).toBe(path);
        }
      }
    }
  });

  it("has no name before the name is whole", () => {
    const reader = new BodyReader(NAMES);
    expect(reader.read('{"path": "第一').file).toBeNull();
    expect(reader.read('{"path": "第一章.md"').file).toBe("第一章.md");
  });

  it("shows nothing for what is no object", () => {
    for (const json of ['"content": "x"', '["content", "x"]', '[{"content": "x"}]', "null", "{", ""]) {
      expect(new BodyReader(NAMES).read(json).text).toBe("");
    }
  });

  it("is read in one pass", () => {
    const json = JSON.stringify({ path: "a.md", content: "他推开门。\n".repeat(20_000) });
    const reader = new BodyReader(NAMES);
    const began = performance.now();
    for (let end = 0; end <= json.length; end += 64) reader.read(json.slice(0, end));
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(reader.read(json).text).toHaveLength(120_000);
  });
});

function ascii(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
