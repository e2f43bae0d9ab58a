import { create } from "zustand";

/** `isRequired`: the server has asked for a login in the middle of work. Whoever logs in takes it back. */
export const useLogin = create(() => ({ isRequired: false }));

/** Calls `done` as soon as no login is asked for. Returns the way to stop waiting. */
export function whenLoggedIn(done: () => void): () => void {
  const stop = useLogin.subscribe(({ isRequired }) => !isRequired && done());
  if (!useLogin.getState().isRequired) queueMicrotask(done);
  return stop;
}
