import type { DragTarget, ItemInstance } from "@headless-tree/core";
import type { KeyboardEvent } from "react";
import type { Entry } from "@/api/types";
import { useT } from "@/i18n/t";
import { toastWarning } from "@/ui/toast";
import { useWorkspace } from "../context";
import { place, reorder } from "./arrange";
import { namesIn, shifted } from "./order";
import { folderOf, nameOf, ROOT, type Shelf } from "./paths";

export interface OrderProps {
  shelf: Shelf;
  /** The project keeps an order of its own; in a folder of the disk the names decide. */
  isOrdered: boolean;
  onAwait: (path: string | null) => void;
  /** For those who do not see the rows move. */
  onSay: (words: string) => void;
}

const STEPS: Readonly<Record<string, -1 | 1>> = { ArrowUp: -1, ArrowDown: 1 };

/** Moving rows: by one place with keys, or anywhere by dragging. */
export function useOrder({ shelf, isOrdered, onAwait, onSay }: OrderProps) {
  const t = useT();
  const { projectId } = useWorkspace();
  const explain = () => toastWarning(t("problem.order_fixed"));

  const shift = (path: string, by: -1 | 1) => {
    if (!isOrdered) return explain();
    const [name, before] = [nameOf(path), namesIn(shelf, folderOf(path))];
    const names = shifted(before, name, by);
    if (names === null) return onSay(by < 0 ? t("tree.first", { name }) : t("tree.last", { name }));
    onAwait(path);
    onSay(t("tree.position", { name, at: names.indexOf(name) + 1, total: names.length }));
    return void reorder(projectId, path, names, before);
  };

  const drop = async (items: readonly ItemInstance<Entry>[], target: DragTarget<Entry>) => {
    const on = target.item.getId();
    const into = on === ROOT ? "" : target.item.isFolder() ? on : folderOf(on);
    const paths = items.map((item) => item.getId());
    if (!isOrdered && paths.every((path) => folderOf(path) === into)) return explain();
    const index = isOrdered && "childIndex" in target ? target.insertionIndex : null;
    const [first] = await place({ pid: projectId, shelf, isOrdered }, paths, into, index);
    if (first !== undefined) onAwait(first);
  };

  /** The keys must not reach the tree, which would move the focus by the arrow alone. */
  const onKeyDownCapture = (event: KeyboardEvent) => {
    const by = STEPS[event.key];
    const row = event.target instanceof Element ? event.target.closest("[role=treeitem]") : null;
    const path = row?.getAttribute("data-path");
    if (by === undefined || !path || !event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    shift(path, by);
  };
  return { shift, drop, onKeyDownCapture };
}
