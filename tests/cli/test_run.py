"""`wenfang run` as a person meets it: what it prints where, and its exit codes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from wenfang.cli.language import Say
from wenfang.cli.render import Printer
from wenfang.runs import BlockDelta, StepReset
from wenfang.testing import Reply, Script, ScriptedServer, call, say

from .conftest import Command, Result

pytestmark = pytest.mark.anyio


async def _against(
    command: Command, replies: list[Reply], *args: str, **env: str
) -> tuple[Result, ScriptedServer]:
    async with ScriptedServer(Script(name="test", replies=tuple(replies))) as provider:
        flags = ("--base-url", provider.url, "--model", "scripted")
        return await asyncio.to_thread(command.process, "run", *args, *flags, env=env), provider


async def test_an_answer(command: Command) -> None:
    replies = [call("write_file", path="a.md", text="第一章"), say("写好了。")]
    result, provider = await _against(command, replies, "写第一章")
    assert (result.code, result.out) == (0, "写好了。\n"), result.err
    assert "write_file" in result.err
    assert (command.project / "a.md").read_text() == "第一章"
    provider.check()


async def test_json_is_every_event_one_a_line(command: Command) -> None:
    result, _ = await _against(command, [say("一\u2028二")], "x", "--json")
    assert result.code == 0
    events = [json.loads(line) for line in result.out.split("\n")[:-1]]
    kept = [e["type"] for e in events if e["seq"]]
    assert kept == [
        "run.started", "user.message", "step.started", "message.finished", "run.finished",
    ]  # fmt: skip
    assert events[-1]["answer"] == "一\u2028二"


async def test_a_partial_answer_is_3(command: Command) -> None:
    again = Reply(tools=call("list_files", path=".").tools, repeat=0)
    result, _ = await _against(command, [again], "x")
    assert result.code in (3, 5)
    assert result.err.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(http=401, body={"error": {"message": "no"}}), "does not accept the key"),
        (Reply(http=404, body={"error": {"message": "no such model"}}), "'scripted'"),
        (Reply(http=402, body={"error": {"message": "insufficient_quota"}}), "no quota"),
    ],
    ids=["wrong key", "unknown model", "no quota"],
)
async def test_a_failure_is_5_and_one_line(command: Command, reply: Reply, words: str) -> None:
    result, provider = await _against(command, [reply], "x", WENFANG_API_KEY="sk-secret-1234567")
    assert (result.code, result.out) == (5, "")
    last = result.err.splitlines()[-1]
    assert last.startswith("Error: ")
    assert words in last
    assert "Traceback" not in result.err
    assert "sk-secret" not in result.err
    assert len(provider.requests) == 1


async def test_a_try_that_failed_is_told(command: Command) -> None:
    busy = Reply(http=503, body={"error": {"message": "busy"}}, headers={"retry-after": "0"})
    result, provider = await _against(command, [busy, say("done")], "x")
    assert (result.code, result.out) == (0, "done\n")
    assert "(no answer yet, trying again: " in result.err
    assert "void" not in result.err
    assert len(provider.requests) == 2


def test_words_that_were_shown_are_taken_back(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Printer(Say("en"), where="http://host/v1", model="m")
    of = {"step": 1, "message_id": "m", "attempt": 1}
    printer.show(BlockDelta(**of, kind="text", index=0, off=0, text="half"))  # type: ignore[arg-type]
    for _ in range(2):
        printer.show(StepReset(**of, reason="network"))  # type: ignore[arg-type]
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("(this step starts over, what it showed is void: ")
    assert second.startswith("(no answer yet, trying again: ")


async def test_an_open_pipe_does_not_make_it_wait(command: Command) -> None:
    reader, writer = os.pipe()
    try:
        process = command.popen("run", "1+1", "--provider", "scripted", stdin=reader)
        assert await asyncio.to_thread(process.wait, 30) == 0
        process.communicate()
    finally:
        os.close(reader)
        os.close(writer)


async def test_a_task_from_a_pipe(command: Command) -> None:
    process = command.popen("run", "-", "--provider", "scripted", stdin=subprocess.PIPE)
    out, _ = await asyncio.to_thread(process.communicate, "3*4", 30)
    assert process.returncode == 0
    assert "12" in out


async def _stopped(command: Command, presses: int) -> tuple[int, str, str]:
    """Press Ctrl-C when the answer streams."""
    slow = Reply(text=["字"] * 2000, pace_ms=20)
    async with ScriptedServer(Script(name="slow", replies=(slow,))) as provider:
        flags = ("--base-url", provider.url, "--model", "scripted", "--json")
        process = command.popen("run", "x", *flags)
        assert process.stdout is not None
        assert process.stderr is not None

        def press() -> tuple[int, str, str]:
            assert process.stdout is not None
            assert process.stderr is not None
            for line in process.stdout:
                if "message.delta" in line:
                    break
            process.send_signal(signal.SIGINT)
            said = process.stderr.readline() if presses > 1 else ""
            if presses > 1:
                process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
            return process.returncode, out, said + err

        return await asyncio.to_thread(press)


async def test_ctrl_c_stops_and_keeps(command: Command) -> None:
    code, out, err = await _stopped(command, 1)
    end = json.loads(out.splitlines()[-1])
    assert (code, end["type"], end["status"]) == (4, "run.finished", "stopped")
    assert "字" in end["answer"]
    assert "Traceback" not in err


async def test_ctrl_c_twice_leaves_and_the_run_stays_stopped(command: Command) -> None:
    code, _, err = await _stopped(command, 2)
    assert code == 4
    assert "Traceback" not in err
    assert "press Ctrl-C again" in err


async def test_the_terminal_is_not_steered(command: Command) -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\u202eabc\r done"
    result, _ = await _against(command, [say(evil)], "x")
    assert "\x1b" not in result.out + result.err
    assert "\u202e" not in result.out
    assert result.out == "[2J]0;ownedabc done\n"


async def test_a_run_shows_in_the_journal(command: Command) -> None:
    ran = await asyncio.to_thread(command.process, "run", "1+1", "--provider", "scripted")
    assert ran.code == 0
    from wenfang.crews import open_models
    from wenfang.runs import open_runs
    from wenfang.settings import SettingsStore

    async with (
        open_models(SettingsStore(command.data)) as models,
        open_runs(command.data, make_agent=models.make_agent) as runs,
    ):
        (project,) = await runs.projects()
        (session,) = await runs.sessions(project.id)
    assert project.folder == command.project
    assert session.title == "1+1"


def test_chinese(command: Command, scripted_run: Callable[..., Any]) -> None:
    result = scripted_run("1+1", "--lang", "zh")
    assert result.code == 0
    assert "次工具调用" in result.err
