import type { Entry } from "@/api/types";
import { folderOf, join, nameOf, ROOT, type Shelf } from "./paths";

/** The names in a folder ("" for the project itself), in reading order. */
export function namesIn(shelf: Shelf, folder: string): string[] {
  return (shelf.children.get(folder || ROOT) ?? []).map(nameOf);
}

/** `names` with `name` one place up (-1) or down (1); null where it has no place to go. */
export function shifted(names: readonly string[], name: string, by: -1 | 1): string[] | null {
  const at = names.indexOf(name);
  const other = names[at + by];
  if (at < 0 || other === undefined) return null;
  const next = [...names];
  [next[at], next[at + by]] = [other, name];
  return next;
}

/** `names` with `moved` together at `index`, which counts the names that stay. */
export function placed(names: readonly string[], moved: readonly string[], index: number): string[] {
  const staying = names.filter((name) => !moved.includes(name));
  return [...staying.slice(0, index), ...moved, ...staying.slice(index)];
}

/** Rows to move at once: without those that go along with a folder above them. */
export function topmost(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
}

/** Orders that a person wants and the server may not have yet, by folder. */
export type Orders = Readonly<Record<string, readonly string[]>>;

/** The tree with its folders in these orders; what an order does not name comes after, as it was. */
export function withOrders(entries: readonly Entry[], orders: Orders): readonly Entry[] {
  if (Object.keys(orders).length === 0) return entries;
  const below = new Map<string, Entry[]>();
  for (const entry of entries) {
    const folder = folderOf(entry.path);
    const children = below.get(folder);
    if (children) children.push(entry);
    else below.set(folder, [entry]);
  }
  const found: Entry[] = [];
  const read = (folder: string): void => {
    const order = orders[folder];
    const rank = ({ path }: Entry) => {
      const at = order?.indexOf(nameOf(path)) ?? -1;
      return at < 0 ? Infinity : at;
    };
    const children = below.get(folder) ?? [];
    const sorted = order ? children.toSorted((a, b) => rank(a) - rank(b) || 0) : children;
    for (const entry of sorted) {
      found.push(entry);
      read(entry.path);
    }
  };
  read("");
  return found;
}

/** Where a row lands that is moved into a folder. */
export function landing(path: string, folder: string): string {
  return join(folder, nameOf(path));
}
