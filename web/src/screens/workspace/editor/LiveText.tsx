import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef, useState } from "react";
import { useLang, useT } from "@/i18n/t";
import { formatNumber } from "@/lib/format";
import { stopRun } from "@/run/act";
import type { LiveBody } from "@/run/bodies";
import { Button } from "@/ui/button";
import { nameOf } from "../tree/paths";
import { prose } from "./setup";

/** So near to the end, in pixels, a reader is taken along. */
const NEAR = 120;

/** A file while the agent writes it: nobody else does, until the run is stopped. */
export function LiveText({ path, body }: { path: string; body: LiveBody }) {
  const t = useT();
  const lang = useLang();
  const [isStopping, setStopping] = useState(false);
  const stop = () => {
    setStopping(true);
    stopRun(body.runId).catch(() => setStopping(false));
  };
  return (
    <>
      <header className="flex h-10 shrink-0 items-center border-b border-line pr-1.5 pl-4 max-md:h-12">
        <h2 className="min-w-0 flex-1 truncate font-sans text-sm font-medium" title={path}>
          <span className="text-ink-3">{path.slice(0, path.length - nameOf(path).length)}</span>
          {nameOf(path)}
        </h2>
      </header>
      <div role="status" className="flex items-center gap-2 border-b border-line bg-accent-soft px-4 py-1.5 text-[13px] text-ink">
        <span className="flex-1">{t("live.writing")}</span>
        <Button size="s" disabled={isStopping} onClick={stop}>
          {isStopping ? t("run.stopping") : t("live.take_over")}
        </Button>
      </div>
      <Growing key={path} path={path} text={body.text} />
      <footer className="tabular flex h-8 shrink-0 items-center border-t border-line px-4 text-xs text-ink-3">
        <span data-testid="live-count">{t("editor.chars", { n: formatNumber([...body.text].length, lang) })}</span>
      </footer>
    </>
  );
}

function Growing({ path, text }: { path: string; text: string }) {
  const parent = useRef<HTMLDivElement>(null);
  const pen = useRef<Pen | null>(null);
  useEffect(() => {
    if (!parent.current) return undefined;
    pen.current = new Pen(parent.current, path);
    return () => pen.current?.close();
  }, [path]);
  useEffect(() => pen.current?.write(text), [text]);
  return <div ref={parent} data-testid="live-text" className="min-h-0 flex-1" />;
}

/** A read-only view that only ever grows, and follows its end as long as the reader stays there. */
class Pen {
  private readonly view: EditorView;
  private shown = "";
  private isFollowing = true;

  constructor(parent: HTMLElement, label: string) {
    const extensions = [prose(label), EditorState.readOnly.of(true), EditorView.editable.of(false)];
    this.view = new EditorView({ parent, state: EditorState.create({ extensions }) });
    this.view.scrollDOM.addEventListener("scroll", () => (this.isFollowing = this.isAtEnd()), { passive: true });
  }

  write(text: string): void {
    // A lone carriage return at the end may be the first half of a line end.
    const whole = text.endsWith("\r") ? text.slice(0, -1) : text;
    const isMore = whole.startsWith(this.shown);
    const end = this.view.state.doc.length;
    const changes = isMore ? { from: end, insert: whole.slice(this.shown.length) } : { from: 0, to: end, insert: whole };
    this.shown = whole;
    const { isFollowing } = this;
    this.view.dispatch({ changes });
    if (isFollowing) {
      const effects = EditorView.scrollIntoView(this.view.state.doc.length, { y: "end", yMargin: NEAR / 2 });
      this.view.dispatch({ effects });
    }
  }

  close(): void {
    this.view.destroy();
  }

  private isAtEnd(): boolean {
    const { scrollDOM, state } = this.view;
    const last = this.view.lineBlockAt(state.doc.length);
    return last.bottom <= scrollDOM.scrollTop + scrollDOM.clientHeight + NEAR;
  }
}
