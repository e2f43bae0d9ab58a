import { QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answer, asked, json, play, refused } from "@/api/played.test-data";
import { useLangStore } from "@/i18n/t";
import { TooltipProvider } from "@/ui/tooltip";

vi.stubGlobal("fetch", play);
const { useSelf } = await import("@/api/account");
const { api, ask } = await import("@/api/client");
const { useLogin } = await import("@/api/login");
const { queryClient } = await import("@/api/queries");
const { addSaver } = await import("@/screens/workspace/editor/saving");
const { Gate } = await import("./Gate");

const ME = { id: "usr_1", name: "林", role: "admin" };
const account = (user: object | null, needs_setup = false) => () => json({ mode: "accounts", needs_setup, user });

function Studio() {
  const { isAdmin, user } = useSelf();
  return (
    <label>
      {isAdmin ? "admin" : "member"} {user?.name ?? "nobody"}
      <input aria-label="page" />
    </label>
  );
}

function open(): ReturnType<typeof userEvent.setup> {
  render(
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <Gate>
          <Studio />
        </Gate>
      </TooltipProvider>
    </QueryClientProvider>,
  );
  return userEvent.setup();
}

/** What is said beside a field. */
const beside = (label: string) => {
  const id = screen.getByLabelText(label).getAttribute("aria-describedby");
  return id ? document.getElementById(id)?.textContent : null;
};

beforeEach(() => {
  useLangStore.setState({ lang: "zh" });
  useLogin.setState({ isRequired: false });
  queryClient.clear();
});
afterEach(cleanup);

describe("without accounts", () => {
  it("the studio is there, and everything in it may be changed", async () => {
    answer({ "GET /api/account": () => json({ mode: "local", needs_setup: false, user: null }) });
    open();
    await screen.findByText(/admin nobody/);
    expect(asked.map(({ at }) => at)).toEqual(["GET /api/account"]);
  });
});

describe("the first admin", () => {
  it("is told beside the field what is wrong, then is in", async () => {
    const answers = [() => refused(403, "setup_code_wrong"), () => refused(422, "password_weak", { shortest: 10 }), () => json(ME)];
    answer({ "GET /api/account": account(null, true), "POST /api/account/setup": () => answers.shift()!() });
    const user = open();
    const button = await screen.findByRole("button", { name: "建立并进入" });
    expect((button as HTMLButtonElement).disabled).toBe(true);
    await user.type(screen.getByLabelText("用户名"), "林");
    await user.type(screen.getByLabelText("密码"), "short");
    await user.type(screen.getByLabelText("安装码"), "x{Enter}");
    await waitFor(() => expect(beside("安装码")).toContain("安装码不对"));
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("安装码")));
    await user.type(screen.getByLabelText("安装码"), "y");
    expect(beside("安装码")).toContain("终端"); // what was wrong is of the past
    await user.click(button);
    await waitFor(() => expect(beside("密码")).toContain("至少 10 个字符，"));
    await user.click(button);
    await screen.findByText(/admin 林/);
    expect(asked.at(-1)?.body).toEqual({ name: "林", password: "short", code: "xy" });
  });

  it("who comes too late gets the page to log in", async () => {
    let isLate = false;
    answer({
      "GET /api/account": () => account(null, !isLate)(),
      "POST /api/account/setup": () => ((isLate = true), refused(409, "setup_done")),
    });
    const user = open();
    await user.type(await screen.findByLabelText("用户名"), "林");
    await user.type(screen.getByLabelText("密码"), "long enough");
    await user.type(screen.getByLabelText("安装码"), "x{Enter}");
    await screen.findByRole("heading", { name: "登录" });
  });
});

