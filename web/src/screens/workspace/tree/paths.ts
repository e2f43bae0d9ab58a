import type { Entry } from "@/api/types";

export const ROOT = "/";

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The folder a path lies in, "" for the project itself. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

export function join(folder: string, name: string): string {
  return folder ? `${folder}/${name}` : name;
}

/** The folders above a path, the outermost first. */
export function above(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

export interface Shelf {
  entries: ReadonlyMap<string, Entry>;
  children: ReadonlyMap<string, readonly string[]>;
}

const ORDER = new Intl.Collator(["zh-CN", "en"], { numeric: true });

/** Folders first, then by name, with numbers as numbers. */
export function shelve(list: readonly Entry[]): Shelf {
  const entries = new Map(list.map((entry) => [entry.path, entry]));
  const children = new Map<string, string[]>([[ROOT, []]]);
  for (const entry of list) {
    const parent = folderOf(entry.path) || ROOT;
    children.set(parent, [...(children.get(parent) ?? []), entry.path]);
  }
  const rankOf = (path: string) => (entries.get(path)?.kind === "folder" ? 0 : 1);
  for (const paths of children.values()) {
    paths.sort((a, b) => rankOf(a) - rankOf(b) || ORDER.compare(nameOf(a), nameOf(b)));
  }
  return { entries, children };
}
