import type { Fact } from "@/api/types";
import { onFileChanged, onSynced } from "@/run/follow";
import { OpenDoc } from "./doc";
import { loadFile } from "./file-api";

const MOST = 8;

/** The files opened last, with their undo history and caret. */
const docs = new Map<string, OpenDoc>();

const keyOf = (projectId: string, path: string) => `${projectId}/${path}`;

export async function openDoc(projectId: string, path: string): Promise<OpenDoc> {
  const key = keyOf(projectId, path);
  const known = docs.get(key);
  if (known && known.store.getState().phase !== "deleted") {
    docs.delete(key);
    docs.set(key, known);
    await known.sync();
    return known;
  }
  const doc = new OpenDoc(projectId, path, await loadFile(projectId, path));
  known?.close();
  docs.set(key, doc);
  prune(doc);
  return doc;
}

/** The document of a file if it is open. */
export function openedDoc(projectId: string, path: string): OpenDoc | null {
  return docs.get(keyOf(projectId, path)) ?? null;
}

function prune(keep: OpenDoc): void {
  for (const [key, doc] of docs) {
    if (docs.size <= MOST) return;
    if (doc === keep || doc.store.getState().phase !== "clean") continue;
    doc.close();
    docs.delete(key);
  }
}

function isIn(doc: OpenDoc, path: string): boolean {
  return doc.path === path || doc.path.startsWith(`${path}/`);
}

function onChange(event: Fact<"file.changed">): void {
  for (const [key, doc] of docs) {
    if (!isIn(doc, event.path)) continue;
    if (event.change === "renamed" && event.to) {
      docs.delete(key);
      doc.moveTo(event.to + doc.path.slice(event.path.length));
      docs.set(keyOf(doc.projectId, doc.path), doc);
    } else {
      void doc.onChanged(event);
    }
  }
}

onFileChanged(onChange);
onSynced((projectId) => {
  for (const doc of docs.values()) if (doc.projectId === projectId) void doc.sync();
});
