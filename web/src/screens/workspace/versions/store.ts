import { create } from "zustand";
import type { Fact } from "@/api/types";
import { onFileChanged } from "@/run/follow";
import { movedPath } from "../moved";

/** What an agent did to a file that nobody has looked through yet. */
export interface Written {
  path: string;
  runId: string;
}

interface History {
  isOpen: boolean;
  /** The file whose changes are being looked through. */
  review: Written | null;
  unseen: readonly Written[];
}

const NOTHING: History = { isOpen: false, review: null, unseen: [] };

/** Which screens of the past of files are open in the workspace. */
export const useHistory = create<History>(() => NOTHING);

export function openVersions(isOpen = true): void {
  useHistory.setState({ isOpen });
}

export function startReview(review: Written): void {
  useHistory.setState({ review, isOpen: false });
}

export function endReview(): void {
  const { review } = useHistory.getState();
  useHistory.setState({ review: null });
  if (review) dismiss(review.path);
}

/** Do not offer a review of this file until an agent writes it again. */
export function dismiss(path: string): void {
  useHistory.setState(({ unseen }) => ({ unseen: unseen.filter((each) => each.path !== path) }));
}

export function resetHistory(): void {
  made.clear();
  useHistory.setState(NOTHING);
}

/** A file that the same run has made is not offered: there is nothing to compare it with. */
export function noted(unseen: readonly Written[], made: ReadonlySet<string>, event: Fact<"file.changed">): readonly Written[] {
  const { path, change, by, run_id: runId, to } = event;
  if (change === "renamed" && to) {
    return unseen.map((each) => ({ ...each, path: movedPath(each.path, path, to) ?? each.path }));
  }
  if (change === "deleted") return unseen.filter((each) => movedPath(each.path, path, path) === null);
  if (change !== "written" || by !== "ai" || !runId || made.has(`${runId}/${path}`)) return unseen;
  const known = unseen.find((each) => each.path === path);
  return known ? unseen : [...unseen, { path, runId }];
}

const made = new Set<string>();

onFileChanged((event) => {
  if (event.change === "created" && event.run_id) made.add(`${event.run_id}/${event.path}`);
  useHistory.setState(({ unseen, review }) => {
    const to = event.change === "renamed" && event.to ? movedPath(review?.path, event.path, event.to) : null;
    return { unseen: noted(unseen, made, event), review: review && to ? { ...review, path: to } : review };
  });
});
