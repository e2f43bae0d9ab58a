import { Check, ChevronRight, LoaderCircle, TriangleAlert } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import { useT, isKey } from "@/i18n/t";
import { formatSeconds } from "@/lib/format";
import type { ToolRow } from "@/run/state";
import { cx } from "@/ui/cx";
import { Progress } from "@/ui/progress";
import { TouchedFiles } from "./TouchedFiles";
import { useToolWords } from "./tool-words";

const WORTH_SAYING_S = 0.1;

export function ToolCard({ row, runId }: { row: ToolRow; runId: string }) {
  const seconds = row.result?.seconds ?? 0;
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const { title, about } = useToolWords(row.name, row.args);
  return (
    <div className={cx("rounded-lg border bg-surface", row.result?.is_error ? "border-bad/40" : "border-line")}>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        className="flex h-9 w-full items-center gap-2 rounded-lg px-3 text-left text-sm max-md:h-11"
      >
        <Phase row={row} />
        <span className="shrink-0 font-medium">{title}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-[13px] text-ink-3">{about}</span>
        {seconds >= WORTH_SAYING_S && <span className="tabular shrink-0 text-xs text-ink-3">{formatSeconds(seconds)}</span>}
        <ChevronRight aria-hidden className={cx("size-4 shrink-0 text-ink-3 transition-transform", isOpen && "rotate-90")} />
      </button>
      {row.progress && <Doing progress={row.progress} label={title} />}
      <TouchedFiles row={row} runId={runId} />
      {isOpen && <Details id={id} row={row} />}
    </div>
  );
}

function Phase({ row }: { row: ToolRow }) {
  const t = useT();
  if (row.phase !== "done") {
    return (
      <LoaderCircle
        role="img"
        aria-label={row.phase === "waiting" ? t("tool.waiting") : t("tool.running")}
        className={cx("size-4 shrink-0 text-ink-3", row.phase === "running" && "animate-spin")}
      />
    );
  }
  return row.result?.is_error ? (
    <TriangleAlert role="img" aria-label={t("tool.failed")} className="size-4 shrink-0 text-bad" />
  ) : (
    <Check role="img" aria-label={t("tool.done")} className="size-4 shrink-0 text-good" />
  );
}

function Doing({ progress, label }: { progress: NonNullable<ToolRow["progress"]>; label: string }) {
  return (
    <div className="flex items-center gap-3 px-3 pb-2.5 text-[13px] text-ink-3">
      <Progress label={label} fraction={progress.fraction} />
      <span className="max-w-1/2 truncate">{progress.text}</span>
    </div>
  );
}

function Details({ id, row }: { id: string; row: ToolRow }) {
  const t = useT();
  const errorKey = `toolerror.${row.result?.error_type ?? ""}`;
  const why = wordsOf(row.result?.details) ?? (isKey(errorKey) ? t(errorKey) : null);
  const output = row.result?.content
    .map((block) => (block.type === "text" ? block.text : t("tool.image")))
    .join("\n");
  return (
    <div id={id} className="flex flex-col gap-3 border-t border-line px-3 pt-2.5 pb-3">
      <Part label={t("tool.args")}>{JSON.stringify(row.args, null, 2)}</Part>
      {row.result && (
        <div>
          {row.result.is_error && why && <p className="mb-2 text-[13px] text-bad">{why}</p>}
          <Part label={row.result.is_error ? t("tool.error") : t("tool.result")}>{output || t("tool.nothing")}</Part>
        </div>
      )}
    </div>
  );
}

/** What a tool says to its author about a failure. */
function wordsOf(details: unknown): string | null {
  const said = details !== null && typeof details === "object" && "user_message" in details ? details.user_message : null;
  return typeof said === "string" ? said : null;
}

function Part({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <p className="mb-1 text-xs text-ink-3">{label}</p>
      <pre role="group" aria-label={label} tabIndex={0} className="max-h-72 overflow-auto rounded-md bg-sunken p-2.5 font-mono text-[13px] leading-relaxed wrap-anywhere whitespace-pre-wrap">
        {children}
      </pre>
    </div>
  );
}
