import { useCallback, useEffect, useRef, useState, type RefObject } from "react";

/** Closer to the bottom than this is "at the bottom". */
const NEAR_PX = 80;

interface Follow {
  scroller: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  /** There is something below that is not being followed. */
  isBehind: boolean;
  follow: () => void;
}

/**
 * Follow what grows at the bottom, but only while the reader is there and has not turned back. Any move
 * upwards ends it; reaching the bottom or `follow()` begins it again. Nothing else ever scrolls.
 */
export function useFollow(): Follow {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [isBehind, setBehind] = useState(false);

  const follow = useCallback(() => {
    following.current = true;
    toBottom(scroller.current);
    setBehind(false);
  }, []);

  useEffect(() => {
    const [box, inner] = [scroller.current, content.current];
    if (!box || !inner) return undefined;
    let last = box.scrollTop;
    const isNear = () => box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
    const leave = () => {
      if (box.scrollHeight <= box.clientHeight) return;
      following.current = false;
      setBehind(!isNear());
    };
    const onWheel = (event: WheelEvent) => event.deltaY < 0 && leave();
    const onKey = (event: KeyboardEvent) => ["ArrowUp", "PageUp", "Home"].includes(event.key) && leave();
    const onScroll = () => {
      const moved = box.scrollTop - last;
      last = box.scrollTop;
      if (isNear() && moved > 0) following.current = true;
      else if (moved < 0 && !isNear()) following.current = false;
      setBehind(!following.current && !isNear());
    };
    const grown = new ResizeObserver(() => {
      if (following.current) toBottom(box);
      else setBehind(!isNear());
    });
    box.addEventListener("wheel", onWheel, { passive: true });
    box.addEventListener("touchmove", leave, { passive: true });
    box.addEventListener("keydown", onKey);
    box.addEventListener("scroll", onScroll, { passive: true });
    grown.observe(inner);
    grown.observe(box);
    return () => {
      box.removeEventListener("wheel", onWheel);
      box.removeEventListener("touchmove", leave);
      box.removeEventListener("keydown", onKey);
      box.removeEventListener("scroll", onScroll);
      grown.disconnect();
    };
  }, []);

  return { scroller, content, isBehind, follow };
}

function toBottom(box: HTMLElement | null): void {
  if (box) box.scrollTop = box.scrollHeight;
}
