"""Nothing is lost: a line that is cut, a page that is loaded again, a server that dies."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.browser.rig import Desk, Line, forgive
from tests.browser.test_chat import slowly

pytestmark = pytest.mark.alone

TEXT = "".join(f"第{n}句，𠮷野家的灯还亮着😀。" for n in range(1, 61))


def shown(at: Desk) -> str:
    return at.log.locator(".prose").last.inner_text()


def test_14_cut_line(desk: Callable[..., Desk], errors: list[str]) -> None:
    at = desk([slowly(TEXT, pace_ms=6)])
    with Line(at.studio.port) as line:
        at.page.goto(f"{line.url}/p/{at.project.id}")
        at.say("写")
        expect(at.log).to_contain_text("第5句")
        line.cut()
        expect(at.page.get_by_text("连接中断，正在重新连接")).to_be_visible()
        before = shown(at)
        line.mend()
        expect(at.page.get_by_text("连接中断，正在重新连接")).to_have_count(0)
        at.wait_for_end()
        assert len(before) < len(TEXT)
        assert shown(at) == TEXT
        expect(at.log.get_by_text("你：写", exact=True)).to_have_count(1)

        at.page.reload()
        at.wait_for_end()
        assert shown(at) == TEXT
        at.page.goto("about:blank")
    assert all("net::ERR" in error for error in errors)
    errors.clear()


def test_14_steps_that_were_missed(desk: Callable[..., Desk], errors: list[str]) -> None:
    """The line is away while a step ends and another begins: the facts of both come after."""
    at = desk(
        [
            slowly(TEXT, pace_ms=3, tools=[{"name": "list_files", "args": {}}]),
            slowly(TEXT[::-1], pace_ms=4),
        ]
    )
    with Line(at.studio.port) as line:
        at.page.goto(f"{line.url}/p/{at.project.id}")
        at.say("写")
        expect(at.log).to_contain_text("第2句")
        line.cut()
        expect(at.page.get_by_text("连接中断，正在重新连接")).to_be_visible()
        wait_for_request(at, 2)
        line.mend()
        at.wait_for_end()
        assert [each.inner_text() for each in at.log.locator(".prose").all()] == [TEXT, TEXT[::-1]]
        expect(at.log.get_by_role("button", name=re.compile("列出文件"))).to_have_count(1)
        at.page.goto("about:blank")
    assert all("net::ERR" in error for error in errors)
    errors.clear()


def wait_for_request(at: Desk, count: int) -> None:
    for _ in range(200):
        if len(at.model.requests) >= count:
            return
        at.page.wait_for_timeout(50)  # lets the page work on while we look
    raise AssertionError(f"the model was asked {len(at.model.requests)} times")


def test_15_reload_in_the_middle(desk: Callable[..., Desk]) -> None:
    at = desk([slowly(TEXT, pace_ms=8, thinking="先想想。")])
    at.say("写")
    expect(at.log).to_contain_text("第5句")
    at.page.reload()
    expect(at.log).to_contain_text("第5句")
    expect(at.end).to_have_count(0)  # it goes on
    expect(at.page.get_by_role("button", name="停止").first).to_be_visible()
    at.wait_for_end()
    assert shown(at) == TEXT
    expect(at.log.get_by_role("button", name="思考过程")).to_have_count(1)


def test_15_hidden_tab(desk: Callable[..., Desk]) -> None:
    """A tab that is not seen keeps no stream, and catches up when it is."""
    at = desk([slowly(TEXT, pace_ms=5)])
    at.say("写")
    expect(at.log).to_contain_text("第2句")
    hide = """(hidden) => { Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange")); }"""
    at.page.evaluate(hide, True)
    seen = shown(at)
    run = at.studio.call("GET", f"/api/projects/{at.project.id}/sessions")[0]["active_run"]
    while at.studio.call("GET", f"/api/runs/{run}")["status"] in ("queued", "running"):
        at.page.wait_for_timeout(50)
    assert len(shown(at)) < len(TEXT) or seen == TEXT
    at.page.evaluate(hide, False)
    at.wait_for_end()
    assert shown(at) == TEXT


def test_19_server_dies(desk: Callable[..., Desk], errors: list[str]) -> None:
    at = desk([slowly(TEXT * 3, pace_ms=8), {"text": "接着写完了。"}])
    at.say("写")
    expect(at.log).to_contain_text("第3句")
    at.studio.kill()
    expect(at.page.get_by_text("连接中断，正在重新连接")).to_be_visible()
    at.studio.start()
    expect(at.page.get_by_text("连接中断，正在重新连接")).to_have_count(0, timeout=20_000)
    expect(at.end).to_have_count(1, timeout=30_000)
    status = at.end.get_attribute("data-status")
    assert status in ("done", "failed")
    if status == "done":
        expect(at.log).to_contain_text("接着写完了。")
    else:
        expect(at.end.get_by_role("button", name="继续")).to_be_visible()
    expect(at.page.get_by_role("button", name="停止")).to_have_count(0)
    at.page.reload()
    at.wait_for_end(status)
    forgive_outage(errors)


def forgive_outage(errors: list[str]) -> None:
    errors[:] = [error for error in errors if "net::ERR" not in error]
    forgive(errors)