describe("a login", () => {
  it("that fails is told beside the password", async () => {
    const answers = [() => refused(401, "login_failed"), () => refused(429, "login_throttled", { seconds: 9 }), () => json(ME)];
    answer({ "GET /api/account": account(null), "POST /api/account/login": () => answers.shift()!() });
    const user = open();
    await user.type(await screen.findByLabelText("用户名"), " 林 ");
    await user.type(screen.getByLabelText("密码"), "wrong{Enter}");
    await waitFor(() => expect(beside("密码")).toBe("用户名或密码不对"));
    await user.type(screen.getByLabelText("密码"), "!{Enter}");
    await waitFor(() => expect(beside("密码")).toContain("9 秒"));
    await user.type(screen.getByLabelText("密码"), "?{Enter}");
    await screen.findByText(/admin 林/);
    expect(asked.at(-1)?.body).toEqual({ name: "林", password: "wrong!?" });
  });

  it("is not sent by the Enter that confirms a candidate", async () => {
    answer({ "GET /api/account": account(null) });
    open();
    const field = await screen.findByLabelText("用户名");
    expect(fireEvent.keyDown(field, { key: "Enter", keyCode: 229 })).toBe(false);
    expect(fireEvent.keyDown(field, { key: "Enter", keyCode: 13, isComposing: true })).toBe(false);
    expect(fireEvent.keyDown(field, { key: "Enter", keyCode: 13 })).toBe(true);
  });
});

describe("a login that ends", () => {
  async function begin(later: { user: object | null; login?: () => Response }) {
    let user: object | null = ME;
    answer({
      "GET /api/account": () => account(user)(),
      "GET /api/projects": () => (user ? json([]) : refused(401, "login_required")),
      "POST /api/account/login": () => later.login?.() ?? ((user = ME), json(ME)),
    });
    const person = open();
    await person.type(await screen.findByLabelText("page"), "未保存");
    user = later.user;
    await act(() => ask(api.GET("/api/projects")).catch(() => undefined));
    return { person, become: (next: object | null) => (user = next) };
  }
  const page = () => screen.getByLabelText<HTMLInputElement>("page", { selector: "input" });

  it("asks the same person over what was being done, and saves that then", async () => {
    const save = vi.fn(async () => undefined);
    const forget = addSaver({ save, isUnsaved: () => true });
    const { person } = await begin({ user: null });
    await screen.findByRole("dialog", { name: "登录已经结束" });
    expect(page().value).toBe("未保存");
    expect(useLogin.getState().isRequired).toBe(true);
    await person.keyboard("{Escape}");
    expect(screen.getByLabelText<HTMLInputElement>("用户名").readOnly).toBe(true);
    expect(save).not.toHaveBeenCalled();
    await person.type(screen.getByLabelText("密码"), "right{Enter}");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect([page().value, useLogin.getState().isRequired]).toEqual(["未保存", false]);
    expect(save).toHaveBeenCalledOnce();
    await waitFor(() => expect(document.activeElement).toBe(page()));
    forget();
  });

  it("keeps what is on the screen for an admin", async () => {
    await begin({ user: null });
    await screen.findByRole("dialog");
    expect(screen.getByText(/admin 林/)).toBeTruthy();
  });

  it("goes on by itself when another tab has logged in", async () => {
    const { become } = await begin({ user: null });
    await screen.findByRole("dialog");
    become(ME);
    await act(() => queryClient.invalidateQueries({ queryKey: ["account"] }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(useLogin.getState().isRequired).toBe(false);
  });

  it("is asked for again if another person has logged in meanwhile", async () => {
    await begin({ user: { id: "usr_2", name: "Ada", role: "member" } });
    await act(() => queryClient.invalidateQueries({ queryKey: ["account"] }));
    await screen.findByRole("dialog", { name: "登录已经结束" });
    expect(screen.getByText(/admin 林/)).toBeTruthy();
  });

  it("an answer that comes late asks for nothing", async () => {
    await begin({ user: ME });
    await act(async () => useLogin.setState({ isRequired: true }));
    await waitFor(() => expect(useLogin.getState().isRequired).toBe(false));
    expect(screen.queryByRole("dialog")).toBeNull();
  });
});
