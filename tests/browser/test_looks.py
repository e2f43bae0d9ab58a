"""Every screen in light and dark for everyone (axe), and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.browser.rig import Desk, Studio, forgive
from tests.browser.test_chat import slowly, tool

pytestmark = pytest.mark.alone

FILES: dict[str, str | bytes] = {
    "大纲/第一卷.md": "# 第一卷\n",
    "正文/第一章.md": "# 第一章\n\n　　夜色渐深，*没有抬头*。\n\n- 一\n\n> 引用 `code`\n\n[链接](https://example.com)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
}
ANSWER = "**两个**文件：\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nprint(1)\n```\n\n> [链接](https://example.com)\n"
REPLIES: list[object] = [
    tool("list_files", thinking="先看看有什么。"),
    tool("read_file", path="没有.md"),
    {"text": ANSWER},
]


def check(page: Page, screen: str) -> None:
    page.evaluate("document.fonts.ready")
    violations = [
        f"{screen}: {each['id']} ({each['impact']}): {node['target']} {node.get('failureSummary', '')}"
        for each in Axe().run(page).response["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
    assert violations == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_30_axe(desk: Callable[..., Desk], errors: list[str], scheme: str, tmp_path: Path) -> None:
    at = desk(REPLIES, FILES, tmp_path)
    page = at.page
    page.emulate_media(color_scheme=scheme)
    expect(page.locator("html")).to_have_attribute("data-theme", scheme)
    check(page, "new conversation")
    at.open("正文/第一章.md")
    at.say("有几个文件？")
    at.wait_for_end()
    at.log.get_by_role("button", name="列出文件").click()
    at.log.get_by_role("button", name="读取文件").click()
    check(page, "finished run")
    page.get_by_role("button", name="预览").click()
    expect(page.get_by_role("region", name="预览")).to_be_visible()
    check(page, "preview")
    page.get_by_role("button", name="编辑").click()

    page.keyboard.press("Control+p")
    expect(page.get_by_role("dialog")).to_be_visible()
    check(page, "palette")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+/")
    expect(page.get_by_role("dialog")).to_be_visible()
    check(page, "shortcuts")
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+n")
    expect(page.get_by_role("dialog")).to_be_visible()
    check(page, "new file")
    page.keyboard.press("Escape")
    page.get_by_role("treeitem", name="第一卷.md").click(button="right")
    expect(page.get_by_role("menu")).to_be_visible()
    check(page, "menu")
    page.keyboard.press("Escape")

    at.editor.click()
    page.keyboard.insert_text("我的")
    (tmp_path / "正文/第一章.md").write_text("别人的\n", "utf-8")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("这个文件在别处被改动了")).to_be_visible()
    check(page, "conflict")
    forgive(errors, 409)

    for address in ("/settings", "/"):
        page.goto(address)
        expect(
            page.get_by_role("radiogroup").or_(page.get_by_role("article")).first
        ).to_be_visible()
        check(page, address)
    page.goto("/p/prj_none")
    expect(page.get_by_role("heading", name="这里什么也没有")).to_have_count(1)
    check(page, "not found")
    forgive(errors, 404)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_30_axe_while_running_and_after_failing(desk: Callable[..., Desk], scheme: str) -> None:
    at = desk([slowly("一段话。" * 200, thinking="想。" * 100), {"http": 500, "body": "no"}])
    at.page.emulate_media(color_scheme=scheme)
    at.say("写")
    expect(at.log).to_contain_text("一段话。")
    at.say("再短一些")
    check(at.page, "running run")
    at.composer.press("Escape")
    at.wait_for_end("stopped")
    check(at.page, "stopped run")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_30_axe_without_a_model(studio: Studio, tab: Page, scheme: str) -> None:
    studio.call("PUT", "/api/settings", {"provider": "embedded", "model": "none"})
    tab.emulate_media(color_scheme=scheme)
    tab.goto("/")
    expect(tab.get_by_role("heading", name="先选一个能回答的模型")).to_be_visible()
    check(tab, "onboarding")
    tab.get_by_role("link", name="填写连接").click()
    expect(tab.get_by_role("radio", name="OpenAI 兼容")).to_be_checked()
    tab.get_by_label("接口地址").fill("http://127.0.0.1:9/v1")
    tab.get_by_label("模型名").fill("none")
    tab.get_by_role("button", name="测试连接").click()
    expect(tab.get_by_role("status").get_by_text("连不上这个地址")).to_be_visible(timeout=30_000)
    check(tab, "settings with a failed test")


@pytest.fixture
def phone(chromium: Browser, studio: Studio) -> Iterator[BrowserContext]:
    opened = chromium.new_context(
        base_url=studio.url,
        locale="zh-CN",
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        device_scale_factor=2,
        reduced_motion="reduce",
    )
    opened.set_default_timeout(10_000)
    yield opened
    opened.close()


SMALL = """() => [...document.querySelectorAll("button, a, [role=tab], input, textarea, [role=treeitem]")]
  .filter((node) => node.checkVisibility() && !node.closest(".prose, .sr-only, [aria-hidden=true]"))
  .map((node) => [node.getAttribute("aria-label") ?? node.textContent, node.getBoundingClientRect()])
  .filter(([, box]) => box.width > 1 && (box.height < 43.5 || box.width < 27))
  .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)"""


def check_phone(page: Page, screen: str) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, screen
    assert page.evaluate("[...document.querySelectorAll('body *')].filter((n) => !n.closest('pre, .table, .cm-editor')"
                         " && n.getBoundingClientRect().right > 391).length") == 0, screen  # fmt: skip
    assert page.evaluate(SMALL) == [], screen
    check(page, f"phone: {screen}")


def test_31_phone(desk: Callable[..., Desk], studio: Studio, phone: BrowserContext) -> None:
    made = desk(REPLIES, FILES)
    page = phone.new_page()
    at = Desk(page=page, studio=studio, project=made.project, model=made.model)
    page.goto(f"/p/{at.project.id}")
    page.get_by_role("tab", name="文件").tap()
    expect(page.get_by_role("tree")).to_be_visible()
    check_phone(page, "files")
    page.get_by_role("treeitem", name="第一章.md").tap()
    expect(page.get_by_role("tab", name="编辑")).to_have_attribute("aria-selected", "true")
    expect(at.editor).to_be_visible()
    check_phone(page, "editor")
    page.get_by_role("tab", name="对话").tap()
    at.composer.fill("有几个文件？")
    page.get_by_role("button", name="发送").tap()
    at.wait_for_end()
    check_phone(page, "chat")

    page.set_viewport_size({"width": 390, "height": 480})  # the keyboard is open
    expect(at.composer).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 390, "height": 844})
    for address in ("/settings", "/"):
        page.goto(address)
        expect(
            page.get_by_role("radiogroup").or_(page.get_by_role("article")).first
        ).to_be_visible()
        check_phone(page, address)
