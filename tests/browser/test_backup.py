"""A backup provider in the settings: added, tested, saved, and found wanting."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from tests.browser.rig import Loop, Studio
from tests.browser.test_looks import check

from wenfang.testing import Reply, Script, ScriptedServer, say

REPLIES = (say("ok"), Reply(http=401, body={"error": {"message": "no such key"}}))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_backup(studio: Studio, tab: Page, scheme: str) -> None:
    """FO-1."""
    provider = ScriptedServer(Script(name="backup", replies=REPLIES))
    with Loop() as loop:
        loop.run(provider.__aenter__())
        form = {"provider": "openai", "base_url": "https://a.example/v1", "model": "one"}
        none = {"backup_base_url": "", "backup_model": "", "backup_api_key": ""}
        studio.call("PUT", "/api/settings", {**form, **none, "dialect": "auto"})
        tab.emulate_media(color_scheme=scheme)
        tab.goto("/settings")
        tab.get_by_role("button", name="添加备用").click()
        backup = tab.get_by_role("group", name="备用服务商")
        backup.get_by_label("接口地址").fill(provider.url)
        expect(backup.get_by_text("地址和模型名都要填")).to_be_visible()
        expect(tab.get_by_role("button", name="保存")).to_be_disabled()
        check(tab, "half a backup")
        backup.get_by_label("模型名").fill("two")
        backup.get_by_role("button", name="测试备用").click()
        expect(backup.get_by_text("连接成功")).to_be_visible()
        backup.get_by_label("密钥").fill("wrong")
        backup.get_by_role("button", name="测试备用").click()
        expect(backup.get_by_text("密钥不对")).to_be_visible()
        check(tab, "a backup that refuses the key")
        tab.get_by_role("button", name="保存").click()
        expect(backup.get_by_text("主服务商不回答时由它回答", exact=True)).to_be_visible()
        backup.get_by_label("模型名").fill("qwen2.5-coder-1.5b")
        tab.get_by_role("button", name="保存").click()
        expect(backup.get_by_text("不会使用")).to_be_visible()
        check(tab, "a backup that cannot take part")
        backup.get_by_role("button", name="移除备用").click()
        tab.get_by_role("button", name="保存").click()
        expect(tab.get_by_text("没有备用服务商")).to_be_visible()
        assert studio.call("GET", "/api/settings")["backup_api_key_set"] is False
        loop.run(provider.__aexit__(None, None, None))
