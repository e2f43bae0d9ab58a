import { EditorView, ViewPlugin } from "@codemirror/view";
import { chunkAt, chunksOf } from "./settle";

/** Marks the buttons of the passage that the caret is at. */
export const marksCurrent = ViewPlugin.fromClass(
  class {
    constructor(view: EditorView) {
      this.mark(view);
    }

    update({ view }: { view: EditorView }): void {
      this.mark(view);
    }

    mark(view: EditorView): void {
      view.requestMeasure({
        key: this,
        read: () => {
          const current = chunksOf(view.state)[chunkAt(view.state)];
          const widgets = [...view.contentDOM.querySelectorAll<HTMLElement>(".cm-deletedChunk")];
          return widgets.map((widget) => ({ widget, isCurrent: view.posAtDOM(widget) === current?.fromB }));
        },
        write: (found) => {
          for (const { widget, isCurrent } of found) widget.toggleAttribute("data-current", isCurrent);
        },
      });
    }
  },
);
