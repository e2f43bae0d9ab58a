import { Change, diff, presentableDiff } from "@codemirror/merge";

/** A text that shares hardly a line with the other is given up on after this time. */
const LINES_MS = 500;
/** So many characters of changed passages are compared inside; what lies beyond is marked as a whole. */
const MOST_DETAIL_CHARS = 500_000;
/** Lines are compared as characters: these are no halves of pairs, and there are 63,488 of them. */
const [FIRST_HALF, LAST_HALF, MOST_CODES] = [0xd800, 0xdfff, 0x10000 - 0x800];

/**
 * Lines first, characters only inside lines that changed. The stock algorithm gives up on a novel and
 * marks all of it; this one stays exact and fast at any length.
 */
export function lineFirst(a: string, b: string): Change[] {
  const [left, right] = [linesOf(a), linesOf(b)];
  const [startsA, startsB] = [startsOf(left), startsOf(right)];
  const changes: Change[] = [];
  let detail = MOST_DETAIL_CHARS;
  for (const hunk of paired(hunksOf(left, right), left, right)) {
    const [fromA, toA] = [startsA[hunk.fromA]!, startsA[hunk.toA]!];
    const [fromB, toB] = [startsB[hunk.fromB]!, startsB[hunk.toB]!];
    const size = toA - fromA + toB - fromB;
    if (fromA === toA || fromB === toB || size > detail) {
      changes.push(new Change(fromA, toA, fromB, toB));
      continue;
    }
    detail -= size;
    for (const inner of presentableDiff(a.slice(fromA, toA), b.slice(fromB, toB), { scanLimit: 500, timeout: 50 })) {
      changes.push(new Change(inner.fromA + fromA, inner.toA + fromA, inner.fromB + fromB, inner.toB + fromB));
    }
  }
  return changes.map((change) => slid(change, a, b));
}

/**
 * Lines put in or taken out between two blank lines can be told in two ways. The library finds the right
 * passage only if the change begins with a line that is not blank.
 */
function slid({ fromA, toA, fromB, toB }: Change, a: string, b: string): Change {
  let by = 0;
  if (fromA === toA) while (b[fromB + by] === "\n" && b[toB + by] === "\n") by += 1;
  else if (fromB === toB) while (a[fromA + by] === "\n" && a[toA + by] === "\n") by += 1;
  return new Change(fromA + by, toA + by, fromB + by, toB + by);
}

/** With their ends, so that a last line without one differs from the same line with one. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function startsOf(lines: readonly string[]): number[] {
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1)! + line.length);
  return starts;
}

function hunksOf(left: readonly string[], right: readonly string[]): readonly Change[] {
  const codes = new Map<string, string>();
  const coded = [left, right].map((lines) => lines.map((line) => codeOf(codes, line)).join(""));
  if (codes.size <= MOST_CODES) return diff(coded[0]!, coded[1]!, { timeout: LINES_MS });
  return [new Change(0, left.length, 0, right.length)];
}

const isBlank = (line: string | undefined) => line === undefined || line.trim() === "";

/**
 * A chapter that was polished throughout has only blank lines in common with the old one, and they could
 * belong to any paragraph. Where nothing else parts two hunks and the lines correspond, line stands by line.
 */
function paired(hunks: readonly Change[], left: readonly string[], right: readonly string[]): Change[] {
  const found: Change[] = [];
  for (let at = 0; at < hunks.length; ) {
    const first = at;
    const isNext = () => left.slice(hunks[at]!.toA, hunks[at + 1]!.fromA).every(isBlank);
    while (at + 1 < hunks.length && isNext()) at += 1;
    const [{ fromA, fromB }, { toA, toB }] = [hunks[first]!, hunks[at]!];
    at += 1;
    const isAlike = (_: string, n: number) => isBlank(left[fromA + n]) === isBlank(right[fromB + n]);
    if (toA - fromA !== toB - fromB || !left.slice(fromA, toA).every(isAlike)) {
      found.push(...hunks.slice(first, at));
      continue;
    }
    for (let n = 0; n < toA - fromA; n += 1) {
      if (left[fromA + n] !== right[fromB + n]) found.push(new Change(fromA + n, fromA + n + 1, fromB + n, fromB + n + 1));
    }
  }
  return found;
}

function codeOf(codes: Map<string, string>, line: string): string {
  const known = codes.get(line);
  if (known !== undefined) return known;
  const code = codes.size < FIRST_HALF ? codes.size : codes.size + LAST_HALF - FIRST_HALF + 1;
  const fresh = String.fromCharCode(code);
  codes.set(line, fresh);
  return fresh;
}
