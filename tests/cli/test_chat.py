"""`wenfang chat` through a pipe: turns of one conversation, its commands, its end."""

from __future__ import annotations

import asyncio
import subprocess

import pytest

from wenfang.testing import Script, ScriptedServer, say

from .conftest import Command

pytestmark = pytest.mark.anyio


async def test_turns_share_a_session_until_new(command: Command) -> None:
    replies = (say("第一"), say("第二"), say("第三"))
    async with ScriptedServer(Script(name="test", replies=replies)) as provider:
        chat = command.popen(
            "chat", "--base-url", provider.url, "--model", "scripted", stdin=subprocess.PIPE
        )
        typed = "一\n\n二\n/nothing\n/new\n三\n/exit\n四\n"
        out, err = await asyncio.to_thread(chat.communicate, typed, 60)
        assert chat.returncode == 0
        assert out.split() == ["第一", "第二", "第三"]
        assert "There is no command /nothing" in err
        assert "A new session." in err
        assert "Traceback" not in err
        said = [
            [m["content"] for m in request.body["messages"] if m["role"] == "user"]
            for request in provider.requests
        ]
        assert said == [["一"], ["一", "二"], ["三"]]


def test_a_missing_project(command: Command) -> None:
    result = command("chat", "--project", "missing", "--provider", "scripted")
    assert result.code == 5
    assert "missing" in result.err


async def test_a_refused_turn_ends_with_one_line(command: Command) -> None:
    chat = command.popen("chat", "--model", "none", stdin=subprocess.PIPE)
    out, err = await asyncio.to_thread(chat.communicate, "x\n", 60)
    assert (chat.returncode, out) == (5, "")
    assert "Traceback" not in err
    assert "wenfang model pull" in err
