import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, type KeyboardEvent } from "react";
import { filesQuery } from "@/api/queries";
import type { Version } from "@/api/types";
import { useLang, useT } from "@/i18n/t";
import { formatNumber, formatWhen } from "@/lib/format";
import { useNow } from "@/lib/now";
import { useRuns } from "@/run/store";
import { cx } from "@/ui/cx";
import { useWorkspace } from "../context";
import { currentOf } from "./base";

interface Props {
  path: string;
  versions: readonly Version[];
  shown: number;
  onShow: (version: Version) => void;
}

/** How far a key moves in the list; whole ends by a number beyond them. */
const MOVES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

export function VersionList({ path, versions, shown, onShow }: Props) {
  const t = useT();
  const { projectId } = useWorkspace();
  const list = useRef<HTMLOListElement>(null);
  const now = useNow(30_000);
  const revision = useQuery(filesQuery(projectId)).data?.entries.find((entry) => entry.path === path)?.revision;
  const current = currentOf(versions, revision);
  useEffect(() => list.current?.querySelector<HTMLElement>("[aria-current=true]")?.focus(), []);

  const onKeyDown = (event: KeyboardEvent) => {
    const by = MOVES[event.key];
    const rows = [...(list.current?.querySelectorAll("button") ?? [])];
    const at = rows.findIndex((row) => row === document.activeElement);
    if (by === undefined || at < 0) return;
    event.preventDefault();
    rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
  };
  return (
    <ol ref={list} aria-label={t("versions.list")} className="min-h-0 overflow-y-auto p-2 md:border-r md:border-line">
      {versions.map((version) => (
        <li key={version.n} className="[contain-intrinsic-size:auto_4.25rem] [content-visibility:auto]">
          <button
            type="button"
            aria-current={version.n === shown}
            onClick={() => onShow(version)}
            onKeyDown={onKeyDown}
            className={cx(
              "flex w-full flex-col gap-0.5 rounded-lg px-3 py-2 text-left -outline-offset-2 transition-colors hover:bg-sunken",
              version.n === shown && "bg-sunken",
            )}
          >
            <Row version={version} isCurrent={version === current} now={now} />
          </button>
        </li>
      ))}
    </ol>
  );
}

function Row({ version, isCurrent, now }: { version: Version; isCurrent: boolean; now: number }) {
  const t = useT();
  const lang = useLang();
  const { n, actor, change, lines_added: added, lines_removed: removed, words, origin, saved_at: at } = version;
  return (
    <>
      <span className="flex items-center gap-2 text-sm">
        <span className="tabular font-medium">{t("versions.number", { n })}</span>
        <span className={actor === "ai" ? "text-accent" : "text-ink-2"}>{t(`versions.actor.${actor}`)}</span>
        <span className="rounded-full border border-line-2 px-1.5 text-xs text-ink-2">{t(`versions.change.${change}`)}</span>
        {isCurrent && <span className="rounded-full bg-good-soft px-1.5 text-xs text-good">{t("versions.current")}</span>}
        <span className="flex-1" />
        <time dateTime={new Date(at * 1000).toISOString()} className="shrink-0 text-xs text-ink-3">
          {formatWhen(at, now, lang)}
        </time>
      </span>
      {version.run_id !== null && <Run id={version.run_id} />}
      <span className="tabular flex flex-wrap gap-x-3 text-xs text-ink-3">
        <span aria-label={t("versions.lines.title", { added, removed })} role="img">
          {t("versions.lines", { added, removed })}
        </span>
        <span>{t("versions.words", { n: formatNumber(words, lang) })}</span>
        {origin !== null && <span>{t("versions.origin", { n: origin })}</span>}
      </span>
    </>
  );
}

/** What a person asked for says more about a run than its number, where it is known. */
function Run({ id }: { id: string }) {
  const t = useT();
  const asked = useRuns((state) => state.thread.runs[id]?.rows.find((row) => row.kind === "user" && row.source === "user"));
  const words = asked?.kind === "user" ? asked.text.trim().split("\n", 1)[0] : t("versions.run", { id: id.slice(-6) });
  return <span className="truncate text-[13px] text-ink-2">{words}</span>;
}
