import { Check, ChevronDown, ChevronUp, Undo2, X } from "lucide-react";
import { useStore } from "zustand";
import { useT } from "@/i18n/t";
import { keyWords } from "@/lib/hotkeys";
import { Button, IconButton } from "@/ui/button";
import type { ReviewSession } from "./session";

interface Props {
  session: ReviewSession;
  onFinish: () => void;
  onCancel: () => void;
}

/** Where the person is, what they have chosen, and the ways out. */
export function ReviewBar({ session, onFinish, onCancel }: Props) {
  const t = useT();
  const { at, left, accepted, rejected, canUndo } = useStore(session.store);
  const isDone = left === 0;
  return (
    <div className="border-b border-line bg-accent-soft/60 px-4 py-2 max-md:px-2">
      <div className="flex flex-wrap items-center gap-x-1 gap-y-2">
        <IconButton label={t("compare.previous")} keys="Shift+F7" disabled={isDone} onClick={() => session.go(-1)}>
          <ChevronUp aria-hidden />
        </IconButton>
        <span data-testid="change-position" className="tabular min-w-10 text-center text-sm font-medium">
          {isDone ? "0/0" : `${at + 1}/${left}`}
        </span>
        <IconButton label={t("compare.next")} keys="F7" disabled={isDone} onClick={() => session.go(1)}>
          <ChevronDown aria-hidden />
        </IconButton>
        <IconButton label={t("review.undo")} keys={keyWords("mod+Z")} disabled={!canUndo} onClick={() => session.undo()}>
          <Undo2 aria-hidden />
        </IconButton>
        <span className="flex-1" />
        <span className="flex flex-wrap gap-2">
          <Button size="s" disabled={isDone} aria-keyshortcuts="Shift+Y" title={keyWords("shift+Y")} onClick={() => session.decideAll("accept")}>
            <Check aria-hidden className="size-3.5" />
            {t("review.accept_all")}
          </Button>
          <Button size="s" disabled={isDone} aria-keyshortcuts="Shift+N" title={keyWords("shift+N")} onClick={() => session.decideAll("reject")}>
            <X aria-hidden className="size-3.5" />
            {t("review.reject_all")}
          </Button>
          <Button size="s" look="ghost" aria-keyshortcuts="Escape" title={keyWords("Esc")} onClick={onCancel}>
            {t("common.cancel")}
          </Button>
          <Button size="s" look="primary" aria-keyshortcuts="Enter" title={keyWords("Enter")} onClick={onFinish}>
            {t("review.finish")}
          </Button>
        </span>
      </div>
      <p className="mt-1.5 flex flex-wrap gap-x-4 text-[13px] text-ink-2">
        <span role="status" data-testid="review-progress">
          {[t("review.left", { n: left }), t("review.settled", { accepted, rejected })].join(" · ")}
        </span>
        <span>{t("review.hint")}</span>
      </p>
    </div>
  );
}
