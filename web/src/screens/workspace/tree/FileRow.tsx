import type { ItemInstance } from "@headless-tree/core";
import { ArrowDown, ArrowUp, ChevronRight, FileText, Folder, FolderInput, Pencil, Trash2 } from "lucide-react";
import { useId } from "react";
import type { Entry } from "@/api/types";
import { useLang, useT } from "@/i18n/t";
import { formatNumber } from "@/lib/format";
import { keyWords } from "@/lib/hotkeys";
import type { ImeGuard } from "@/lib/ime";
import { cx } from "@/ui/cx";
import { RightClick, type MenuItem } from "@/ui/menu";
import type { TreeDialog } from "./FilePane";
import { KindIcon } from "./KindIcon";
import { folderOf } from "./paths";

interface Props {
  item: ItemInstance<Entry>;
  ime: ImeGuard;
  isOpen: boolean;
  /** Files from outside are about to be dropped into this folder. */
  isDropTarget: boolean;
  onDialog: (dialog: TreeDialog) => void;
  onDelete: (path: string) => void;
  onShift: (path: string, by: -1 | 1) => void;
}

/** Pixels for each level. */
export const INDENT = 14;

const ROW = "flex h-8 w-full shrink-0 items-center gap-1.5 rounded-lg pr-2 text-left text-sm max-md:h-11";

export function FileRow({ item, ime, isOpen, isDropTarget, ...menu }: Props) {
  const id = useId();
  const entry = item.getItemData();
  const indent = { paddingInlineStart: `${item.getItemMeta().level * INDENT + 6}px` };
  if (item.isRenaming()) {
    return (
      <div role="none" className={ROW} style={indent}>
        <Chevron item={item} />
        <KindIcon kind={entry.type} isExpanded={item.isExpanded()} />
        <RenameInput item={item} ime={ime} />
      </div>
    );
  }
  return (
    <WithMenu item={item} {...menu}>
      <button
        type="button"
        {...item.getProps()}
        // However the focus came here: keys must act on the row that has it.
        onFocus={() => item.setFocused()}
        style={indent}
        aria-current={isOpen || undefined}
        aria-describedby={`${id}-kind ${id}-words`}
        data-folder={folderIn(item)}
        data-path={item.getId()}
        className={cx(
          ROW,
          "-outline-offset-2 transition-colors",
          isOpen ? "bg-accent-soft text-ink" : "text-ink-2 hover:bg-sunken hover:text-ink",
          (isDropTarget || (item.isFolder() && item.isUnorderedDragTarget())) && "bg-accent-soft outline-2 outline-accent",
        )}
      >
        <Chevron item={item} />
        <KindIcon id={`${id}-kind`} kind={entry.type} isExpanded={item.isExpanded()} />
        <span className="min-w-0 flex-1 truncate">{item.getItemName()}</span>
        <Words id={`${id}-words`} words={entry.words} isOpen={isOpen} />
      </button>
    </WithMenu>
  );
}

function Chevron({ item }: { item: ItemInstance<Entry> }) {
  return (
    <ChevronRight
      aria-hidden
      className={cx(
        "size-3.5 shrink-0 text-ink-3 transition-transform",
        item.isExpanded() && "rotate-90",
        !item.isFolder() && "invisible",
      )}
    />
  );
}

/** Where they are counted; the unit is only said. */
function Words({ id, words, isOpen }: { id: string; words: number | null; isOpen: boolean }) {
  const t = useT();
  const lang = useLang();
  if (!words) return null;
  return (
    <span id={id} className={cx("tabular shrink-0 text-[11px]", isOpen ? "text-ink-2" : "text-ink-3")}>
      <span aria-hidden>{formatNumber(words, lang)}</span>
      <span className="sr-only">{t("tree.words", { n: words })}</span>
    </span>
  );
}

function RenameInput({ item, ime }: { item: ItemInstance<Entry>; ime: ImeGuard }) {
  const t = useT();
  const { ref: _, ...props } = item.getRenameInputProps() as React.ComponentProps<"input">;
  return (
    <input
      {...props}
      {...ime.props}
      autoFocus
      aria-label={t("tree.new_name", { name: item.getItemName() })}
      onFocus={(event) => {
        const stem = item.isFolder() ? -1 : item.getItemName().lastIndexOf(".");
        event.target.setSelectionRange(0, stem > 0 ? stem : item.getItemName().length);
      }}
      onBlur={() => item.isRenaming() && item.getTree().completeRenaming()}
      className="h-6 min-w-0 flex-1 rounded border border-accent bg-raised px-1 text-sm outline-none max-md:h-9"
    />
  );
}

/** Where something goes that is made or dropped here. */
function folderIn(item: ItemInstance<Entry>): string {
  return item.isFolder() ? item.getId() : folderOf(item.getId());
}

type MenuProps = Pick<Props, "item" | "onDialog" | "onDelete" | "onShift"> & { children: React.ReactNode };

function WithMenu({ item, onDialog, onDelete, onShift, children }: MenuProps) {
  const t = useT();
  const path = item.getId();
  const folder = folderIn(item);
  const items: MenuItem[] = [
    { label: t("tree.new_file"), icon: <FileText aria-hidden />, onSelect: () => onDialog({ kind: "file", folder }) },
    { label: t("tree.new_folder"), icon: <Folder aria-hidden />, onSelect: () => onDialog({ kind: "folder", folder }) },
    { label: t("common.rename"), icon: <Pencil aria-hidden />, keys: "F2", onSelect: () => item.startRenaming() },
    { label: t("tree.move"), icon: <FolderInput aria-hidden />, keys: "F6", onSelect: () => onDialog({ kind: "move", path }) },
    { label: t("tree.up"), icon: <ArrowUp aria-hidden />, keys: keyWords("alt+↑"), onSelect: () => onShift(path, -1) },
    { label: t("tree.down"), icon: <ArrowDown aria-hidden />, keys: keyWords("alt+↓"), onSelect: () => onShift(path, 1) },
    { label: t("common.delete"), icon: <Trash2 aria-hidden />, keys: "Delete", danger: true, onSelect: () => onDelete(path) },
  ];
  return <RightClick items={items}>{children}</RightClick>;
}

