import { ChevronRight } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { useT } from "@/i18n/t";
import { cx } from "@/ui/cx";

interface Props {
  text: string;
  isLive: boolean;
  isRunning: boolean;
}

/**
 * Open if it is seen while its run works, closed when it comes from the past. It never closes by itself: the
 * answer below it would jump. Its height is bounded, so it does not push the answer away.
 */
export function Thought({ text, isLive, isRunning }: Props) {
  const t = useT();
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(isRunning);
  useEffect(() => {
    if (isLive && box.current) box.current.scrollTop = box.current.scrollHeight;
  });
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        className="flex items-center gap-1 rounded text-[13px] text-ink-3 hover:text-ink max-md:min-h-11"
      >
        <ChevronRight aria-hidden className={cx("size-4 transition-transform", isOpen && "rotate-90")} />
        {isLive ? t("thought.live") : t("thought.done")}
      </button>
      {isOpen && (
        <div
          id={id}
          ref={box}
          role="group"
          aria-label={t("thought.done")}
          tabIndex={0}
          className="mt-1.5 ml-[7px] max-h-56 overflow-y-auto border-l-2 border-line pl-4 text-sm leading-relaxed wrap-anywhere whitespace-pre-wrap text-ink-2"
        >
          {text.trim()}
        </div>
      )}
    </div>
  );
}
