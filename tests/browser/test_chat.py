"""A conversation: what is seen of a run, stopping, adding words, scrolling, hostile words, bursts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.rig import Desk

pytestmark = pytest.mark.alone

TEXT = "夜色渐深，𠮷野家的灯还亮着 😀。"


def slowly(text: str, *, pace_ms: float = 20, **more: Any) -> dict[str, Any]:
    """A reply that comes letter by letter."""
    return {"text": list(text), "pace_ms": pace_ms, **more}


def tool(name: str, /, *, thinking: str = "", **arguments: Any) -> dict[str, Any]:
    return {"thinking": thinking, "tools": [{"name": name, "args": arguments}]}


def press_enter_while_composing(page: Page) -> None:
    """As Chromium sends it: `isComposing` is set."""
    wire = page.context.new_cdp_session(page)
    wire.send("Input.imeSetComposition", {"text": "nihao", "selectionStart": 5, "selectionEnd": 5})
    key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
    wire.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **key})
    wire.send("Input.dispatchKeyEvent", {"type": "keyUp", **key})


def press_enter_like_safari(page: Page) -> None:
    """The composition has ended, the Enter that ended it comes after: only key code 229 tells."""
    page.evaluate("""() => document.activeElement.dispatchEvent(new KeyboardEvent("keydown",
        { key: "Enter", code: "Enter", keyCode: 229, which: 229, bubbles: true, cancelable: true }))""")


def commit(page: Page, text: str) -> None:
    page.context.new_cdp_session(page).send("Input.insertText", {"text": text})


BOTH_ENTERS = pytest.mark.parametrize(
    "enter",
    [
        pytest.param(press_enter_while_composing, id="isComposing"),
        pytest.param(press_enter_like_safari, id="229"),
    ],
)


@BOTH_ENTERS
def test_10_composing_does_not_send(
    desk: Callable[..., Desk], enter: Callable[[Page], None]
) -> None:
    at = desk()
    at.composer.fill("写：")
    enter(at.page)
    commit(at.page, "你好")
    expect(at.composer).to_have_value("写：你好")
    expect(at.page.get_by_role("article")).to_have_count(0)
    assert at.model.requests == []
    at.composer.press("Enter")
    expect(at.log.get_by_text("写：你好")).to_be_visible()
    at.wait_for_end()


@BOTH_ENTERS
def test_10_composing_does_not_rename(
    desk: Callable[..., Desk], enter: Callable[[Page], None]
) -> None:
    at = desk(files={"a.md": "1"})
    at.page.get_by_role("treeitem", name="a.md").focus()
    at.page.keyboard.press("F2")
    field = at.page.get_by_role("textbox", name="“a.md”的新名字")
    field.fill("第")
    enter(at.page)
    commit(at.page, "一章.md")
    expect(field).to_have_value("第一章.md")
    assert at.project.paths() == ["a.md"]
    field.press("Enter")
    expect(at.page.get_by_role("treeitem", name="第一章.md")).to_be_visible()


@BOTH_ENTERS
def test_10_composing_does_not_choose(
    desk: Callable[..., Desk], enter: Callable[[Page], None]
) -> None:
    at = desk(files={"你好.md": "1", "x.md": "2"})
    at.page.keyboard.press("Control+p")
    field = at.page.get_by_role("combobox", name="打开文件")
    expect(field).to_be_focused()
    enter(at.page)
    expect(at.page.get_by_role("dialog")).to_be_visible()
    commit(at.page, "你好")
    expect(field).to_have_value("你好")
    field.press("Enter")
    expect(at.page.get_by_role("dialog")).to_have_count(0)
    expect(at.page.get_by_role("heading", name="你好.md")).to_be_visible()


@BOTH_ENTERS
def test_10_composing_does_not_create(
    desk: Callable[..., Desk], enter: Callable[[Page], None]
) -> None:
    at = desk()
    at.page.keyboard.press("Alt+n")
    field = at.page.get_by_role("dialog").get_by_role("textbox")
    field.fill("")
    enter(at.page)
    commit(at.page, "新.md")
    expect(at.page.get_by_role("dialog")).to_be_visible()
    assert at.project.paths() == []


def test_11_a_run(desk: Callable[..., Desk]) -> None:
    usage = {"prompt_tokens": 1800, "completion_tokens": 320}
    at = desk(
        [
            tool("list_files", thinking="先看看有什么。", path="data")
            | {"pace_ms": 60, "usage": usage},
            tool("read_file", path="没有.md"),
            {"text": f"有 **2** 个文件。\n\n{TEXT}"},
        ],
        {"data/a.csv": "1", "data/b.csv": "2"},
    )
    at.say("data 里有几个文件？")
    expect(at.log.get_by_text("data 里有几个文件？")).to_be_visible()
    expect(at.log.get_by_role("group", name="思考过程")).to_have_text("先看看有什么。")
    at.wait_for_end()

    card = at.log.get_by_role("button", name=re.compile("列出文件"))
    expect(card.get_by_role("img", name="成功")).to_be_visible()
    card.click()
    expect(at.log.get_by_role("group", name="参数")).to_contain_text('"path": "data"')
    expect(at.log.get_by_role("group", name="结果")).to_contain_text("data/a.csv")
    card.click()
    failed = at.log.get_by_role("button", name=re.compile("读取文件"))
    expect(failed.get_by_role("img", name="失败")).to_be_visible()
    failed.click()
    expect(at.log.get_by_role("group", name="错误")).to_contain_text("没有.md")

    expect(at.log.locator("strong", has_text="2")).to_be_visible()
    expect(at.log.get_by_text(TEXT)).to_be_visible()
    expect(at.end).to_have_count(1)
    expect(at.end).to_contain_text("已完成")
    expect(at.end).to_contain_text("3 步")
    at.end.get_by_role("button", name="复制回答").click()
    assert at.page.evaluate("navigator.clipboard.readText()") == f"有 **2** 个文件。\n\n{TEXT}"

    at.page.reload()  # the same from the snapshot, with the thought closed
    at.wait_for_end()
    expect(at.log.get_by_text(TEXT)).to_have_count(1)
    expect(at.log.get_by_role("button", name="思考过程")).to_have_attribute(
        "aria-expanded", "false"
    )


def test_11_a_failed_run_offers_a_way_on(desk: Callable[..., Desk]) -> None:
    refusal = {"http": 401, "body": {"error": {"message": "bad key sk-secret"}}}
    at = desk([refusal, {"text": "这次好了"}])
    at.say("你好")
    at.wait_for_end("failed")
    expect(at.end).to_contain_text("密钥不对或没有权限")
    expect(at.page.locator("body")).not_to_contain_text("sk-secret")
    at.end.get_by_role("button", name="再试一次").click()
    at.wait_for_end("done", runs=2)
    expect(at.log.get_by_text("这次好了")).to_be_visible()


def test_waiting_says_that_a_try_failed(desk: Callable[..., Desk]) -> None:
    busy = {"http": 503, "body": {"error": {"message": "busy"}}, "headers": {"retry-after": "4"}}
    at = desk([busy, {"text": "这次好了"}])
    at.say("写")
    expect(at.log.get_by_text("还没有回答，正在重试…")).to_be_visible()
    expect(at.log.get_by_text("服务商繁忙。")).to_be_visible()
    expect(at.log.get_by_text("0:03")).to_be_visible()
    at.wait_for_end()
    expect(at.log.get_by_text("正在重试")).to_have_count(0)
    expect(at.log.get_by_text("这次好了")).to_be_visible()


def test_11_drafts_and_the_last_message(desk: Callable[..., Desk]) -> None:
    at = desk([{"text": "好"}])
    at.say("第一句")
    at.wait_for_end()
    at.composer.press("ArrowUp")
    expect(at.composer).to_have_value("第一句")
    at.composer.press("End")
    at.composer.press("Shift+Enter")
    at.page.keyboard.type("还没写完")
    at.page.reload()
    expect(at.composer).to_have_value("第一句\n还没写完")
    at.page.get_by_role("button", name="新对话").last.click()
    expect(at.composer).to_have_value("")  # drafts belong to their conversation


def test_17_stop(desk: Callable[..., Desk]) -> None:
    at = desk([slowly(TEXT * 40)])
    at.say("写一段")
    expect(at.log).to_contain_text(TEXT)
    started = at.page.evaluate("performance.now()")
    at.composer.press("Escape")
    expect(at.end).to_have_attribute("data-status", "stopped")
    assert at.page.evaluate("performance.now()") - started < 1000
    expect(at.log).to_contain_text(TEXT)
    expect(at.page.get_by_role("button", name="停止")).to_have_count(0)
    kept = at.log.locator(".prose").inner_text()
    at.page.reload()
    at.wait_for_end("stopped")
    expect(at.log).to_contain_text(TEXT)
    assert at.log.locator(".prose").inner_text().startswith(kept[: len(TEXT)])


def test_18_steer(desk: Callable[..., Desk]) -> None:
    at = desk(
        [
            slowly("我先看看。" * 30, tools=[{"name": "list_files", "args": {}}]),
            {"text": "冷峻地写完了"},
        ]
    )
    at.say("写第一章")
    expect(at.log).to_contain_text("我先看看。")
    at.say("更冷峻一些")
    at.wait_for_end()
    expect(at.log.get_by_text("追加", exact=True)).to_be_visible()
    expect(at.log.get_by_text("更冷峻一些")).to_have_count(1)
    last = at.model.requests[-1].body["messages"]
    assert "更冷峻一些" in json.dumps(last[-1], ensure_ascii=False)
    assert last[-1]["role"] == "user"


def top_of(at: Desk) -> float:
    """Where the person's message is on the screen."""
    return at.log.get_by_text("慢慢写").evaluate("node => node.getBoundingClientRect().top")


