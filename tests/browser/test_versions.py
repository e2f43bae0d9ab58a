"""The past of a file: reviewing what an agent changed, comparing versions, bringing one back (UI-5, UI-6, VR-1, VR-5)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect
from tests.browser.rig import Desk, Studio, forgive
from tests.browser.test_chat import BOTH_ENTERS, tool
from tests.browser.test_editor import novel
from tests.browser.test_looks import check, check_phone, phone

__all__ = ["phone"]

pytestmark = pytest.mark.alone

PLAIN = [f"　　第{n}段，夜色渐深，雨还没有停，他推开了门。" for n in range(1, 31)]
BEFORE = "\n\n".join(PLAIN) + "\n"


def edited(text: str) -> str:
    """Three changes: within a paragraph, a paragraph more, a paragraph less."""
    return (
        text.replace("第3段，夜色渐深", "第3段，天色将明")
        .replace("　　第15段", "　　新的一段。\n\n　　第15段")
        .replace("　　第28段，夜色渐深，雨还没有停，他推开了门。\n\n", "")
    )


def writes(text: str, path: str = "第一章.md") -> list[object]:
    return [tool("write_file", path=path, content=text), {"text": "写好了"}]


def versions(at: Desk, path: str = "第一章.md") -> list[dict[str, Any]]:
    return at.studio.call("GET", f"/api/projects/{at.project.id}/versions?path={path}")


def kinds(at: Desk, path: str = "第一章.md") -> list[tuple[int, str, str]]:
    return [(each["n"], each["actor"], each["change"]) for each in versions(at, path)]


def write_by_agent(at: Desk, runs: int = 1) -> None:
    at.say("改写第一章")
    at.wait_for_end(runs=runs)


def review(at: Desk) -> Locator:
    """Begin from the offer over the text."""
    at.page.get_by_role("region", name="编辑").get_by_role("button", name="审阅修改").click()
    region = at.page.get_by_role("region", name="审阅修改")
    expect(at.page.get_by_test_id("review-progress")).to_be_visible()
    return region


def passage(region: Locator, words: str, verdict: str) -> None:
    """Press the button above the passage with these words."""
    place = region.locator(".cm-line, .cm-deletedChunk").filter(has_text=words).last
    buttons = place.locator("xpath=preceding-sibling::*[contains(@class,'cm-chunkButtons')][1]")
    buttons.get_by_role("button", name=verdict, exact=True).click()


def open_versions(page: Page) -> Locator:
    page.keyboard.press("Control+Shift+h")
    dialog = page.get_by_role("dialog", name="版本历史")
    expect(dialog).to_be_visible()
    return dialog


def row(dialog: Locator, n: int) -> Locator:
    return dialog.get_by_role("list", name="版本，从新到旧").get_by_role(
        "button", name=re.compile(rf"^v{n}\b")
    )


def test_23_accept_two_reject_one(desk: Callable[..., Desk]) -> None:
    at = desk(writes(edited(BEFORE)), {"第一章.md": BEFORE})
    at.open("第一章.md")
    write_by_agent(at)
    region = review(at)
    expect(at.page.get_by_test_id("review-progress")).to_contain_text("3 处待定")
    expect(at.page.get_by_test_id("change-position")).to_have_text("1/3")
    passage(region, "天色将明", "接受")
    passage(region, "新的一段", "拒绝")
    expect(at.page.get_by_test_id("review-progress")).to_contain_text("1 处待定 · 接受 1 · 拒绝 1")
    at.page.keyboard.press("y")
    expect(at.page.get_by_test_id("review-progress")).to_contain_text("0 处待定 · 接受 2 · 拒绝 1")
    assert at.read("第一章.md").decode() == edited(BEFORE)  # nothing is stored before the end
    region.get_by_role("button", name="完成").click()
    expect(at.page.get_by_text("已拒绝 1 处修改")).to_be_visible()
    chosen = edited(BEFORE).replace("　　新的一段。\n\n", "")
    assert at.read("第一章.md").decode() == chosen
    assert kinds(at) == [(3, "author", "edit"), (2, "ai", "ai_edit"), (1, "author", "create")]
    # It is a step of the person's own: the editor can take it back.
    at.editor.click()
    at.page.keyboard.press("Control+z")
    at.page.keyboard.press("Control+s")
    expect(at.page.get_by_test_id("save-state")).to_have_attribute("data-phase", "clean")
    assert at.read("第一章.md").decode() == edited(BEFORE)


@pytest.mark.parametrize(
    ("keys", "expected", "newest"),
    [
        pytest.param(["Shift+N", "Enter"], BEFORE, (3, "author", "edit"), id="reject-all"),
        pytest.param(["Shift+Y", "Enter"], edited(BEFORE), (2, "ai", "ai_edit"), id="accept-all"),
        pytest.param(["Enter"], edited(BEFORE), (2, "ai", "ai_edit"), id="no-choice"),
        pytest.param(["Shift+N", "Escape"], edited(BEFORE), (2, "ai", "ai_edit"), id="cancel"),
        pytest.param(["n", "n", "n", "Enter"], BEFORE, (3, "author", "edit"), id="one-by-one"),
        pytest.param(["Shift+N", "Control+z", "Enter"], edited(BEFORE), (2, "ai", "ai_edit"), id="undo"),
        pytest.param(["F7", "F7", "n", "Enter"], None, (3, "author", "edit"), id="third-only"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_23_review_by_keyboard(
    desk: Callable[..., Desk], keys: list[str], expected: str | None, newest: Any, ends: str
) -> None:
    last = edited(BEFORE).replace("　　第29段", PLAIN[27] + "\n\n　　第29段")
    before, after, chosen = (
        text.replace("\n", ends) for text in (BEFORE, edited(BEFORE), expected or last)
    )
    at = desk(writes(after), {"第一章.md": before})
    at.open("第一章.md")
    write_by_agent(at)
    review(at)
    for key in keys:
        at.page.keyboard.press(key)
    expect(at.page.get_by_test_id("review-progress")).to_have_count(0)
    expect(at.page.get_by_test_id("save-state")).to_have_attribute("data-phase", "clean")
    assert at.read("第一章.md").decode() == chosen
    assert kinds(at)[0] == newest


@BOTH_ENTERS
def test_23_composing_does_not_finish(
    desk: Callable[..., Desk], enter: Callable[[Page], None]
) -> None:
    at = desk(writes(edited(BEFORE)), {"第一章.md": BEFORE})
    at.open("第一章.md")
    write_by_agent(at)
    review(at)
    at.page.keyboard.press("Shift+N")
    if enter.__name__ == "press_enter_like_safari":
        enter(at.page)
    at.composer.fill("YN")  # letters for the assistant are no verdicts
    at.composer.press("Shift+Y")
    expect(at.page.get_by_test_id("review-progress")).to_contain_text("拒绝 3")
    assert at.read("第一章.md").decode() == edited(BEFORE)


def test_23_long_file(desk: Callable[..., Desk]) -> None:
    text = novel(500_000)
    lines = text.split("\n")
    for at_line in range(50, len(lines), 100):
        lines[at_line] = lines[at_line] + "改" if lines[at_line] else "改"
    at = desk(writes("\n".join(lines), "长篇.md"), {"长篇.md": text})
    at.open("长篇.md")
    write_by_agent(at)
    at.page.evaluate("""() => { window.longest = 0; new PerformanceObserver((list) => {
        for (const each of list.getEntries()) window.longest = Math.max(window.longest, each.duration);
    }).observe({ type: "longtask" }); }""")
    review(at)
    progress = at.page.get_by_test_id("review-progress")
    changes = int(re.search(r"(\d+) 处待定", progress.inner_text()).group(1))  # type: ignore[union-attr]
    assert changes > 1
    assert at.page.locator(".cm-content *").count() < 1500
    for _ in range(3):
        at.page.keyboard.press("n")
    expect(progress).to_contain_text(f"{changes - 3} 处待定")
    started = at.page.evaluate("performance.now()")
    at.page.keyboard.press("F7")
    at.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    assert at.page.evaluate("performance.now()") - started < 1000
    at.page.keyboard.press("Shift+N")
    expect(progress).to_contain_text("0 处待定")
    at.page.keyboard.press("Enter")
    expect(at.page.get_by_text(f"已拒绝 {changes} 处修改")).to_be_visible()
    assert at.read("长篇.md").decode() == text
    assert at.page.evaluate("window.longest") < 3000


def test_23_file_changes_during_a_review(desk: Callable[..., Desk], errors: list[str]) -> None:
    at = desk(writes(edited(BEFORE)), {"第一章.md": BEFORE})
    at.open("第一章.md")
    write_by_agent(at)
    region = review(at)
    passage(region, "天色将明", "拒绝")
    address = f"/api/projects/{at.project.id}/files/第一章.md"
    stored = at.studio.call("GET", address)
    theirs = stored["text"].replace("第22段", "别人改的第22段")
    at.studio.call("PUT", address, {"text": theirs, "base": stored["revision"]})
    expect(at.page.get_by_text("已按最新内容重新比较")).to_be_visible()
    expect(at.page.get_by_test_id("review-progress")).to_contain_text("3 处待定 · 接受 0 · 拒绝 1")
    region.get_by_role("button", name="完成").click()
    expect(at.page.get_by_text("已拒绝 1 处修改")).to_be_visible()
    assert at.read("第一章.md").decode() == theirs.replace("天色将明", "夜色渐深")


def test_23_choices_outlive_the_agents_next_write(desk: Callable[..., Desk]) -> None:
    more = edited(BEFORE) + "\n　　尾声。\n"
    at = desk([*writes(edited(BEFORE)), *writes(more)], {"第一章.md": BEFORE, "b.md": ""})
    at.open("第一章.md")
    write_by_agent(at)
    region = review(at)
    passage(region, "天色将明", "拒绝")
    write_by_agent(at, runs=2)
    progress = at.page.get_by_test_id("review-progress")
    expect(progress).to_contain_text("3 处待定 · 接受 0 · 拒绝 1")
    at.open("b.md")
    at.page.get_by_role("treeitem", name="第一章.md").click()
    expect(progress).to_contain_text("3 处待定 · 接受 0 · 拒绝 1")
    at.page.get_by_role("button", name="完成").click()
    expect(at.page.get_by_text("已拒绝 1 处修改")).to_be_visible()
    assert at.read("第一章.md").decode() == more.replace("天色将明", "夜色渐深")


def test_23_a_save_that_comes_between_opens_the_comparison(
    desk: Callable[..., Desk], errors: list[str]
) -> None:
    at = desk(writes(edited(BEFORE)), {"第一章.md": BEFORE})
    at.open("第一章.md")
    write_by_agent(at)
    region = review(at)
    address = f"/api/projects/{at.project.id}/files/第一章.md"

    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "PUT" and not held:
            held.append(route)
        else:
            route.continue_()

    at.page.route("**/files/**", hold)
    at.page.keyboard.press("Shift+N")
    region.get_by_role("button", name="完成").click()
    expect(at.page.get_by_test_id("save-state")).to_have_attribute("data-phase", "saving")
    stored = at.studio.call("GET", address)
    theirs = {"text": stored["text"] + "别人的结尾。\n", "base": stored["revision"]}
    at.studio.call("PUT", address, theirs)
    held[0].continue_()
    expect(at.page.get_by_text("这个文件在别处被改动了")).to_be_visible()
    assert at.read("第一章.md").decode() == edited(BEFORE) + "别人的结尾。\n"
    forgive(errors, 409)


def test_23_review_from_the_tool_card(desk: Callable[..., Desk]) -> None:
    at = desk(writes(edited(BEFORE)), {"第一章.md": BEFORE, "b.md": "b\n"})
    at.open("b.md")
    write_by_agent(at)
    at.page.reload()
    at.log.get_by_role("button", name="审阅修改").click()
    expect(at.page.get_by_test_id("review-progress")).to_contain_text("3 处待定")
    at.page.keyboard.press("Escape")
    expect(at.editor).to_contain_text("天色将明")


def test_24_compare_any_two(desk: Callable[..., Desk]) -> None:
    at = desk(
        [*writes("一\n二改\n三\n"), *writes("一\n二改\n三改\n")], {"第一章.md": "一\n二\n三\n"}
    )
    at.open("第一章.md")
    write_by_agent(at)
    write_by_agent(at, runs=2)
    dialog = open_versions(at.page)
    expect(row(dialog, 3)).to_contain_text("助手")
    expect(row(dialog, 3)).to_contain_text("改写第一章")
    expect(row(dialog, 3)).to_contain_text("当前")
    expect(row(dialog, 1)).to_contain_text("新建")
    position = dialog.get_by_test_id("change-position")
    expect(position).to_have_text("第 1 处，共 1 处")
    left, right = dialog.locator(".cm-content").first, dialog.locator(".cm-content").last
    expect(left).to_contain_text("三")
    expect(right).to_contain_text("三改")
    dialog.get_by_label("较早的一边").select_option("1")
    expect(left).not_to_contain_text("二改")
    expect(right).to_contain_text("二改")
    dialog.get_by_role("radio", name="合并").click()
    expect(dialog.locator(".cm-content")).to_have_count(1)
    expect(dialog.locator(".cm-deletedText, .cm-changedText").first).to_be_visible()
    dialog.get_by_label("较新的一边").select_option("1")
    expect(dialog.get_by_text("这两个版本的内容一样")).to_be_visible()
    dialog.get_by_label("较早的一边").select_option("空白")
    expect(position).to_have_text("第 1 处，共 1 处")

    row(dialog, 3).focus()  # the list by keyboard
    at.page.keyboard.press("End")
    at.page.keyboard.press("Enter")
    expect(row(dialog, 1)).to_have_attribute("aria-current", "true")
    at.page.keyboard.press("ArrowUp")
    at.page.keyboard.press("Enter")
    expect(row(dialog, 2)).to_have_attribute("aria-current", "true")
    at.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_24_restore_makes_a_version(desk: Callable[..., Desk]) -> None:
    at = desk(writes("新的\n"), {"第一章.md": "旧的\n"})
    at.open("第一章.md")
    write_by_agent(at)
    dialog = open_versions(at.page)
    expect(dialog.get_by_role("button", name="恢复为新版本")).to_be_disabled()  # it is there
    row(dialog, 1).click()
    dialog.get_by_role("button", name="恢复为新版本").click()
    expect(at.page.get_by_text("已恢复 v1，存为 v3")).to_be_visible()
    expect(at.editor).to_contain_text("旧的")
    assert at.read("第一章.md") == "旧的\n".encode()
    assert kinds(at) == [(3, "author", "restore"), (2, "ai", "ai_edit"), (1, "author", "create")]
    assert versions(at)[0]["origin"] == 1
    at.page.get_by_role("button", name="撤销").click()
    expect(at.editor).to_contain_text("新的")
    assert kinds(at)[0] == (4, "author", "restore")
    assert kinds(at)[1:] == [
        (3, "author", "restore"), (2, "ai", "ai_edit"), (1, "author", "create"),
    ]  # fmt: skip
    dialog = open_versions(at.page)
    expect(row(dialog, 4)).to_contain_text("恢复自 v2")


def test_24_unsaved_words_are_saved_first(desk: Callable[..., Desk]) -> None:
    at = desk(writes("新的\n"), {"第一章.md": "旧的\n"})
    at.open("第一章.md")
    write_by_agent(at)
    at.editor.press("Control+End")
    at.page.keyboard.insert_text("刚写的")
    dialog = open_versions(at.page)
    expect(row(dialog, 3)).to_contain_text("我")
    assert at.read("第一章.md").decode() == "新的\n刚写的"
    row(dialog, 1).click()
    dialog.get_by_role("button", name="恢复为新版本").click()
    expect(at.page.get_by_text("已恢复 v1，存为 v4")).to_be_visible()
    old = at.studio.call("GET", f"/api/projects/{at.project.id}/versions/3?path=第一章.md")
    assert old["text"] == "新的\n刚写的"  # nothing was lost


def test_24_restore_is_refused_while_words_cannot_be_saved(
    desk: Callable[..., Desk], errors: list[str]
) -> None:
    at = desk(writes("新的\n"), {"第一章.md": "旧的\n"})
    at.open("第一章.md")
    write_by_agent(at)
    at.page.route(
        "**/files/**",
        lambda route: route.fulfill(status=507, json={"code": "disk_full", "message": "", "params": {}})
        if route.request.method == "PUT"
        else route.continue_(),
    )  # fmt: skip
    at.editor.press("Control+End")
    at.page.keyboard.insert_text("刚写的")
    dialog = open_versions(at.page)
    expect(dialog.get_by_role("alert")).to_contain_text("还没有保存")
    row(dialog, 1).click()
    dialog.get_by_role("button", name="恢复为新版本").click()
    expect(at.page.get_by_text("所以没有恢复")).to_be_visible()
    assert kinds(at)[0] == (2, "ai", "ai_edit")
    at.page.keyboard.press("Escape")
    expect(at.editor).to_contain_text("刚写的")
    at.page.unroute("**/files/**")
    at.page.get_by_role("button", name="重试").click()
    at.wait_saved()
    forgive(errors, 507)


def test_24_folder_and_no_file(desk: Callable[..., Desk], tmp_path: Path) -> None:
    at = desk(writes("新的\n"), {"第一章.md": "旧的\n"}, tmp_path)
    dialog = open_versions(at.page)
    expect(dialog).to_contain_text("先打开一个文件")
    at.page.keyboard.press("Escape")
    at.open("第一章.md")
    write_by_agent(at)
    expect(at.page.get_by_role("button", name="审阅修改")).to_have_count(0)
    at.page.keyboard.press("Control+p")  # as a command
    at.page.keyboard.insert_text("版本历史")
    at.page.keyboard.press("Enter")
    dialog = at.page.get_by_role("dialog", name="版本历史")
    expect(dialog).to_contain_text("这个项目没有版本历史")
    expect(dialog).to_contain_text(str(tmp_path))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        pytest.param(404, "没有这个文件", id="404"),
        pytest.param(500, "程序内部出错", id="500"),
        pytest.param(None, "连不上文房的服务", id="offline"),
    ],
)
def test_24_errors(
    desk: Callable[..., Desk], errors: list[str], status: int | None, words: str
) -> None:
    at = desk(writes("新的\n"), {"第一章.md": "旧的\n"})
    at.open("第一章.md")
    write_by_agent(at)

    def fail(route: Route) -> None:
        if status is None:
            route.abort("connectionrefused")
        else:
            code = "file_not_found" if status == 404 else "internal_error"
            route.fulfill(
                status=status, json={"code": code, "message": "", "params": {"path": "x"}}
            )

    at.page.route("**/versions?**", fail)
    dialog = open_versions(at.page)
    expect(dialog.get_by_role("alert")).to_contain_text(words)
    at.page.unroute("**/versions?**")
    at.page.route("**/versions/1?**", fail)
    dialog.get_by_role("button", name="重试").click()
    row(dialog, 1).click()
    expect(dialog.get_by_role("alert")).to_contain_text(words)
    at.page.unroute("**/versions/1?**")
    dialog.get_by_role("button", name="重试").click()
    expect(dialog.get_by_test_id("change-position")).to_be_visible()
    at.page.route("**/restore", fail)
    dialog.get_by_role("button", name="恢复为新版本").click()
    expect(at.page.get_by_text(words)).to_be_visible()
    at.page.keyboard.press("Escape")

    at.page.route("**/versions/1?**", fail)
    at.page.reload()
    at.log.get_by_role("button", name="审阅修改").click()
    expect(at.page.get_by_role("alert").filter(has_text=words)).to_be_visible()
    at.page.get_by_role("button", name="取消").click()
    expect(at.editor).to_contain_text("新的")
    if status is None:
        assert all("ERR_CONNECTION_REFUSED" in error for error in errors)
        errors.clear()
    else:
        forgive(errors, status)


def test_24_long_versions_are_compared_fast(desk: Callable[..., Desk]) -> None:
    text = novel(500_000)
    at = desk(
        writes(text.replace("第5章", "第五章").replace("第40章", "第四十章"), "长篇.md"),
        {"长篇.md": text},
    )
    at.open("长篇.md")
    write_by_agent(at)
    dialog = open_versions(at.page)
    for layout in ("并排", "合并"):
        dialog.get_by_role("radio", name=layout).click()
        expect(dialog.get_by_test_id("change-position")).to_have_text("第 1 处，共 2 处")
        expect(dialog.locator(".cm-collapsedLines").first).to_contain_text("行没有改动")
        assert dialog.locator(".cm-content *").count() < 400
    at.page.keyboard.press("F7")
    expect(dialog.get_by_test_id("change-position")).to_have_text("第 2 处，共 2 处")
    expect(dialog.locator(".cm-content").get_by_text("第四十章")).to_be_in_viewport()
    dialog.get_by_role("button", name="显示全文").click()
    expect(dialog.locator(".cm-collapsedLines")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_30_axe_of_versions_and_review(desk: Callable[..., Desk], scheme: str) -> None:
    at = desk(writes(edited(BEFORE)), {"第一章.md": BEFORE})
    at.page.emulate_media(color_scheme=scheme)
    at.open("第一章.md")
    write_by_agent(at)
    check(at.page, "the offer and the card")
    review(at)
    check(at.page, "review")
    at.page.keyboard.press("Escape")
    dialog = open_versions(at.page)
    expect(dialog.get_by_test_id("change-position")).to_have_text("第 1 处，共 3 处")
    check(at.page, "versions side by side")
    dialog.get_by_role("radio", name="合并").click()
    expect(dialog.locator(".cm-content")).to_have_count(1)
    check(at.page, "versions unified")


def test_31_versions_and_review_on_a_phone(
    desk: Callable[..., Desk], studio: Studio, phone: BrowserContext
) -> None:
    made = desk(writes(edited(BEFORE)), {"第一章.md": BEFORE})
    page = phone.new_page()
    at = Desk(page=page, studio=studio, project=made.project, model=made.model)
    page.goto(f"/p/{at.project.id}")
    at.composer.fill("改写第一章")
    page.get_by_role("button", name="发送").tap()
    at.wait_for_end()
    check_phone(page, "tool card with files")
    at.log.get_by_role("button", name="审阅修改").tap()
    expect(page.get_by_test_id("review-progress")).to_contain_text("3 处待定")
    check_phone(page, "review")
    page.get_by_role("button", name="拒绝", exact=True).first.tap()
    expect(page.get_by_test_id("review-progress")).to_contain_text("拒绝 1")
    page.get_by_role("button", name="完成").tap()
    expect(page.get_by_test_id("save-state")).to_have_attribute("data-phase", "clean")
    assert at.read("第一章.md").decode() == edited(BEFORE).replace("天色将明", "夜色渐深")

    page.get_by_role("button", name="版本历史").tap()
    dialog = page.get_by_role("dialog", name="版本历史")
    expect(row(dialog, 3)).to_be_visible()
    expect(page.get_by_text("已拒绝 1 处修改")).to_have_count(
        0
    )  # the library's list of notes is wide
    check_phone(page, "versions")
    row(dialog, 2).tap()
    expect(dialog.get_by_test_id("change-position")).to_have_text("第 1 处，共 3 处")
    expect(dialog.locator(".cm-content")).to_have_count(1)
    check_phone(page, "comparison")
    dialog.get_by_role("button", name="回到版本列表").tap()
    expect(row(dialog, 1)).to_be_visible()
