import { useEffect, useState } from "react";
import { useStore } from "zustand";
import { useLang, useT } from "@/i18n/t";
import { formatClock, formatNumber } from "@/lib/format";
import { count, type Count } from "./count";
import type { OpenDoc } from "./doc";

/** Lines longer than this make typing slow. */
const LONG_LINE = 10_000;
const COUNT_EVERY_MS = 400;

export function StatusBar({ doc }: { doc: OpenDoc }) {
  const t = useT();
  const lang = useLang();
  const { total, selected } = useCount(doc);
  return (
    <footer className="tabular flex h-8 shrink-0 items-center gap-4 border-t border-line px-4 text-xs text-ink-3">
      <span data-testid="char-count">{t("editor.chars", { n: formatNumber(total.chars, lang) })}</span>
      <span className="max-md:hidden">{t("editor.paragraphs", { n: formatNumber(total.paragraphs, lang) })}</span>
      {selected > 0 && <span>{t("editor.selected", { n: formatNumber(selected, lang) })}</span>}
      {total.longestLine > LONG_LINE && <span className="truncate text-warn">{t("editor.long_line")}</span>}
      <span className="flex-1" />
      <Saved doc={doc} />
    </footer>
  );
}

function Saved({ doc }: { doc: OpenDoc }) {
  const t = useT();
  const lang = useLang();
  const { phase, savedAt } = useStore(doc.store);
  const words = {
    clean: savedAt === null ? t("editor.unchanged") : t("editor.saved", { time: formatClock(savedAt, lang) }),
    dirty: t("editor.dirty"),
    saving: t("editor.saving"),
    failed: t("editor.unsaved"),
    conflict: t("editor.unsaved"),
    deleted: t("editor.unsaved"),
  }[phase];
  return (
    <span role="status" data-testid="save-state" data-phase={phase}>
      {words}
    </span>
  );
}

/** Counted now and then, and only when something has changed: a million characters take a while. */
function useCount(doc: OpenDoc): { total: Count; selected: number } {
  const [counted, setCounted] = useState(() => ({ total: count(doc.state.doc), selected: 0 }));
  useEffect(() => {
    let [seen, range] = [doc.state.doc, doc.state.selection.main];
    const timer = setInterval(() => {
      const { doc: now, selection } = doc.state;
      if (now === seen && selection.main.eq(range)) return;
      const isSame = now === seen;
      [seen, range] = [now, selection.main];
      const selected = range.empty ? 0 : count(now, range.from, range.to).chars;
      setCounted((old) => ({ total: isSame ? old.total : count(now), selected }));
    }, COUNT_EVERY_MS);
    return () => clearInterval(timer);
  }, [doc]);
  return counted;
}
