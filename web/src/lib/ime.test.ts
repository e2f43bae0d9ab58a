import { describe, expect, it } from "vitest";
import { ImeGuard } from "./ime";

const key = (over: object = {}) => ({ key: "Enter", keyCode: 13, ...over });

describe("ImeGuard", () => {
  it("lets a plain Enter through", () => {
    expect(new ImeGuard().isEnter(key())).toBe(true);
    expect(new ImeGuard().isEnter(key({ key: "a", keyCode: 65 }))).toBe(false);
  });

  it.each([
    ["isComposing", { isComposing: true }],
    ["isComposing of the native event", { nativeEvent: { isComposing: true } }],
    ["key code 229", { keyCode: 229, isComposing: false }],
  ])("keeps back an Enter with %s", (_, over) => {
    expect(new ImeGuard().isEnter(key(over))).toBe(false);
  });

  it("keeps back everything between the composition events", () => {
    const guard = new ImeGuard();
    guard.props.onCompositionStart();
    expect(guard.isEnter(key())).toBe(false);
    guard.props.onCompositionEnd();
    expect(guard.isEnter(key())).toBe(true);
  });
});
