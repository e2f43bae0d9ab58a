"""The editor: bytes, long texts, input methods, and no word overwritten."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.rig import Desk, forgive

pytestmark = pytest.mark.alone

ODD = """---
title: 第一章
---

　　夜色渐深。
***
a_b_c  [未完]
<旁白>雨声</旁白>
* 一
* 二
1) 三

| a | b |
|---|:-:|
| 1 | 2 |

硬换行\x20\x20
下一行\\


末尾没有换行"""

WATCH = """() => {
  const view = document.querySelector(".cm-content");
  window.painted = new Promise((resolve) => {
    view.addEventListener("beforeinput", () => {
      const start = performance.now();
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => resolve(performance.now() - start);
        channel.port2.postMessage(0);
      });
    }, { once: true });
  });
}"""


def novel(size: int) -> str:
    """Chinese prose with chapters and paragraphs of 40 to 160 characters."""
    pick = random.Random(7)
    words = "夜色渐深雨还没有停他推开那扇沉重的门轴发出一声长叹像是替谁把藏了多年话说出来"
    parts: list[str] = []
    length = 0
    while length < size:
        if len(parts) % 60 == 0:
            parts.append(f"# 第{len(parts) // 60 + 1}章")
        parts.append("　　" + "".join(pick.choices(words, k=pick.randint(40, 160))) + "。")
        length += len(parts[-1]) + 2
    return "\n\n".join(parts)[:size]


def test_06_long_file_is_fast(desk: Callable[..., Desk]) -> None:
    text = novel(500_000)
    at = desk(files={"长篇.md": text, "空.md": ""})
    at.open("空.md")  # the editor's code is loaded
    started = at.page.evaluate("performance.now()")
    at.open("长篇.md")
    expect(at.editor).to_contain_text("第1章")
    at.editor.press("Control+Home")
    assert at.page.evaluate("performance.now()") - started < 1500

    at.page.keyboard.press("PageDown")
    took: list[float] = []
    for letter in "一二三四五六七八九十" * 3:
        at.page.evaluate(WATCH)
        at.page.keyboard.insert_text(letter)
        took.append(at.page.evaluate("window.painted"))
    assert statistics.median(took) < 50, sorted(took)
    at.page.keyboard.press("Control+s")
    at.wait_saved()
    assert len(at.read("长篇.md").decode()) == len(text) + 30
    assert at.page.locator(".cm-content *").count() < 1000


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(ODD.encode(), id="markdown"),
        pytest.param(ODD.replace("\n", "\r\n").encode(), id="crlf"),
        pytest.param(b"one\r\ntwo\nthree\r\n", id="mixed"),
        pytest.param("\ufeff有 BOM\n".encode(), id="bom"),
    ],
)
def test_08_bytes_stay(desk: Callable[..., Desk], content: bytes) -> None:
    at = desk(files={"odd.md": content})
    at.open("odd.md")
    at.editor.press("Control+Home")
    at.page.keyboard.press("Control+s")
    assert at.read("odd.md") == content

    at.page.keyboard.insert_text("字")
    at.page.keyboard.press("Control+s")
    at.wait_saved()
    assert at.read("odd.md") != content
    at.page.keyboard.press("Control+z")
    expect(at.page.get_by_test_id("save-state")).to_have_attribute("data-phase", "dirty")
    at.page.keyboard.press("Control+s")
    expect(at.page.get_by_test_id("save-state")).to_have_attribute("data-phase", "clean")
    assert at.read("odd.md") == content


def test_08_saves_by_itself(desk: Callable[..., Desk]) -> None:
    at = desk(files={"a.md": "一\n"})
    at.open("a.md")
    at.editor.press("Control+End")
    at.page.keyboard.insert_text("二")
    at.wait_saved()
    assert at.read("a.md") == "一\n二".encode()
    at.page.keyboard.insert_text("三")
    at.composer.click()  # the editor loses the focus
    expect(at.page.get_by_test_id("save-state")).to_have_attribute("data-phase", "clean")
    assert at.read("a.md") == "一\n二三".encode()


def test_09_composition_in_the_editor(desk: Callable[..., Desk]) -> None:
    at = desk(files={"a.md": "前后"})
    at.open("a.md")
    at.editor.press("Control+Home")
    at.page.keyboard.press("ArrowRight")
    wire = at.page.context.new_cdp_session(at.page)
    for text in ("n", "ni", "ni h", "ni hao", "你好"):
        wire.send(
            "Input.imeSetComposition",
            {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
        )
    wire.send("Input.insertText", {"text": "你好"})
    expect(at.editor).to_have_text("前你好后")
    at.page.keyboard.press("Control+z")
    expect(at.editor).to_have_text("前后")
    at.page.keyboard.press("Control+y")
    expect(at.editor).to_have_text("前你好后")
    at.page.keyboard.press("Control+s")
    at.wait_saved()
    assert at.read("a.md").decode() == "前你好后"


def edit_on_both_sides(at: Desk, folder: Path) -> None:
    """The person writes one thing, someone else stores another."""
    at.open("a.md")
    at.editor.press("Control+Home")
    at.page.keyboard.insert_text("我的")
    (folder / "a.md").write_text("第一行\n\n中间一行\n\n第二行，别人的\n", "utf-8")
    at.page.keyboard.press("Control+s")
    expect(at.page.get_by_text("这个文件在别处被改动了")).to_be_visible()


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        pytest.param("保存合并结果", "我的第一行\n\n中间一行\n\n第二行\n", id="as-it-stands"),
        pytest.param("全部用我的", "我的第一行\n\n中间一行\n\n第二行\n", id="mine"),
        pytest.param("全部用存着的", "第一行\n\n中间一行\n\n第二行，别人的\n", id="theirs"),
    ],
)
def test_22_conflict(
    desk: Callable[..., Desk], errors: list[str], tmp_path: Path, choice: str, expected: str
) -> None:
    at = desk(files={"a.md": "第一行\n\n中间一行\n\n第二行\n"}, folder=tmp_path)
    edit_on_both_sides(at, tmp_path)
    assert (
        at.read("a.md").decode() == "第一行\n\n中间一行\n\n第二行，别人的\n"
    )  # nothing was overwritten
    at.page.get_by_role("button", name=choice).click()
    expect(at.page.get_by_text("这个文件在别处被改动了")).to_have_count(0)
    expect(at.page.get_by_test_id("save-state")).to_have_attribute("data-phase", "clean")
    assert at.read("a.md").decode() == expected
    forgive(errors, 409)


def test_22_conflict_is_resolved_piece_by_piece(
    desk: Callable[..., Desk], errors: list[str], tmp_path: Path
) -> None:
    at = desk(files={"a.md": "第一行\n\n中间一行\n\n第二行\n"}, folder=tmp_path)
    edit_on_both_sides(at, tmp_path)
    take = at.page.get_by_role("button", name="用存着的", exact=True)
    expect(take).to_have_count(2)
    take.last.click()  # the second line as the other wrote it
    expect(take).to_have_count(1)
    at.page.get_by_role("button", name="保存合并结果").click()
    expect(at.page.get_by_test_id("save-state")).to_have_attribute("data-phase", "clean")
    assert at.read("a.md").decode() == "我的第一行\n\n中间一行\n\n第二行，别人的\n"
    forgive(errors, 409)


def test_22_a_change_elsewhere_is_taken_when_nothing_is_lost(desk: Callable[..., Desk]) -> None:
    at = desk(
        [
            {"tools": [{"name": "write_file", "args": {"path": "a.md", "content": "新的一行\n"}}]},
            {"text": "写好了"},
        ],
        {"a.md": "旧的一行\n"},
    )
    at.open("a.md")
    at.say("改写 a.md")
    at.wait_for_end()
    expect(at.editor).to_contain_text("新的一行")
    expect(at.page.get_by_test_id("save-state")).to_have_attribute("data-phase", "clean")
    at.editor.click()
    at.page.keyboard.press("Control+z")
    expect(at.editor).to_contain_text("新的一行")  # it is no step of the person's own
    assert at.read("a.md").decode() == "新的一行\n"
