"""How projects begin, and the order of their files (studio.md §10: 1, 4, 30, 31; writing.md TL-7, UI-7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from tests.browser.rig import Desk, Studio, forgive
from tests.browser.test_looks import check, check_phone
from tests.browser.test_looks import phone as phone

pytestmark = pytest.mark.alone

FILES: dict[str, str | bytes] = {
    "甲.md": "",
    "乙.md": "乙",
    "丙.md": "",
    "卷/一.md": "雨夜",
    "卷/二.md": "",
}


@pytest.fixture(autouse=True)
def _language(studio: Studio) -> Iterator[None]:
    """The studio keeps the language that a test has chosen."""
    yield
    studio.call("PUT", "/api/settings", {"language": "auto"})


def rows(page: Page) -> list[str]:
    names = "nodes => nodes.map((node) => node.getAttribute('aria-label'))"
    found: list[str] = page.get_by_role("treeitem").evaluate_all(names)
    return found


def wait_for_rows(page: Page, *names: str) -> None:
    page.wait_for_function(
        "(names) => [...document.querySelectorAll('[role=treeitem]')].map((n) => n.getAttribute('aria-label')).join() === names.join()",
        arg=list(names),
    )


def stored(at: Desk) -> list[str]:
    tree = at.studio.call("GET", f"/api/projects/{at.project.id}/files")
    return [each["path"] for each in tree["entries"]]


def wait_stored(at: Desk, *paths: str) -> None:
    for _ in range(200):
        if stored(at) == list(paths):
            return
        at.page.wait_for_timeout(25)
    assert stored(at) == list(paths)


def focus_row(page: Page, name: str) -> None:
    """Focus a row; keys act on it as soon as the tree has noticed."""
    row(page, name).focus()
    expect(row(page, name)).to_have_attribute("tabindex", "0")


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("treeitem", name=name, exact=True)


def said(page: Page) -> Locator:
    return page.get_by_test_id("tree-said")


def drag(page: Page, name: str, onto: str, *, part: float) -> None:
    """Drag a row onto another: `part` of its height from the top."""
    source, target = row(page, name).bounding_box(), row(page, onto).bounding_box()
    assert source
    assert target
    x = target["x"] + target["width"] / 2
    y = target["y"] + target["height"] * part
    page.mouse.move(source["x"] + source["width"] / 2, source["y"] + source["height"] / 2)
    page.mouse.down()
    page.mouse.move(x, y + 3, steps=4)
    page.mouse.move(x, y, steps=2)
    page.mouse.up()


# Beginning


@pytest.mark.parametrize(
    ("language", "blank", "title", "opens", "roots"),
    [
        ("zh", "空白", "长篇小说", "故事大纲.md", ["大纲", "角色", "设定", "素材", "正文"]),
        ("en", "Blank", "Novel", None, None),
    ],
)
def test_01_a_project_begins_with_a_template(
    studio: Studio,
    tab: Page,
    language: str,
    blank: str,
    title: str,
    opens: str | None,
    roots: list[str] | None,
) -> None:
    """By keyboard from the first screen to the first file; `tab` takes no error of the console."""
    page = tab
    page.goto("/")
    if language == "en":
        page.get_by_role("button", name="Switch to English").click()
    name = page.get_by_role("textbox").first
    name.fill("雨夜")
    page.keyboard.press("Tab")  # to the button
    page.keyboard.press("Tab")
    expect(page.get_by_role("radio", name=blank)).to_be_focused()
    expect(page.get_by_role("radio")).to_have_count(6)
    page.keyboard.press(
        "ArrowRight", delay=100
    )  # as a person does; the group looks while it is down
    chosen = page.get_by_role("radio", name=title, exact=True)
    expect(chosen).to_be_checked()
    expect(chosen).to_have_accessible_description(re.compile(r"\S{10}|\w+ \w+ \w+"))
    name.press("Enter")
    expect(page).to_have_url(re.compile(r"/p/prj_\w+.*f="))
    expect(page.locator(".cm-content")).to_contain_text(re.compile(r"\S{4}"))
    told = studio.call("GET", f"/api/templates?language={language}")
    file = next(each["opens"] for each in told if each["title"] == title)
    expect(page.get_by_role("heading", name=file)).to_be_visible()
    project = page.url.split("/p/")[1].split("?")[0]
    entries = studio.call("GET", f"/api/projects/{project}/files")["entries"]
    assert rows(page) == [each["path"].split("/")[-1] for each in entries]
    if opens and roots:
        assert file.endswith(opens)
        assert [each["path"] for each in entries if "/" not in each["path"]] == roots
    page.goto("/")
    words = sum(each["words"] or 0 for each in entries)
    card = page.get_by_role("article").filter(has_text="雨夜").first
    expect(card).to_contain_text(f"{words:,}")


def test_01_a_chosen_template_follows_the_language(studio: Studio, tab: Page) -> None:
    page = tab
    page.goto("/")
    page.get_by_role("radio", name="剧本").click()
    page.get_by_role("button", name="Switch to English").click()
    expect(page.get_by_role("radio", name="Screenplay")).to_be_checked()
    page.get_by_role("textbox").first.fill("Rain")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/p/prj_"))
    expect(page.get_by_role("treeitem", name="Outline")).to_be_visible()


def test_01_templates_that_do_not_come_are_no_obstacle(
    studio: Studio, tab: Page, errors: list[str]
) -> None:
    page = tab
    fails = {"code": "invalid_request", "message": "no", "params": {}}
    page.route("**/api/templates*", lambda route: route.fulfill(status=400, json=fails))
    page.goto("/")
    expect(page.get_by_role("alert")).to_contain_text("模板没有载入")
    page.unroute("**/api/templates*")
    page.get_by_role("button", name="重试").click()
    expect(page.get_by_role("radio")).to_have_count(6)
    forgive(errors, 400)
    page.get_by_role("textbox").first.fill("空的")
    page.keyboard.press("Enter")
    expect(page.get_by_text("还没有文件")).to_be_visible()


def test_01_a_project_on_a_folder(
    studio: Studio, tab: Page, errors: list[str], tmp_path: Path
) -> None:
    page = tab
    folder = tmp_path / "我的小说"
    (folder / "卷").mkdir(parents=True)
    for name in ("第1章.md", "第2章.md"):
        (folder / name).write_text("雨\n", "utf-8")
    page.goto("/")
    opener = page.get_by_role("button", name="用本机的一个文件夹")
    opener.click()
    expect(opener).to_have_attribute("aria-expanded", "true")
    path = page.get_by_role("textbox", name="文件夹路径")
    expect(path).to_be_focused()
    path.fill("我的小说")
    path.press("Enter")
    expect(page.get_by_text("请写完整路径")).to_be_visible()
    expect(path).to_have_attribute("aria-invalid", "true")
    missing = str(tmp_path / "没有")
    path.fill(missing)
    expect(path).not_to_have_attribute("aria-invalid", "true")
    path.press("Enter")
    expect(page.get_by_text(f"没有这个文件夹：{missing}")).to_be_visible()
    path.fill(str(folder / "第1章.md"))  # a file is no folder
    path.press("Enter")
    expect(page.get_by_text("没有这个文件夹：")).to_be_visible()
    forgive(errors, 400, 404)
    expect(page.get_by_role("radio")).to_have_count(0)  # it has files of its own
    path.fill(str(folder))
    path.press("Enter")
    expect(page).to_have_url(re.compile("/p/prj_"))
    expect(page).to_have_title(re.compile("我的小说"))  # the folder's name
    wait_for_rows(page, "卷", "第1章.md", "第2章.md")

    focus_row(page, "第2章.md")
    page.keyboard.press("Alt+ArrowUp")
    reason = page.get_by_text("磁盘文件夹里的文件按名字排序，请改名字")
    expect(reason).to_be_visible()
    page.keyboard.press("Alt+t")
    page.reload()
    wait_for_rows(page, "卷", "第1章.md", "第2章.md")
    drag(page, "第2章.md", "第1章.md", part=0.2)
    expect(reason).to_be_visible()
    assert rows(page) == ["卷", "第1章.md", "第2章.md"]
    drag(page, "第2章.md", "卷", part=0.5)
    expect(page.get_by_text("“第2章.md”已移到 卷/第2章.md")).to_be_visible()
    assert (folder / "卷/第2章.md").read_text("utf-8") == "雨\n"
    page.get_by_role("button", name="撤销").first.click()
    wait_for_rows(page, "卷", "第1章.md", "第2章.md")
    assert (folder / "第2章.md").exists()


# Order


def test_04_order_by_keyboard(desk: Callable[..., Desk]) -> None:
    at = desk(files=FILES)
    page = at.page
    wait_for_rows(page, "甲.md", "乙.md", "丙.md", "卷", "一.md", "二.md")
    focus_row(page, "丙.md")
    page.keyboard.press("Alt+ArrowUp")
    wait_for_rows(page, "甲.md", "丙.md", "乙.md", "卷", "一.md", "二.md")
    expect(said(page)).to_have_text("“丙.md”：第 2 位，共 4 位")
    expect(row(page, "丙.md")).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    wait_for_rows(page, "丙.md", "甲.md", "乙.md", "卷", "一.md", "二.md")
    page.keyboard.press("Alt+ArrowUp")
    expect(said(page)).to_have_text("“丙.md”已经在最前面")
    expect(row(page, "丙.md")).to_be_focused()
    page.keyboard.press("ArrowDown")  # without Alt it moves the focus
    expect(row(page, "甲.md")).to_be_focused()
    wait_stored(at, "丙.md", "甲.md", "乙.md", "卷", "卷/一.md", "卷/二.md")

    focus_row(page, "卷")  # a folder takes along what is in it
    page.keyboard.press("Alt+ArrowUp")
    wait_for_rows(page, "丙.md", "甲.md", "卷", "一.md", "二.md", "乙.md")
    focus_row(page, "二.md")
    page.keyboard.press("Alt+ArrowDown")  # not out of its folder
    expect(said(page)).to_have_text("“二.md”已经在最后面")
    wait_stored(at, "丙.md", "甲.md", "卷", "卷/一.md", "卷/二.md", "乙.md")
    page.reload()
    wait_for_rows(page, "丙.md", "甲.md", "卷", "一.md", "二.md", "乙.md")


def test_04_quick_steps_are_all_taken_and_undone_together(desk: Callable[..., Desk]) -> None:
    names = [f"{n}.md" for n in "abcdefgh"]
    at = desk(files=dict.fromkeys(names, ""))
    page = at.page
    focus_row(page, "a.md")
    for _ in range(5):
        page.keyboard.press("Alt+ArrowDown")
    moved = [*names[1:6], "a.md", *names[6:]]
    wait_for_rows(page, *moved)
    expect(row(page, "a.md")).to_be_focused()
    wait_stored(at, *moved)
    page.wait_for_timeout(300)
    assert rows(page) == moved  # what the server tells late changes nothing
    undo = page.get_by_role("button", name="撤销")
    expect(undo).to_have_count(1)
    undo.click()
    wait_for_rows(page, *names)
    wait_stored(at, *names)


def test_04_undo_passes_over_what_is_gone(desk: Callable[..., Desk]) -> None:
    at = desk(files=FILES)
    page = at.page
    focus_row(page, "丙.md")
    page.keyboard.press("Alt+ArrowUp")
    wait_stored(at, "甲.md", "丙.md", "乙.md", "卷", "卷/一.md", "卷/二.md")
    at.studio.call("DELETE", f"/api/projects/{at.project.id}/files/甲.md")
    wait_for_rows(page, "丙.md", "乙.md", "卷", "一.md", "二.md")
    page.get_by_role("button", name="撤销").click()
    wait_for_rows(page, "乙.md", "丙.md", "卷", "一.md", "二.md")
    wait_stored(at, "乙.md", "丙.md", "卷", "卷/一.md", "卷/二.md")


def test_04_order_by_the_menu(desk: Callable[..., Desk]) -> None:
    at = desk(files=FILES)
    row(at.page, "乙.md").click(button="right")
    at.page.get_by_role("menuitem", name="上移").click()
    wait_for_rows(at.page, "乙.md", "甲.md", "丙.md", "卷", "一.md", "二.md")
    expect(row(at.page, "乙.md")).to_be_focused()
    wait_stored(at, "乙.md", "甲.md", "丙.md", "卷", "卷/一.md", "卷/二.md")


def test_04_order_by_dragging(desk: Callable[..., Desk]) -> None:
    at = desk(files=FILES)
    page = at.page
    before = ("甲.md", "乙.md", "丙.md", "卷", "一.md", "二.md")
    wait_for_rows(page, *before)
    drag(page, "丙.md", "甲.md", part=0.2)
    wait_for_rows(page, "丙.md", "甲.md", "乙.md", "卷", "一.md", "二.md")
    wait_stored(at, "丙.md", "甲.md", "乙.md", "卷", "卷/一.md", "卷/二.md")
    page.get_by_role("button", name="撤销").first.click()
    wait_for_rows(page, *before)
    expect(page.locator("[data-sonner-toast]")).to_have_count(0)

    drag(page, "甲.md", "二.md", part=0.2)  # between two of another folder
    wait_for_rows(page, "乙.md", "丙.md", "卷", "一.md", "甲.md", "二.md")
    wait_stored(at, "乙.md", "丙.md", "卷", "卷/一.md", "卷/甲.md", "卷/二.md")
    page.get_by_role("button", name="撤销").first.click()
    wait_for_rows(page, *before)  # its place, too
    expect(page.locator("[data-sonner-toast]")).to_have_count(0)
    wait_stored(at, "甲.md", "乙.md", "丙.md", "卷", "卷/一.md", "卷/二.md")

    drag(page, "乙.md", "卷", part=0.7)  # into a folder
    wait_for_rows(page, "甲.md", "丙.md", "卷", "一.md", "二.md", "乙.md")
    drag(page, "卷", "甲.md", part=0.2)  # a folder with all that is in it
    wait_for_rows(page, "卷", "一.md", "二.md", "乙.md", "甲.md", "丙.md")
    drag(page, "卷", "一.md", part=0.5)  # not into itself
    page.wait_for_timeout(300)
    assert rows(page) == ["卷", "一.md", "二.md", "乙.md", "甲.md", "丙.md"]
    wait_stored(at, "卷", "卷/一.md", "卷/二.md", "卷/乙.md", "甲.md", "丙.md")


def test_04_a_move_onto_a_taken_name_says_so(desk: Callable[..., Desk], errors: list[str]) -> None:
    at = desk(files={"一.md": "外", "卷/一.md": "里"})
    page = at.page
    wait_for_rows(page, "一.md", "卷", "一.md")
    source = page.get_by_role("treeitem", name="一.md").first.bounding_box()
    assert source
    target = row(page, "卷").bounding_box()
    assert target
    page.mouse.move(source["x"] + 60, source["y"] + 10)
    page.mouse.down()
    page.mouse.move(target["x"] + 60, target["y"] + 20, steps=5)
    page.mouse.move(target["x"] + 60, target["y"] + 22, steps=2)
    page.mouse.up()
    expect(page.get_by_text("卷/一.md 已经存在")).to_be_visible()
    forgive(errors, 409)
    assert at.read("一.md").decode() == "外"
    assert at.read("卷/一.md").decode() == "里"


def test_04_an_order_that_fails_goes_back(desk: Callable[..., Desk], errors: list[str]) -> None:
    at = desk(files=FILES)
    page = at.page
    page.route("**/arrange", lambda route: route.abort())
    focus_row(page, "丙.md")
    page.keyboard.press("Alt+ArrowUp")
    expect(page.get_by_text("连不上文房的服务")).to_be_visible()
    wait_for_rows(page, "甲.md", "乙.md", "丙.md", "卷", "一.md", "二.md")
    assert all("ERR_FAILED" in error for error in errors)
    errors.clear()
    page.unroute("**/arrange")
    page.keyboard.press("Alt+ArrowUp")
    wait_stored(at, "甲.md", "丙.md", "乙.md", "卷", "卷/一.md", "卷/二.md")


def test_UI_7_rows_tell_kind_and_words(studio: Studio, tab: Page) -> None:
    body = {"title": "长篇", "template": "novel", "language": "zh"}
    made = studio.call("POST", "/api/projects", body)
    text = {"text": "雨夜归人。", "base": None}
    studio.call("PUT", f"/api/projects/{made['id']}/files/正文/第1章.md", text)
    tab.goto(f"/p/{made['id']}")
    expect(row(tab, "第1章.md")).to_have_accessible_description("正文 4 字")
    expect(row(tab, "主角.md")).to_have_accessible_description(re.compile(r"^人物 [\d,]+ 字$"))
    expect(row(tab, "故事大纲.md")).to_have_accessible_description(re.compile("^大纲 "))
    expect(row(tab, "大纲")).to_have_accessible_description("文件夹")
    tab.get_by_role("button", name="Switch to English").click()
    expect(row(tab, "第1章.md")).to_have_accessible_description("Draft 4 words")


# For everyone


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_30_axe_beginning(studio: Studio, tab: Page, errors: list[str], scheme: str) -> None:
    tab.emulate_media(color_scheme=scheme)
    tab.goto("/")
    expect(tab.get_by_role("radio")).to_have_count(6)
    tab.get_by_role("radio", name="研究报告").click()
    check(tab, "templates")
    tab.get_by_role("button", name="用本机的一个文件夹").click()
    tab.get_by_role("textbox", name="文件夹路径").fill("/没有/这里")
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("没有这个文件夹")).to_be_visible()
    check(tab, "a folder that is missing")
    forgive(errors, 404)
    tab.get_by_role("button", name="用本机的一个文件夹").click()
    tab.get_by_role("textbox").first.fill("报告")
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("tree")).to_be_visible()
    check(tab, "tree with kinds")


def test_31_beginning_and_order_on_a_phone(studio: Studio, phone: BrowserContext) -> None:
    page = phone.new_page()
    page.goto("/")
    page.get_by_role("button", name="从什么开始：空白").tap()
    expect(page.get_by_role("radio")).to_have_count(6)
    check_phone(page, "templates")
    page.get_by_role("radio", name="短篇小说").tap()
    page.get_by_role("button", name="从什么开始：短篇小说").tap()
    expect(page.get_by_role("radio")).to_have_count(0)
    page.get_by_role("button", name="用本机的一个文件夹").tap()
    check_phone(page, "a folder")
    page.get_by_role("button", name="用本机的一个文件夹").tap()
    page.get_by_role("textbox", name="项目名称").fill("短的")
    page.get_by_role("button", name="新建项目").tap()
    expect(page.get_by_role("tab", name="编辑")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".cm-content")).to_contain_text(re.compile(r"\S{4}"))
    page.get_by_role("tab", name="文件").tap()
    check_phone(page, "tree with kinds")
    first, second = rows(page)[0], [
        each for each in rows(page) if not each.endswith(".md")
    ][1]  # fmt: skip
    row(page, second).click(button="right")  # a long press
    page.get_by_role("menuitem", name="上移").tap()
    page.wait_for_function(
        "(name) => document.querySelector('[role=treeitem]').getAttribute('aria-label') === name",
        arg=second,
    )
    assert first in rows(page)
