import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { FileText } from "@/api/types";
import { useT, t as words } from "@/i18n/t";
import { Button } from "@/ui/button";
import type { OpenDoc } from "../editor/doc";
import { editing } from "../editor/setup";
import { controls } from "./controls";
import { lineFirst } from "./line-first";
import { sharedBreak, textOf } from "./pair";
import { settle } from "./settle";
import { unfoldsByKey } from "./unfold";

/** Both texts in one view: theirs struck out, ours in place. Nothing is stored before it is chosen. */
export function Conflict({ doc, theirs }: { doc: OpenDoc; theirs: FileText }) {
  const t = useT();
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  useEffect(() => {
    if (!parent.current) return undefined;
    const merge = makeView(parent.current, doc, theirs);
    view.current = merge;
    merge.focus();
    return () => merge.destroy();
  }, [doc, theirs]);
  return (
    <div className="flex h-full flex-col">
      <div role="alert" className="border-b border-line bg-warn-soft px-4 py-3">
        <p className="text-sm font-medium text-warn">{t("conflict.title")}</p>
        <p className="mt-0.5 text-[13px] text-ink-2">{t("conflict.hint")}</p>
        <div className="mt-2.5 flex flex-wrap gap-2">
          <Button size="s" look="primary" onClick={() => void doc.resolve(view.current?.state.sliceDoc() ?? doc.text)}>
            {t("conflict.save")}
          </Button>
          <Button size="s" onClick={() => void doc.resolve(doc.text)}>
            {t("conflict.mine")}
          </Button>
          <Button size="s" onClick={() => void doc.resolve(theirs.text)}>
            {t("conflict.theirs")}
          </Button>
        </div>
      </div>
      <div ref={parent} className="comparison min-h-0 flex-1" />
    </div>
  );
}

function makeView(parent: HTMLElement, doc: OpenDoc, theirs: FileText): EditorView {
  const lineBreak = sharedBreak(doc.text, theirs.text);
  const labels = { accept: words("conflict.keep_mine"), reject: words("conflict.take_theirs") };
  const state = EditorState.create({
    doc: doc.text,
    extensions: [
      EditorState.lineSeparator.of(lineBreak),
      editing(words("conflict.label")),
      unifiedMergeView({
        original: textOf(theirs.text, lineBreak),
        diffConfig: { override: lineFirst },
        collapseUnchanged: { margin: 2, minSize: 6 },
        gutter: false,
        mergeControls: false,
      }),
      controls(labels, (shown, passage, verdict) => shown.dispatch(settle(shown.state, [passage], verdict))),
      unfoldsByKey,
    ],
  });
  return new EditorView({ state, parent });
}
