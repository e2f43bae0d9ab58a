import { FileDiff, FileText } from "lucide-react";
import { useT } from "@/i18n/t";
import type { ToolRow } from "@/run/state";
import { Button } from "@/ui/button";
import { useWorkspace } from "../../context";
import { nameOf } from "../../tree/paths";
import { startReview } from "../../versions/store";
import { useFolder } from "../../versions/use-folder";

/** The files that a call wrote: open them, or look through what the run changed in them. */
export function TouchedFiles({ row, runId }: { row: ToolRow; runId: string }) {
  const t = useT();
  const { projectId, openFile } = useWorkspace();
  const folder = useFolder(projectId);
  const written = (row.result?.effects ?? []).filter((effect) => effect.type !== "file_read");
  if (written.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2 px-3 pb-2.5">
      {written.map(({ path, type }) => (
        <li key={path} className="flex max-w-full flex-wrap gap-2">
          <Button size="s" aria-label={t("tool.open_file", { path })} title={path} onClick={() => openFile(path)} className="max-w-full">
            <FileText aria-hidden className="size-3.5 shrink-0 text-ink-3" />
            <span className="truncate">{nameOf(path)}</span>
          </Button>
          {type === "file_written" && !folder && (
            <Button
              size="s"
              look="ghost"
              onClick={() => {
                startReview({ path, runId });
                openFile(path);
              }}
            >
              <FileDiff aria-hidden className="size-3.5" />
              {t("review.open")}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
