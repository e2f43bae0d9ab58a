import { getOriginalDoc, originalDocChangeEffect } from "@codemirror/merge";
import { ChangeSet, type EditorState, type Text, type TransactionSpec } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { placeIn, type Passage } from "./passages";

/** What becomes of a passage that differs: the text in place stays, or the original comes back. */
export type Verdict = "accept" | "reject";

/** A passage may end one beyond a text whose last line has no end. */
function lines(text: Text, from: number, to: number): Text {
  return text.slice(Math.min(text.length, from), Math.min(text.length, to));
}

/**
 * Settle passages of a unified comparison. Texts are moved as lines, not as strings: the library's own
 * commands would break lines anew, and a file with other line ends would not get its bytes back.
 */
export function settle(state: EditorState, passages: readonly Passage[], verdict: Verdict): TransactionSpec {
  const original = getOriginalDoc(state);
  if (verdict === "reject") {
    const changes = passages.map(({ fromA, toA, fromB, toB }) => ({
      from: fromB,
      to: Math.min(state.doc.length, toB),
      insert: lines(original, fromA, toA),
    }));
    return { changes, userEvent: "revert" };
  }
  const changes = passages.map(({ fromA, toA, fromB, toB }) => ({
    from: fromA,
    to: Math.min(original.length, toA),
    insert: lines(state.doc, fromB, toB),
  }));
  return { effects: originalDocChangeEffect(state, ChangeSet.of(changes, original.length)), userEvent: "accept" };
}

/** Put the caret into a passage and the passage into view. */
export function goTo(view: EditorView, passages: readonly Passage[], at: number): void {
  const passage = passages[at];
  if (!passage) return;
  const anchor = Math.min(passage.fromB, view.state.doc.length);
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
}

/** `by` passages further, around the ends. */
export function goBy(view: EditorView, passages: readonly Passage[], by: 1 | -1): void {
  const { length } = passages;
  if (length > 0) goTo(view, passages, (placeIn(passages, view.state.selection.main.head) + by + length) % length);
}
