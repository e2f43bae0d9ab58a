import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { answer, asked, done, json, play, refused } from "@/api/played.test-data";
import { useLangStore } from "@/i18n/t";
import { TooltipProvider } from "@/ui/tooltip";

vi.stubGlobal("fetch", play);
const { SelfContext } = await import("@/api/account");
const { queryClient } = await import("@/api/queries");
const { Keys } = await import("./Keys");
const { OwnPassword } = await import("./OwnPassword");

const OLD = { id: "key_1", name: "备份", prefix: "wf_old", scopes: ["read"], created_at: 1, expires_at: null, seen_at: null };
const MADE = { ...OLD, id: "key_2", name: "同步", prefix: "wf_new", scopes: ["read", "write"], secret: "wf_new_secret" };

function open(dialog: React.ReactNode, isAdmin = false): ReturnType<typeof userEvent.setup> {
  const user = { id: "usr_1", name: "林", role: isAdmin ? ("admin" as const) : ("member" as const) };
  render(
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <SelfContext value={{ hasAccounts: true, user, isAdmin }}>{dialog}</SelfContext>
      </TooltipProvider>
    </QueryClientProvider>,
  );
  return userEvent.setup();
}

beforeEach(() => {
  useLangStore.setState({ lang: "zh" });
  queryClient.clear();
});
afterEach(cleanup);

it("a new key has what was chosen, and its secret is shown once", async () => {
  answer({ "GET /api/account/keys": () => json([OLD]), "POST /api/account/keys": () => json(MADE, 201) });
  const user = open(<Keys opener={() => null} onClose={vi.fn()} />);
  await screen.findByText("备份");
  await user.click(screen.getByRole("button", { name: "新建密钥" }));
  expect(screen.queryByLabelText(/管理/)).toBeNull(); // no key is worth more than its maker
  await user.type(screen.getByLabelText("名称"), "同步");
  await user.click(screen.getByLabelText(/修改/));
  await user.selectOptions(screen.getByLabelText("有效期"), "30");
  await user.click(screen.getByRole("button", { name: "新建" }));
  const secret = await screen.findByRole("group", { name: "新密钥" });
  expect(within(secret).getByText("wf_new_secret")).toBeTruthy();
  expect(document.activeElement).toBe(secret);
  const { body } = asked.find(({ at }) => at === "POST /api/account/keys")!;
  expect(body).toMatchObject({ name: "同步", scopes: ["read", "write"] });
  const days = ((body as { expires_at: number }).expires_at - Date.now() / 1000) / 86_400;
  expect(Math.round(days)).toBe(30);
  await user.click(screen.getByRole("button", { name: "新建密钥" }));
  await user.click(screen.getByRole("button", { name: "取消" }));
  expect(screen.queryByText("wf_new_secret")).toBeNull();
});

it("an admin's key may be for managing; too many are refused in words", async () => {
  answer({ "GET /api/account/keys": () => json([]), "POST /api/account/keys": () => refused(409, "too_many_keys", { limit: 20 }) });
  const user = open(<Keys opener={() => null} onClose={vi.fn()} />, true);
  await screen.findByText("还没有密钥");
  await user.click(screen.getByRole("button", { name: "新建密钥" }));
  await user.click(screen.getByLabelText(/管理/));
  await user.click(screen.getByLabelText(/读取/));
  await user.type(screen.getByLabelText("名称"), "x{Enter}");
  expect((await screen.findByRole("alert")).textContent).toContain("最多 20 个");
  expect(asked.at(-1)?.body).toMatchObject({ scopes: ["admin"] });
});

it("a key is revoked after a question", async () => {
  let all = [OLD];
  answer({ "GET /api/account/keys": () => json(all), "DELETE /api/account/keys/key_1": () => ((all = []), done()) });
  const user = open(<Keys opener={() => null} onClose={vi.fn()} />);
  await user.click(await screen.findByRole("button", { name: "吊销“备份”" }));
  expect(asked.some(({ at }) => at.startsWith("DELETE"))).toBe(false);
  await user.click(screen.getByRole("button", { name: "吊销" }));
  await screen.findByText("还没有密钥");
});

it("the own password is changed; what is wrong stands beside its field", async () => {
  const answers = [() => refused(403, "password_wrong"), done];
  answer({ "PUT /api/account/password": () => answers.shift()!() });
  const close = vi.fn<() => void>();
  const user = open(<OwnPassword opener={() => null} onClose={close} />);
  await user.type(screen.getByLabelText("原来的密码"), "old");
  await user.type(screen.getByLabelText("新密码"), "long enough{Enter}");
  await waitFor(() => expect(screen.getByLabelText("原来的密码").getAttribute("aria-invalid")).toBe("true"));
  await user.type(screen.getByLabelText("原来的密码"), "er{Enter}");
  await waitFor(() => expect(close).toHaveBeenCalledOnce());
  expect(asked.at(-1)?.body).toEqual({ old: "older", new: "long enough" });
});
