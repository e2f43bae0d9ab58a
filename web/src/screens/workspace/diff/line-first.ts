import { Change, presentableDiff } from "@codemirror/merge";
import { diffLines } from "diff";

/**
 * Lines first, characters only inside lines that changed. The stock algorithm gives up on a novel and
 * marks all of it; this one stays exact and fast at any length.
 */
export function lineFirst(a: string, b: string): Change[] {
  const changes: Change[] = [];
  let [fromA, fromB, toA, toB] = [0, 0, 0, 0];
  const close = () => {
    if (fromA === toA && fromB === toB) return;
    for (const inner of presentableDiff(a.slice(fromA, toA), b.slice(fromB, toB), { scanLimit: 500, timeout: 50 })) {
      changes.push(new Change(inner.fromA + fromA, inner.toA + fromA, inner.fromB + fromB, inner.toB + fromB));
    }
  };
  for (const part of diffLines(a, b)) {
    if (part.removed) toA += part.value.length;
    else if (part.added) toB += part.value.length;
    else {
      close();
      fromA = toA += part.value.length;
      fromB = toB += part.value.length;
    }
  }
  close();
  return changes;
}
