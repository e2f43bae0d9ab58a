import { useMemo } from "react";
import { activeRun } from "./selectors";
import type { Block, ReplyRow, RunView } from "./state";
import { useRuns } from "./store";

/** Which arguments of a tool name a file, by path or id, and hold its text (`BODIES` in src/wenfang/runs/bodies.py). */
const BODIES: Readonly<Record<string, { readonly file: string; readonly text: string }>> = {
  write_file: { file: "path", text: "content" },
  write_text: { file: "id", text: "content" },
};

const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** A text that is being written into a file. `file` is a path or an id, null while it is still to come. */
export interface LiveBody {
  readonly runId: string;
  readonly file: string | null;
  readonly text: string;
}

/**
 * Reads the arguments of a call while they grow: the strings `file` and `text` at the top of a JSON object,
 * as far as they have come. For showing only: what is no JSON shows nothing more, the server decides.
 */
export class BodyReader {
  file: string | null = null;
  text = "";
  private at = 0;
  private depth = 0;
  private isValue = false;
  private key = "";
  /** What the open string is: a key, one of the two texts, or nothing of interest; null outside of strings. */
  private open: "key" | "file" | "text" | "other" | null = null;
  private parts = "";

  constructor(private readonly names: { readonly file: string; readonly text: string }) {}

  /** `all` is everything so far. */
  read(all: string): this {
    while (this.at < all.length) {
      const before = this.at;
      if (this.open === null) this.between(all[this.at] ?? "");
      else this.within(all);
      if (this.at === before) break; // an escape that is not whole yet
    }
    return this;
  }

  private between(char: string): void {
    this.at += 1;
    if (char === "{" || char === "[") this.depth += 1;
    else if (char === "}" || char === "]") this.depth -= 1;
    else if (char === ":") this.isValue = true;
    else if (char === ",") this.isValue = false;
    else if (char === '"') {
      this.parts = "";
      this.open = this.depth !== 1 ? "other" : this.isValue ? this.kindOf(this.key) : "key";
    }
  }

  private kindOf(key: string): "file" | "text" | "other" {
    return key === this.names.text ? "text" : key === this.names.file ? "file" : "other";
  }

  private within(all: string): void {
    const stop = /["\\]/g;
    stop.lastIndex = this.at;
    const end = stop.exec(all)?.index ?? all.length;
    this.take(all.slice(this.at, end));
    this.at = end;
    if (all[end] === '"') this.close();
    else if (all[end] === "\\") this.escape(all, end);
  }

  private escape(all: string, at: number): void {
    const kind = all[at + 1];
    if (kind === undefined) return;
    const length = kind === "u" ? 6 : 2;
    if (all.length < at + length) return;
    this.take(kind === "u" ? String.fromCharCode(parseInt(all.slice(at + 2, at + 6), 16)) : (ESCAPES[kind] ?? kind));
    this.at = at + length;
  }

  private take(piece: string): void {
    if (this.open === "text") this.text += piece;
    else this.parts += piece;
  }

  private close(): void {
    if (this.open === "key") this.key = this.parts;
    else if (this.open === "file") this.file = this.parts;
    this.open = null;
    this.at += 1;
  }
}

/** The readers of the calls that are being written, so that each piece is read once. */
const readers = new Map<string, BodyReader>();

/** What a call writes into a file as far as it came, null if it writes none. */
export function bodyOf(runId: string, row: ReplyRow, block: Block): LiveBody | null {
  const names = BODIES[block.name ?? ""];
  if (block.kind !== "call" || !names) return null;
  const key = `${row.id}/${row.attempt}/${block.index}`;
  let reader = readers.get(key);
  if (!reader) {
    if (readers.size > 20) readers.clear();
    readers.set(key, (reader = new BodyReader(names)));
  }
  const { file, text } = reader.read(block.text);
  return { runId, file, text };
}

/** The texts that a run is writing: calls that arrive, and calls that are about to be carried out. */
export function bodiesOf(run: RunView): LiveBody[] {
  const found: LiveBody[] = [];
  for (const row of run.rows) {
    if (row.kind === "reply" && row.live) {
      for (const block of row.blocks) {
        const body = bodyOf(run.id, row, block);
        if (body) found.push(body);
      }
    } else if (row.kind === "tool" && row.phase !== "done") {
      const names = BODIES[row.name];
      const [file, text] = names ? [row.args[names.file], row.args[names.text]] : [];
      if (typeof file === "string" && typeof text === "string") found.push({ runId: run.id, file, text });
    }
  }
  return found;
}

/** What is being written into a file right now, null if nothing is. `pathOf` says where a file is. */
export function useLiveBody(path: string, pathOf: (file: string) => string): LiveBody | null {
  const run = useRuns((state) => activeRun(state.thread));
  return useMemo(
    () => (run && bodiesOf(run).findLast(({ file }) => file !== null && pathOf(file) === path)) || null,
    [run, path, pathOf],
  );
}
