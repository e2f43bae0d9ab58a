import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ModelState, Settings } from "@/api/types";
import { useLangStore } from "@/i18n/t";

const asked = vi.fn<(request: Request) => Promise<Response>>();
vi.stubGlobal("fetch", asked);
// The client takes the fetch that is there when it is loaded.
const { Toaster } = await import("@/ui/toast");
const { queryClient } = await import("@/api/queries");
const { ModelForm } = await import("./ModelForm");

const PRIMARY: Settings = {
  provider: "openai",
  base_url: "https://a/v1",
  model: "one",
  api_key_set: true,
  dialect: "auto",
  language: "auto",
  backup_base_url: "",
  backup_model: "",
  backup_api_key_set: false,
  backup_state: "off",
  found: null,
  locked: [],
};
const BACKUP = { backup_base_url: "https://b/v1", backup_model: "two", backup_api_key_set: true } as const;
const MODEL = { provider: "openai", model: "one", state: "ready", size_bytes: 0 } as ModelState;
const idle = { progress: null, code: null, message: "", params: {} };

/** What was sent where, beside the questions of other parts of the form. */
const sent: { method: string; path: string; body: unknown }[] = [];
let answer: () => Response = () => Response.json({});

function show(settings: Partial<Settings> = {}) {
  render(
    <QueryClientProvider client={queryClient}>
      <ModelForm settings={{ ...PRIMARY, ...settings }} model={MODEL} />
      <Toaster />
    </QueryClientProvider>,
  );
  return userEvent.setup();
}

const group = () => within(screen.getByRole("group", { name: "Backup provider" }));
const save = () => screen.getByRole("button", { name: "Save" });

beforeEach(() => {
  useLangStore.setState({ lang: "en" });
  asked.mockImplementation(async (request) => {
    const { pathname, search } = new URL(request.url);
    if (request.method === "GET") return Response.json(idle);
    sent.push({ method: request.method, path: pathname + search, body: await request.json() });
    return answer();
  });
});
afterEach(() => {
  sent.length = 0;
  queryClient.clear();
  cleanup();
});

describe("the backup of a provider", () => {
  it("is folded away until someone wants one", async () => {
    const user = show();
    expect(screen.queryByRole("group", { name: "Backup provider" })).toBeNull();
    await user.click(screen.getByRole("button", { name: "Add a backup" }));
    expect(group().getByLabelText("Address")).toBeTruthy();
    expect(save()).toHaveProperty("disabled", true);
  });

  it("is saved as a whole or not at all", async () => {
    const user = show();
    await user.click(screen.getByRole("button", { name: "Add a backup" }));
    await user.type(group().getByLabelText("Address"), "https://b/v1");
    expect(group().getByText("A backup takes both an address and a model")).toBeTruthy();
    expect(save()).toHaveProperty("disabled", true);
    await user.type(group().getByLabelText("Model name"), "two");
    await user.type(group().getByLabelText("Key"), "secret");
    expect(group().getByText("Once saved, it answers when the provider does not")).toBeTruthy();
    answer = () => Response.json({ ...PRIMARY, ...BACKUP, backup_state: "ready" });
    await user.click(save());
    await screen.findByText("Saved");
    const body = { backup_base_url: "https://b/v1", backup_model: "two", backup_api_key: "secret" };
    expect(sent).toEqual([{ method: "PUT", path: "/api/settings", body }]);
  });

  it("has a test of its own, which offers the models", async () => {
    const user = show({ ...BACKUP, backup_model: "", backup_state: "incomplete" });
    answer = () => Response.json({ ok: false, code: "model_unavailable", message: "", models: ["m1", "m2"], latency_ms: 0 });
    await user.click(group().getByRole("button", { name: "Test the backup" }));
    await user.click(await group().findByRole("button", { name: "m2" }));
    expect(group().getByLabelText("Model name")).toHaveProperty("value", "m2");
    expect(sent).toEqual([{ method: "POST", path: "/api/settings/test?of=backup", body: {} }]);
  });

  it("says what is wrong with it", async () => {
    const user = show({ ...BACKUP, backup_state: "ready" });
    expect(group().getByText("Answers when the provider does not")).toBeTruthy();
    answer = () => Response.json({ ok: false, code: "auth", message: "The provider answered 401", models: [], latency_ms: 3 });
    await user.click(group().getByRole("button", { name: "Test the backup" }));
    expect(await group().findByText("The key is wrong or lacks permission")).toBeTruthy();
    answer = () => Response.json({ code: "invalid_request", message: "no", params: {} }, { status: 400 });
    await user.click(group().getByRole("button", { name: "Test the backup" }));
    await waitFor(() => expect(group().queryByText("The key is wrong or lacks permission")).toBeNull());
  });

  it("is removed with its key", async () => {
    const user = show({ ...BACKUP, backup_state: "ready" });
    await user.click(group().getByRole("button", { name: "Remove the backup" }));
    expect(screen.getByRole("button", { name: "Add a backup" })).toBeTruthy();
    answer = () => Response.json(PRIMARY);
    await user.click(save());
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(sent[0]?.body).toEqual({ backup_base_url: "", backup_model: "", backup_api_key: "" });
  });

  it.each([
    ["en", "Not used: it does not call tools as the model does. Choose another model, or above a way that both know"],
    ["zh", "不会使用：它不会主模型的工具调用方式。换一个模型，或在上面选一种两者都会的方式"],
  ] as const)("that cannot take part says so (%s)", (lang, words) => {
    useLangStore.setState({ lang });
    show({ ...BACKUP, backup_state: "dialect" });
    expect(screen.getByText(words)).toBeTruthy();
  });

  it("that the environment fixes cannot be changed here", () => {
    show({ ...BACKUP, backup_state: "ready", locked: ["backup_base_url", "backup_model", "backup_api_key"] });
    for (const name of ["Address", "Key", "Model name"]) {
      expect(group().getByLabelText(name)).toHaveProperty("disabled", true);
    }
    expect(group().queryByRole("button", { name: "Remove the backup" })).toBeNull();
    expect(save()).toHaveProperty("disabled", true);
  });

  it("is no matter of other providers", () => {
    show({ ...BACKUP, provider: "scripted" });
    expect(screen.queryByRole("group", { name: "Backup provider" })).toBeNull();
  });
});
