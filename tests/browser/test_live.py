"""The agent writes into a file that is looked at, and next to one that a person writes (tests 12, 13, 15, 17)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, expect
from tests.browser.rig import Desk, forgive
from tests.browser.test_looks import check, check_phone, phone  # noqa: F401

pytestmark = pytest.mark.alone

CHAPTER = "# 第一章\n\n" + "\n\n".join(
    f"　　第{n}段，𠮷野家的灯还亮着😀，他说：“走吧。”" for n in range(1, 41)
)


def writing(text: str, path: str = "正文/第一章.md", *, pace_ms: float = 8) -> dict[str, object]:
    """A reply whose call arrives piece by piece, as providers send it."""
    arguments = json.dumps({"path": path, "content": text}, ensure_ascii=False)
    pieces = [arguments[at : at + 5] for at in range(0, len(arguments), 5)]
    first = {"index": 0, "id": "c1", "type": "function", "function": {"name": "write_file", "arguments": ""}}  # fmt: skip
    chunks = [{"tool_calls": [first]}] + [
        {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces
    ]
    return {"chunks": chunks, "pace_ms": pace_ms, "finish": "tool_calls"}


def live(at: Desk) -> Locator:
    return at.page.get_by_test_id("live-text").locator(".cm-content")


def test_12_a_chapter_is_seen_while_it_is_written(desk: Callable[..., Desk]) -> None:
    at = desk([writing(CHAPTER), {"text": "写好了。"}], {"正文/第一章.md": "旧的一稿\n"})
    at.open("正文/第一章.md")
    at.say("写第一章")
    expect(live(at)).to_contain_text("第3段")
    expect(at.page.get_by_text("助手正在写入这个文件")).to_be_visible()
    expect(live(at)).not_to_contain_text("旧的一稿")
    assert at.read("正文/第一章.md").decode() == "旧的一稿\n"  # not before all of it is there
    for scheme in ("dark", "light"):
        at.page.emulate_media(color_scheme=scheme)
        expect(at.page.locator("html")).to_have_attribute("data-theme", scheme)
        at.page.wait_for_timeout(300)  # colours are handed down one level a frame
        check(at.page, f"a live file, {scheme}")
    at.wait_for_end()
    expect(at.page.get_by_test_id("live-text")).to_have_count(0)
    expect(at.page.get_by_test_id("save-state")).to_have_attribute("data-phase", "clean")
    assert at.read("正文/第一章.md").decode() == CHAPTER
    at.editor.press("Control+Home")
    at.page.keyboard.insert_text("我：")
    at.page.keyboard.press("Control+s")
    at.wait_saved()
    assert at.read("正文/第一章.md").decode() == "我：" + CHAPTER


def test_12_a_chapter_between_tags_streams_into_its_file(desk: Callable[..., Desk]) -> None:
    """FC-10, FC-11: in a project from a template the text is a part of the reply, and none of the chat."""
    title = {"title": "第二章 夜雨", "file_type": "draft"}
    create = {"tools": [{"name": "create_file", "args": title}]}
    text = f"我来写。\n<file>\n{CHAPTER}\n</file>\n写到这里。"
    body = {"text": [text[at : at + 5] for at in range(0, len(text), 5)], "pace_ms": 8}
    at = desk([create, body, {"text": "第二章写好了。"}], template="novel")
    at.say("写第二章")
    at.log.get_by_role("button", name="正文/第二章 夜雨.md", exact=True).click()
    expect(live(at)).to_contain_text("第3段")
    expect(at.page.get_by_text("助手正在写入这个文件")).to_be_visible()
    check(at.page, "a chapter between tags")
    at.wait_for_end()
    expect(at.page.get_by_test_id("live-text")).to_have_count(0)
    assert at.read("正文/第二章 夜雨.md").decode() == CHAPTER
    expect(at.log).to_contain_text("我来写。")
    expect(at.log).to_contain_text("写到这里。")
    for word in ("<file>", "第3段", "fil_"):
        expect(at.log).not_to_contain_text(word)
    for said in ("新建文件", "写入正文"):
        expect(at.log.get_by_role("button", name=said)).to_be_visible()


def test_12_a_new_file_is_opened_from_the_chat(
    desk: Callable[..., Desk], errors: list[str]
) -> None:
    at = desk([writing(CHAPTER), {"text": "写好了。"}])
    at.say("写第一章")
    at.log.get_by_role("button", name="正文/第一章.md").click()
    expect(live(at)).to_contain_text("第5段")
    at.page.reload()  # test 15: what was written before the reload is there as well
    expect(live(at)).to_contain_text("第1段")
    at.wait_for_end()
    expect(at.editor).to_contain_text("第1段")
    assert at.read("正文/第一章.md").decode() == CHAPTER
    forgive(errors, 404)  # the reloaded page looks for a file that is not there yet


def test_13_a_person_writes_elsewhere_meanwhile(desk: Callable[..., Desk]) -> None:
    at = desk([writing(CHAPTER), {"text": "写好了。"}], {"笔记.md": "想到的：\n"})
    at.say("写第一章")
    at.open("笔记.md")
    at.editor.press("Control+End")
    for word in ("雨", "夜", "归", "人"):
        at.page.keyboard.insert_text(word)
        at.page.wait_for_timeout(100)
    at.composer.fill("等会儿要说的话")
    at.wait_for_end()
    expect(at.composer).to_have_value("等会儿要说的话")
    expect(at.editor).to_contain_text("雨夜归人")
    at.page.keyboard.press("Control+s")
    at.wait_saved()
    assert at.read("笔记.md").decode() == "想到的：\n雨夜归人"
    assert at.read("正文/第一章.md").decode() == CHAPTER


def test_13_what_was_typed_before_the_agent_began_is_a_version(desk: Callable[..., Desk]) -> None:
    at = desk([writing(CHAPTER, "a.md"), {"text": "写好了。"}], {"a.md": "旧\n"})
    at.open("a.md")
    at.editor.click()
    at.page.keyboard.insert_text("刚想到的")  # not saved yet
    at.say("重写")
    expect(live(at)).to_contain_text("第3段")
    at.wait_for_end()
    expect(at.editor).to_contain_text("第1段")
    versions = at.studio.call("GET", f"/api/projects/{at.project.id}/versions?path=a.md")
    assert [each["actor"] for each in versions] == ["ai", "author"]
    old = at.studio.call("GET", f"/api/projects/{at.project.id}/versions/1?path=a.md")
    assert "刚想到的" in old["text"]


def test_17_stop_and_take_over(desk: Callable[..., Desk]) -> None:
    at = desk([writing(CHAPTER, pace_ms=30)], {"正文/第一章.md": "旧的一稿\n"})
    at.open("正文/第一章.md")
    at.say("写第一章")
    expect(live(at)).to_contain_text("第2段", timeout=20_000)
    at.page.get_by_role("button", name="停止并接管").click()
    at.wait_for_end("stopped")
    expect(at.editor).to_contain_text("旧的一稿")  # and it can be written again
    at.editor.press("Control+End")
    at.page.keyboard.insert_text("我接着写")
    at.page.keyboard.press("Control+s")
    at.wait_saved()
    assert at.read("正文/第一章.md").decode() == "旧的一稿\n我接着写"
    expect(at.log.get_by_text("写到一半的文字存在 正文/第一章（未写完）.md")).to_be_visible()
    kept = at.read("正文/第一章（未写完）.md").decode()
    assert "第2段" in kept
    assert CHAPTER.startswith(kept)


def test_31_on_a_phone(desk: Callable[..., Desk], phone: BrowserContext) -> None:  # noqa: F811
    made = desk([writing(CHAPTER, pace_ms=30)])
    page = phone.new_page()
    at = Desk(page=page, studio=made.studio, project=made.project, model=made.model)
    page.goto(f"/p/{at.project.id}")
    page.get_by_role("tab", name="对话").tap()
    at.composer.fill("写第一章")
    page.get_by_role("button", name="发送").tap()
    at.log.get_by_role("button", name="正文/第一章.md").tap()
    expect(live(at)).to_contain_text("第1段")
    check_phone(page, "a live file")
    page.get_by_role("button", name="停止并接管").tap()
    expect(at.editor).to_contain_text("第1段")
