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

/** The entries by folder, in the reading order in which the server tells them. */
export function shelve(list: readonly Entry[]): Shelf {
  const entries = new Map(list.map((entry) => [entry.path, entry]));
  const children = new Map<string, string[]>([[ROOT, []]]);
  for (const entry of list) {
    const parent = folderOf(entry.path) || ROOT;
    children.set(parent, [...(children.get(parent) ?? []), entry.path]);
  }
  return { entries, children };
}
