import { getOriginalDoc, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type TransactionSpec } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { createStore } from "zustand";
import { t } from "@/i18n/t";
import { controls } from "../diff/controls";
import { lineFirst } from "../diff/line-first";
import { sharedBreak, textOf } from "../diff/pair";
import { passagesOf, placeIn, type Passage } from "../diff/passages";
import { goBy, goTo, settle, type Verdict } from "../diff/settle";
import { unfoldsByKey } from "../diff/unfold";
import type { OpenDoc } from "../editor/doc";
import { reading } from "../editor/setup";

/** A passage that was decided on, by what stood there before and what stands there now. */
interface Decision {
  passage: string;
  verdict: Verdict;
}

export interface Progress {
  /** The passage in view among those that are not decided on, from 0; -1 without any. */
  at: number;
  left: number;
  accepted: number;
  rejected: number;
  canUndo: boolean;
  /** Whether the file changed after the review began. */
  isRebased: boolean;
}

interface Step {
  state: EditorState;
  decisions: readonly Decision[];
}

/**
 * A person goes through what was changed in a text. Nothing is stored: `text` is what has been chosen so
 * far, with passages that nobody decided on as they are now.
 */
export class ReviewSession {
  readonly store = createStore<Progress>(() => ({ at: -1, left: 0, accepted: 0, rejected: 0, canUndo: false, isRebased: false }));
  state: EditorState;
  private view: EditorView | null = null;
  private decisions: readonly Decision[] = [];
  private past: Step[] = [];

  constructor(
    readonly before: string,
    private now: string,
  ) {
    this.state = this.makeState();
    this.tell();
  }

  private makeState(): EditorState {
    const lineBreak = sharedBreak(this.before, this.now);
    const words = { accept: t("review.accept"), reject: t("review.reject") };
    return EditorState.create({
      doc: this.now,
      extensions: [
        EditorState.lineSeparator.of(lineBreak),
        reading(t("review.label")),
        unifiedMergeView({
          original: textOf(this.before, lineBreak),
          diffConfig: { override: lineFirst },
          collapseUnchanged: { margin: 2, minSize: 6 },
          allowInlineDiffs: true,
          gutter: false,
          mergeControls: false,
        }),
        controls(words, (_, passage, verdict) => this.decide([passage], verdict)),
        unfoldsByKey,
        EditorView.updateListener.of(({ state }) => {
          this.state = state;
          this.tell();
        }),
      ],
    });
  }

  mount(parent: HTMLElement): EditorView {
    this.view = new EditorView({ state: this.state, parent });
    this.goHere();
    return this.view;
  }

  unmount(): void {
    this.view?.destroy();
    this.view = null;
  }

  get text(): string {
    return this.state.sliceDoc();
  }

  private get at(): number {
    return placeIn(passagesOf(this.state), this.state.selection.main.head);
  }

  private goHere(): void {
    if (this.view) goTo(this.view, passagesOf(this.state), this.at);
  }

  private apply(spec: TransactionSpec): void {
    if (this.view) this.view.dispatch(spec);
    else this.state = this.state.update(spec).state;
  }

  private tell(): void {
    const rejected = this.decisions.filter(({ verdict }) => verdict === "reject").length;
    this.store.setState({
      at: this.at,
      left: passagesOf(this.state).length,
      accepted: this.decisions.length - rejected,
      rejected,
      canUndo: this.past.length > 0,
    });
  }

  private decide(passages: readonly Passage[], verdict: Verdict): void {
    if (passages.length === 0) return;
    this.past.push({ state: this.state, decisions: this.decisions });
    const made = passages.map((each) => ({ passage: wordsOf(this.state, each), verdict }));
    this.decisions = [...this.decisions, ...made];
    const at = Math.min(passages[0]!.fromB, this.state.doc.length);
    this.apply({ ...settle(this.state, passages, verdict), selection: { anchor: at } });
    this.tell();
    this.goHere();
  }

  /** Decide on the passage in view. */
  decideHere(verdict: Verdict): void {
    const passage = passagesOf(this.state)[this.at];
    if (passage) this.decide([passage], verdict);
  }

  /** Decide on all that is left. */
  decideAll(verdict: Verdict): void {
    this.decide(passagesOf(this.state), verdict);
  }

  undo(): void {
    const step = this.past.pop();
    if (step) this.show(step);
  }

  private show({ state, decisions }: Step): void {
    this.state = state;
    this.decisions = decisions;
    this.view?.setState(state);
    this.tell();
    this.goHere();
  }

  go(by: 1 | -1): void {
    if (this.view) goBy(this.view, passagesOf(this.state), by);
  }

  /** The file was changed meanwhile: compare anew. Decisions on passages that still differ as before stay. */
  rebase(now: string): void {
    if (now === this.now) return;
    this.now = now;
    const made = new Map<string, Verdict | null>();
    for (const { passage, verdict } of this.decisions) {
      made.set(passage, made.has(passage) && made.get(passage) !== verdict ? null : verdict);
    }
    let state = this.makeState();
    const decisions: Decision[] = [];
    for (const verdict of ["accept", "reject"] as const) {
      const passages = passagesOf(state).filter((each) => made.get(wordsOf(state, each)) === verdict);
      decisions.push(...passages.map((each) => ({ passage: wordsOf(state, each), verdict })));
      if (passages.length > 0) state = state.update(settle(state, passages, verdict)).state;
    }
    this.past = [];
    this.store.setState({ isRebased: true });
    this.show({ state, decisions });
  }
}

/** Reviews that are not finished: the screen may show another file, or the agent at work, in between. */
const begun = new WeakMap<OpenDoc, ReviewSession>();

export function resumeReview(doc: OpenDoc, before: string): ReviewSession {
  const known = begun.get(doc);
  const session = known?.before === before ? known : new ReviewSession(before, doc.text);
  begun.set(doc, session);
  session.rebase(doc.text);
  return session;
}

export function forgetReview(doc: OpenDoc): void {
  begun.delete(doc);
}

function wordsOf(state: EditorState, { fromA, toA, fromB, toB }: Passage): string {
  return `${getOriginalDoc(state).sliceString(fromA, toA)}\0${state.doc.sliceString(fromB, toB)}`;
}
