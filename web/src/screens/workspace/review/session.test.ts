import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useLangStore } from "@/i18n/t";
import { ReviewSession } from "./session";

const BEFORE = "一\n\n二\n\n三\n\n四\n";
/** Two paragraphs side by side, one more, one less. */
const NOW = "一改\n\n二改\n\n三\n\n新\n\n四\n".replace("三\n\n", "");

const progress = (session: ReviewSession) => {
  const { left, accepted, rejected } = session.store.getState();
  return [left, accepted, rejected];
};

beforeEach(() => useLangStore.setState({ lang: "zh" }));
afterEach(() => document.body.replaceChildren());

describe("a review (UI-5)", () => {
  it("decides on paragraphs that stand side by side one by one", () => {
    const session = new ReviewSession(BEFORE, NOW);
    expect(progress(session)[0]).toBe(3);
    session.decideHere("reject");
    expect(progress(session)).toEqual([2, 0, 1]);
    expect(session.text.startsWith("一\n\n二改\n")).toBe(true);
    session.decideHere("accept");
    session.decideHere("reject");
    expect(progress(session)).toEqual([0, 1, 2]);
    expect(session.text).toBe("一\n\n二改\n\n三\n\n四\n");
  });

  it("takes a step back, also from all at once", () => {
    const session = new ReviewSession(BEFORE, NOW);
    session.decideHere("reject");
    session.decideAll("reject");
    expect([session.text, ...progress(session)]).toEqual([BEFORE, 0, 0, 3]);
    session.undo();
    expect(progress(session)).toEqual([2, 0, 1]);
    session.undo();
    session.undo();
    expect([session.text, ...progress(session)]).toEqual([NOW, 3, 0, 0]);
    expect(session.store.getState().canUndo).toBe(false);
  });

  it("keeps what is chosen when the text changes elsewhere, and asks again where it changed", () => {
    const session = new ReviewSession(BEFORE, NOW);
    session.decideHere("reject");
    session.decideHere("accept");
    session.rebase(`${NOW}五\n`);
    expect(session.store.getState().isRebased).toBe(true);
    expect(progress(session)).toEqual([2, 1, 1]);
    expect(session.text).toBe(`${NOW.replace("一改", "一")}五\n`);
    session.rebase(`${NOW.replace("一改", "一又改")}五\n`);
    expect(session.text).toContain("一又改");
    expect(progress(session)).toEqual([3, 1, 0]);
  });

  it("is not begun anew by the same text", () => {
    const session = new ReviewSession(BEFORE, NOW);
    session.decideHere("reject");
    session.rebase(NOW);
    expect(session.store.getState()).toMatchObject({ isRebased: false, rejected: 1, canUndo: true });
  });

  it("shows two buttons above each passage, which settle it and no other", () => {
    const parent = document.body.appendChild(document.createElement("div"));
    const session = new ReviewSession(BEFORE, NOW);
    session.mount(parent);
    const buttons = () => [...parent.querySelectorAll<HTMLButtonElement>(".cm-chunkButtons button")];
    expect(buttons().map((button) => button.textContent)).toEqual(["接受", "拒绝", "接受", "拒绝", "接受", "拒绝"]);
    buttons()[3]!.click();
    expect(session.text.startsWith("一改\n\n二\n")).toBe(true);
    expect(progress(session)).toEqual([2, 0, 1]);
    expect(buttons()).toHaveLength(4);
    session.unmount();
    session.decideAll("accept");
    expect(progress(session)).toEqual([0, 2, 1]);
  });
});
