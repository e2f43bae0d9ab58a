"""A backup provider on the command line: `doctor` checks it, `run` takes it from flags."""

from __future__ import annotations

import asyncio

import pytest

from wenfang.testing import Fault, Reply, Script, ScriptedServer, broken, call, say

from .conftest import Command

pytestmark = pytest.mark.anyio
GOOD = (say("ok"), call("echo", text="ok"))


def server(*replies: Reply) -> ScriptedServer:
    return ScriptedServer(Script(name="provider", replies=replies))


@pytest.mark.parametrize(
    ("reply", "model", "level", "words"),
    [
        (say("ok"), "two", "ok", "two answered in"),
        (Reply(http=401, body={"error": {"message": "no"}}), "two", "broken", "check WENFANG_BACKUP_API_KEY"),
        (say("ok"), "qwen2.5-coder-1.5b", "note", "so it is not used; choose another backup"),
        (say("ok"), "", "note", "set WENFANG_BACKUP_BASE_URL and WENFANG_BACKUP_MODEL"),
    ],
    ids=["answers", "wrong key", "another dialect", "incomplete"],
)  # fmt: skip
async def test_doctor(command: Command, reply: Reply, model: str, level: str, words: str) -> None:
    async with server(*GOOD) as first, server(reply) as second:
        env = {
            "WENFANG_BASE_URL": first.url, "WENFANG_MODEL": "one",
            "WENFANG_BACKUP_BASE_URL": second.url, "WENFANG_BACKUP_MODEL": model,
        }  # fmt: skip
        result = await asyncio.to_thread(command, "doctor", env=env)
    assert result.code == (5 if level == "broken" else 0), result
    (line,) = [line for line in result.out.splitlines() if "backup model:" in line]
    assert line.startswith(level)
    assert words in line


async def test_doctor_checks_it_also_if_the_model_is_gone(command: Command) -> None:
    gone = Reply(http=401, body={"error": {"message": "no"}})
    async with server(gone) as first, server(say("ok")) as second:
        env = {
            "WENFANG_BASE_URL": first.url, "WENFANG_MODEL": "one",
            "WENFANG_BACKUP_BASE_URL": second.url, "WENFANG_BACKUP_MODEL": "two",
        }  # fmt: skip
        result = await asyncio.to_thread(command, "doctor", "--lang", "zh", env=env)
    assert result.code == 5
    assert "备用模型: two 在" in result.out


async def test_run_with_flags(command: Command) -> None:
    """FO-1."""
    lost = broken(say("from the first"), Fault(at="text"))
    async with server(lost) as first, server(say("from the backup")) as second:
        flags = ["--base-url", first.url, "--model", "one"]
        flags += ["--backup-base-url", second.url, "--backup-model", "two"]
        result = await asyncio.to_thread(command.process, "run", "x", *flags)
    assert result.code == 0, result
    assert "from the backup" in result.out
    assert [request.body["model"] for request in second.requests] == ["two"]
