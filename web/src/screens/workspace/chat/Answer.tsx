import { Suspense } from "react";
import { late } from "@/lib/late";

const Markdown = late(() => import("@/markdown/Markdown").then((module) => module.Markdown));

/** Until the renderer is here the words are shown as they are. */
export function Answer({ text }: { text: string }) {
  return (
    <Suspense fallback={<div className="prose text-[15px] whitespace-pre-wrap">{text}</div>}>
      <Markdown text={text} className="text-[15px]" />
    </Suspense>
  );
}