def test_20_scrolling_stays_with_the_reader(desk: Callable[..., Desk]) -> None:
    at = desk([slowly("一段话，慢慢地写出来。\n\n" * 45, pace_ms=4, thinking="想一想。" * 200)])
    at.say("慢慢写")
    chip = at.page.get_by_role("button", name="跳到最新")
    expect(at.log.locator(".prose > p")).not_to_have_count(0)
    at.page.wait_for_function("""() => { const log = document.querySelector("[role=log]");
        return log.scrollHeight > log.clientHeight * 1.3 && log.scrollHeight - log.scrollTop - log.clientHeight < 80 }""")
    expect(chip).to_have_count(0)

    at.log.hover()
    at.page.mouse.wheel(0, -3000)
    expect(chip).to_be_visible()
    before = top_of(at)
    at.wait_for_end()
    assert abs(top_of(at) - before) < 1
    expect(chip).to_be_visible()
    chip.click()
    expect(chip).to_have_count(0)
    expect(at.end).to_be_in_viewport()


def test_20_thought_to_answer_does_not_jump(desk: Callable[..., Desk]) -> None:
    thought = [{"reasoning_content": "想一想。"} for _ in range(150)]
    answer = [{"content": "答。\n\n"} for _ in range(60)]
    at = desk([{"text": "一行。\n\n" * 30}, {"chunks": thought + answer, "pace_ms": 8}])
    at.say("先写满一屏")
    at.wait_for_end()
    at.say("慢慢写")
    expect(at.log.get_by_role("group", name="思考过程")).to_be_in_viewport()
    at.log.hover()
    at.page.mouse.wheel(0, -60)
    expect(at.page.get_by_role("button", name="跳到最新")).to_be_visible()
    before = top_of(at)
    expect(at.log.locator("article").last.locator(".prose")).to_be_visible()
    assert abs(top_of(at) - before) < 1
    at.wait_for_end(runs=2)
    assert abs(top_of(at) - before) < 1
    expect(at.log.get_by_role("group", name="思考过程")).to_be_visible()


