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
      onDrop(folderAt(event), pickedOf(event.dataTransfer));
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

function pickedOf({ items }: DataTransfer): Picked[] {
  return [...items].flatMap((item) => {
    const file = item.getAsFile();
    return file ? [{ file, isFolder: item.webkitGetAsEntry()?.isDirectory ?? false }] : [];
  });
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
