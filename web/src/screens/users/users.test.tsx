import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { answer, asked, done, json, play, refused } from "@/api/played.test-data";
import { useLangStore } from "@/i18n/t";
import { TooltipProvider } from "@/ui/tooltip";

vi.stubGlobal("fetch", play);
vi.mock("@/screens/Page", () => ({
  Page: ({ action, children }: { action?: React.ReactNode; children: React.ReactNode }) => (
    <main>
      {action}
      {children}
    </main>
  ),
}));
vi.mock("@/screens/Root", () => ({ NotFound: () => <p>nothing here</p> }));
const { SelfContext } = await import("@/api/account");
const { queryClient } = await import("@/api/queries");
const { Toaster } = await import("@/ui/toast");
const { Users } = await import("./Users");
const { Audit } = await import("./Audit");

const LIN = { id: "usr_1", name: "林", role: "admin", created_at: 1, enabled: true };
const ADA = { id: "usr_2", name: "Ada", role: "member", created_at: 2, enabled: true };
const entry = (n: number, more: object = {}) => ({
  n, at: n, user: "林", action: "login", target: "usr_1", detail: "", address: "", ...more,
}); // prettier-ignore

function open(screenful: React.ReactNode, isAdmin = true) {
  const user = { id: "usr_1", name: "林", role: isAdmin ? ("admin" as const) : ("member" as const) };
  render(
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <SelfContext value={{ hasAccounts: true, user, isAdmin }}>{screenful}</SelfContext>
        <Toaster />
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

it.each([
  ["users", <Users key="users" />],
  ["the log", <Audit key="log" />],
])("%s are asked for by admins only", async (_, page) => {
  answer({});
  open(page, false);
  await screen.findByText("nothing here");
  expect(asked).toEqual([]);
});

it("a user is made; a name that is taken is told beside it", async () => {
  let all = [LIN];
  answer({
    "GET /api/users": () => json(all),
    "POST /api/users": (body) => {
      if ((body as { name: string }).name === "林") return refused(409, "user_exists", { name: "林" });
      all = [LIN, ADA];
      return json(ADA, 201);
    },
  });
  const user = open(<Users />);
  await screen.findByText("林");
  await user.click(screen.getByRole("button", { name: "新建用户" }));
  await user.type(screen.getByLabelText("用户名"), "林");
  await user.type(screen.getByLabelText("初始密码"), "long enough{Enter}");
  await screen.findByText("已经有叫 林 的用户");
  await user.clear(screen.getByLabelText("用户名"));
  await user.type(screen.getByLabelText("用户名"), "Ada{Enter}");
  await screen.findByText("Ada");
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(asked.findLast(({ at }) => at.startsWith("POST"))?.body).toEqual({ name: "Ada", password: "long enough", role: "member" });
});

it("a user is disabled, enabled and given a password; the last admin stays one", async () => {
  let ada = ADA;
  answer({
    "GET /api/users": () => json([LIN, ada]),
    "PATCH /api/users/usr_1": () => refused(409, "last_admin"),
    "PATCH /api/users/usr_2": (body) => {
      ada = { ...ada, ...(body as object) };
      return json(ada);
    },
    "PUT /api/users/usr_2/password": done,
  });
  const user = open(<Users />);
  const choose = async (name: string) => {
    await user.click(screen.getByRole("button", { name: "“Ada”的更多操作" }));
    await user.click(await screen.findByRole("menuitem", { name }));
  };
  await screen.findByText("Ada");
  await choose("停用");
  await screen.findByText("已停用");
  await choose("重新启用");
  await waitFor(() => expect(screen.queryByText("已停用")).toBeNull());
  await choose("设新密码");
  await user.type(await screen.findByLabelText("新密码"), "long enough{Enter}");
  await screen.findByText("已经给 Ada 设了新密码");
  await user.selectOptions(screen.getByLabelText("林 的角色"), "member");
  await screen.findByText("至少要留一个能登录的管理员");
  expect(screen.getByLabelText<HTMLSelectElement>("林 的角色").value).toBe("admin");
});

it("the log is read in hundreds, with names instead of ids", async () => {
  const first = Array.from({ length: 100 }, (_, at) => entry(300 - at));
  const last = [
    entry(2, { action: "member.put", target: "prj_1", detail: "usr_2 viewer", address: "10.0.0.9" }),
    entry(1, { action: "of_the_future", user: "", target: "x" }),
  ];
  answer({
    "GET /api/users": () => json([LIN, ADA]),
    "GET /api/projects": () => json([{ id: "prj_1", title: "夜雨" }]),
    "GET /api/audit": () => json(first),
    "GET /api/audit?before=201": () => json(last),
  });
  const user = open(<Audit />);
  const rows = () => within(screen.getByRole("list", { name: "操作记录" })).getAllByRole("listitem");
  await waitFor(() => expect(rows()).toHaveLength(100));
  await user.click(screen.getByRole("button", { name: "更早的记录" }));
  await waitFor(() => expect(rows()).toHaveLength(102));
  const [put, future] = rows().slice(-2);
  expect(put?.textContent).toMatch(/^林 添加或修改了项目成员 夜雨 · Ada 查看者.* · 10\.0\.0\.9$/);
  expect(future?.textContent).toContain("（未登录） of_the_future x");
  expect(screen.queryByRole("button", { name: "更早的记录" })).toBeNull();
});
