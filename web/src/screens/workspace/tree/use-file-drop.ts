import { useEffect, useState, type DragEvent } from "react";
import type { Picked } from "./imports";

const hasFiles = (event: { dataTransfer: DataTransfer | null }) => event.dataTransfer?.types.includes("Files") ?? false;

/**
 * Files from outside that are dropped somewhere in an element. `target` is the folder they would go to
 * ("" for the project), null while there are none; a row says it by its `data-folder`. The tree's own
 * dragging never sees them.
 */
export function useFileDrop(onDrop: (folder: string, picked: Picked[]) => void) {
  const [target, setTarget] = useState<string | null>(null);
  useKeepPage();
  const props = {
    onDragOverCapture: (event: DragEvent) => {
      if (!take(event)) return;
      event.dataTransfer.dropEffect = "copy";
      setTarget(folderAt(event));
    },
    onDragLeave: (event: DragEvent) => {
      const isInside = event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget);
      if (!isInside) setTarget(null);
    },
    onDropCapture: (event: DragEvent) => {
      if (!take(event)) return;
      setTarget(null);
      const folder = folderAt(event);
      void filesOf(event.dataTransfer).then((picked) => onDrop(folder, picked));
    },
  };
  return { target, props };
}

function take(event: DragEvent): boolean {
  if (!hasFiles(event)) return false;
  event.preventDefault();
  event.stopPropagation();
  return true;
}

function folderAt({ target }: DragEvent): string {
  const row = target instanceof Element ? target.closest<HTMLElement>("[data-folder]") : null;
  return row?.dataset.folder ?? "";
}

/** More than a person drops on purpose. */
const MOST_FILES = 1000;

/** All files, those in folders too, in the order of their names. What is hidden stays where it is. */
async function filesOf({ items }: DataTransfer): Promise<Picked[]> {
  // Entries are only there while the event is handled, so all of them are taken before the first wait.
  const dropped = [...items].map((item) => ({ file: item.getAsFile(), entry: item.webkitGetAsEntry() }));
  const picked: Picked[] = [];
  for (const { file, entry } of dropped) {
    if (!file) continue;
    if (!entry?.isDirectory) {
      picked.push({ file, below: "" });
      continue;
    }
    const inside: Picked[] = [];
    const isAll = await walk(entry as FileSystemDirectoryEntry, entry.name, inside).catch(() => false);
    if (isAll) picked.push(...inside);
    else picked.push({ file, below: "", problem: "folder_dropped" });
  }
  return picked;
}

/** Whether all files of a folder were taken: they are not too many. */
async function walk(folder: FileSystemDirectoryEntry, below: string, into: Picked[]): Promise<boolean> {
  const entries = await entriesOf(folder.createReader());
  const inOrder = entries.toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
  for (const entry of inOrder.filter(({ name }) => !name.startsWith("."))) {
    if (into.length >= MOST_FILES) return false;
    if (entry.isDirectory) {
      if (!(await walk(entry as FileSystemDirectoryEntry, `${below}/${entry.name}`, into))) return false;
    } else {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
      into.push({ file, below });
    }
  }
  return true;
}

/** A reader gives a hundred at a time, and none at the end. */
async function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const found: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found;
    found.push(...some);
  }
}

/** A file that misses the tree must not replace the page. */
function useKeepPage(): void {
  useEffect(() => {
    const keep = (event: globalThis.DragEvent) => {
      if (event.defaultPrevented || !hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "none";
    };
    window.addEventListener("dragover", keep);
    window.addEventListener("drop", keep);
    return () => {
      window.removeEventListener("dragover", keep);
      window.removeEventListener("drop", keep);
    };
  }, []);
}
