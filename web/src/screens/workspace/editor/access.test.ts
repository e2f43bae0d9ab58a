import { EditorState } from "@codemirror/state";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answer, asked, json, play, refused } from "@/api/played.test-data";

vi.stubGlobal("fetch", play);
const { OpenDoc } = await import("./doc");
const { giveUp, saveAll } = await import("./saving");

const FILE = { path: "a.md", text: "一\n", revision: "r1", size_bytes: 4, words: 1, modified_at: 0, newline: "\n" as const };
const PUT = "PUT /api/projects/prj_1/files/a.md";
let doc: InstanceType<typeof OpenDoc>;
const typed = (text: string) => doc.state.update({ changes: { from: 0, insert: text } }).state;

beforeEach(() => {
  answer({});
  doc = new OpenDoc("prj_1", "a.md", FILE);
});
afterEach(() => doc.close());

describe("one who may only look", () => {
  it("cannot type, and can as soon as that changes", () => {
    expect(doc.state.facet(EditorState.readOnly)).toBe(false);
    doc.setReadOnly(true);
    expect(doc.state.facet(EditorState.readOnly)).toBe(true);
    doc.setReadOnly(false);
    expect(doc.state.facet(EditorState.readOnly)).toBe(false);
  });

  it("keeps what was typed before, and it is stored when it may be", async () => {
    doc.state = typed("二");
    answer({ [PUT]: () => refused(403, "forbidden") });
    await doc.save();
    expect(doc.store.getState().phase).toBe("failed");
    doc.setReadOnly(true);
    expect(doc.text).toBe("二一\n");
    answer({ [PUT]: () => json({ ...FILE, revision: "r2" }) });
    expect(await saveAll()).toBe(true);
    expect(asked).toEqual([{ at: PUT, body: { text: "二一\n", base: "r1" } }]);
    expect(doc.store.getState().phase).toBe("clean");
  });
});

describe("words that could not be stored", () => {
  it("are warned of until a person gives them up", async () => {
    doc.state = typed("二");
    answer({ [PUT]: () => refused(401, "login_required") });
    expect(await saveAll()).toBe(false);
    giveUp();
    expect(await saveAll()).toBe(true);
    expect(asked).toHaveLength(1);
  });
});
