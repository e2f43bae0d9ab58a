import { getChunks, getOriginalDoc, type Chunk } from "@codemirror/merge";
import type { EditorState, Text } from "@codemirror/state";

/** Whole lines that differ, in the original (A) and in the text (B); an end may lie one beyond a last line. */
export interface Passage {
  readonly fromA: number;
  readonly toA: number;
  readonly fromB: number;
  readonly toB: number;
}

/**
 * The passages of a comparison. The library's chunks join changes that are near; in prose the next paragraph
 * is, and a polished chapter would be a single chunk. Where the lines of both sides correspond, each is a
 * passage of its own.
 */
export function passagesIn(chunks: readonly Chunk[], a: Text, b: Text): readonly Passage[] {
  const known = found.get(chunks);
  if (known) return known;
  const passages = chunks.flatMap((chunk) => joined(chunk, a, b)).flatMap((passage) => parted(passage, a, b));
  found.set(chunks, passages);
  return passages;
}

/** A list of chunks belongs to two texts and never changes. */
const found = new WeakMap<readonly Chunk[], readonly Passage[]>();

/** The lines that the changes of a chunk touch. */
function joined(chunk: Chunk, a: Text, b: Text): Passage[] {
  const passages: Passage[] = [];
  for (const change of chunk.changes) {
    const [fromA, fromB] = lineStarts(chunk.fromA + change.fromA, chunk.fromB + change.fromB, a, b);
    const [toA, toB] = lineEnds(chunk.fromA + change.toA, chunk.fromB + change.toB, a, b);
    const last = passages.at(-1);
    if (last && (fromA <= last.toA || fromB <= last.toB)) passages[passages.length - 1] = { ...last, toA, toB };
    else passages.push({ fromA, toA, fromB, toB });
  }
  return passages;
}

const isBlank = (line: string | undefined) => line?.trim() === "";

function parted(passage: Passage, a: Text, b: Text): Passage[] {
  const [linesA, linesB] = [linesOf(a, passage.fromA, passage.toA), linesOf(b, passage.fromB, passage.toB)];
  if (linesA.length !== linesB.length || linesA.some((line, at) => isBlank(line) !== isBlank(linesB[at]))) return [passage];
  const passages: Passage[] = [];
  let { fromA, fromB } = passage;
  for (const [at, line] of linesA.entries()) {
    const [toA, toB] = [fromA + line.length + 1, fromB + linesB[at]!.length + 1];
    if (line !== linesB[at]) passages.push({ fromA, toA, fromB, toB });
    [fromA, fromB] = [toA, toB];
  }
  return passages;
}

function linesOf(text: Text, from: number, to: number): string[] {
  return from === to ? [] : text.sliceString(from, to - 1).split("\n");
}

/** A change that begins at the ends of two lines begins with the next ones. */
function lineStarts(atA: number, atB: number, a: Text, b: Text): [number, number] {
  const [lineA, lineB] = [a.lineAt(atA), b.lineAt(atB)];
  const isAtEnds = lineA.to === atA && lineB.to === atB && atA < a.length && atB < b.length;
  return isAtEnds ? [atA + 1, atB + 1] : [lineA.from, lineB.from];
}

function lineEnds(atA: number, atB: number, a: Text, b: Text): [number, number] {
  const [lineA, lineB] = [a.lineAt(atA), b.lineAt(atB)];
  return lineA.from === atA && lineB.from === atB ? [atA, atB] : [lineA.to + 1, lineB.to + 1];
}

const NONE: readonly Chunk[] = [];

/** The passages of a unified comparison that are not settled. */
export function passagesOf(state: EditorState): readonly Passage[] {
  return passagesIn(getChunks(state)?.chunks ?? NONE, getOriginalDoc(state), state.doc);
}

/** Which passage the caret is at or before; the last one behind all. -1 without any. */
export function placeIn(passages: readonly Passage[], head: number): number {
  const at = passages.findIndex(({ fromB, toB }) => Math.max(fromB, toB - 1) >= head);
  return at < 0 ? passages.length - 1 : at;
}
