import type { RunView, ThreadState } from "./state";

/** The run that is working, if one is. */
export function activeRun(thread: ThreadState): RunView | null {
  const last = thread.runs[thread.order.at(-1) ?? ""];
  return last && !last.end ? last : null;
}

/** What the person asked last, for "edit last" and "try again". */
export function lastAsked(thread: ThreadState): string | null {
  for (const id of thread.order.toReversed()) {
    const row = thread.runs[id]?.rows.find((each) => each.kind === "user" && each.source === "user");
    if (row?.kind === "user") return row.text;
  }
  return null;
}

export function answerText(run: RunView): string {
  const last = run.rows.findLast((row) => row.kind === "reply");
  if (last?.kind !== "reply") return "";
  return last.blocks
    .filter((block) => block.kind === "text")
    .map((block) => block.text)
    .join("\n\n");
}
