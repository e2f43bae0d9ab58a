import { lazy, type ComponentType } from "react";

const TRIES = 8;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/** Code that is loaded when it is needed; a line that is down for a while is no reason to give up. */
async function persist<T>(load: () => Promise<T>): Promise<T> {
  for (let [left, wait] = [TRIES, FIRST_WAIT_MS]; left > 1; left -= 1, wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
  return load();
}

// oxlint-disable-next-line typescript/no-explicit-any -- React's own bound for the type of a component
export function late<C extends ComponentType<any>>(load: () => Promise<C>) {
  return lazy(() => persist(load).then((component) => ({ default: component })));
}
