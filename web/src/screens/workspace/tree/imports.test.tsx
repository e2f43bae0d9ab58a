import { QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { useLangStore } from "@/i18n/t";
import { TooltipProvider } from "@/ui/tooltip";
import { A_FILE, dropped, folder, made, text } from "./dropped.test-data";

const ENTRIES = [
  { path: "正文", kind: "folder", type: "folder", size_bytes: 0, words: null, modified_at: 0, revision: null },
  { path: "正文/第一章.md", kind: "file", type: "draft", size_bytes: 3, words: 1, modified_at: 0, revision: "a" },
];

const server = vi.hoisted(() => {
  const lists = vi.fn<() => unknown>();
  const answer = (url: string) => (url.endsWith("/files") ? lists() : []);
  vi.stubGlobal("fetch", async ({ url }: Request) => Response.json(answer(url)));
  return { lists };
});

/** One upload that a test lets go on as it likes. */
class Upload extends EventTarget {
  static all: Upload[] = [];
  readonly upload = new EventTarget();
  readonly headers = new Map<string, string>();
  address = new URL("http://localhost");
  body: File | null = null;
  status = 0;
  responseText = "";

  constructor() {
    super();
    Upload.all.push(this);
  }
  open(method: string, url: string): void {
    expect(method).toBe("POST");
    this.address = new URL(url, "http://localhost");
  }
  setRequestHeader(name: string, value: string): void {
    this.headers.set(name, value);
  }
  send(body: File): void {
    this.body = body;
  }
  abort(): void {
    this.dispatchEvent(new Event("abort"));
  }
  sent(loaded: number, total = 100): Promise<void> {
    return act(async () => void this.upload.dispatchEvent(Object.assign(new Event("progress"), { loaded, total })));
  }
  answer(status: number, body: unknown): Promise<void> {
    this.status = status;
    this.responseText = JSON.stringify(body);
    return act(async () => void this.dispatchEvent(new Event("load")));
  }
  breakOff(): Promise<void> {
    return act(async () => void this.dispatchEvent(new Event("error")));
  }
}
vi.stubGlobal("XMLHttpRequest", Upload);

const { queryClient } = await import("@/api/queries");
const { WorkspaceContext } = await import("../context");
const { FilePane } = await import("./FilePane");
const { useImports } = await import("./imports");

const openFile = vi.fn<(path: string | null) => void>();
const refused = (code: string, params: Record<string, unknown>) => ({ code, params, message: "in English" });
const notes = () => within(screen.getByRole("list", { name: "导入的文档" })).getAllByRole("listitem");
const lastUpload = () => waitFor(() => Upload.all.at(-1) ?? expect.fail("nothing was sent"));

async function show(entries: readonly unknown[] = ENTRIES): Promise<void> {
  server.lists.mockReturnValue({ entries, truncated: false });
  const value = { projectId: "prj_1", sessionId: null, file: null, openSession: vi.fn(), openAt: vi.fn(), openFind: vi.fn(), openFile };
  render(
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <WorkspaceContext value={value}>
          <FilePane />
        </WorkspaceContext>
      </TooltipProvider>
    </QueryClientProvider>,
  );
  await (entries.length > 0 ? screen.findByRole("tree") : screen.findByText("还没有文件"));
}

async function pick(...files: File[]): Promise<void> {
  const input = document.querySelector<HTMLInputElement>("input[type=file]") ?? expect.fail("no picker");
  await userEvent.setup({ applyAccept: false }).upload(input, files);
}

beforeEach(() => useLangStore.setState({ lang: "zh" }));
afterEach(() => {
  for (const { stop } of useImports.getState().jobs) stop.abort();
  useImports.setState({ jobs: [] });
  Upload.all = [];
  openFile.mockReset();
  queryClient.clear();
  cleanup();
});

describe("an import", () => {
  it("shows how far it is, what was made, and opens the first new file", async () => {
    await show();
    await pick(text("夜雨.docx"), text("b&c.txt"));
    const first = await lastUpload();
    expect(first.address.pathname).toBe("/api/projects/prj_1/import");
    expect([...first.address.searchParams]).toEqual([["name", "夜雨.docx"]]);
    expect(first.headers.get("content-type")).toBe("application/octet-stream");
    expect(await first.body?.text()).toBe("夜色");
    expect(notes()[1]?.textContent).toContain("等待中");
    await first.sent(40);
    expect(screen.getByRole("progressbar", { name: "正在上传“夜雨.docx”" }).getAttribute("aria-valuenow")).toBe("40");
    await first.sent(100);
    const reading = screen.getByRole("progressbar", { name: "已传完，正在读取内容…" });
    expect(reading.hasAttribute("aria-valuenow")).toBe(false);
    expect(within(notes()[0]!).queryByRole("button")).toBeNull();

    const before = server.lists.mock.calls.length;
    openFile.mockImplementation(() => expect(server.lists.mock.calls.length).toBe(before + 1));
    await first.answer(201, made("夜雨/1 起.md", "夜雨/2 落.md"));
    await waitFor(() => expect(openFile).toHaveBeenCalledExactlyOnceWith("夜雨/1 起.md"));
    expect(notes()[0]?.textContent).toContain("已新建 2 个文件");

    await waitFor(() => expect(Upload.all).toHaveLength(2));
    expect(Upload.all[1]?.address.searchParams.get("name")).toBe("b&c.txt");
    await Upload.all[1]?.answer(201, made("b&c.md"));
    await screen.findByText("已新建 b&c.md");
    expect(openFile).toHaveBeenCalledOnce();
  });

  it("goes into the folder that has the focus in the tree", async () => {
    await show();
    await act(async () => screen.getByRole("treeitem", { name: "第一章.md" }).focus());
    await pick(text("a.txt"));
    expect((await lastUpload()).address.searchParams.get("folder")).toBe("正文");
  });

  it("can start where there is no file yet", async () => {
    await show([]);
    expect(screen.getAllByRole("button", { name: "导入文档" })).toHaveLength(2);
    await pick(text("a.txt"));
    await (await lastUpload()).answer(201, made("a.md"));
    await waitFor(() => expect(openFile).toHaveBeenCalledWith("a.md"));
  });

  const UNSUPPORTED = refused("document_unsupported", { name: "a.pdf", found: "PDF" });
  it.each<[string, number, unknown, string]>([
    ["a code with words", 415, UNSUPPORTED, "a.pdf 是 PDF 文件，不能导入；请另存为 txt、md、docx、epub 或 html"],
    ["a code of the future", 422, refused("document_new", {}), "in English"],
    ["no envelope", 500, "<html>", "程序内部出错"],
  ])("that is refused says why: %s", async (_, status, body, words) => {
    await show();
    await pick(text("a.pdf"));
    await (await lastUpload()).answer(status, body);
    await screen.findByText(new RegExp(words));
    expect(openFile).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole("button", { name: "关闭“a.pdf”的提示" }));
    expect(screen.queryByRole("list", { name: "导入的文档" })).toBeNull();
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "导入文档" }));
  });

  it.each([
    [0, "连不上文房的服务"],
    [10, "上传时连接中断"],
  ])("whose line breaks after %d bytes says so", async (loaded, words) => {
    await show();
    await pick(text("a.txt"));
    const upload = await lastUpload();
    if (loaded) await upload.sent(loaded);
    await upload.breakOff();
    await screen.findByText(new RegExp(words));
  });

  it("tells what was left out and what of an archive was refused, in the language of the studio", async () => {
    await show();
    await pick(text("书.zip"));
    await (await lastUpload()).answer(201, {
      ...made("a.md"),
      warnings: [refused("images_dropped", { count: 1 }), refused("images_dropped", { count: 1 }), refused("warn_new", {})],
      problems: [{ name: "b.pdf", ...refused("document_encrypted", {}) }],
    });
    const note = await waitFor(() => notes()[0]!);
    await within(note).findByText("已新建 a.md");
    expect(within(note).getAllByText("1 张图片没有导入，只保留了说明文字")).toHaveLength(1);
    within(note).getByText("in English");
    within(note).getByText("b.pdf 有密码或版权保护，请去掉保护后再导入");
    act(() => useLangStore.setState({ lang: "en" }));
    screen.getByText("1 image was not imported, only its description");
    screen.getByText("b.pdf is protected by a password or by DRM; remove the protection and import it again");
  });

  it("that is cancelled sends no more, and the next goes on", async () => {
    await show();
    await pick(text("a.txt"), text("b.txt"), text("c.txt"));
    await lastUpload();
    await userEvent.click(screen.getByRole("button", { name: "取消导入“b.txt”" }));
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "取消导入“c.txt”" }));
    await userEvent.click(screen.getByRole("button", { name: "取消导入“a.txt”" }));
    await waitFor(() => expect(Upload.all).toHaveLength(2));
    expect(Upload.all[1]?.address.searchParams.get("name")).toBe("c.txt");
    expect(notes()).toHaveLength(1);
  });

  it("that ends when its project is closed opens nothing, and its note is there again", async () => {
    await show();
    await pick(text("a.txt"));
    cleanup();
    await (await lastUpload()).answer(201, made("a.md"));
    await show();
    await screen.findByText("已新建 a.md");
    expect(openFile).not.toHaveBeenCalled();
  });

  it("is not forgotten with the page before all of it went out", async () => {
    const isAsked = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
    await show();
    expect(isAsked()).toBe(false);
    await pick(text("a.txt"));
    const upload = await lastUpload();
    expect(isAsked()).toBe(true);
    await upload.sent(100);
    expect(isAsked()).toBe(false);
  });

  it("that went well makes room for the next, others stay", async () => {
    await show();
    await pick(text("good.txt"), text("bad.txt"));
    await (await lastUpload()).answer(201, made("good.md"));
    await waitFor(() => expect(Upload.all).toHaveLength(2));
    await Upload.all[1]?.answer(422, refused("document_empty", { name: "bad.txt" }));
    await screen.findByText(/bad.txt 里没有文字/);
    expect(notes()).toHaveLength(2);
    await pick(text("next.txt"));
    expect(notes().map((note) => note.querySelector("[title]")?.textContent)).toEqual(["next.txt", "bad.txt"]);
  });
});