HOSTILE = """<script>window.hacked = 1</script>

<img src="http://evil.test/a.png" onerror="window.hacked = 2">

<iframe src="http://evil.test/frame"></iframe> <旁白>雨声</旁白>

![看](http://evil.test/b.png) ![d](data:image/svg+xml,<svg onload="window.hacked=3"/>)

[点我](javascript:window.hacked=4) [还有](vbscript:x) [data](data:text/html,<script>window.hacked=5</script>)

[正常](https://example.com/page) <http://evil.test/auto>

| a |
|---|
| <img src=x onerror=window.hacked=6> |

<a href="javascript:window.hacked=7" onclick="window.hacked=8">x</a> <style>body{display:none}</style>
"""


def test_32_hostile_markdown(desk: Callable[..., Desk]) -> None:
    at = desk([{"text": HOSTILE}], {"hostile.md": HOSTILE})
    asked: list[str] = []
    at.page.on("request", lambda request: asked.append(request.url))
    at.say("你好")
    at.wait_for_end()
    at.open("hostile.md")
    at.page.get_by_role("button", name="预览").click()
    expect(at.page.get_by_role("region", name="预览")).to_contain_text("<旁白>雨声</旁白>")
    expect(at.log).to_contain_text("看")

    for place in (at.log, at.page.get_by_role("region", name="预览")):
        expect(
            place.locator(".prose").locator("img, iframe, script, style, svg, object")
        ).to_have_count(0)
        addresses = place.locator("a").evaluate_all(
            "links => links.map((link) => link.getAttribute('href') ?? '')"
        )
        assert not [
            each for each in addresses if re.match(r"\s*(javascript|vbscript|data):", each, re.I)
        ]
        normal = place.get_by_role("link", name="正常")
        expect(normal).to_have_attribute("rel", re.compile("noopener"))
        expect(normal).to_have_attribute("target", "_blank")
        place.get_by_text("点我").click()
    assert at.page.evaluate("window.hacked") is None
    assert [url for url in asked if not url.startswith(at.studio.url)] == []


WATCH_TASKS = """() => { window.busy = 0;
  new PerformanceObserver((list) => { for (const task of list.getEntries()) window.busy += task.duration; })
    .observe({ type: "longtask" }); }"""


