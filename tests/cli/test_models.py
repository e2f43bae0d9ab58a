"""`wenfang model`, `doctor` and `eval`, without a model and with a scripted one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from wenfang.core import DIALECTS
from wenfang.crews import can_call
from wenfang.testing import Reply, Script, ScriptedModel, ScriptedServer, call, say

from .conftest import Command


def _put_model(command: Command, name: str) -> Path:
    file = Path(command.env["XDG_CACHE_HOME"]) / "wenfang" / "models" / f"{name}.gguf"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"GGUF" + b"\0" * 2_000_000)
    return file


def test_no_models(command: Command) -> None:
    listed = command("model", "list")
    assert (listed.code, listed.out) == (0, "")
    assert "wenfang model pull" in listed.err
    removed = command("model", "remove", "none")
    assert (removed.code, removed.out) == (5, "")
    assert removed.err.startswith("Error: There is no local model none")


def test_list_and_remove(command: Command) -> None:
    file = _put_model(command, "mine")
    assert command("model", "list").out == f"mine  2.0 MB  {file}\n"
    row = json.loads(command("model", "list", "--json").out)
    assert (row["name"], row["is_default"]) == ("mine", False)
    assert command("model", "remove", "mine").code == 0
    assert not file.exists()


def test_a_model_that_is_there_is_not_pulled_again(command: Command) -> None:
    _put_model(command, "qwen2.5-coder-1.5b-instruct-q4_k_m")
    pulled = command("model", "pull")
    assert pulled.code == 0
    assert "is here already" in pulled.out


def test_a_missing_local_model_is_named(command: Command) -> None:
    result = command("run", "x", "--model", "other-model")
    assert result.code == 5
    assert "other-model" in result.err


def test_doctor_without_a_model(command: Command) -> None:
    result = command("doctor")
    assert result.code == 5
    broken = [line for line in result.out.splitlines() if line.startswith("broken")]
    assert len(broken) == 1
    assert "wenfang model pull" in broken[0]
    assert "1 to mend" in result.out


def test_doctor_with_the_demo(command: Command) -> None:
    result = command("doctor", "--json", env={"WENFANG_PROVIDER": "scripted"})
    found = {row["name"]: row["level"] for row in map(json.loads, result.out.splitlines())}
    assert result.code == 0
    assert set(found) == {"data", "disk", "database", "settings", "model", "sandbox", "studio"}
    assert "broken" not in found.values()


LEAK = '<tool_call>{"name": "echo", "arguments": {"text": "ok"}}</tool_call>'


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("dialect", "replies", "calls"),
    [
        ("native", [call("echo", text="ok")], True),
        ("native", [say(LEAK)], False),
        ("lenient", [call("echo", text="ok")], True),
        ("lenient", [say(LEAK)], True),
        ("lenient", [say("I cannot")], False),
        ("tagged", [say('Action:\n<tool_name>echo</tool_name>\n<arguments>{"text": "ok"}</arguments>')], True),
    ],
)  # fmt: skip
async def test_whether_a_model_can_call(dialect: Any, replies: list[Reply], calls: bool) -> None:
    assert await can_call(ScriptedModel(*replies), DIALECTS[dialect]) is calls


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("replies", "code", "words"),
    [
        ([say("ok"), call("echo", text="ok")], 0, "native tool calls work"),
        ([say("ok"), say("I cannot")], 5, "WENFANG_DIALECT=schema"),
        ([Reply(http=401, body={"error": {"message": "no"}})], 5, "does not accept the key"),
    ],
    ids=["calls", "no calls", "wrong key"],
)
async def test_doctor_asks_the_provider(
    command: Command, replies: list[Reply], code: int, words: str
) -> None:
    async with ScriptedServer(Script(name="test", replies=tuple(replies))) as provider:
        env = {"WENFANG_BASE_URL": provider.url, "WENFANG_MODEL": "scripted"}
        result = await asyncio.to_thread(command.process, "doctor", env=env)
    provider.check()
    assert result.code == code
    assert words in result.out


def test_doctor_names_what_is_broken(command: Command) -> None:
    command.data.mkdir()
    (command.data / "settings.json").write_text("{")
    (command.data / "wenfang.sqlite3").write_bytes(b"no database" * 200)
    result = command("doctor")
    broken = [line for line in result.out.splitlines() if line.startswith("broken")]
    assert result.code == 5
    assert [line.split()[1].rstrip(":") for line in broken] == ["database", "settings"]


def _suite(command: Command, text: str) -> str:
    (command.project / "office").mkdir()
    (command.project / "tasks.toml").write_text(text, "utf-8")
    return "tasks.toml"


SUITE = """
project = "office"
[[task]]
id = "en-1"
prompt = "3*4"
expect = [12]
tools = ["calculator"]
[[task]]
id = "zh-1"
prompt = "你好"
expect = ["没有这句话"]
"""


def test_eval(command: Command) -> None:
    suite = _suite(command, SUITE)
    flags = ("--provider", "scripted", "--runs", "1")
    result = command("eval", "tasks", suite, *flags)
    assert result.code == 0
    assert "run 1: 1 of 2 right (en 1/1, zh 0/1)" in result.out
    assert command("eval", "tasks", suite, *flags, "--at-least", "2").code == 5
    rows = [
        json.loads(row)
        for row in command("eval", "tasks", suite, *flags, "--json").out.splitlines()
    ]
    assert [row.get("right") for row in rows] == [True, False, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("project = ", "tasks.toml"),
        ("project = 'x'", "task"),
        (SUITE.replace("office", "no"), "no"),
    ],
)
def test_a_suite_with_an_error(command: Command, text: str, words: str) -> None:
    result = command("eval", "tasks", _suite(command, text), "--provider", "scripted")
    assert (result.code, result.out) == (5, "")
    assert len(result.err.splitlines()) == 1
    assert words in result.err
