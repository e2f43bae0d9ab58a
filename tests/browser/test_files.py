"""Projects and files, by keyboard and in two languages."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.browser.rig import Desk, Models, Studio, forgive, is_gone

pytestmark = pytest.mark.alone

FILES: dict[str, str | bytes] = {
    "大纲/第一卷.md": "# 第一卷\n",
    "正文/第一章.md": "# 第一章\n",
    "资料/年表.txt": "一九二七\n",
}

# Every text and every accessible name that can be seen or heard.
SPOKEN = """() => {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      if (!node.parentElement.closest(".cm-content, script, style")) found.push(node.data);
    } else {
      for (const name of ["aria-label", "placeholder", "title"]) found.push(node.getAttribute(name) ?? "");
    }
  }
  return found.map((text) => text.trim()).filter(Boolean);
}"""
HAN = re.compile(r"[\u4e00-\u9fff]")
KEY = re.compile(r"^[a-z_]+(\.[a-z_]+)+$")
SAME_IN_BOTH = {
    "文",
    "中文",
    "English",
    "试验",
    "Switch to English",
    "切换到中文",
    "one.md",
    "openai",
}


def test_01_first_run(studio: Studio, models: Models, tab: Page) -> None:
    """From no model at all to a first answer in a project; `tab` takes no error of the console."""
    studio.call("PUT", "/api/settings", {"provider": "embedded", "model": "none"})
    server = models.serve([{"text": "在。"}, {"text": "你好，从哪里开始？"}])
    page = tab
    page.goto("/")
    page.get_by_role("link", name="填写连接").click()
    page.get_by_label("接口地址").fill(server.url)
    page.get_by_label("模型名").fill("scripted")
    page.get_by_role("button", name="测试连接").click()
    expect(page.get_by_text("连接成功")).to_be_visible()
    page.get_by_role("button", name="保存", exact=True).click()
    expect(page.get_by_text("已保存")).to_be_visible()
    page.get_by_role("link", name="文房，回到项目列表").click()
    expect(page.get_by_role("heading", name="先选一个能回答的模型")).to_have_count(0)
    page.get_by_role("textbox", name="项目名称").fill("初来乍到")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/p/prj_"))
    page.get_by_role("textbox", name="给助手的话").fill("你好")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log")).to_contain_text("你好，从哪里开始？")


def test_01_project_life(studio: Studio, tab: Page) -> None:
    page = tab
    page.goto("/")
    page.get_by_role("textbox", name="项目名称").fill("雨夜归人")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/p/prj_"))
    project = page.url.split("/p/")[1].split("?")[0]
    page.get_by_role("link", name="文房，回到项目列表").click()

    page.get_by_role("button", name="“雨夜归人”的更多操作").click()
    page.get_by_role("menuitem", name="重命名").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("雨夜来客")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="雨夜来客")).to_be_visible()

    page.get_by_role("button", name="“雨夜来客”的更多操作").click()
    page.get_by_role("menuitem", name="删除").click()
    expect(page.get_by_role("link", name="雨夜来客")).to_have_count(0)
    assert is_gone(studio, f"/api/projects/{project}/files")
    page.get_by_role("button", name="撤销").click()
    expect(page.get_by_role("link", name="雨夜来客")).to_be_visible()
    assert not is_gone(studio, f"/api/projects/{project}/files")


def test_03_language_switch(desk: Callable[..., Desk]) -> None:
    at = desk([{"thinking": "...", "tools": [{"name": "calculator", "args": {"expression": "1"}}]}, {"text": "42"}],
              {"one.md": "1\n"})  # fmt: skip
    at.say("6 * 7")
    at.wait_for_end()
    at.open("one.md")
    page, room = at.page, at.page.url

    def spoken() -> set[str]:
        texts: set[str] = set()
        page.goto(room)
        expect(at.end).to_have_count(1)
        expect(page.get_by_test_id("save-state")).to_be_visible()
        texts |= set(page.evaluate(SPOKEN))
        page.keyboard.press("Control+/")
        expect(page.get_by_role("dialog")).to_be_visible()
        texts |= set(page.evaluate(SPOKEN))
        for address in ("/settings", "/"):
            page.goto(address)
            expect(page.get_by_role("heading", level=2).first).to_be_visible()
            expect(
                page.get_by_role("radiogroup").or_(page.get_by_role("article")).first
            ).to_be_visible()
            texts |= set(page.evaluate(SPOKEN))
        return texts

    expect(page.locator("html")).to_have_attribute("lang", "zh")
    chinese = spoken()
    page.get_by_role("button", name="Switch to English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    english = spoken()
    expect(page.locator("html")).to_have_attribute("lang", "en")  # also after the reloads
    page.get_by_role("button", name="切换到中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh")

    titles = [project["title"] for project in at.studio.call("GET", "/api/projects")]
    chinese, english = (
        {text for text in texts if not any(title in text for title in titles)}
        for texts in (chinese, english)
    )
    assert {text for text in english if HAN.search(text)} <= SAME_IN_BOTH
    assert not [text for text in chinese | english if KEY.match(text) and text != "one.md"]
    words = {text for text in chinese & english if re.search(r"[^\W\d_]{3,}", text)}
    shortcuts = {text for text in words if re.match(r"(Ctrl|Alt|Shift|Enter|Esc|Delete)", text)}
    addresses = {text for text in words if text.startswith("http")}
    assert words - shortcuts - addresses <= SAME_IN_BOTH | {"scripted"}


def test_04_files_by_keyboard(desk: Callable[..., Desk]) -> None:
    at = desk(files=FILES)
    page, project = at.page, at.project

    page.keyboard.press("Alt+n")
    name = page.get_by_role("dialog").get_by_role("textbox")
    expect(name).to_be_focused()
    name.press("Control+a")
    page.keyboard.type("正文/第二章.md")
    page.keyboard.press("Enter")
    expect(page.get_by_role("treeitem", name="第二章.md")).to_be_visible()
    expect(at.editor).to_be_focused()
    assert at.read("正文/第二章.md") == b""

    focus_tree(page)
    go_to(page, "第二章.md")
    focused = page.locator("[role=treeitem]:focus")
    expect(focused).to_have_attribute("aria-level", "2")
    expect(page.get_by_role("treeitem", name="正文")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("F2")
    expect(page.get_by_role("textbox", name="“第二章.md”的新名字")).to_be_focused()
    page.keyboard.type("终章")  # the stem is selected, the ending stays
    page.keyboard.press("Enter")
    expect(page.get_by_role("treeitem", name="终章.md")).to_be_visible()
    assert "正文/终章.md" in project.paths()
    assert "正文/第二章.md" not in project.paths()
    expect(page).to_have_url(re.compile("%E7%BB%88%E7%AB%A0"))  # the open file goes with its name

    focus_tree(page)
    go_to(page, "终章.md")
    page.keyboard.press("F6")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("“终章.md”已移到 大纲/终章.md")).to_be_visible()
    assert "大纲/终章.md" in project.paths()
    expect(page.locator("[role=treeitem]:focus")).to_have_attribute("aria-label", "终章.md")

    go_to(page, "年表.txt")
    page.keyboard.press("Delete")
    expect(page.get_by_role("treeitem", name="年表.txt")).to_have_count(0)
    expect(page.locator("[role=treeitem]:focus")).to_have_count(1)
    assert "资料/年表.txt" not in project.paths()
    page.keyboard.press("Alt+t")  # the toasts
    undo = page.get_by_role("button", name="撤销").first
    for _ in range(4):
        if undo.evaluate("node => node === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(undo).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("treeitem", name="年表.txt")).to_be_visible()
    assert at.read("资料/年表.txt").decode() == "一九二七\n"


def test_04_keys_act_on_the_row_that_has_the_focus(desk: Callable[..., Desk]) -> None:
    at = desk(files=FILES)
    at.open("正文/第一章.md")
    at.page.get_by_role("treeitem", name="年表.txt").focus()  # as a screen reader may
    at.page.keyboard.press("Delete")
    expect(at.page.get_by_role("treeitem", name="年表.txt")).to_have_count(0)
    assert "正文/第一章.md" in at.project.paths()
    at.page.get_by_role("treeitem", name="正文", exact=True).click(button="right")
    at.page.get_by_role("menuitem", name="删除").click()
    expect(at.page.get_by_text("打开一个文件来读写")).to_be_visible()  # what was shown is gone
    assert "正文/第一章.md" not in at.project.paths()
    at.page.get_by_role("button", name="撤销").first.click()
    expect(at.page.get_by_role("treeitem", name="第一章.md")).to_be_visible()


def test_04_problems_are_said(desk: Callable[..., Desk], errors: list[str]) -> None:
    at = desk(files=FILES)
    at.page.keyboard.press("Alt+n")
    name = at.page.get_by_role("dialog").get_by_role("textbox")
    name.fill("正文/第一章.md")
    name.press("Enter")
    expect(at.page.get_by_text("正文/第一章.md 已经存在")).to_be_visible()
    name.fill("../外面.md")
    name.press("Enter")
    expect(at.page.get_by_text("这个路径不可用：../外面.md")).to_be_visible()
    assert at.read("正文/第一章.md") == "# 第一章\n".encode()
    forgive(errors, 400, 409)


def focus_tree(page: Page) -> None:
    """Tab until the tree has the focus."""
    page.locator("body").press("Escape")
    for _ in range(60):
        if page.locator("[role=treeitem]:focus").count():
            return
        page.keyboard.press("Shift+Tab")
    raise AssertionError("the tree cannot be reached by Tab")


def go_to(page: Page, name: str) -> None:
    page.keyboard.press("Home")
    expect(page.locator('[role=treeitem][aria-level="1"][aria-posinset="1"]:focus')).to_have_count(
        1
    )
    for _ in range(30):
        focused = page.locator("[role=treeitem]:focus")
        expect(focused).to_have_count(1)
        if focused.get_attribute("aria-label") == name:
            expect(focused).to_have_attribute("tabindex", "0")  # the tree has noticed
            return
        before = focused.get_attribute("aria-label")
        page.keyboard.press("ArrowDown")
        expect(page.locator(f'[role=treeitem]:focus:not([aria-label="{before}"])')).to_have_count(1)
    raise AssertionError(f"no row {name!r}")
