import { Annotation, Compartment, EditorState, Transaction, type Text } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { createStore } from "zustand";
import { ApiError } from "@/api/client";
import type { Fact, FileText } from "@/api/types";
import { loadFile, OUTLIVES_CHARS, saveFile } from "./file-api";
import { addSaver } from "./saving";
import { editing, lineBreakOf } from "./setup";

const IDLE_MS = 1500;

/** Changes that come from outside: no undo step, nothing to save. */
const outside = Annotation.define<boolean>();

/** Whether typing changes anything: not for one who may only look. */
const access = new Compartment();

export interface DocState {
  phase: "clean" | "dirty" | "saving" | "failed" | "conflict" | "deleted";
  savedAt: number | null;
  problem: unknown;
  /** What is stored now, while it differs from both what was opened and what was written. */
  theirs: FileText | null;
  /** The stored text that ours was made from; null for a file that is yet to be stored. */
  revision: string | null;
}

/** One open file: its text, what of it is saved, and what to do when it changes elsewhere. */
export class OpenDoc {
  readonly store = createStore<DocState>(() => ({ phase: "clean", savedAt: null, problem: null, theirs: null, revision: null }));
  state: EditorState;
  /** The path before a rename, for the moment in which the screen still has it. */
  pathBefore: string | null = null;
  private view: EditorView | null = null;
  private saved: { text: Text; lineBreak: string };
  private timer: ReturnType<typeof setTimeout> | undefined;
  private inFlight: Promise<void> = Promise.resolve();
  private isSyncQueued = false;
  private isReadOnly = false;
  private readonly forget = addSaver({ save: () => this.save(), isUnsaved: () => this.isAtRisk });

  constructor(
    readonly projectId: string,
    public path: string,
    file: FileText,
  ) {
    this.state = this.makeState(file.text);
    this.saved = this.written;
    this.base = file.revision;
  }

  private get base(): string | null {
    return this.store.getState().revision;
  }

  private set base(revision: string | null) {
    this.set({ revision });
  }

  /** What is in the editor, to be kept as what is stored. */
  private get written() {
    return { text: this.state.doc, lineBreak: this.state.lineBreak };
  }

  private makeState(text: string): EditorState {
    return EditorState.create({
      doc: text,
      extensions: [
        EditorState.lineSeparator.of(lineBreakOf(text)),
        editing(this.path),
        access.of(EditorState.readOnly.of(this.isReadOnly)),
        EditorView.updateListener.of((update) => {
          this.state = update.state;
          const isOurs = update.transactions.some((each) => each.docChanged && !each.annotation(outside));
          if (isOurs) this.touch();
        }),
        EditorView.domEventHandlers({ blur: () => void this.save() }),
      ],
    });
  }

  mount(parent: HTMLElement): EditorView {
    this.view = new EditorView({ state: this.state, parent });
    return this.view;
  }

  setReadOnly(isReadOnly: boolean): void {
    if (isReadOnly === this.isReadOnly) return;
    this.isReadOnly = isReadOnly;
    const spec = { effects: access.reconfigure(EditorState.readOnly.of(isReadOnly)) };
    if (this.view) this.view.dispatch(spec);
    else this.state = this.state.update(spec).state;
  }

  unmount(): void {
    void this.save();
    this.view?.destroy();
    this.view = null;
  }

  close(): void {
    clearTimeout(this.timer);
    this.forget();
  }

  isAt(path: string): boolean {
    return path === this.path || path === this.pathBefore;
  }

  moveTo(path: string): void {
    this.pathBefore = this.path;
    this.path = path;
  }

  get text(): string {
    return this.state.sliceDoc();
  }

  get isDirty(): boolean {
    return !this.state.doc.eq(this.saved.text) || this.state.lineBreak !== this.saved.lineBreak;
  }

  /** Closing the page now would lose words: they are unsaved and no save in flight would outlive it. */
  private get isAtRisk(): boolean {
    const isSaving = ["dirty", "saving", "clean"].includes(this.store.getState().phase);
    return this.isDirty && !(isSaving && this.state.doc.length < OUTLIVES_CHARS);
  }

  private set(patch: Partial<DocState>): void {
    this.store.setState(patch);
  }

