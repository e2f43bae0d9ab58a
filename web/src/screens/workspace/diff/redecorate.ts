import { EditorView, ViewPlugin } from "@codemirror/view";

/** Adds to what a comparison has drawn, once per painted frame: the library has no door for it. */
export function redecorates(decorate: (view: EditorView) => void) {
  return ViewPlugin.fromClass(
    class {
      private frame = 0;

      constructor(private readonly view: EditorView) {
        this.update();
      }

      update(): void {
        this.frame ||= requestAnimationFrame(() => {
          this.frame = 0;
          decorate(this.view);
        });
      }

      destroy(): void {
        cancelAnimationFrame(this.frame);
      }
    },
  );
}
