import { memo } from "react";
import type { Hit } from "@/api/types";
import { useT } from "@/i18n/t";
import { cx } from "@/ui/cx";
import { folderOf, nameOf } from "../tree/paths";
import { partsOf, type Group } from "./results";

interface Props {
  id: string;
  groups: readonly Group[];
  /** The hit that Enter opens. */
  at: number;
  onOpen: (at: number) => void;
}

export function ResultList({ id, groups, at, onOpen }: Props) {
  const t = useT();
  return (
    <div id={id} role="listbox" aria-label={t("found.results")} className="px-1.5 pb-4">
      {groups.map(({ path, first, hits }) => (
        <div key={path} role="group" aria-labelledby={`${id}-${first}-file`} className="pt-2">
          <p id={`${id}-${first}-file`} className="flex items-baseline gap-1.5 px-2 py-1 text-[13px]" title={path}>
            <span className="truncate font-medium">{nameOf(path)}</span>
            <span className="min-w-0 flex-1 truncate text-xs text-ink-3">{folderOf(path)}</span>
            <span className="tabular text-xs text-ink-3">{hits.length}</span>
          </p>
          {hits.map((hit, index) => (
            <Row
              key={`${hit.line}:${hit.column}`}
              id={`${id}-${first + index}`}
              hit={hit}
              at={first + index}
              isActive={first + index === at}
              onOpen={onOpen}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

interface RowProps {
  id: string;
  hit: Hit;
  at: number;
  isActive: boolean;
  onOpen: (at: number) => void;
}

const Row = memo(function Row({ id, hit, at, isActive, onOpen }: RowProps) {
  const { before, match, after } = partsOf(hit);
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys are the field's
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      ref={isActive ? intoView : undefined}
      onClick={() => onOpen(at)}
      className={cx(
        "flex cursor-pointer items-center rounded-lg px-2 py-1 text-[13px] leading-5 text-ink-2 max-md:min-h-11",
        isActive ? "bg-accent-soft text-ink" : "hover:bg-sunken",
      )}
    >
      <span className="line-clamp-2 min-w-0 break-words">
        {before}
        <mark className="rounded-[3px] bg-warn-soft font-semibold text-ink">{match}</mark>
        {after}
      </span>
    </div>
  );
});

function intoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "nearest" });
}
