import { Tooltip as Radix } from "radix-ui";
import type { FocusEvent, ReactNode } from "react";

export const TooltipProvider = ({ children }: { children: ReactNode }) => (
  <Radix.Provider delayDuration={500} skipDelayDuration={200}>
    {children}
  </Radix.Provider>
);

let isTabbing = false;
window.addEventListener("keydown", (event) => (isTabbing = event.key === "Tab"), true);
window.addEventListener("pointerdown", () => (isTabbing = false), true);

/** Opens for a person who tabs along, not when the focus comes back from a dialog: it would then stand
 * in the way of the next Escape. */
function onFocus(event: FocusEvent): void {
  if (!isTabbing) event.preventDefault();
}

export function Tooltip({ text, children }: { text: string; children: ReactNode }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild onFocus={onFocus}>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          sideOffset={6}
          collisionPadding={8}
          className="animate-rise z-50 rounded-md bg-ink px-2 py-1 text-xs whitespace-pre text-paper select-none max-md:hidden"
        >
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
