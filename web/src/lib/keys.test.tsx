import { cleanup, render } from "@testing-library/react";
import { useRef } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { useHotkeys } from "./hotkeys";
import { useRegionKeys } from "./region-keys";

const act = { finish: vi.fn(), all: vi.fn(), next: vi.fn(), versions: vi.fn(), find: vi.fn() };

function Screen() {
  const region = useRef<HTMLElement>(null);
  useRegionKeys(region, { Enter: act.finish, "Shift+Y": act.all, F7: act.next });
  useHotkeys({ "mod+shift+H": act.versions, "mod+/": act.find });
  return (
    <>
      <section ref={region}>
        <p id="text" tabIndex={0} />
        <button id="button" type="button" aria-label="button" />
        <input id="field" />
      </section>
      <textarea id="composer" />
    </>
  );
}

function press(id: string | null, key: string, more: KeyboardEventInit = {}): void {
  render(<Screen />);
  const target = id === null ? document.body : document.getElementById(id)!;
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
}

afterEach(() => {
  vi.clearAllMocks();
  cleanup();
});

describe("keys of a region", () => {
  it.each<[string, string | null, string, KeyboardEventInit, keyof typeof act | null]>([
    ["in it", "text", "Enter", {}, "finish"],
    ["with nothing in focus", null, "Y", { shiftKey: true }, "all"],
    ["the letter without Shift is another key", "text", "y", {}, null],
    ["Enter on a button presses the button", "button", "Enter", {}, null],
    ["a letter on a button", "button", "Y", { shiftKey: true }, "all"],
    ["a letter in a field is text", "field", "Y", { shiftKey: true }, null],
    ["a function key in a field", "field", "F7", {}, "next"],
    ["outside of it", "composer", "F7", {}, null],
    ["of an input method", "text", "Enter", { isComposing: true }, null],
    ["of an input method, as Safari tells it", "text", "Enter", { keyCode: 229 }, null],
  ])("%s", (_, id, key, more, expected) => {
    press(id, key, more);
    for (const [name, mock] of Object.entries(act)) expect(mock).toHaveBeenCalledTimes(name === expected ? 1 : 0);
  });
});

describe("keys of the screen", () => {
  it.each<[string, string, KeyboardEventInit, keyof typeof act | null]>([
    ["Ctrl+Shift+H", "H", { ctrlKey: true, shiftKey: true }, "versions"],
    ["Ctrl+H is another", "h", { ctrlKey: true }, null],
    ["Ctrl+/ on a keyboard that has it above the 7", "/", { ctrlKey: true, shiftKey: true }, "find"],
  ])("%s", (_, key, more, expected) => {
    press("text", key, more);
    for (const [name, mock] of Object.entries(act)) expect(mock).toHaveBeenCalledTimes(name === expected ? 1 : 0);
  });
});
