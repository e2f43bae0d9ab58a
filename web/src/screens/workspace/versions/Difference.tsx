import { getChunks, MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { ChevronDown, ChevronUp, UnfoldVertical } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { t as words, useT } from "@/i18n/t";
import { useRegionKeys } from "@/lib/region-keys";
import { Button, IconButton } from "@/ui/button";
import { lineFirst } from "../diff/line-first";
import { sharedBreak, textOf } from "../diff/pair";
import { passagesIn, placeIn, type Passage } from "../diff/passages";
import { goBy, goTo } from "../diff/settle";
import { unfoldsByKey } from "../diff/unfold";
import { reading } from "../editor/setup";

interface Texts {
  before: string;
  now: string;
}

interface Props {
  texts: Texts;
  isSplit: boolean;
}

interface Place {
  at: number;
  total: number;
}

/** Two texts and what differs, one below the other or side by side. */
export function Difference({ texts, isSplit }: Props) {
  const t = useT();
  const region = useRef<HTMLElement>(null);
  const parent = useRef<HTMLDivElement>(null);
  const shown = useRef<Shown>(null);
  const [isWhole, setWhole] = useState(false);
  const [place, setPlace] = useState<Place>({ at: -1, total: 0 });
  useEffect(() => {
    if (!parent.current) return undefined;
    const made = show(parent.current, texts, isSplit, isWhole, setPlace);
    shown.current = made;
    goTo(made.view, made.passages, 0);
    return () => made.destroy();
  }, [texts, isSplit, isWhole]);
  const go = (by: 1 | -1) => shown.current && goBy(shown.current.view, shown.current.passages, by);
  useRegionKeys(region, { F7: () => go(1), "Shift+F7": () => go(-1) });
  return (
    <div
      ref={(element) => {
        region.current = element?.closest<HTMLElement>("[role=dialog]") ?? element;
      }}
      className="flex min-h-0 flex-1 flex-col border-t border-line"
    >
      <div className="flex items-center gap-1 border-b border-line px-3 py-1">
        <IconButton label={t("compare.previous")} keys="Shift+F7" onClick={() => go(-1)}>
          <ChevronUp aria-hidden />
        </IconButton>
        <IconButton label={t("compare.next")} keys="F7" onClick={() => go(1)}>
          <ChevronDown aria-hidden />
        </IconButton>
        <span role="status" data-testid="change-position" className="tabular min-w-0 flex-1 truncate text-[13px] text-ink-2">
          {t("compare.position", { n: place.at + 1, total: place.total })}
        </span>
        <Button size="s" look="ghost" aria-pressed={isWhole} onClick={() => setWhole(!isWhole)}>
          <UnfoldVertical aria-hidden className="size-3.5" />
          {t(isWhole ? "compare.changes" : "compare.whole")}
        </Button>
      </div>
      <div ref={parent} className="comparison min-h-0 flex-1 bg-surface" data-layout={isSplit ? "split" : "unified"} />
    </div>
  );
}

interface Shown {
  view: EditorView;
  passages: readonly Passage[];
  destroy: () => void;
}

function show(parent: HTMLElement, { before, now }: Texts, isSplit: boolean, isWhole: boolean, onPlace: (place: Place) => void): Shown {
  const lineBreak = sharedBreak(before, now);
  const [a, b] = [textOf(before, lineBreak), textOf(now, lineBreak)];
  let passages: readonly Passage[] = [];
  const tell = ({ selection }: EditorState) => onPlace({ at: placeIn(passages, selection.main.head), total: passages.length });
  const base = [EditorState.lineSeparator.of(lineBreak), reading(words("compare.label")), unfoldsByKey];
  const watched = [base, EditorView.updateListener.of(({ state }) => tell(state))];
  const common = {
    diffConfig: { override: lineFirst },
    gutter: false,
    ...(!isWhole && { collapseUnchanged: { margin: 2, minSize: 6 } }),
  };
  const finish = (view: EditorView, destroy: () => void): Shown => {
    passages = passagesIn(getChunks(view.state)?.chunks ?? [], a, b);
    return { view, passages, destroy };
  };
  if (isSplit) {
    const merge = new MergeView({ a: { doc: a, extensions: base }, b: { doc: b, extensions: watched }, parent, ...common });
    return finish(merge.b, () => merge.destroy());
  }
  const unified = unifiedMergeView({ original: a, allowInlineDiffs: true, mergeControls: false, ...common });
  const view = new EditorView({ doc: b, extensions: [watched, unified], parent });
  return finish(view, () => view.destroy());
}
