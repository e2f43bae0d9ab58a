import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { useLangStore } from "@/i18n/t";
import { Toaster } from "@/ui/toast";
import { TooltipProvider } from "@/ui/tooltip";

const answer = vi.fn<(url: string) => Promise<Response>>();
vi.stubGlobal("fetch", answer);
const { WorkspaceContext } = await import("./context");
const { ExportMenu } = await import("./ExportMenu");
const { addSaver } = await import("./editor/saving");

/** Toasts outlive a test: each has a name of its own. */
const bytes = (name: string) =>
  new Response("bytes", { headers: { "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}` } });
let taken: { name: string; href: string }[] = [];
const forgets: (() => void)[] = [];

async function choose(format: string): Promise<void> {
  const value = { projectId: "prj_1", sessionId: null, file: null, openSession: vi.fn(), openAt: vi.fn(), openFind: vi.fn(), openFile: vi.fn() };
  render(
    <TooltipProvider>
      <WorkspaceContext value={value}>
        <ExportMenu />
        <Toaster />
      </WorkspaceContext>
    </TooltipProvider>,
  );
  const user = userEvent.setup();
  screen.getByRole("button", { name: "导出" }).focus();
  await user.keyboard("{Enter}");
  await user.click(await screen.findByRole("menuitem", { name: format }));
}

function opened(save: () => Promise<void>, isUnsaved: () => boolean): void {
  forgets.push(addSaver({ save, isUnsaved }));
}

beforeEach(() => {
  useLangStore.setState({ lang: "zh" });
  taken = [];
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function click(this: HTMLAnchorElement) {
    taken.push({ name: this.download, href: this.href });
  });
});
afterEach(() => {
  for (const forget of forgets.splice(0)) forget();
  vi.restoreAllMocks();
  answer.mockReset();
  cleanup();
});

describe("an export", () => {
  it.each([
    ["纯文本（txt）", "txt"],
    ["Markdown（md）", "md"],
    ["Word（docx）", "docx"],
    ["电子书（epub）", "epub"],
    ["全部文件（zip）", "zip"],
  ])("%s is asked for and given under the server's name", async (label, format) => {
    answer.mockResolvedValue(bytes(`夜 1.${format}`));
    await choose(label);
    await waitFor(() => expect(taken.map(({ name }) => name)).toEqual([`夜 1.${format}`]));
    expect(taken[0]?.href).toMatch(/^blob:/);
    expect(answer.mock.calls.map(([url]) => url)).toEqual([`/api/projects/prj_1/export?format=${format}`]);
    await screen.findByText(`已导出 夜 1.${format}`);
  });

  it("saves what is open first", async () => {
    const order: string[] = [];
    opened(async () => void order.push("saved"), () => false);
    answer.mockImplementation(async () => {
      order.push("asked");
      return bytes("保存.docx");
    });
    await choose("Word（docx）");
    await screen.findByText("已导出 保存.docx");
    expect(order).toEqual(["saved", "asked"]);
  });

  it("says that unsaved words are not in it", async () => {
    opened(async () => undefined, () => true);
    answer.mockResolvedValue(new Response("bytes", { headers: { "content-disposition": "attachment" } }));
    await choose("纯文本（txt）");
    await screen.findByText("有改动还没有保存，导出的文件里没有它们");
    expect(taken.map(({ name }) => name)).toEqual(["export.txt"]);
  });

  it.each<[string, () => Promise<Response>, string]>([
    ["refused", async () => Response.json({ code: "nothing_to_export", message: "", params: {} }, { status: 409 }), "没有可以导出的文字"],
    ["unreachable", () => Promise.reject(new TypeError("failed to fetch")), "连不上文房的服务"],
  ])("that is %s says why and can be tried again", async (_, reply, words) => {
    answer.mockImplementation(reply);
    await choose("电子书（epub）");
    await screen.findByText(new RegExp(words));
    expect(taken).toEqual([]);
    await screen.findByRole("button", { name: "导出" });
  });
});
