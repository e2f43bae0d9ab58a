import { redecorates } from "./redecorate";
import { chunkAt, chunksOf } from "./settle";

/** Marks the buttons of the passage that the caret is at. */
export const marksCurrent = redecorates((view) => {
  const current = chunksOf(view.state)[chunkAt(view.state)];
  for (const widget of view.contentDOM.querySelectorAll<HTMLElement>(".cm-deletedChunk")) {
    widget.toggleAttribute("data-current", view.posAtDOM(widget) === current?.fromB);
  }
});
