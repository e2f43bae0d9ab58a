import { useMemo } from "react";

interface KeyLike {
  key: string;
  keyCode: number;
  isComposing?: boolean;
  nativeEvent?: { isComposing?: boolean };
}

/**
 * Tells keys meant for an input method from keys meant for us. Three signs, because no browser gives
 * all of them: the composition events, `isComposing`, and key code 229 (Safari sends the Enter that
 * confirms a candidate after the composition has ended, with 229 and `isComposing` false).
 */
export class ImeGuard {
  private composing = false;

  readonly props = {
    onCompositionStart: () => {
      this.composing = true;
    },
    onCompositionEnd: () => {
      this.composing = false;
    },
  };

  owns(event: KeyLike): boolean {
    const flagged = event.isComposing ?? event.nativeEvent?.isComposing ?? false;
    return this.composing || flagged || event.keyCode === 229;
  }

  isEnter(event: KeyLike): boolean {
    return event.key === "Enter" && !this.owns(event);
  }
}

export function useIme(): ImeGuard {
  return useMemo(() => new ImeGuard(), []);
}
