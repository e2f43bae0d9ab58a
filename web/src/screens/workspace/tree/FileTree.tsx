import {
  dragAndDropFeature,
  hotkeysCoreFeature,
  renamingFeature,
  selectionFeature,
  syncDataLoaderFeature,
  type TreeInstance,
} from "@headless-tree/core";
import { useTree } from "@headless-tree/react";
import { useEffect } from "react";
import type { Entry } from "@/api/types";
import { useT } from "@/i18n/t";
import { useIme, type ImeGuard } from "@/lib/ime";
import { recall, remember } from "@/lib/storage";
import { useWorkspace } from "../context";
import { deleteEntry, moveEntry } from "./actions";
import type { TreeDialog } from "./FilePane";
import { FileRow, INDENT } from "./FileRow";
import { above, folderOf, join, nameOf, ROOT, type Shelf } from "./paths";
import { useOrder, type OrderProps } from "./use-order";

interface Props extends OrderProps {
  onDialog: (dialog: TreeDialog) => void;
  onFolder: (folder: string) => void;
  /** The folder that files from outside are held over. */
  dropTarget: string | null;
  awaited: string | null;
}

export function FileTree({ onDialog, onFolder, dropTarget, awaited, ...ordering }: Props) {
  const { shelf, isOrdered, onAwait } = ordering;
  const t = useT();
  const ime = useIme();
  const { projectId, openFile, file } = useWorkspace();
  const order = useOrder(ordering);
  const remove = async (path: string) => {
    const isShown = file === path || file?.startsWith(`${path}/`);
    if ((await removeFrom(tree, projectId, path, shelf)) && isShown) openFile(null);
  };
  const tree: TreeInstance<Entry> = useTree<Entry>({
    rootItemId: ROOT,
    initialState: { expandedItems: startOpen(projectId, shelf) },
    isItemFolder: (item) => item.getItemData().kind !== "file",
    getItemName: (item) => nameOf(item.getId()),
    dataLoader: {
      getItem: (id) => shelf.entries.get(id) ?? gone(id),
      getChildren: (id) => [...(shelf.children.get(id) ?? [])],
    },
    canReorder: isOrdered,
    // Where names decide, a row between others is taken all the same: to tell why it goes back.
    canDrop: (_, target) => target.item.isFolder() || !isOrdered,
    indent: INDENT,
    onPrimaryAction: (item) => {
      if (!item.isFolder()) openFile(item.getId());
    },
    onRename: (item, value) => {
      const [path, name] = [item.getId(), value.trim()];
      if (!name || name === nameOf(path)) return;
      const to = join(folderOf(path), name);
      onAwait(to);
      void moveEntry(projectId, path, to);
    },
    onDrop: order.drop,
    hotkeys: {
      ...guarded(ime),
      customDelete: { hotkey: "Delete", handler: (_, on) => void remove(on.getFocusedItem().getId()) },
      customMove: {
        hotkey: "F6",
        preventDefault: true,
        handler: (_, on) => onDialog({ kind: "move", path: on.getFocusedItem().getId() }),
      },
    },
    features: [syncDataLoaderFeature, selectionFeature, hotkeysCoreFeature, dragAndDropFeature, renamingFeature],
  });
  const { expandedItems, focusedItem } = tree.getState();

  useEffect(() => {
    tree.rebuildTree();
    if (awaited !== null && shelf.entries.has(awaited)) {
      onAwait(null);
      for (const folder of above(awaited)) open(tree, folder);
      tree.getItemInstance(awaited).setFocused();
      tree.updateDomFocus();
    } else if (focusedItem !== null && !shelf.entries.has(focusedItem)) {
      tree.setState((old) => ({ ...old, focusedItem: null }));
    }
  }, [tree, shelf, focusedItem, awaited, onAwait]);
  useEffect(() => remember(`tree.${projectId}`, JSON.stringify(expandedItems)), [projectId, expandedItems]);
  useEffect(() => {
    for (const folder of file === null ? [] : above(file)) open(tree, folder);
  }, [tree, file]);
  useEffect(() => {
    const isFolder = focusedItem !== null && shelf.entries.get(focusedItem)?.kind === "folder";
    onFolder(focusedItem === null ? "" : isFolder ? focusedItem : folderOf(focusedItem));
  }, [focusedItem, shelf, onFolder]);

  return (
    <div {...tree.getContainerProps(t("tree.label"))} onKeyDownCapture={order.onKeyDownCapture} className="flex flex-col">
      {tree.getItems().map((item) => (
        <FileRow
          key={item.getId()}
          item={item}
          ime={ime}
          isOpen={item.getId() === file}
          isDropTarget={item.getId() === dropTarget}
          onDialog={onDialog}
          onDelete={(path) => void remove(path)}
          onShift={order.shift}
        />
      ))}
      <div aria-hidden style={tree.getDragLineStyle(-1, INDENT)} className="h-0.5 rounded-full bg-accent" />
    </div>
  );
}

function open(tree: TreeInstance<Entry>, folder: string): void {
  const item = tree.getItemInstance(folder);
  if (!item.isExpanded()) item.expand();
}

/** A row that the tree still remembers and the project no longer has. */
function gone(path: string): Entry {
  return { id: path, path, kind: "file", type: "document", size_bytes: 0, words: null, modified_at: 0, revision: null };
}

/** The folders that were open when the project was last seen; the first time, those at the top. */
function startOpen(projectId: string, shelf: Shelf): string[] {
  const stored = recall(`tree.${projectId}`);
  if (stored) {
    const paths: unknown = JSON.parse(stored);
    if (Array.isArray(paths)) return paths.filter((path) => typeof path === "string");
  }
  return [...(shelf.children.get(ROOT) ?? [])];
}

/** Keys of the rename field belong to an input method while it composes. */
function guarded(ime: ImeGuard) {
  const unless = (act: (tree: TreeInstance<Entry>) => void) => (event: KeyboardEvent, on: TreeInstance<Entry>) => {
    if (!ime.owns(event)) act(on);
  };
  const inField = { allowWhenInputFocused: true, isEnabled: (on: TreeInstance<Entry>) => on.isRenamingItem() };
  return {
    completeRenaming: { ...inField, hotkey: "Enter", handler: unless((on) => on.completeRenaming()) },
    abortRenaming: { ...inField, hotkey: "Escape", handler: unless((on) => on.abortRenaming()) },
  };
}

/** Delete and hand the focus to the row below, or above at the end. False if it was not deleted. */
async function removeFrom(tree: TreeInstance<Entry>, projectId: string, path: string, shelf: Shelf): Promise<boolean> {
  const rows = tree.getItems().map((item) => item.getId());
  const at = rows.indexOf(path);
  const isOutside = (row: string | undefined) => row !== undefined && row !== path && !row.startsWith(`${path}/`);
  const next = rows.slice(at + 1).find(isOutside) ?? rows.slice(0, Math.max(at, 0)).findLast(isOutside);
  if (!shelf.entries.has(path) || !(await deleteEntry(projectId, path))) return false;
  if (next !== undefined) {
    tree.getItemInstance(next).setFocused();
    tree.updateDomFocus();
  }
  return true;
}