describe("dropping", () => {
  it.each<[string, () => Element, string | null, string]>([
    ["a folder", () => screen.getByRole("treeitem", { name: "正文" }), "正文", "松开，导入到“正文”"],
    ["a file in it", () => screen.getByRole("treeitem", { name: "第一章.md" }), "正文", "松开，导入到“正文”"],
    ["the room below", () => screen.getByRole("region", { name: "文件" }), null, "松开，导入到项目根目录"],
  ])("on %s imports there", async (_, on, folder, words) => {
    await show();
    const dataTransfer = dropped(A_FILE);
    fireEvent.dragOver(on(), { dataTransfer });
    screen.getByText(words);
    fireEvent.drop(on(), { dataTransfer });
    expect(screen.queryByText(words)).toBeNull();
    expect((await lastUpload()).address.searchParams.get("folder")).toBe(folder);
  });

  const sent = () =>
    Upload.all.map(({ address }) => [address.searchParams.get("folder"), address.searchParams.get("name")]);

  it("takes folders with all that is in them, in order, and says what did not go well", async () => {
    await show();
    const inside = { "10.txt": text("10.txt"), "2.txt": text("2.txt"), ".git": { head: text("head") }, 卷二: { "a.png": text("a.png") } };
    fireEvent.drop(screen.getByRole("treeitem", { name: "正文" }), {
      dataTransfer: dropped(folder("夹", inside), { name: "b.txt", isDirectory: false }),
    });
    for (const [at, code] of [201, 201, 400, 201].entries()) {
      await waitFor(() => expect(Upload.all.length).toBe(at + 1));
      await Upload.all[at]!.answer(code, code === 201 ? made(`${at}.md`) : refused("document_unknown", { name: "a.png" }));
    }
    expect(sent()).toEqual([
      ["正文/夹", "2.txt"],
      ["正文/夹", "10.txt"],
      ["正文/夹/卷二", "a.png"],
      ["正文", "b.txt"],
    ]);
    await waitFor(() => expect(notes().map((note) => note.dataset.phase)).toEqual(["failed", "done"]));
    expect(openFile).toHaveBeenCalledExactlyOnceWith("0.md");
  });

  it.each<[string, object]>([
    ["too many files", folder("夹", Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`${n}`, text(`${n}`)])), 100)],
    ["what cannot be read", { name: "夹", isDirectory: true, createReader: () => ({ readEntries: (_: unknown, fail: (error: Error) => void) => fail(new Error("no")) }) }],
  ])("of %s takes nothing", async (_, entry) => {
    await show();
    fireEvent.drop(screen.getByRole("tree"), { dataTransfer: dropped(entry, A_FILE) });
    expect((await lastUpload()).address.searchParams.get("name")).toBe("a.txt");
    expect(sent()).toHaveLength(1);
    expect(notes()[0]?.textContent).toContain("请打包成 zip");
  });

  it("beside the tree leaves the page as it is; what is no file is left alone", async () => {
    await show();
    const files = new Event("drop", { bubbles: true, cancelable: true });
    document.body.dispatchEvent(Object.assign(files, { dataTransfer: dropped(A_FILE) }));
    expect(files.defaultPrevented).toBe(true);
    const words = new Event("drop", { bubbles: true, cancelable: true });
    document.body.dispatchEvent(Object.assign(words, { dataTransfer: { types: ["text/plain"], items: [] } }));
    expect(words.defaultPrevented).toBe(false);
    expect(Upload.all).toEqual([]);
  });
});
