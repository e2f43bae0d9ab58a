"""The settings say how a model is told about tools, and find it out."""

from __future__ import annotations

import asyncio

import pytest
from playwright.sync_api import Page, expect
from tests.browser.rig import Loop, Studio
from tests.browser.test_looks import check
from tests.crews.provider import Provider

from wenfang.testing import RecordedRequest, Reply


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_search_for_the_dialect(studio: Studio, tab: Page, scheme: str) -> None:
    hold = asyncio.Event()

    def answer(number: int, request: RecordedRequest) -> Reply | None:
        del request
        return Reply(text="x", latency_ms=60_000) if number == 4 and not hold.is_set() else None

    provider = Provider({"tagged": "good"}, answer_of=answer)
    with Loop() as loop:
        loop.run(provider.__aenter__())
        form = {"provider": "openai", "base_url": provider.url, "model": "m", "dialect": "auto"}
        studio.call("PUT", "/api/settings", form)
        tab.emulate_media(color_scheme=scheme)
        tab.goto("/settings")
        tab.get_by_role("button", name="探测", exact=True).click()
        bar = tab.get_by_role("progressbar", name="正在探测模型")
        expect(bar).to_be_visible()
        check(tab, "probing")
        tab.get_by_role("button", name="取消").click()
        expect(tab.get_by_text("还没有探测")).to_be_visible()

        hold.set()
        tab.get_by_role("button", name="探测", exact=True).click()
        expect(tab.get_by_text("文本：标签（5/5）")).to_be_visible(timeout=30_000)
        check(tab, "found")
        tab.get_by_label("模型名").fill("other")
        expect(tab.get_by_role("button", name="重新探测")).to_be_disabled()

        studio.call("PUT", "/api/settings", {"model": "weak"})
        provider.abilities = {}
        tab.reload()
        tab.get_by_role("button", name="探测", exact=True).click()
        expect(tab.get_by_text("weak 用哪种写法都调用不了工具")).to_be_visible(timeout=30_000)
        check(tab, "nothing found")
        loop.run(provider.__aexit__(None, None, None))
