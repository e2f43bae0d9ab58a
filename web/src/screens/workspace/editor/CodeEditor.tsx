import type { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { useIsViewer } from "@/api/account";
import { useNarrow } from "@/lib/media";
import type { OpenDoc } from "./doc";
import { usePlace, wantPlace } from "./place";
import { reveal } from "./reveal";

export function CodeEditor({ doc }: { doc: OpenDoc }) {
  const parent = useRef<HTMLDivElement>(null);
  const mounted = useRef<EditorView | null>(null);
  const isNarrow = useNarrow();
  const isViewer = useIsViewer(doc.projectId);
  const wanted = usePlace((state) => state.wanted);
  useEffect(() => {
    if (!parent.current) return undefined;
    const view = doc.mount(parent.current);
    mounted.current = view;
    // On a phone the keyboard would cover what was opened to be read.
    if (!isNarrow) view.focus();
    return () => doc.unmount();
  }, [doc, isNarrow]);
  useEffect(() => doc.setReadOnly(isViewer), [doc, isViewer]);
  useEffect(() => {
    const view = mounted.current;
    if (!view || !wanted || !doc.isAt(wanted.path)) return;
    wantPlace(null);
    if (!isNarrow) view.focus();
    reveal(view, wanted.place);
  }, [doc, isNarrow, wanted]);
  return <div ref={parent} className="h-full" />;
}
