import { getChunks } from "@codemirror/merge";
import { StateField, type EditorState, type Extension } from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";
import { passagesOf, placeIn, type Passage } from "./passages";
import { redecorates } from "./redecorate";
import type { Verdict } from "./settle";

type Act = (view: EditorView, passage: Passage, verdict: Verdict) => void;

/** Above the text that the original's is shown above of. */
const SIDE = -2;

class Buttons extends WidgetType {
  constructor(
    private readonly words: Readonly<Record<Verdict, string>>,
    private readonly act: Act,
  ) {
    super();
  }

  override eq(other: Buttons): boolean {
    return other.act === this.act;
  }

  override toDOM(view: EditorView): HTMLElement {
    const row = document.createElement("div");
    row.className = "cm-chunkButtons";
    row.append(this.button(view, row, "accept"), this.button(view, row, "reject"));
    return row;
  }

  private button(view: EditorView, row: HTMLElement, verdict: Verdict): HTMLElement {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = this.words[verdict];
    button.addEventListener("mousedown", (event) => event.preventDefault());
    button.addEventListener("click", () => {
      const passages = passagesOf(view.state);
      const passage = passages[placeIn(passages, view.posAtDOM(row))];
      if (passage) this.act(view, passage, verdict);
    });
    return button;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

/** Two buttons above each passage that settle it. */
export function controls(words: Readonly<Record<Verdict, string>>, act: Act): Extension {
  const widget = Decoration.widget({ widget: new Buttons(words, act), block: true, side: SIDE });
  const build = (state: EditorState) => Decoration.set(passagesOf(state).map(({ fromB }) => widget.range(Math.min(fromB, state.doc.length))));
  const field = StateField.define<DecorationSet>({
    create: build,
    update: (shown, { state, startState }) => (getChunks(state)?.chunks === getChunks(startState)?.chunks ? shown : build(state)),
    provide: (each) => EditorView.decorations.from(each),
  });
  return [field, marksCurrent];
}

/** Marks the buttons of the passage that the caret is at. */
const marksCurrent = redecorates((view) => {
  const passages = passagesOf(view.state);
  const current = passages[placeIn(passages, view.state.selection.main.head)];
  for (const row of view.contentDOM.querySelectorAll<HTMLElement>(".cm-chunkButtons")) {
    row.toggleAttribute("data-current", view.posAtDOM(row) === current?.fromB);
  }
});
