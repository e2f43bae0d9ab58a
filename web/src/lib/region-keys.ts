import { useEffect, useRef, type RefObject } from "react";
import { ImeGuard } from "./ime";

function nameOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const mod = event.ctrlKey || event.metaKey ? "mod+" : "";
  return `${mod}${event.shiftKey ? "Shift+" : ""}${key}`;
}

/** Enter on these is a press of them. */
const PRESSED = "button, a, select, summary, [role=button]";
const TYPED = "input, textarea, select, [contenteditable=true]";

/** Whether a key pressed at `target` is meant for the region: it is in it, or nothing has the focus. */
function isFor(region: HTMLElement | null, target: Element, key: string): boolean {
  const isHere = region !== null && (region.contains(target) || target === document.body);
  const isTaken = target.closest(TYPED) !== null && !/^F\d/.test(key);
  return isHere && !isTaken && !(key === "Enter" && target.closest(PRESSED));
}

/** Keys of one part of the screen, named like "Shift+Y", "mod+Z", "F7". An input method comes first. */
export function useRegionKeys(region: RefObject<HTMLElement | null>, bindings: Readonly<Record<string, () => void>>): void {
  const latest = useRef(bindings);
  useEffect(() => {
    latest.current = bindings;
  });
  useEffect(() => {
    const guard = new ImeGuard();
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || guard.owns(event) || !(event.target instanceof Element)) return;
      const act = latest.current[nameOf(event)];
      if (!act || !isFor(region.current, event.target, event.key)) return;
      event.preventDefault();
      act();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [region]);
}
