"""People in the studio: the first admin, logging in and out, a viewer, and a login that ends while one types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.browser.rig import Studio, allow_clipboard, forgive
from tests.browser.test_looks import check, check_phone

pytestmark = pytest.mark.alone

WORD = "correct horse battery"
OTHER = "staple of another stable"
CHAPTER = "正文/第一章.md"


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with Studio(tmp_path_factory.mktemp("team"), "--accounts") as running:
        yield running


def log_in(page: Page, name: str, password: str = WORD) -> None:
    page.get_by_label("用户名").fill(name)
    page.get_by_label("密码", exact=True).fill(password)
    page.keyboard.press("Enter")


def send(page: Page, method: str, path: str, body: Any = None, status: int = 200) -> Any:
    """What a program of whoever is logged in there could do."""
    here = page.evaluate("location.origin")
    answer = page.request.fetch(path, method=method, data=body, headers={"origin": here})
    assert answer.status == status, answer.text()
    return answer.json() if answer.body() else None


def menu(page: Page, item: str) -> None:
    page.get_by_role("button", name=re.compile("^账户：")).click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def admin(page: Page, studio: Studio) -> None:
    """Someone is logged in as the admin, whom the first test of this module to run has made."""
    page.goto("/")
    page.locator("form").wait_for()
    if page.get_by_label("安装码").count():
        page.get_by_label("安装码").fill(studio.setup_code)
    log_in(page, "林")
    expect(page.get_by_role("heading", name="今天写点什么？")).to_be_visible()


def project(page: Page, title: str) -> str:
    pid: str = send(page, "POST", "/api/projects", {"title": title}, 201)["id"]
    body = {"text": "# 第一章\n\n　　夜色。\n", "base": None}
    send(page, "PUT", f"/api/projects/{pid}/files/{CHAPTER}", body)
    return pid


def text_of(page: Page, pid: str) -> str:
    text: str = send(page, "GET", f"/api/projects/{pid}/files/{CHAPTER}")["text"]
    return text


def test_a_team_from_the_first_admin_to_a_viewer(
    studio: Studio, tab: Page, chromium: Browser, errors: list[str]
) -> None:
    tab.goto("/")
    expect(tab.get_by_role("heading", name="建立第一个管理员")).to_be_visible()
    tab.get_by_label("安装码").fill("guess")
    log_in(tab, "林")
    expect(tab.get_by_text("安装码不对")).to_be_visible()
    expect(tab.get_by_label("安装码")).to_be_focused()
    forgive(errors, 403)
    admin(tab, studio)

    # A project, and a file of it, by hand
    tab.get_by_label("项目名称").fill("夜雨")
    tab.keyboard.press("Enter")
    tab.get_by_role("button", name="新建文件").first.click()
    tab.get_by_role("dialog").get_by_role("textbox").fill(CHAPTER)
    tab.keyboard.press("Enter")
    tab.locator(".cm-content").click()
    tab.keyboard.insert_text("夜色渐深。")
    tab.keyboard.press("Control+s")
    expect(tab.get_by_test_id("save-state")).to_contain_text("已保存")
    address = tab.url

    # A second person, made in the page of the users
    menu(tab, "用户")
    tab.get_by_role("button", name="新建用户").click()
    tab.get_by_label("用户名").fill("Ada")
    tab.get_by_label("初始密码").fill(OTHER)
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("listitem").filter(has_text="Ada")).to_be_visible()

    # Out, which puts an end to it on the server as well, and in again to the same place
    menu(tab, "退出登录")
    expect(tab.get_by_role("heading", name="登录")).to_be_visible()
    assert tab.request.get("/api/projects").status == 401
    tab.goto(address)
    log_in(tab, "林", "wrong" * 3)
    expect(tab.get_by_text("用户名或密码不对")).to_be_visible()
    forgive(errors, 401)
    log_in(tab, "林")
    expect(tab.locator(".cm-content")).to_contain_text("夜色渐深。")

    # The second person is let in, to look
    tab.get_by_role("button", name="成员", exact=True).click()
    tab.get_by_label("用户名").fill("Ada")
    tab.get_by_label("角色", exact=True).select_option("viewer")
    tab.get_by_role("button", name="添加").click()
    expect(tab.get_by_label("Ada 的角色")).to_have_value("viewer")
    tab.get_by_label("林 的角色").select_option("editor")
    expect(tab.get_by_role("alert")).to_contain_text("至少要有一个所有者")
    forgive(errors, 409)
    tab.keyboard.press("Escape")
    expect(tab.get_by_role("button", name="成员", exact=True)).to_be_focused()

    seen = chromium.new_context(base_url=studio.url, locale="zh-CN")
    seen.set_default_timeout(10_000)
    viewer = seen.new_page()
    said: list[str] = []
    viewer.on("console", lambda each: said.append(each.text) if each.type == "error" else None)
    viewer.goto("/settings")
    log_in(viewer, "Ada", OTHER)
    expect(viewer.get_by_role("heading", name="外观与语言")).to_be_visible()
    expect(viewer.get_by_role("heading", name="模型", exact=True)).to_have_count(0)
    viewer.goto("/")
    expect(viewer.get_by_role("link", name="夜雨")).to_be_visible()
    expect(viewer.get_by_role("button", name="用本机的一个文件夹")).to_have_count(0)
    viewer.get_by_role("link", name="夜雨").click()
    viewer.get_by_role("treeitem", name="第一章.md").click()
    expect(viewer.get_by_text("只能查看")).to_be_visible()
    expect(viewer.get_by_role("textbox", name=CHAPTER)).to_have_attribute("aria-readonly", "true")
    viewer.locator(".cm-content").click()
    viewer.keyboard.type("x")
    viewer.keyboard.press("Control+s")
    expect(viewer.locator(".cm-content")).to_have_text("夜色渐深。")
    expect(viewer.get_by_role("textbox", name=re.compile("给助手的话"))).to_have_count(0)
    assert said == []  # nothing was asked for that a viewer may not have
    pid = re.findall(r"prj_\w+", address)[0]
    send(viewer, "PUT", f"/api/projects/{pid}/files/b.md", {"text": "", "base": None}, 403)
    seen.close()


def test_a_role_that_is_taken_away_while_one_types_loses_nothing(
    studio: Studio, tab: Page, chromium: Browser, errors: list[str]
) -> None:
    admin(tab, studio)
    pid = project(tab, "雪")
    send(tab, "POST", "/api/users", {"name": "Bo", "password": WORD}, 201)
    member = {"name": "Bo", "role": "editor"}
    send(tab, "PUT", f"/api/projects/{pid}/members", member, 204)
    own = chromium.new_context(base_url=studio.url, locale="zh-CN")
    page = own.new_page()
    page.goto(f"/p/{pid}?f={CHAPTER}")
    log_in(page, "Bo")
    page.locator(".cm-content").click()
    send(tab, "PUT", f"/api/projects/{pid}/members", member | {"role": "viewer"}, 204)
    page.keyboard.insert_text("还没存的字")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("没有修改这个项目的权限")).to_be_visible()
    expect(page.get_by_text("只能查看")).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("还没存的字")
    send(tab, "PUT", f"/api/projects/{pid}/members", member, 204)
    page.get_by_role("button", name="重试").click()
    expect(page.get_by_test_id("save-state")).to_contain_text("已保存")
    assert "还没存的字" in text_of(tab, pid)
    own.close()


def test_a_login_that_ends_while_one_types_loses_nothing(
    studio: Studio, tab: Page, chromium: Browser, errors: list[str]
) -> None:
    admin(tab, studio)
    pid = project(tab, "雨")
    tab.goto(f"/p/{pid}?f={CHAPTER}")
    tab.locator(".cm-content").click()
    tab.keyboard.press("Control+End")
    refused: list[str] = []
    tab.on("response", lambda each: refused.append(each.url) if each.status == 401 else None)

    # From elsewhere the same person changes the password: this login is over
    elsewhere = chromium.new_context(base_url=studio.url, locale="zh-CN")
    other = elsewhere.new_page()
    admin(other, studio)
    send(other, "PUT", "/api/account/password", {"old": WORD, "new": OTHER}, 204)

    tab.keyboard.insert_text("打到一半的句子")
    dialog = tab.get_by_role("dialog", name="登录已经结束")
    expect(dialog).to_be_visible()
    expect(tab.get_by_label("密码", exact=True)).to_be_focused()
    expect(tab.locator(".cm-content")).to_contain_text("打到一半的句子")
    check(tab, "a login that has ended")
    tab.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    assert sum("/events" in each for each in refused) <= 1

    tab.get_by_label("密码", exact=True).fill(WORD)
    tab.keyboard.press("Enter")
    expect(dialog.get_by_text("用户名或密码不对")).to_be_visible()
    tab.get_by_label("密码", exact=True).fill(OTHER)
    tab.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(tab.get_by_test_id("save-state")).to_contain_text("已保存")
    tab.keyboard.insert_text("，写完了")
    tab.keyboard.press("Control+s")
    expect(tab.get_by_test_id("save-state")).to_contain_text("已保存")
    assert text_of(other, pid).endswith("\n打到一半的句子，写完了")
    # The stream goes on
    body = {"text": "来了\n", "base": None}
    send(other, "PUT", f"/api/projects/{pid}/files/新来的.md", body)
    expect(tab.get_by_role("treeitem", name="新来的.md")).to_be_visible()
    forgive(errors, 401)
    send(other, "PUT", "/api/account/password", {"old": OTHER, "new": WORD}, 204)
    elsewhere.close()


def test_unsaved_words_are_warned_of_before_one_logs_out(
    studio: Studio, tab: Page, errors: list[str]
) -> None:
    admin(tab, studio)
    pid = project(tab, "风")
    tab.goto(f"/p/{pid}?f={CHAPTER}")
    tab.route(re.compile("/files/"), lambda route: route.abort() if route.request.method == "PUT" else route.continue_())  # fmt: skip
    tab.locator(".cm-content").click()
    tab.keyboard.insert_text("没存上")
    menu(tab, "退出登录")
    expect(tab.get_by_role("dialog", name="有文字还没保存")).to_be_visible()
    check(tab, "logging out with unsaved words")
    tab.get_by_role("button", name="取消").click()
    expect(tab.locator(".cm-content")).to_contain_text("没存上")
    menu(tab, "退出登录")
    tab.get_by_role("button", name="仍然退出").click()
    expect(tab.get_by_role("heading", name="登录")).to_be_visible()
    errors[:] = [each for each in errors if "ERR_FAILED" not in each]


def test_a_key_is_shown_once_and_works_until_it_is_revoked(studio: Studio, tab: Page) -> None:
    admin(tab, studio)
    menu(tab, "API 密钥")
    tab.get_by_role("button", name="新建密钥").click()
    tab.get_by_label("名称", exact=True).fill("备份")
    tab.get_by_role("button", name="新建", exact=True).click()
    tab.get_by_role("button", name="复制密钥").click()
    expect(tab.get_by_role("button", name="已复制")).to_be_visible()
    secret = tab.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(r"wf_\S{30,}", secret)
    with_key = {"authorization": f"Bearer {secret}", "cookie": ""}
    assert tab.request.get("/api/projects", headers=with_key).status == 200
    tab.get_by_role("button", name="吊销“备份”").click()
    tab.get_by_role("button", name="吊销", exact=True).click()
    expect(tab.get_by_text("还没有密钥")).to_be_visible()
    assert tab.request.get("/api/projects", headers=with_key).status == 401


SIZES: dict[str, tuple[int, int, Literal["light", "dark"]]] = {
    "desk": (1280, 800, "light"),
    "desk, dark": (1280, 800, "dark"),
    "phone": (390, 844, "dark"),
}


@pytest.fixture(params=SIZES)
def sized(request: pytest.FixtureRequest, chromium: Browser, studio: Studio) -> Iterator[BrowserContext]:  # fmt: skip
    width, height, scheme = SIZES[request.param]
    opened = chromium.new_context(
        base_url=studio.url,
        locale="zh-CN",
        viewport={"width": width, "height": height},
        has_touch=width < 400,
        is_mobile=width < 400,
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    opened.set_default_timeout(10_000)
    allow_clipboard(opened)
    yield opened
    opened.close()


def test_every_screen_for_everyone(studio: Studio, sized: BrowserContext) -> None:
    page = sized.new_page()
    look = check_phone if page.viewport_size == {"width": 390, "height": 844} else check
    page.goto("/")
    page.locator("form").wait_for()
    look(page, "door")
    admin(page, studio)
    pid = project(page, "看")
    page.get_by_role("button", name=re.compile("^账户：")).click()
    expect(page.get_by_role("menu")).to_be_visible()
    look(page, "account menu")
    page.get_by_role("menuitem", name="API 密钥").click()
    expect(page.get_by_role("button", name="新建密钥")).to_be_visible()
    look(page, "keys")
    page.get_by_role("button", name="新建密钥").click()
    check(page, "new key")  # a checkbox is as large as its label
    page.keyboard.press("Escape")
    menu(page, "修改密码")
    expect(page.get_by_label("新密码", exact=True)).to_be_visible()
    look(page, "password")
    page.keyboard.press("Escape")
    menu(page, "用户")
    expect(page.get_by_role("listitem").first).to_be_visible()
    look(page, "users")
    page.get_by_role("button", name="新建用户").click()
    look(page, "new user")
    page.keyboard.press("Escape")
    menu(page, "操作记录")
    expect(page.get_by_role("listitem").first).to_be_visible()
    look(page, "audit log")
    page.goto(f"/p/{pid}?f={CHAPTER}")
    expect(page.locator(".cm-content")).to_be_visible()
    look(page, "workspace")
    page.get_by_role("button", name="成员", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("listitem").first).to_be_visible()
    look(page, "members")
