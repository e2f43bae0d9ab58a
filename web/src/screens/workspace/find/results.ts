import type { Hit } from "@/api/types";
import { unitsIn } from "@/lib/chars";

/** Characters before what was found: enough to know the place, few enough to see it in a narrow pane. */
const BEFORE = 12;
const CUT = "…";

export interface Group {
  path: string;
  /** Where its first hit stands among all. */
  first: number;
  hits: readonly Hit[];
}

/** Hits by file, in the reading order in which they come. */
export function grouped(hits: readonly Hit[]): Group[] {
  const groups: { path: string; first: number; hits: Hit[] }[] = [];
  for (const [at, hit] of hits.entries()) {
    const last = groups.at(-1);
    if (last?.path === hit.path) last.hits.push(hit);
    else groups.push({ path: hit.path, first: at, hits: [hit] });
  }
  return groups;
}

export interface Parts {
  before: string;
  match: string;
  after: string;
}

/** An excerpt around what was found. The server counts characters, not UTF-16 units. */
export function partsOf({ excerpt, start, end }: Pick<Hit, "excerpt" | "start" | "end">): Parts {
  const [from, to] = [unitsIn(excerpt, start), unitsIn(excerpt, end)];
  const before = [...excerpt.slice(0, from).trimStart()];
  const isCut = before.length > BEFORE;
  return {
    before: isCut ? CUT + before.slice(-BEFORE).join("") : before.join(""),
    match: excerpt.slice(from, to),
    after: excerpt.slice(to),
  };
}

/** The hit `by` further on: single steps go round, longer ones end at the ends. */
export function stepped(at: number, by: number, count: number): number {
  if (count === 0) return 0;
  if (Math.abs(by) === 1) return (at + by + count) % count;
  return Math.min(Math.max(at + by, 0), count - 1);
}