def test_33_burst_through_the_server(desk: Callable[..., Desk]) -> None:
    at = desk([{"text": ["夜色渐深。\n\n" if at % 20 == 19 else "夜色" for at in range(8000)]}])
    at.page.evaluate(WATCH_TASKS)
    at.say("写")
    at.wait_for_end()
    assert at.page.evaluate("window.busy") < 1500
    expect(at.log.locator(".prose > p")).to_have_count(400)


def test_33_burst_on_the_wire(desk: Callable[..., Desk]) -> None:
    """8,000 deltas at once, as after a pause of the network: one state change per painted frame."""
    at = desk([{"text": "一"}])
    at.say("写")
    at.wait_for_end()
    events = burst(at, count=8000)

    def answer(route: Route) -> None:
        if answered:
            return  # later attempts wait for ever
        answered.append(True)
        route.fulfill(status=200, headers={"content-type": "text/event-stream"}, body=events)

    answered: list[bool] = []
    at.page.route(re.compile(r"/events\?"), answer)
    at.page.reload()
    at.page.evaluate(WATCH_TASKS)
    expect(at.end.last).to_have_attribute("data-status", "done")
    expect(at.end).to_have_count(2)
    assert at.page.evaluate("window.busy") < 1500
    expect(at.log.locator("article").last.locator(".prose > p")).to_have_count(400)


def burst(at: Desk, count: int) -> str:
    session = at.studio.call("GET", f"/api/projects/{at.project.id}/sessions")[0]["id"]
    shot = at.studio.call("GET", f"/api/projects/{at.project.id}/snapshot?session_id={session}")
    frames = [frame | {"run_id": "run_burst"} for frame in shot["frames"]]
    wanted = {"run.started", "user.message", "step.started", "message.finished", "run.finished"}
    facts = [frame for frame in frames if frame["type"] in wanted]
    base = facts[2] | {"type": "message.delta", "attempt": 1, "kind": "text", "index": 0, "seq": 0}
    pieces = ["夜色渐深。\n\n" if n % 20 == 19 else "夜色" for n in range(count)]
    deltas, off = [], 0
    for piece in pieces:
        deltas.append(base | {"off": off, "text": piece})
        off += len(piece)
    whole = facts[3] | {
        "message": facts[3]["message"] | {"content": [{"type": "text", "text": "".join(pieces)}]}
    }
    lines: list[str] = []
    for place, fact in enumerate([*facts[:3], whole, *facts[4:]]):
        numbered = fact | {"seq": shot["seq"] + place + 1}
        lines.append(f"id: {numbered['seq']}\ndata: {json.dumps(numbered)}\n\n")
        if place == 2:
            lines += [f"data: {json.dumps(delta)}\n\n" for delta in deltas]
    return "".join(lines)


def test_11_the_first_message_keeps_the_focus(desk: Callable[..., Desk]) -> None:
    at = desk([slowly("好。" * 30), {"text": "好。", "repeat": 0}])
    at.say("第一句")
    expect(at.page).to_have_url(re.compile("s=ses_"))
    expect(at.composer).to_be_focused()
    at.page.keyboard.type("再说一句")
    expect(at.composer).to_have_value("再说一句")
    at.wait_for_end()


def test_11_a_newer_conversation_elsewhere_does_not_push_this_one_aside(
    desk: Callable[..., Desk],
) -> None:
    at = desk([{"text": "好。"}])
    at.say("第一句")
    at.wait_for_end()
    at.page.goto(f"/p/{at.project.id}")
    at.wait_for_end()
    at.studio.call("POST", f"/api/projects/{at.project.id}/sessions", {"title": "别处的"})
    at.studio.call("PATCH", f"/api/sessions/{at.page.url.split('s=')[1]}", {"title": "改了名字"})
    expect(at.page.get_by_role("button", name="切换对话，当前：改了名字")).to_be_visible()
    expect(at.log.get_by_text("你：第一句", exact=True)).to_be_visible()


def test_11_conversations(desk: Callable[..., Desk]) -> None:
    at = desk([{"text": "甲。"}, {"text": "乙。"}])
    at.say("第一件事")
    at.wait_for_end()
    at.page.get_by_role("button", name="新对话").last.click()
    at.say("第二件事")
    at.wait_for_end()
    expect(at.log).not_to_contain_text("第一件事")
    at.page.get_by_role("button", name="切换对话，当前：第二件事").click()
    at.page.get_by_role("menuitem", name="第一件事").click()
    expect(at.log).to_contain_text("甲。")
    at.page.get_by_role("button", name="删除对话").click()
    at.page.get_by_role("dialog").get_by_role("button", name="删除").click()
    expect(at.log).to_contain_text("乙。")
    assert len(at.studio.call("GET", f"/api/projects/{at.project.id}/sessions")) == 1
