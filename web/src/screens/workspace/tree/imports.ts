import { create } from "zustand";
import { ApiError } from "@/api/client";
import { sendDocument } from "@/api/documents";
import { keys, queryClient } from "@/api/queries";
import type { ImportOut } from "@/api/types";
import { join } from "./paths";

export type ImportState =
  | { phase: "waiting" }
  /** `fraction` is 0..1. */
  | { phase: "sending"; fraction: number }
  /** All of it is with the server: from here on it cannot be stopped. */
  | { phase: "reading" }
  | { phase: "done"; result: ImportOut }
  | { phase: "failed"; error: unknown };

export interface Import {
  id: number;
  projectId: string;
  folder: string;
  file: File;
  /** It came with a folder: nothing is said of it if it goes well. */
  isOneOfMany: boolean;
  stop: AbortController;
  state: ImportState;
}

/** Imports outlive the pane that shows them: a change of the window's width must not hide a failure. */
export const useImports = create<{ jobs: readonly Import[] }>(() => ({ jobs: [] }));

let lastId = 0;
let queue: Promise<void> = Promise.resolve();

/** A file to import. `below` is the folder in a dropped folder that it was in, "" for a file of its own. */
export interface Picked {
  file: File;
  below: string;
  /** Why it cannot be sent. */
  problem?: string;
}

/**
 * Import documents one after another, so that names are given in their order. `onFirst` gets the first
 * file that was created, once the list of files has it. Notes of earlier imports that went well make room.
 */
export function importDocuments(
  projectId: string,
  folder: string,
  picked: readonly Picked[],
  onFirst: (path: string) => void,
): Promise<void> {
  const added = picked.map(
    ({ file, below, problem }): Import => ({
      id: ++lastId,
      projectId,
      folder: below ? join(folder, below) : folder,
      file,
      isOneOfMany: below !== "",
      stop: new AbortController(),
      state: problem ? { phase: "failed", error: new ApiError(problem, 0, "") } : { phase: "waiting" },
    }),
  );
  useImports.setState(({ jobs }) => ({ jobs: [...added, ...jobs.filter((job) => !wentWell(job))] }));
  let isFirst = true;
  queue = queue.then(async () => {
    for (const job of added.filter(({ state }) => state.phase === "waiting")) {
      const path = await run(job);
      if (path !== null && isFirst) onFirst(path);
      isFirst &&= path === null;
    }
  });
  return queue;
}

/** Take a note away; what is still on its way is stopped. */
export function dismiss({ id, stop }: Import): void {
  stop.abort();
  useImports.setState(({ jobs }) => ({ jobs: jobs.filter((job) => job.id !== id) }));
}

/** The first file that came of it, null if none did. */
async function run(job: Import): Promise<string | null> {
  const { id, projectId, folder, file, stop } = job;
  if (stop.signal.aborted) return null;
  const set = (state: ImportState) =>
    useImports.setState(({ jobs }) => ({ jobs: jobs.map((job) => (job.id === id ? { ...job, state } : job)) }));
  set({ phase: "sending", fraction: 0 });
  try {
    const onSent = (fraction: number) => set(fraction < 1 ? { phase: "sending", fraction } : { phase: "reading" });
    const result = await sendDocument(projectId, folder, file, onSent, stop.signal);
    await queryClient.invalidateQueries({ queryKey: keys.files(projectId) });
    set({ phase: "done", result });
    if (job.isOneOfMany) useImports.setState(({ jobs }) => ({ jobs: jobs.filter((each) => each.id !== id || !wentWell(each)) }));
    return result.files[0]?.path ?? null;
  } catch (error) {
    set({ phase: "failed", error });
    return null;
  }
}

/** What has not gone out yet would be forgotten with the page. */
window.addEventListener("beforeunload", (event) => {
  if (useImports.getState().jobs.some(isAtRisk)) event.preventDefault();
});

function isAtRisk({ state }: Import): boolean {
  return state.phase === "waiting" || state.phase === "sending";
}

function wentWell({ state }: Import): boolean {
  return state.phase === "done" && state.result.warnings.length + state.result.problems.length === 0;
}
