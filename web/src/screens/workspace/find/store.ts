import { create } from "zustand";

interface Finding {
  isOpen: boolean;
  phrase: string;
  matchCase: boolean;
  /** How often it was asked for: each time the field takes the focus. */
  asked: number;
  /** What had the focus before. */
  opener: Element | null;
}

/** What is looked for in the project; it stays while one goes back and forth. */
export const useFinding = create<Finding>(() => ({ isOpen: false, phrase: "", matchCase: false, asked: 0, opener: null }));

/** Hear each time that it is asked for. Returns the way to stop. */
export function onAsked(listener: () => void): () => void {
  return useFinding.subscribe((state, before) => {
    if (state.asked !== before.asked) listener();
  });
}

/** Look for `phrase`, or for what was looked for last. */
export function startFinding(phrase?: string): void {
  useFinding.setState(({ asked, phrase: last }) => ({
    isOpen: true,
    phrase: phrase || last,
    asked: asked + 1,
    opener: document.activeElement?.closest("[role=dialog]") ? null : document.activeElement,
  }));
}

/** The button that it can be asked for with. */
export const FIND_BUTTON = "find-in-project";

/** Back to the tree, the focus to where it was. */
export function stopFinding(): void {
  const { opener } = useFinding.getState();
  useFinding.setState({ isOpen: false, opener: null });
  requestAnimationFrame(() => {
    const to = opener?.isConnected && opener !== document.body ? opener : document.getElementById(FIND_BUTTON);
    if (to instanceof HTMLElement) to.focus();
  });
}

/** What was looked for was another project's. */
export function forgetFinding(): void {
  useFinding.setState({ isOpen: false, phrase: "", opener: null });
}

const LONGEST = 200;

/** One line that is selected in the editor: what one most likely wants to find elsewhere. */
export function selectedPhrase(): string {
  const selection = document.getSelection();
  const node = selection?.anchorNode;
  const element = node instanceof Element ? node : node?.parentElement;
  const text = element?.closest(".cm-content") ? (selection?.toString() ?? "") : "";
  return text.length > LONGEST || text.includes("\n") ? "" : text;
}
