import { describe, expect, it } from "vitest";
import type { Entry } from "@/api/types";
import { placed, shifted, topmost, withOrders } from "./order";

const entry = (path: string): Entry => ({
  id: path,
  path,
  kind: path.endsWith(".md") ? "file" : "folder",
  type: "document",
  size_bytes: 0,
  words: null,
  modified_at: 0,
  revision: null,
});

describe("shifted", () => {
  it.each([
    ["a", 1, "bac"],
    ["c", -1, "acb"],
    ["a", -1, null],
    ["c", 1, null],
    ["x", 1, null],
    ["x", -1, null],
  ] as const)("%s by %i", (name, by, order) => {
    expect(shifted(["a", "b", "c"], name, by)?.join("") ?? null).toBe(order);
  });

  it("goes back by the other step", () => {
    expect(shifted(shifted(["a", "b", "c"], "b", 1)!, "b", -1)).toEqual(["a", "b", "c"]);
  });
});

describe("placed", () => {
  it.each([
    ["abcd", "a", 2, "bcad"],
    ["abcd", "d", 0, "dabc"],
    ["abcd", "bd", 1, "abdc"],
    ["abcd", "x", 4, "abcdx"],
    ["", "x", 0, "x"],
    ["abcd", "b", 1, "abcd"],
  ])("%s with %s at %i", (names, moved, index, order) => {
    expect(placed([...names], [...moved], index).join("")).toBe(order);
  });
});

it("topmost leaves out what goes along", () => {
  expect(topmost(["正文", "正文/一.md", "正文2/一.md", "甲.md"])).toEqual(["正文", "正文2/一.md", "甲.md"]);
});

describe("withOrders", () => {
  const entries = ["正文", "正文/一.md", "正文/二.md", "资料", "资料/表.md", "序.md"].map(entry);
  const paths = (orders: Record<string, string[]>) => withOrders(entries, orders).map(({ path }) => path);

  it("moves a folder with all that is in it", () => {
    expect(paths({ "": ["序.md", "资料", "正文"] })).toEqual(["序.md", "资料", "资料/表.md", "正文", "正文/一.md", "正文/二.md"]);
  });

  it("keeps what is not named after the rest, and passes over what is gone", () => {
    expect(paths({ 正文: ["没有.md", "二.md"], 没有: ["x"] })).toEqual(["正文", "正文/二.md", "正文/一.md", "资料", "资料/表.md", "序.md"]);
    expect(paths({ "": ["序.md"] })[0]).toBe("序.md");
  });

  it("loses and doubles nothing", () => {
    const orders: Record<string, string[]>[] = [{}, { "": [] }, { "": ["资料", "资料"] }, { 正文: ["二.md", "一.md"], 资料: ["表.md"] }];
    for (const order of orders) {
      expect(paths(order).toSorted()).toEqual(entries.map(({ path }) => path).toSorted());
    }
  });
});
