import { useEffect, useRef } from "react";
import { useNarrow } from "@/lib/media";
import type { OpenDoc } from "./doc";

export function CodeEditor({ doc }: { doc: OpenDoc }) {
  const parent = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow();
  useEffect(() => {
    if (!parent.current) return undefined;
    const view = doc.mount(parent.current);
    // On a phone the keyboard would cover what was opened to be read.
    if (!isNarrow) view.focus();
    return () => doc.unmount();
  }, [doc, isNarrow]);
  return <div ref={parent} className="h-full" />;
}
