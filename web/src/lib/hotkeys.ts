import { useEffect, useRef } from "react";

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** "mod+P" → "Ctrl+P" or "⌘P". */
export function keyWords(keys: string): string {
  return isMac ? keys.replace("mod+", "⌘").replace("alt+", "⌥") : keys.replace("mod+", "Ctrl+").replace("alt+", "Alt+");
}

function nameOf(event: KeyboardEvent): string {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  // With Alt the key may have become another letter; its place on the keyboard has not.
  const plain = event.altKey ? event.code.replace(/^Key/, "") : event.key;
  const key = plain.length === 1 ? plain.toUpperCase() : plain;
  return `${mod ? "mod+" : ""}${event.altKey ? "alt+" : ""}${key}`;
}

/** Keys for the whole screen, by their names as in `keyWords`. An input method comes first. */
export function useHotkeys(bindings: Readonly<Record<string, () => void>>): void {
  const latest = useRef(bindings);
  useEffect(() => {
    latest.current = bindings;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.isComposing || event.keyCode === 229) return;
      const act = latest.current[nameOf(event)];
      if (!act) return;
      event.preventDefault();
      act();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
