"""FO-1 to FO-8 and FB02 through a real server: two providers, one of which breaks."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import Running
from tests.server.test_writing_desk import novel, text

from wenfang.testing import (
    Fault,
    FaultPoint,
    RecordedRequest,
    Reply,
    Script,
    ScriptedServer,
    broken,
    call,
    say,
)

pytestmark = pytest.mark.anyio
Start = Callable[..., Any]
KEY, BACKUP_KEY = "sk-primary-0123456789", "sk-backup-0123456789"
WRITES = Reply(
    text=["I write ", "it."],
    thinking="hm",
    tools=call("write_file", path="a.md", content="by the primary").tools,
)


@asynccontextmanager
async def two(
    start: Start, first: list[Reply], second: list[Reply]
) -> AsyncGenerator[tuple[Running, ScriptedServer, ScriptedServer]]:
    """A server with a provider and its backup."""
    async with (
        ScriptedServer(Script(name="primary", replies=tuple(first))) as a,
        ScriptedServer(Script(name="backup", replies=tuple(second))) as b,
        start() as server,
    ):
        form = {
            "provider": "openai", "base_url": a.url, "model": "one", "api_key": KEY,
            "backup_base_url": b.url, "backup_model": "two", "backup_api_key": BACKUP_KEY,
        }  # fmt: skip
        saved = await server.json("PUT", "/api/settings", form)
        assert (saved["backup_state"], saved["backup_api_key_set"]) == ("ready", True)
        yield server, a, b


def seen_texts(events: list[dict[str, Any]]) -> dict[str, str]:
    """What a viewer is left with, by message."""
    texts: dict[str, str] = {}
    for event in events:
        if event["type"] == "message.delta" and event["kind"] == "text":
            texts[event["message_id"]] = texts.get(event["message_id"], "") + event["text"]
        elif event["type"] == "step.reset":
            texts[event["message_id"]] = ""
    return {name: text for name, text in texts.items() if text}


def stored_texts(events: list[dict[str, Any]]) -> dict[str, str]:
    return {
        event["message_id"]: text
        for event in events
        if event["type"] == "message.finished"
        and (text := "".join(b["text"] for b in event["message"]["content"] if b["type"] == "text"))
    }


def models_of(requests: list[RecordedRequest]) -> list[str]:
    return [request.body["model"] for request in requests]


@pytest.mark.parametrize("at", ["thinking", "text", "arguments", "finish"])
async def test_the_backup_takes_over_in_a_run(start: Start, tmp_path: Path, at: FaultPoint) -> None:
    """FO-2, FO-5, FO-7, FB02: what was shown is taken back, only the backup's words and calls are
    stored, both are in the usage; FO-3: the session stays there."""
    lost = broken(WRITES, Fault(at=at))
    wins = call("write_file", preamble="I do.", path="b.md", content="by the backup")
    async with two(start, [lost], [wins, say("done"), say("again")]) as (server, a, b):
        _, session = await server.session(tmp_path)
        events = await server.finished(await server.run(session))
        assert events[-1]["status"] == "done"
        assert seen_texts(events) == stored_texts(events)
        assert list(stored_texts(events).values()) == ["I do.", "done"]
        resets = [event for event in events if event["type"] == "step.reset"]
        assert [reset["reason"] for reset in resets] == ["stream_incomplete"]
        messages = [e["message"] for e in events if e["type"] == "message.finished"]
        assert [message["model"] for message in messages] == ["two", "two"]
        (attempt,) = messages[0]["attempts"]
        assert attempt["model"] == "one"
        assert attempt["usage"]["output"] > 0
        assert events[-1]["usage"]["output"] == attempt["usage"]["output"] + sum(
            message["usage"]["output"] for message in messages
        )
        assert not (tmp_path / "a.md").exists()
        assert (tmp_path / "b.md").read_text() == "by the backup"
        await server.finished(await server.run(session, "more"))
        assert (len(a.requests), models_of(b.requests)) == (1, ["two"] * 3)


async def test_an_open_breaker_spares_the_next_session_the_wait(start: Start) -> None:
    """FO-4, FO-6: three refusals, then nobody asks the primary for a while."""
    down = broken(say("x"), Fault(at="connect", kind="overload", retry_after_s=0.001))
    async with two(start, [down] * 3, [Reply(text="ok", repeat=0)]) as (server, a, b):
        for number in range(2):
            _, session = await server.session()
            events = await server.finished(await server.run(session))
            assert events[-1]["status"] == "done"
            resets = [event["reason"] for event in events if event["type"] == "step.reset"]
            assert resets == (["overload"] * 3 if number == 0 else [])
        assert (len(a.requests), len(b.requests)) == (3, 2)


@pytest.mark.parametrize("kind", ["auth", "overflow", "quota"])
async def test_what_asking_elsewhere_would_hide(start: Start, kind: Any) -> None:
    """FO-6."""
    wrong = broken(say("x"), Fault(at="connect", kind=kind))
    async with two(start, [wrong], [say("ok")]) as (server, _, b):
        _, session = await server.session()
        events = await server.finished(await server.run(session))
        assert (events[-1]["status"], events[-1]["failure"]["kind"]) == ("failed", kind)
        assert b.requests == []


async def test_both_failing(start: Start) -> None:
    """FO-8: the run ends with the last failure, the text of the last try is kept."""
    first = broken(say("from the first"), Fault(at="text"))
    second = broken(say("second words"), Fault(at="text", kind="overload"))
    async with two(start, [first], [second]) as (server, _, _):
        _, session = await server.session()
        events = await server.finished(await server.run(session))
        assert (events[-1]["status"], events[-1]["reason"]) == ("failed", "failover_exhausted")
        assert events[-1]["failure"]["kind"] == "overload"
        assert seen_texts(events) == stored_texts(events)
        assert list(stored_texts(events).values()) == ["second"]
        (message,) = [e["message"] for e in events if e["type"] == "message.finished"]
        assert message["model"] == "two"


@pytest.mark.parametrize("is_backup_well", [True, False])
async def test_a_chapter_that_one_began_and_the_other_wrote(
    start: Start, is_backup_well: bool
) -> None:
    """FO-5 at a writer's desk: not a word of the lost body is in the file; if the other one breaks off,
    too, what it had written is kept."""
    create = call("create_file", title="第一章 风雪", file_type="draft")
    lost = Reply(text=["<file>\n", "第一家写的。", "没写完"], end="cut")
    whole = [say("<file>\n第二家写的。\n</file>"), say("写好了。")]
    half = [Reply(text=["<file>\n", "第二家写的。"], end="cut")]
    second = whole if is_backup_well else half
    async with two(start, [create, lost], second) as (server, a, b):
        pid, session = await novel(server)
        events = await server.finished(await server.run(session, "写第一章。"))
        assert events[-1]["status"] == ("done" if is_backup_well else "failed")
        assert await text(server, pid) == "第二家写的。"
        notices = [e["code"] for e in events if e["type"] == "notice"]
        assert notices == ([] if is_backup_well else ["body_kept"])
        assert seen_texts(events) == stored_texts(events)
        assert (len(a.requests), len(b.requests)) == (2, len(second))


# Settings


async def test_the_backups_key_never_comes_out(start: Start) -> None:
    async with two(start, [say("x")], [say("ok")]) as (server, _, b):
        answers = [
            await server.http.get("/api/settings"),
            await server.http.put("/api/settings", json={"backup_api_key": BACKUP_KEY + " x"}),
            await server.http.get("/api/openapi.json"),
            await server.http.post("/api/settings/test?of=backup"),
        ]
        assert [answer.status_code for answer in answers] == [200, 400, 200, 200]
        assert not any(BACKUP_KEY in answer.text for answer in answers)
        (tested,) = b.requests
        assert tested.headers["authorization"] == f"Bearer {BACKUP_KEY}"
        gone = await server.json("PUT", "/api/settings", {"backup_api_key": ""})
        assert gone["backup_api_key_set"] is False


async def test_the_backup_is_tested_as_typed(start: Start) -> None:
    wrong = Reply(http=401, body={"error": {"message": f"bad key {BACKUP_KEY}"}})
    async with two(start, [say("x")], [wrong, say("ok")]) as (server, a, b):
        path = "/api/settings/test?of=backup"
        tested = await server.json("POST", path)
        assert (tested["ok"], tested["code"]) == (False, "auth")
        assert BACKUP_KEY not in str(tested)
        assert (await server.json("POST", path, {"backup_model": "typed"}))["ok"] is True
        assert models_of(b.requests) == ["two", "typed"]
        assert a.requests == []
        empty = await server.json("POST", path, {"backup_model": ""})
        assert (empty["ok"], empty["code"]) == (False, "model_unavailable")
        assert await server.error("POST", "/api/settings/test?of=x") == (400, "invalid_request")


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({"backup_model": ""}, "incomplete"),
        ({"backup_model": "qwen2.5-coder-1.5b"}, "dialect"),
        ({"backup_model": "qwen2.5-coder-1.5b", "dialect": "tagged"}, "ready"),
        ({"backup_model": "", "backup_base_url": ""}, "off"),
        ({"provider": "scripted"}, "off"),
    ],
    ids=str,
)
async def test_whether_it_takes_part_is_said(
    start: Start, change: dict[str, str], state: str
) -> None:
    async with two(start, [say("x")], [say("ok")]) as (server, _, _):
        saved = await server.json("PUT", "/api/settings", change)
        assert saved["backup_state"] == state
