import { describe, expect, it } from "vitest";
import type { Fact, Version } from "@/api/types";
import { baseOf, currentOf, parentOf } from "./base";
import { noted, type Written } from "./store";

const version = (n: number, more: Partial<Version> = {}): Version => ({
  n,
  parent: n > 1 ? n - 1 : null,
  revision: `r${n}`,
  actor: "author",
  change: "edit",
  run_id: null,
  origin: null,
  words: 0,
  characters: 0,
  lines_added: 0,
  lines_removed: 0,
  opened_at: 0,
  saved_at: 0,
  ...more,
});
const byRun = (n: number, runId: string, more: Partial<Version> = {}) => version(n, { actor: "ai", run_id: runId, ...more });

describe("what a review compares with", () => {
  const versions = [byRun(6, "b"), version(5), byRun(4, "a"), byRun(3, "a"), version(2), version(1)];

  it.each([
    ["the first of several writes of a run", versions, "a", 2],
    ["a run after others", versions, "b", 5],
    ["a run that made the file", [byRun(2, "a"), byRun(1, "a")], "a", null],
    ["a run that never wrote it", versions, "c", undefined],
    ["no versions", [], "a", undefined],
    ["a parent further back than the version before", [byRun(9, "a", { parent: 2 }), version(2)], "a", 2],
  ])("%s", (_, list, runId, expected) => {
    const base = baseOf(list, runId);
    expect(base && base.n).toBe(expected);
  });

  it("knows the version that the file holds (VR-5)", () => {
    expect(currentOf(versions, "r6")?.n).toBe(6);
    expect(currentOf(versions, "r5")).toBeNull(); // the newest does not hold it
    expect(currentOf([], "r1")).toBeNull();
    expect(parentOf(versions, versions.at(-1)!)).toBeNull();
  });
});

describe("files that an agent wrote", () => {
  const fact = (change: Fact<"file.changed">["change"], path: string, more: Partial<Fact<"file.changed">> = {}) =>
    ({ type: "file.changed", change, path, by: "ai", run_id: "a", ...more }) as Fact<"file.changed">;
  const one: Written = { path: "正文/一.md", runId: "a" };

  it.each<[string, Fact<"file.changed">, readonly Written[], readonly Written[]]>([
    ["is offered", fact("written", one.path), [], [one]],
    ["is offered once, from the first run on", fact("written", one.path, { run_id: "b" }), [one], [one]],
    ["of the person's own is not", fact("written", one.path, { by: "author" }), [], []],
    ["of no run is not", fact("written", one.path, { run_id: "" }), [], []],
    ["that the run made is not", fact("written", "新.md"), [], []],
    ["goes with its folder", fact("renamed", "正文", { to: "卷一" }), [one], [{ path: "卷一/一.md", runId: "a" }]],
    ["stays when another is renamed", fact("renamed", "正文/一", { to: "x" }), [one], [one]],
    ["is gone with its folder", fact("deleted", "正文"), [one], []],
  ])("one %s", (_, event, before, after) => {
    expect(noted(before, new Set(["a/新.md"]), event)).toEqual(after);
  });
});
