import { useEffect, useRef } from "react";

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** "mod+P" → "Ctrl+P" or "⌘P". */
export function keyWords(keys: string): string {
  const [mod, alt, shift] = isMac ? ["⌘", "⌥", "⇧"] : ["Ctrl+", "Alt+", "Shift+"];
  return keys.replace("mod+", mod!).replace("alt+", alt!).replace("shift+", shift!);
}

function nameOf(event: KeyboardEvent): string {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  // With Alt the key may have become another letter; its place on the keyboard has not.
  const plain = event.altKey ? event.code.replace(/^Key/, "") : event.key;
  const key = plain.length === 1 ? plain.toUpperCase() : plain;
  // Only with a letter: where "/" stands above a digit, Shift is how it is written.
  const shift = mod && event.shiftKey && /^[A-Z]$/.test(key);
  return `${mod ? "mod+" : ""}${event.altKey ? "alt+" : ""}${shift ? "shift+" : ""}${key}`;
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
      event.stopPropagation();
      act();
    };
    // Before the part that has the focus: the editor takes Ctrl+Shift+F for its own Ctrl+F under caps lock.
    window.addEventListener("keydown", onKey, true);
    return () => window.removeEventListener("keydown", onKey, true);
  }, []);
}
