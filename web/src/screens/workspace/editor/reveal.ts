import { EditorSelection, type Text } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { unitsIn } from "@/lib/chars";
import type { Place } from "./place";

/** Frames in which a new view may still learn how high its lines are. */
const FRAMES = 8;

/** Select what stands at a place and bring it into the middle of the view. */
export function reveal(view: EditorView, place: Place): void {
  const { from, to } = rangeOf(view.state.doc, place);
  const effects = EditorView.scrollIntoView(from, { y: "center" });
  view.dispatch({ selection: EditorSelection.range(from, to), effects });
  const insist = (left: number) =>
    requestAnimationFrame(() => {
      if (left === 0 || !view.dom.isConnected || isShown(view, from)) return;
      view.dispatch({ effects });
      insist(left - 1);
    });
  insist(FRAMES);
}

/** A view that was just made scrolls by heights it has guessed, and may miss by far. */
function isShown(view: EditorView, at: number): boolean {
  const [spot, frame] = [view.coordsAtPos(at), view.scrollDOM.getBoundingClientRect()];
  return spot !== null && spot.top >= frame.top && spot.bottom <= frame.bottom;
}

/** Where the place is now: the text may have moved since it was found, then its nearest like is meant. */
export function rangeOf(doc: Text, { line, column, text }: Place): { from: number; to: number } {
  const row = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const at = row.from + unitsIn(row.text, column - 1);
  const from = doc.sliceString(at, at + text.length) === text ? at : nearest(doc.toString(), text, at);
  return from === null ? { from: at, to: at } : { from, to: from + text.length };
}

function nearest(all: string, text: string, at: number): number | null {
  const [before, after] = [all.lastIndexOf(text, at), all.indexOf(text, at)];
  if (before < 0 || after < 0) return before < 0 && after < 0 ? null : Math.max(before, after);
  return at - before < after - at ? before : after;
}
