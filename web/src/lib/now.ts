import { useEffect, useState } from "react";

/** Unix seconds, renewed while `isTicking`. */
export function useNow(everyMs: number, isTicking = true): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    if (!isTicking) return undefined;
    const timer = setInterval(() => setNow(Date.now() / 1000), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isTicking]);
  return now;
}
