import { getChunks, getOriginalDoc, originalDocChangeEffect, type Chunk } from "@codemirror/merge";
import { ChangeSet, type EditorState, type Text, type TransactionSpec } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

/** What becomes of a passage that differs: the text in place stays, or the original comes back. */
export type Verdict = "accept" | "reject";

export function chunksOf(state: EditorState): readonly Chunk[] {
  return getChunks(state)?.chunks ?? [];
}

/** A passage may end one beyond a text whose last line has no end. */
function lines(text: Text, from: number, to: number): Text {
  return text.slice(Math.min(text.length, from), Math.min(text.length, to));
}

/**
 * Settle passages of a unified comparison. Texts are moved as lines, not as strings: the library's own
 * commands would break lines anew, and a file with other line ends would not get its bytes back.
 */
export function settle(state: EditorState, chunks: readonly Chunk[], verdict: Verdict): TransactionSpec {
  const original = getOriginalDoc(state);
  if (verdict === "reject") {
    const changes = chunks.map(({ fromA, toA, fromB, toB }) => ({
      from: fromB,
      to: Math.min(state.doc.length, toB),
      insert: lines(original, fromA, toA),
    }));
    return { changes, userEvent: "revert" };
  }
  const changes = chunks.map(({ fromA, toA, fromB, toB }) => ({
    from: fromA,
    to: Math.min(original.length, toA),
    insert: lines(state.doc, fromB, toB),
  }));
  return { effects: originalDocChangeEffect(state, ChangeSet.of(changes, original.length)), userEvent: "accept" };
}

/** The passage at or after the caret; the last one behind it. -1 without any. */
export function chunkAt(state: EditorState): number {
  const chunks = chunksOf(state);
  const { head } = state.selection.main;
  const at = chunks.findIndex((chunk) => chunk.endB >= head);
  return at < 0 ? chunks.length - 1 : at;
}

/** Put the caret into a passage and the passage into view. */
export function goTo(view: EditorView, at: number): void {
  const chunk = chunksOf(view.state)[at];
  if (!chunk) return;
  const anchor = Math.min(chunk.fromB, view.state.doc.length);
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
}

/** `by` passages further, around the ends. */
export function goBy(view: EditorView, by: 1 | -1): void {
  const { length } = chunksOf(view.state);
  if (length > 0) goTo(view, (chunkAt(view.state) + by + length) % length);
}

/** A button at a passage that settles it. */
export function verdictButton(verdict: Verdict, words: string, view: () => EditorView | null, act: (chunk: Chunk) => void): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = `merge-${verdict}`;
  button.textContent = words;
  button.addEventListener("mousedown", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    const shown = view();
    const widget = button.closest<HTMLElement>(".cm-deletedChunk");
    if (!shown || !widget) return;
    const at = shown.posAtDOM(widget);
    const chunk = chunksOf(shown.state).find((each) => each.fromB <= at && each.endB >= at);
    if (chunk) act(chunk);
  });
  return button;
}
