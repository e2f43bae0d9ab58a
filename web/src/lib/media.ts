import { useSyncExternalStore } from "react";

function makeHook(query: string): () => boolean {
  const media = window.matchMedia(query);
  const subscribe = (listener: () => void) => {
    media.addEventListener("change", listener);
    return () => media.removeEventListener("change", listener);
  };
  return () => useSyncExternalStore(subscribe, () => media.matches);
}

/** Whether there is room for one pane only. */
export const useNarrow = makeHook("(max-width: 767px)");

/** Whether there is room for two texts side by side. */
export const useWide = makeHook("(min-width: 1024px)");
