import { describe, expect, it } from "vitest";
import { en } from "./en";
import { isKey, translate, type Key } from "./t";
import { zh } from "./zh";

const KEYS = Object.keys(zh) as Key[];
const names = (text: string) => [...new Set([...text.matchAll(/\{([\w.]+)\}/g)].map((match) => match[1]))].toSorted();

describe("the dictionaries", () => {
  it("have the same keys and no empty words", () => {
    expect(Object.keys(en).toSorted()).toEqual(KEYS.toSorted());
    for (const key of KEYS) expect([zh[key].trim(), en[key].trim()]).not.toContain("");
  });

  it.each(KEYS)("%s names the same parameters in both", (key) => {
    expect(names(en[key])).toEqual(names(zh[key]));
  });

  it("are in their own language", () => {
    const shared = new Set(["brand.seal", "settings.language.zh", "top.language"]);
    const stray = KEYS.filter((key) => !shared.has(key) && /\p{Script=Han}/u.test(en[key]));
    expect(stray).toEqual([]);
  });
});

describe("translate", () => {
  it("fills in parameters and leaves unknown ones out", () => {
    expect(translate("zh", "problem.path_exists", { path: "a.md" })).toBe("a.md 已经存在，请换一个名字");
    expect(translate("en", "problem.path_exists")).toBe(" exists already; choose another name");
  });

  it("chooses the plural in English", () => {
    expect(translate("en", "projects.files", { n: 1 })).toBe("1 file");
    expect(translate("en", "projects.files", { n: 2 })).toBe("2 files");
    expect(translate("zh", "projects.files", { n: 1 })).toBe("1 个文件");
  });

  it("writes numbers as a person reads them", () => {
    expect(translate("zh", "problem.request_too_large", { limit: 33_554_432 })).toBe("内容太大，超过 32 MB");
    expect(translate("en", "problem.document_lines", { name: "a", limit: 1_500_000 })).toContain("1,500,000 lines");
    expect(translate("zh", "problem.request_too_large", { limit: "?" })).toBe("内容太大，超过 ?");
  });

  it("does not read a parameter's own braces", () => {
    expect(translate("en", "tree.deleted", { name: "{n}$1" })).toBe("Deleted “{n}$1”");
  });

  it("knows its keys", () => {
    expect(isKey("common.save")).toBe(true);
    expect(isKey("problem.of_the_future")).toBe(false);
  });
});
