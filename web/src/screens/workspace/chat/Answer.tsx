import { lazy, Suspense } from "react";

const Markdown = lazy(() => import("@/markdown/Markdown").then((module) => ({ default: module.Markdown })));

/** Until the renderer is here the words are shown as they are. */
export function Answer({ text }: { text: string }) {
  return (
    <Suspense fallback={<div className="prose text-[15px] whitespace-pre-wrap">{text}</div>}>
      <Markdown text={text} className="text-[15px]" />
    </Suspense>
  );
}
