import { useSyncExternalStore } from "react";

const NARROW = window.matchMedia("(max-width: 767px)");

function subscribe(listener: () => void): () => void {
  NARROW.addEventListener("change", listener);
  return () => NARROW.removeEventListener("change", listener);
}

/** Whether there is room for one pane only. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => NARROW.matches);
}
