import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { answer, asked, done, json, play, refused } from "@/api/played.test-data";
import type { MemberRole } from "@/api/types";
import { useLangStore } from "@/i18n/t";
import { TooltipProvider } from "@/ui/tooltip";

vi.stubGlobal("fetch", play);
const { SelfContext } = await import("@/api/account");
const { queryClient } = await import("@/api/queries");
const { Members } = await import("./Members");

const LIN = { user_id: "usr_1", name: "林", role: "owner" };
const ADA = { user_id: "usr_2", name: "Ada", role: "viewer" };
const AT = "/api/projects/prj_1/members";

function open(id: string, role: "admin" | "member" = "member", onLeft = vi.fn<() => void>()) {
  const self = { hasAccounts: true, user: { id, name: id, role }, isAdmin: role === "admin" };
  render(
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <SelfContext value={self}>
          <Members projectId="prj_1" title="夜雨" opener={() => null} onClose={vi.fn()} onLeft={onLeft} />
        </SelfContext>
      </TooltipProvider>
    </QueryClientProvider>,
  );
  return { user: userEvent.setup(), onLeft };
}

beforeEach(() => {
  useLangStore.setState({ lang: "zh" });
  queryClient.clear();
});
afterEach(cleanup);

it("a viewer sees who takes part, and can only leave", async () => {
  answer({ [`GET ${AT}`]: () => json([LIN, ADA]), [`DELETE ${AT}/usr_2`]: done });
  const { user, onLeft } = open("usr_2");
  await screen.findByText("所有者");
  expect(screen.queryByRole("combobox")).toBeNull();
  expect(screen.queryByRole("button", { name: /移除/ })).toBeNull();
  await user.click(screen.getByRole("button", { name: "离开项目" }));
  await user.click(screen.getAllByRole("button", { name: "离开项目" }).at(-1)!);
  await waitFor(() => expect(onLeft).toHaveBeenCalledOnce());
});

it("an owner adds, changes and removes", async () => {
  let all = [LIN];
  answer({
    [`GET ${AT}`]: () => json(all),
    [`PUT ${AT}`]: (body) => {
      const { name, role } = body as { name: string; role: MemberRole };
      if (name === "Nobody") return refused(404, "user_not_found");
      all = [LIN, { ...ADA, role }];
      return done();
    },
    [`DELETE ${AT}/usr_2`]: () => ((all = [LIN]), done()),
  });
  const { user } = open("usr_1");
  await user.type(await screen.findByLabelText("用户名"), "Nobody{Enter}");
  await screen.findByText("没有这个用户");
  await user.clear(screen.getByLabelText("用户名"));
  await user.selectOptions(screen.getByLabelText("角色"), "viewer");
  await user.type(screen.getByLabelText("用户名"), "Ada{Enter}");
  await user.selectOptions(await screen.findByLabelText("Ada 的角色"), "editor");
  await waitFor(() => expect(screen.getByLabelText<HTMLSelectElement>("Ada 的角色").value).toBe("editor"));
  await user.click(screen.getByRole("button", { name: "移除 Ada" }));
  await user.click(screen.getByRole("button", { name: "移除" }));
  await waitFor(() => expect(screen.queryByText("Ada")).toBeNull());
  expect(asked.filter(({ at }) => at.startsWith("PUT")).map(({ body }) => body)).toEqual([
    { name: "Nobody", role: "editor" },
    { name: "Ada", role: "viewer" },
    { name: "Ada", role: "editor" },
  ]);
});

it("the last owner stays, and what the server refuses is told", async () => {
  answer({
    [`GET ${AT}`]: () => json([LIN]),
    [`PUT ${AT}`]: () => refused(409, "last_owner"),
    [`DELETE ${AT}/usr_1`]: () => refused(409, "last_owner"),
  });
  const { user, onLeft } = open("usr_1");
  await user.selectOptions(await screen.findByLabelText("林 的角色"), "viewer");
  expect((await screen.findByRole("alert")).textContent).toContain("至少要有一个所有者");
  expect(screen.getByLabelText<HTMLSelectElement>("林 的角色").value).toBe("owner");
  await user.click(screen.getByRole("button", { name: "离开项目" }));
  await user.click(screen.getAllByRole("button", { name: "离开项目" }).at(-1)!);
  await waitFor(() => expect(screen.getAllByText(/至少要有一个所有者/).length).toBeGreaterThan(0));
  expect(onLeft).not.toHaveBeenCalled();
});

it("a project of nobody is the admins', who begin with an owner", async () => {
  answer({ [`GET ${AT}`]: () => json([]) });
  open("usr_1", "admin");
  await screen.findByText(/还没有成员/);
  expect(screen.getByLabelText<HTMLSelectElement>("角色").value).toBe("owner");
});
