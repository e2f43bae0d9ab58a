"""Finding a phrase in all texts of a project (studio.md §10: 7, 8, 10, 30, 31)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect
from tests.browser.rig import Desk, Studio, forgive
from tests.browser.test_chat import BOTH_ENTERS, commit
from tests.browser.test_editor import novel
from tests.browser.test_looks import check, check_phone
from tests.browser.test_looks import phone as phone

pytestmark = pytest.mark.alone

FILES: dict[str, str | bytes] = {
    "大纲/第一卷.md": "# 第一卷\n\n雨夜归人。\n",
    "正文/第二章.md": "夜色渐深。\n\n　　他在雨里站着，雨没有停。Rain, rain.\n",
    "正文/第十章.md": "雨停了。\n",
}
FIND = re.compile(r"/find\?")
SELECTED = "document.getSelection().toString()"


def field(page: Page) -> Locator:
    return page.get_by_role("combobox", name="要找的文字")


def start(page: Page, phrase: str | None = None) -> Locator:
    page.keyboard.press("Control+Shift+f")
    expect(field(page)).to_be_focused()
    if phrase is not None:
        field(page).fill(phrase)
    return field(page)


def told(page: Page) -> Locator:
    return page.get_by_role("region", name="在项目中查找").get_by_role("status")


def test_finding_by_keyboard(desk: Callable[..., Desk]) -> None:
    at = desk(files=FILES)
    page = at.page
    find = start(page)
    expect(page.get_by_text("在所有文件里查找")).to_be_visible()
    find.fill("雨")
    expect(told(page)).to_have_text("3 个文件里有 4 处")
    groups = page.get_by_role("listbox", name="找到的地方").get_by_role("group")
    assert [text.split("\n")[0] for text in groups.all_inner_texts()] == [
        "第一卷.md", "第二章.md", "第十章.md",
    ]  # fmt: skip
    expect(page.get_by_role("option")).to_have_text(
        [
            "雨夜归人。",
            "他在雨里站着，雨没有停。Rain, rain.",
            "他在雨里站着，雨没有停。Rain, rain.",
            "雨停了。",
        ]
    )
    expect(page.get_by_role("option").locator("mark")).to_have_text(["雨"] * 4)

    chosen = page.locator("[role=option][aria-selected=true]")
    find.press("ArrowUp")  # goes round
    expect(chosen).to_have_text("雨停了。")
    find.press("ArrowDown")
    find.press("ArrowDown")
    find.press("ArrowDown")
    expect(find).to_have_attribute("aria-activedescendant", chosen.get_attribute("id") or "?")
    find.press("Enter")
    expect(at.editor).to_be_focused()
    expect(page.get_by_role("heading", name="正文/第二章.md")).to_be_visible()
    assert page.evaluate(SELECTED) == "雨"
    page.keyboard.type("雪")  # the second of the line is what was chosen
    page.keyboard.press("Control+s")
    at.wait_saved()
    assert "他在雨里站着，雪没有停" in at.read("正文/第二章.md").decode()
    expect(told(page)).to_have_text("3 个文件里有 3 处")  # it is looked up again

    find = start(page)
    expect(find).to_have_value("雨")
    find.press("Escape")
    expect(page.get_by_role("tree")).to_be_visible()
    expect(at.editor).to_be_focused()  # where one came from


def test_finding_case_and_what_is_selected(desk: Callable[..., Desk]) -> None:
    at = desk(files=FILES)
    page = at.page
    at.open("正文/第二章.md")
    page.get_by_role("button", name="在项目中查找").click()
    field(page).fill("rain")
    expect(told(page)).to_have_text("1 个文件里有 2 处")
    case = page.get_by_role("button", name="区分大小写")
    case.click()
    expect(case).to_have_attribute("aria-pressed", "true")
    expect(told(page)).to_have_text("1 个文件里有 1 处")
    field(page).press("Enter")
    expect(at.editor).to_be_focused()
    assert page.evaluate(SELECTED) == "rain"
    page.get_by_role("button", name="关闭查找，回到文件").click()
    at.editor.press("Control+Home")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(start(page)).to_have_value("夜色")
    expect(told(page)).to_have_text("1 个文件里有 1 处")
    field(page).fill("没有这句")
    expect(page.get_by_text("哪里都没有")).to_be_visible()
    expect(page.get_by_role("option")).to_have_count(0)
    field(page).press("Enter")  # nothing to open
    expect(field(page)).to_be_focused()


def test_finding_opens_a_pane_that_is_folded_away(desk: Callable[..., Desk]) -> None:
    at = desk(files=FILES)
    at.page.keyboard.press("Control+b")
    expect(at.page.get_by_role("tree")).not_to_be_in_viewport()
    start(at.page, "雨停")
    expect(at.page.get_by_role("option")).to_be_in_viewport()


def test_finding_waits_for_a_dialog_that_asks_for_something(desk: Callable[..., Desk]) -> None:
    at = desk(files=FILES)
    page = at.page
    page.keyboard.press("Alt+n")
    name = page.get_by_role("dialog").get_by_role("textbox")
    expect(name).to_be_focused()
    page.keyboard.press("Control+Shift+f")
    expect(field(page)).to_have_count(0)
    expect(name).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    start(page, "雨停")
    expect(page.get_by_role("option")).to_have_count(1)


def test_finding_from_the_palette(desk: Callable[..., Desk]) -> None:
    at = desk(files=FILES)
    page = at.page
    page.keyboard.press("Control+p")
    page.get_by_role("combobox", name="打开文件").fill("雨停")
    expect(page.get_by_role("option")).to_have_text([re.compile("在项目中查找“雨停”")])
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(field(page)).to_be_focused()
    expect(field(page)).to_have_value("雨停")
    expect(told(page)).to_have_text("1 个文件里有 1 处")


@pytest.mark.parametrize(
    ("text", "phrase", "selected", "replaced"),
    [
        ("一\n𠮷😀野家，雨夜\n", "雨夜", "雨夜", "一\n𠮷😀野家，甲\n"),
        ("👨‍👩‍👧 a 𠮷 b 𠮷 c", "𠮷 c", "𠮷 c", "👨‍👩‍👧 a 𠮷 b 甲"),
        ("one\r\n😀 two\r\nthree\r\n", "two", "two", "one\r\n😀 甲\r\nthree\r\n"),
        ("a\rb\n𠮷 mixed\r\nend", "mixed", "mixed", "a\rb\n𠮷 甲\r\nend"),
        ("\ufeff有 BOM 的\n", "BOM", "BOM", "\ufeff有 甲 的\n"),
        ("x" * 30_000 + "目标" + "y" * 3000, "目标", "目标", "x" * 30_000 + "甲" + "y" * 3000),
    ],
    ids=["astral", "cluster", "crlf", "mixed", "bom", "long line"],
)
def test_08_a_place_is_found_in_any_text(
    desk: Callable[..., Desk], text: str, phrase: str, selected: str, replaced: str
) -> None:
    at = desk(files={"文.md": text})
    find = start(at.page, phrase)
    expect(at.page.get_by_role("option")).to_have_count(1)
    find.press("Enter")
    expect(at.editor).to_be_focused()
    assert at.page.evaluate(SELECTED) == selected
    assert at.read("文.md").decode() == text
    at.page.keyboard.insert_text("甲")
    at.page.keyboard.press("Control+s")
    at.wait_saved()
    assert at.read("文.md").decode() == replaced


def test_07_a_million_characters(desk: Callable[..., Desk]) -> None:
    text = novel(1_000_000)
    cut = 987_654
    text = text[:cut] + "他在等一个再也不会来的人" + text[cut:]
    at = desk(files={"长篇.md": text, "短.md": "雨"})
    page = at.page
    at.open("短.md")  # the editor's code is loaded
    begun = page.evaluate("performance.now()")
    find = start(page, "他在等一个再也不会来的人")
    expect(page.get_by_role("option")).to_have_count(1)
    find.press("Enter")
    expect(at.editor).to_contain_text("他在等一个再也不会来的人")
    assert page.evaluate("performance.now()") - begun < 5000
    expect(at.editor).to_be_focused()
    assert page.evaluate(SELECTED) == "他在等一个再也不会来的人"
    expect(page.locator(".cm-line", has_text="他在等一个再也不会来的人")).to_be_in_viewport()
    assert page.locator(".cm-content *").count() < 1000
    page.keyboard.type("他不等了")
    page.keyboard.press("Control+s")
    at.wait_saved()
    assert at.read("长篇.md").decode() == text.replace("他在等一个再也不会来的人", "他不等了")

    start(page, "夜")  # thousands of places: the first are listed
    expect(told(page)).to_contain_text("只列出前 200 处")
    expect(page.get_by_role("option")).to_have_count(200)
    assert page.locator("body *").count() < 2500


def test_finding_waits_for_a_pause_and_ends_what_is_no_longer_wanted(
    desk: Callable[..., Desk],
) -> None:
    at = desk(files=FILES)
    page = at.page
    asked: list[str] = []
    ended: list[str] = []
    page.on("request", lambda request: FIND.search(request.url) and asked.append(request.url))
    page.on("requestfailed", lambda request: ended.append(request.url))
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)  # no answer

    page.route(re.compile(r"/find\?phrase=rain"), hold)
    find = start(page)
    find.press_sequentially("rain", delay=20)
    wait_until(page, lambda: len(held) == 1)
    assert len(asked) == 1
    find.fill("雨停")
    expect(told(page)).to_have_text("1 个文件里有 1 处")
    assert len(asked) == 2
    wait_until(page, lambda: len(ended) == 1)
    assert "rain" in ended[0]


def wait_until(page: Page, is_so: Callable[[], bool]) -> None:
    for _ in range(200):
        if is_so():
            return
        page.wait_for_timeout(25)
    raise AssertionError("it did not happen")


def test_finding_says_what_went_wrong(desk: Callable[..., Desk], errors: list[str]) -> None:
    at = desk(files=FILES)
    page = at.page
    fails = {"code": "data_unwritable", "message": "no", "params": {}}
    page.route(FIND, lambda route: route.fulfill(status=400, json=fails))
    start(page, "雨")
    alert = page.get_by_role("region", name="在项目中查找").get_by_role("alert")
    expect(alert).to_be_visible()
    page.unroute(FIND)
    alert.get_by_role("button", name="重试").click()
    expect(told(page)).to_have_text("3 个文件里有 4 处")
    forgive(errors, 400)


def test_a_place_that_has_moved_is_found_all_the_same(desk: Callable[..., Desk]) -> None:
    """The text was changed elsewhere between the search and the key."""
    at = desk(files={"a.md": "一\n二目标\n", "b.md": "1"})
    page = at.page
    page.route(re.compile(r"/events\?"), lambda route: None)  # no word of the change comes
    page.reload()
    expect(page.get_by_role("treeitem")).to_have_count(2)
    find = start(page, "目标")
    expect(page.get_by_role("option")).to_have_count(1)
    saved = at.studio.call("GET", f"/api/projects/{at.project.id}/files/a.md")
    body = {"text": "新\n" * 300 + "一\n二目标\n", "base": saved["revision"]}
    at.studio.call("PUT", f"/api/projects/{at.project.id}/files/a.md", body)
    find.press("Enter")
    expect(at.editor).to_be_focused()
    assert page.evaluate(SELECTED) == "目标"
    expect(page.locator(".cm-line", has_text="二目标")).to_be_in_viewport()


def test_what_is_typed_is_found_before_it_is_saved(desk: Callable[..., Desk]) -> None:
    at = desk(files={"a.md": ""})
    at.open("a.md")
    at.page.keyboard.insert_text("刚写下的一句")
    start(at.page, "刚写下")
    expect(at.page.get_by_role("option")).to_have_text(["刚写下的一句"])
    at.page.get_by_role("option").click()
    expect(at.editor).to_be_focused()
    assert at.page.evaluate(SELECTED) == "刚写下"


def test_a_preview_gives_way_to_the_place(desk: Callable[..., Desk]) -> None:
    at = desk(files=FILES)
    at.open("正文/第二章.md")
    at.page.get_by_role("button", name="预览").click()
    expect(at.page.get_by_role("region", name="预览")).to_be_visible()
    start(at.page, "站着").press("Enter")  # too early: it only asks at once
    expect(at.page.get_by_role("option")).to_have_count(1)
    field(at.page).press("Enter")
    expect(at.editor).to_be_focused()
    assert at.page.evaluate(SELECTED) == "站着"


@BOTH_ENTERS
def test_10_composing_does_not_open_what_was_found(
    desk: Callable[..., Desk], enter: Callable[[Page], None]
) -> None:
    at = desk(files=FILES)
    page = at.page
    asked: list[str] = []
    find = start(page, "雨夜")
    expect(page.get_by_role("option")).to_have_count(1)
    page.on("request", lambda request: FIND.search(request.url) and asked.append(request.url))
    enter(page)
    page.wait_for_timeout(400)  # longer than a pause in typing
    expect(page.get_by_text("打开一个文件来读写")).to_be_visible()
    assert asked == []  # letters of an input method are no phrase
    commit(page, "归人")
    expect(find).to_have_value("雨夜归人")
    expect(page.get_by_role("option")).to_have_count(1)
    expect(page.get_by_role("option").locator("mark")).to_have_text("雨夜归人")
    find.press("Enter")
    expect(at.editor).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_30_axe_finding(desk: Callable[..., Desk], scheme: str) -> None:
    at = desk(files=FILES)
    at.page.emulate_media(color_scheme=scheme)
    start(at.page)
    check(at.page, "finding nothing yet")
    field(at.page).fill("雨")
    expect(at.page.get_by_role("option")).to_have_count(4)
    check(at.page, "found")
    field(at.page).fill("没有这句")
    expect(at.page.get_by_text("哪里都没有")).to_be_visible()
    check(at.page, "found nothing")
    at.page.keyboard.press("Control+p")
    at.page.get_by_role("combobox", name="打开文件").fill("章")
    expect(at.page.get_by_role("option", name=re.compile("在项目中查找"))).to_be_visible()
    check(at.page, "palette with its last row")


def test_31_finding_on_a_phone(
    desk: Callable[..., Desk], studio: Studio, phone: BrowserContext
) -> None:
    made = desk(files=FILES)
    page = phone.new_page()
    page.goto(f"/p/{made.project.id}")
    page.get_by_role("tab", name="文件").tap()
    page.get_by_role("button", name="在项目中查找").tap()
    check_phone(page, "finding")
    field(page).fill("雨")
    expect(page.get_by_role("option")).to_have_count(4)
    small = "[...document.querySelectorAll('[role=option]')].filter((n) => n.getBoundingClientRect().height < 43.5).length"
    assert page.evaluate(small) == 0
    check_phone(page, "found")
    page.get_by_role("option").last.tap()
    expect(page.get_by_role("tab", name="编辑")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".cm-content")).to_contain_text("雨停了")
    expect(page.locator(".cm-selectionBackground")).to_have_count(1)
    check_phone(page, "opened at a place")
    page.get_by_role("tab", name="文件").tap()
    expect(page.get_by_role("option")).to_have_count(4)  # still there
