import { create } from "zustand";
import { api, ask } from "@/api/client";
import { filesQuery, keys, queryClient } from "@/api/queries";
import { t } from "@/i18n/t";
import { toastError, toastUndo } from "@/ui/toast";
import { rename } from "./actions";
import { landing, namesIn, placed, topmost, type Orders } from "./order";
import { folderOf, join, nameOf, type Shelf } from "./paths";

/** Orders that are shown already, until the server has them; those of one project at a time. */
const useOrders = create<{ pid: string; orders: Orders }>(() => ({ pid: "", orders: {} }));

const NONE: Orders = {};

export function useWantedOrders(pid: string): Orders {
  return useOrders((state) => (state.pid === pid ? state.orders : NONE));
}

function want(pid: string, folder: string, names: readonly string[] | null): void {
  useOrders.setState((state) => {
    const { [folder]: _, ...others } = state.pid === pid ? state.orders : NONE;
    return { pid, orders: names === null ? others : { ...others, [folder]: names } };
  });
}

/** What was sent comes in this order to the server. */
let line: Promise<unknown> = Promise.resolve();

/**
 * Put the names in a folder in an order. It is seen at once; of orders that follow each other quickly only
 * the last is sent. Raises ApiError.
 */
function arrange(pid: string, folder: string, names: readonly string[]): Promise<void> {
  want(pid, folder, names);
  const isLast = () => useOrders.getState().pid === pid && useOrders.getState().orders[folder] === names;
  const send = async () => {
    if (!isLast()) return;
    try {
      const body = { folder, names: [...names] };
      await ask(api.POST("/api/projects/{pid}/arrange", { params: { path: { pid } }, body }));
    } finally {
      await queryClient.invalidateQueries({ queryKey: keys.files(pid) });
      if (isLast()) want(pid, folder, null);
    }
  };
  const sent = line.then(send);
  line = sent.catch(() => {});
  return sent;
}

const UNDONE_TOGETHER_MS = 8000;
let last = { key: "", before: [] as readonly string[], at: 0 };

/** One row among its siblings; steps that follow each other are undone together. */
export async function reorder(pid: string, path: string, names: readonly string[], before: readonly string[]): Promise<void> {
  const [folder, key, now] = [folderOf(path), `${pid}/${path}`, Date.now()];
  const isSame = last.key === key && now - last.at < UNDONE_TOGETHER_MS;
  last = { key, before: isSame ? last.before : before, at: now };
  const { before: start } = last;
  const undo = () => {
    last = { key: "", before: [], at: 0 };
    return arrange(pid, folder, stillThere(pid, folder, start));
  };
  try {
    const sent = arrange(pid, folder, names);
    toastUndo(t("tree.reordered", { name: nameOf(path) }), undo, `reorder ${key}`);
    await sent;
  } catch (error) {
    toastError(error);
  }
}

/** The names that have not been deleted or renamed since: the server refuses an order of others. */
function stillThere(pid: string, folder: string, names: readonly string[]): string[] {
  const entries = queryClient.getQueryData(filesQuery(pid).queryKey)?.entries ?? [];
  const paths = new Set(entries.map(({ path }) => path));
  return names.filter((name) => paths.has(join(folder, name)));
}

interface Where {
  pid: string;
  shelf: Shelf;
  isOrdered: boolean;
}

/**
 * Rows into a folder, in front of the sibling at `index` (null: where the server puts them). Undoing gives
 * all of them their place back. Returns where they are now.
 */
export async function place({ pid, shelf, isOrdered }: Where, moved: readonly string[], folder: string, index: number | null): Promise<string[]> {
  const paths = topmost(moved);
  const sources = isOrdered ? [...new Set([folder, ...paths.map(folderOf)])] : [];
  const before = sources.map((each) => [each, namesIn(shelf, each)] as const);
  const order = placed(namesIn(shelf, folder), paths.map(nameOf), index ?? 0);
  const done: { path: string; to: string }[] = [];
  try {
    for (const path of paths) {
      const to = landing(path, folder);
      if (path !== to) await rename(pid, path, to);
      done.push({ path, to });
    }
    if (index !== null && order.join("/") !== namesIn(shelf, folder).join("/")) await arrange(pid, folder, order);
    else if (done.every(({ path, to }) => path === to)) return [];
  } catch (error) {
    toastError(error);
  }
  if (done.length === 0) return [];
  toastUndo(told(done), async () => {
    for (const { path, to } of done.toReversed()) if (path !== to) await rename(pid, to, path);
    for (const [each, names] of before) if (names.length > 0) await arrange(pid, each, names);
  });
  return done.map(({ to }) => to);
}

function told(done: readonly { path: string; to: string }[]): string {
  const [first] = done;
  if (done.length > 1 || !first) return t("tree.moved.many", { n: done.length });
  const name = nameOf(first.path);
  return first.path === first.to ? t("tree.reordered", { name }) : t("tree.moved", { name, to: first.to });
}