  private touch(): void {
    const { phase } = this.store.getState();
    if (phase === "conflict" || phase === "deleted") return;
    if (phase !== "dirty") this.set({ phase: "dirty" });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.save(), IDLE_MS);
  }

  /** Store what was written, after whatever is being stored already. */
  save(): Promise<void> {
    clearTimeout(this.timer);
    this.inFlight = this.inFlight.then(() => this.saveNow());
    return this.inFlight;
  }

  private async saveNow(): Promise<void> {
    const { phase } = this.store.getState();
    if (phase === "conflict" || phase === "deleted") return;
    if (!this.isDirty) {
      if (phase === "dirty") this.set({ phase: "clean" });
      return;
    }
    this.set({ phase: "saving", problem: null });
    const { written } = this;
    try {
      const { revision } = await saveFile(this.projectId, this.path, this.text, this.base);
      this.saved = written;
      this.set({ phase: "clean", savedAt: Date.now() / 1000, revision });
      if (this.isDirty) this.touch();
    } catch (error) {
      if (error instanceof ApiError && error.code === "revision_conflict") await this.compare();
      else this.set({ phase: "failed", problem: error });
    }
  }

  /** The file changed, perhaps by ourselves: our own saves are known by their revision. */
  async onChanged(event: Fact<"file.changed">): Promise<void> {
    await this.inFlight;
    if (event.change === "deleted") this.set({ phase: "deleted" });
    else if (event.revision !== this.base || this.store.getState().phase === "deleted") await this.sync();
  }

  /** Take what is stored, or show both if something of ours would be lost. */
  sync(): Promise<void> {
    if (this.isSyncQueued) return this.inFlight;
    this.isSyncQueued = true;
    this.inFlight = this.inFlight.then(() => {
      this.isSyncQueued = false;
      return this.compare();
    });
    return this.inFlight;
  }

  private async compare(): Promise<void> {
    let theirs: FileText;
    try {
      theirs = await loadFile(this.projectId, this.path);
    } catch (error) {
      const isGone = error instanceof ApiError && error.code === "file_not_found";
      this.set(isGone ? { phase: "deleted" } : { phase: "failed", problem: error });
      return;
    }
    if (theirs.revision === this.base) {
      if (this.store.getState().phase === "deleted") this.set({ phase: this.isDirty ? "dirty" : "clean" });
      return;
    }
    if (this.isDirty && theirs.text !== this.text) {
      clearTimeout(this.timer);
      this.set({ phase: "conflict", theirs });
      return;
    }
    await this.adopt(theirs);
  }

  private async adopt(theirs: FileText): Promise<void> {
    await this.composed();
    this.replace(theirs.text);
    this.saved = this.written;
    this.set({ phase: "clean", theirs: null, problem: null, revision: theirs.revision });
  }

  /** Nothing may change under a person who is composing a character. */
  private composed(): Promise<void> {
    const { view } = this;
    if (!view?.compositionStarted) return Promise.resolve();
    return new Promise((resolve) =>
      view.contentDOM.addEventListener("compositionend", () => setTimeout(resolve), { once: true }),
    );
  }

  private replace(text: string, isOurs = false): void {
    if (this.text === text) return;
    if (lineBreakOf(text) !== this.state.lineBreak) {
      this.state = this.makeState(text);
      this.view?.setState(this.state);
      return;
    }
    const changes = difference(this.state, text);
    const spec = isOurs ? { changes } : { changes, annotations: [outside.of(true), Transaction.addToHistory.of(false)] };
    if (this.view) this.view.dispatch(spec);
    else this.state = this.state.update(spec).state;
  }

  /** Make this the text as a step of the person's own, which can be undone, and store it. */
  rewrite(text: string): Promise<void> {
    this.replace(text, true);
    this.touch();
    return this.save();
  }

  /** The person has compared: `text` is what they want, made from what was stored as `theirs`. */
  resolve(text: string): Promise<void> {
    const { theirs } = this.store.getState();
    if (!theirs) return Promise.resolve();
    this.replace(text);
    this.saved = { ...this.written, text: this.state.toText(theirs.text) };
    this.set({ phase: "dirty", theirs: null, revision: theirs.revision });
    return this.save();
  }

  /** Store a file again that was deleted elsewhere. */
  revive(): Promise<void> {
    this.saved = { ...this.written, text: this.state.toText("\0") };
    this.set({ phase: "dirty", revision: null });
    return this.save();
  }
}

/** The one stretch that differs, so that caret, selection and scroll position stay where they are. */
function difference(state: EditorState, text: string) {
  const wanted = state.toText(text);
  const [a, b] = [state.doc.toString(), wanted.toString()];
  const most = Math.min(a.length, b.length);
  let [from, end] = [0, 0];
  while (from < most && a[from] === b[from]) from += 1;
  while (end < most - from && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return { from, to: a.length - end, insert: wanted.slice(from, b.length - end) };
}
