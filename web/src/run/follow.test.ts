import { beforeEach, describe, expect, it, vi } from "vitest";
import { answer, asked, json, play, refused } from "@/api/played.test-data";

vi.stubGlobal("fetch", play);
vi.stubGlobal("requestAnimationFrame", (act: () => void) => setTimeout(act));
const { useLogin } = await import("@/api/login");
const { follow } = await import("./follow");

const STREAM = "GET /api/projects/prj_1/events?after=0";
const streams = () => asked.filter(({ at }) => at === STREAM).length;

beforeEach(() => {
  useLogin.setState({ isRequired: false });
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

describe("the stream", () => {
  it("asks a server that wants a login only once, and again after the login", async () => {
    answer({ [STREAM]: () => refused(401, "login_required") });
    const stop = follow("prj_1", null);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([streams(), useLogin.getState().isRequired]).toEqual([1, true]);
    answer({ [STREAM]: () => json({}) });
    useLogin.setState({ isRequired: false });
    await vi.advanceTimersByTimeAsync(10);
    expect(streams()).toBe(1);
    stop();
  });

  it("waits longer and longer for one that refuses in words of its own", async () => {
    answer({ [STREAM]: () => new Response("who are you?", { status: 401 }) });
    const stop = follow("prj_1", null);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(streams()).toBeLessThan(9);
    stop();
  });

  it("is not asked for any more by a screen that has gone meanwhile", async () => {
    answer({ [STREAM]: () => refused(401, "login_required") });
    const stop = follow("prj_1", null);
    await vi.advanceTimersByTimeAsync(1000);
    stop();
    useLogin.setState({ isRequired: false });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(streams()).toBe(1);
  });
});
