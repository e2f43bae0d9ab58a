import { CaseSensitive, X } from "lucide-react";
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { useLang, useT } from "@/i18n/t";
import { formatNumber } from "@/lib/format";
import { useIme } from "@/lib/ime";
import { IconButton } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Empty, Failed, Skeleton } from "@/ui/states";
import { useWorkspace } from "../context";
import { ResultList } from "./ResultList";
import { grouped, partsOf, stepped } from "./results";
import { onAsked, stopFinding, useFinding } from "./store";
import { useFound } from "./use-found";

const PAGE = 10;
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };

/** A phrase in all texts of the project. */
export function FindPane() {
  const t = useT();
  const ime = useIme();
  const id = useId();
  const { projectId, openAt } = useWorkspace();
  const { phrase, matchCase } = useFinding();
  const [isComposing, setComposing] = useState(false);
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const { data, error, isFetching, isSettled, refetch, searchNow } = useFound(projectId, phrase, matchCase, isComposing);
  const hits = useMemo(() => data?.hits ?? [], [data]);
  const groups = useMemo(() => grouped(hits), [hits]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const take = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        field.current?.focus();
        field.current?.select();
      }); // a dialog that closes hands the focus back first
    };
    take();
    const stop = onAsked(take);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  const chosen = Math.min(at, hits.length - 1);

  const open = (which: number) => {
    const hit = hits[which];
    if (!hit) return;
    setAt(which);
    openAt(hit.path, { line: hit.line, column: hit.column, text: partsOf(hit).match });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (ime.owns(event)) return;
    const step = STEPS[event.key];
    if (step !== undefined) setAt(stepped(chosen, step, hits.length));
    else if (event.key === "Escape") stopFinding();
    else if (event.key === "Enter" && isSettled) open(chosen);
    else if (event.key === "Enter") searchNow();
    else return;
    event.preventDefault();
  };
  return (
    <section aria-label={t("found.title")} className="flex h-full flex-col bg-paper">
      <header className="flex h-10 shrink-0 items-center pr-1.5 pl-4 max-md:h-12">
        <h2 className="flex-1 font-sans text-[13px] font-medium text-ink-3">{t("found.title")}</h2>
        <IconButton label={t("found.close")} keys="Esc" onClick={stopFinding}>
          <X aria-hidden />
        </IconButton>
      </header>
      <div className="mx-3 flex items-center rounded-lg border border-line-2 bg-surface pr-0.5 transition-colors focus-within:border-accent">
        <input
          ref={field}
          role="combobox"
          aria-label={t("found.phrase")}
          aria-expanded={hits.length > 0}
          aria-controls={id}
          aria-activedescendant={hits.length > 0 ? `${id}-${chosen}` : undefined}
          placeholder={t("found.placeholder")}
          maxLength={1000}
          value={phrase}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => {
            useFinding.setState({ phrase: event.target.value });
            setAt(0);
          }}
          onCompositionStart={() => {
            ime.props.onCompositionStart();
            setComposing(true);
          }}
          onCompositionEnd={() => {
            ime.props.onCompositionEnd();
            setComposing(false);
          }}
          onKeyDown={onKeyDown}
          className="h-8 min-w-0 flex-1 bg-transparent px-2.5 text-sm outline-none max-md:h-11 max-md:text-base"
        />
        <IconButton
          label={t("find.case")}
          aria-pressed={matchCase}
          onClick={() => useFinding.setState({ matchCase: !matchCase })}
          className={cx("size-7", matchCase && "bg-accent-soft text-accent")}
        >
          <CaseSensitive aria-hidden />
        </IconButton>
      </div>
      <Sum found={data} isBusy={isFetching || !isSettled} />
      <div className="min-h-0 flex-1 overflow-y-auto" aria-busy={!isSettled || undefined}>
        {error && !isFetching ? (
          <Failed error={error} onRetry={() => void refetch()} className="py-6" />
        ) : hits.length > 0 ? (
          <ResultList id={id} groups={groups} at={chosen} onOpen={open} />
        ) : phrase === "" ? (
          <Empty title={t("found.empty")} hint={t("found.empty.hint")} />
        ) : data && isSettled ? (
          <Empty title={t("found.nothing")} hint={t("found.nothing.hint")} />
        ) : (
          <Loading />
        )}
      </div>
    </section>
  );
}

interface SumProps {
  found: { hits: readonly unknown[]; total: number; files: number } | undefined;
  isBusy: boolean;
}

/** How much was found; heard, too, as soon as it is known. */
function Sum({ found, isBusy }: SumProps) {
  const t = useT();
  const lang = useLang();
  const isCut = found !== undefined && found.total > found.hits.length;
  const shown = isCut ? t("found.shown", { shown: formatNumber(found.hits.length, lang) }) : "";
  const counts = found && { hits: t("found.hits", { n: found.total }), files: t("found.files", { n: found.files }) };
  const sum = found && found.total > 0 ? t("found.sum", counts) : "";
  return (
    <p role="status" className={cx("tabular flex min-h-7 flex-wrap gap-x-2 px-4 pt-1.5 text-xs text-ink-3", isBusy && "opacity-60")}>
      <span>{sum}</span>
      {shown && <span>{shown}</span>}
    </p>
  );
}

function Loading() {
  const t = useT();
  return (
    <div className="flex flex-col gap-2 p-4">
      <span className="sr-only">{t("common.loading")}</span>
      <Skeleton className="h-4 w-2/3" />
      <Skeleton className="h-4" />
      <Skeleton className="h-4 w-5/6" />
    </div>
  );
}
