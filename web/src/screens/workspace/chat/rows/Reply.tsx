import { LoaderCircle } from "lucide-react";
import { useLang, useT } from "@/i18n/t";
import { formatNumber } from "@/lib/format";
import { bodyOf } from "@/run/bodies";
import type { Block, ReplyRow } from "@/run/state";
import { useWorkspace } from "../../context";
import { Answer } from "../Answer";
import { Thought } from "./Thought";
import { usePathOf } from "../../tree/path-of";
import { useToolWords } from "./tool-words";

export function Reply({ row, isRunning }: { row: ReplyRow; isRunning: boolean }) {
  if (row.blocks.length === 0) return null;
  return (
    <div className="flex flex-col gap-3">
      {row.blocks.map((block) => (
        <BlockView key={block.index} row={row} block={block} isLive={row.live && block === row.blocks.at(-1)} isRunning={isRunning} />
      ))}
    </div>
  );
}

function BlockView({ row, block, isLive, isRunning }: { row: ReplyRow; block: Block; isLive: boolean; isRunning: boolean }) {
  switch (block.kind) {
    case "text":
      return block.text.trim() ? <Answer text={block.text} /> : null;
    case "thinking":
      return block.text.trim() ? <Thought text={block.text} isLive={isLive} isRunning={isRunning} /> : null;
    case "call":
      return <WrittenCall row={row} block={block} isLive={isLive} />;
  }
}

/** A call while its arguments are being written; the finished message turns it into a tool card. */
function WrittenCall({ row, block, isLive }: { row: ReplyRow; block: Block; isLive: boolean }) {
  const t = useT();
  const lang = useLang();
  const { openFile } = useWorkspace();
  const { title } = useToolWords(block.name ?? "", {});
  const pathOf = usePathOf();
  const body = bodyOf("", row, block);
  const path = body?.file && pathOf(body.file);
  return (
    <div className="flex items-center gap-2 rounded-lg border border-dashed border-line-2 px-3 py-2 text-sm text-ink-2">
      {isLive && <LoaderCircle aria-hidden className="size-4 animate-spin text-ink-3" />}
      <span>{block.name ? title : t("tool.any")}</span>
      {path && (
        <button type="button" className="min-w-0 truncate text-accent underline-offset-2 hover:underline" onClick={() => openFile(path)}>
          {path}
        </button>
      )}
      {body && body.text && <span className="tabular text-ink-3">{t("editor.chars", { n: formatNumber([...body.text].length, lang) })}</span>}
      {!(isLive && body?.text) && <span className="text-ink-3">{isLive ? t("tool.writing") : t("tool.unfinished")}</span>}
    </div>
  );
}
