"""The calls of a reply: what comes out of a tool, what listeners hear, what an interruption leaves (A6)."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from pydantic import BaseModel
from tests.core.scripted import FakeModel, calls, pairs_ok, says

from wenfang.core import (
    Agent,
    Assistant,
    FileRead,
    Hooks,
    Image,
    Limits,
    MessageEnd,
    Text,
    Tool,
    ToolCall,
    ToolContext,
    ToolEnd,
    ToolOutput,
    ToolResult,
    ToolStart,
    ToolUpdate,
    User,
    UserAdded,
    tool,
)

pytestmark = pytest.mark.anyio


class Nothing(BaseModel):
    pass


def made(handler: Any, **options: Any) -> Tool:
    return Tool(name="made", description="", params=Nothing, handler=handler, **options)


def results(agent: Agent) -> list[ToolResult]:
    return [m for m in agent.transcript if isinstance(m, ToolResult)]


async def outcome_of(value: object) -> ToolResult:
    """The result of a tool that returns this, or raises it."""

    async def handler(ctx: ToolContext, args: BaseModel) -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    agent = Agent(FakeModel(calls(("made", {})), says("ok")), [made(handler)])
    await agent.run("go")
    (result,) = results(agent)
    return result


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        ("", ""),
        (None, "null"),
        (False, "false"),
        ({"a": "长"}, '{"a": "长"}'),
        ([1, None], "[1, null]"),
        ({"a": Text}, f'{{"a": "{Text}"}}'),
    ],
)
async def test_a_handler_may_return_any_json(value: object, text: str) -> None:
    result = await outcome_of(value)
    assert (result.text, result.is_error, result.error_type) == (text, False, None)
    assert result.seconds is not None


@pytest.mark.parametrize("is_error", [False, True])
async def test_an_output_arrives_whole(is_error: bool) -> None:
    content = (Text(text="seen"), Image(data="AA==", media_type="image/png"))
    effects = (FileRead(path="a", revision="r"),)
    result = await outcome_of(
        ToolOutput(content=content, details={"n": 1}, effects=effects, is_error=is_error)
    )
    assert (result.content, result.details, result.effects) == (content, {"n": 1}, effects)
    assert (result.is_error, result.error_type) == (is_error, "failed" if is_error else None)
    assert not result.terminate


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError(), "ValueError"),
        (ValueError("\nsecond"), "ValueError"),
        (ValueError("no value\nsecond"), "ValueError: no value"),
        (KeyError("a"), "KeyError: 'a'"),
        (OSError("at /srv/data/file-1.txt, line 3"), "OSError: at <path>, line 3"),
        (OSError(r"at C:\Users\me\file.txt"), "OSError: at <path>"),
        (OSError("at a/b or /tmp"), "OSError: at a/b or /tmp"),
        (ValueError("x" * 301), "ValueError: " + "x" * 300),
    ],
)
async def test_a_crash_shows_its_kind_and_first_line_without_paths(
    error: Exception, text: str
) -> None:
    result = await outcome_of(error)
    assert result.text == f"made failed unexpectedly: {text}"
    assert (result.is_error, result.error_type) == (True, "failed")


async def test_foreign_failures_are_logged_with_their_trace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "wenfang.core")
    error = ValueError("why")
    await outcome_of(error)
    (record,) = (r for r in caplog.records if r.name == "wenfang.core")
    assert record.exc_info
    assert record.exc_info[1] is error


async def test_without_tools_an_invented_name_hears_so() -> None:
    agent = Agent(FakeModel(calls(("serch", {})), says("ok")))
    await agent.run("go")
    assert results(agent)[0].text == "There is no tool 'serch'. The tools are: none."


@pytest.mark.parametrize(("raw", "size"), [('{"a": "长长', 9), (None, 10)])
async def test_fb06_a_cut_call_hears_how_far_it_came(raw: str | None, size: int) -> None:
    call = ToolCall(id="c1", name="add", arguments={"a": "b"}, raw=raw)
    agent = Agent(FakeModel(Assistant(content=(call,), stop="length"), says("ok")))
    await agent.run("go")
    assert f" after {size} characters of this call" in results(agent)[0].text


async def test_progress_is_told_while_the_tool_runs_and_only_the_newest() -> None:
    seen = asyncio.Event()

    @tool
    async def count(ctx: ToolContext) -> str:
        """Count, and wait until somebody has seen it."""
        ctx.update("one", 0.25)
        ctx.update("two", 0.5)
        await seen.wait()
        return "done"

    agent = Agent(FakeModel(calls(("count", {})), says("ok")), [count])
    updates: list[ToolUpdate] = []

    async def emit(event: object) -> None:
        if isinstance(event, ToolUpdate):
            updates.append(event)
            seen.set()

    end = await asyncio.wait_for(agent.run("go", emit=emit), 20)
    call_id = results(agent)[0].call_id
    assert end.answer == "ok"
    assert updates == [ToolUpdate(call_id=call_id, text="two", fraction=0.5)]


async def test_words_of_a_settled_call_are_dropped() -> None:
    contexts: list[ToolContext] = []
    settled, seen = asyncio.Event(), asyncio.Event()

    @tool
    async def quick(ctx: ToolContext) -> str:
        """Be done at once."""
        contexts.append(ctx)
        return "quick"

    @tool
    async def slow(ctx: ToolContext) -> str:
        """Speak for the other one too."""
        await settled.wait()
        contexts[0].update("too late", None)
        ctx.update("mine", None)
        await seen.wait()
        return "slow"

    agent = Agent(FakeModel(calls(("quick", {}), ("slow", {})), says("ok")), [quick, slow])
    updates: list[str] = []

    async def emit(event: object) -> None:
        if isinstance(event, ToolEnd):
            settled.set()
        elif isinstance(event, ToolUpdate):
            updates.append(event.text)
            seen.set()

    await asyncio.wait_for(agent.run("go", emit=emit), 20)
    assert updates == ["mine"]


async def test_every_call_of_an_aborted_batch_is_announced() -> None:
    @tool
    async def add(a: int) -> str:
        """Add."""
        return str(a)

    agent = Agent(FakeModel(calls(*(("add", {"a": n}) for n in range(3)))), [add])
    events: list[object] = []

    async def emit(event: object) -> None:
        events.append(event)
        if isinstance(event, MessageEnd):
            agent.abort()

    await agent.run("go", emit=emit)
    ended = [e.result for e in events if isinstance(e, ToolEnd)]
    assert ended == results(agent)
    assert [r.error_type for r in ended] == ["aborted"] * 3


async def test_a_cancellation_that_comes_during_an_abort_passes_through() -> None:
    asked_to_stop, may_stop = asyncio.Event(), asyncio.Event()

    @tool
    async def deaf() -> str:
        """Take time to stop."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            asked_to_stop.set()
            await may_stop.wait()
        return "cleaned up"

    agent = Agent(FakeModel(calls(("deaf", {}))), [deaf])

    async def emit(event: object) -> None:
        if isinstance(event, ToolStart):
            asyncio.get_running_loop().call_soon(agent.abort)

    running = asyncio.ensure_future(agent.run("go", emit=emit))
    await asyncio.wait_for(asked_to_stop.wait(), 20)
    running.cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    assert not running.done()
    may_stop.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert pairs_ok(agent.transcript)
    assert [r.text for r in results(agent)] == ["cleaned up"]


@pytest.mark.parametrize("at", ["prompt", "steering"])
async def test_an_abort_before_a_request_sends_none(at: str) -> None:
    agent = Agent(FakeModel(says("no")))
    agent.steer("more")
    events: list[object] = []

    async def emit(event: object) -> None:
        events.append(event)
        if isinstance(event, UserAdded) and event.message.source == (
            "user" if at == "prompt" else "steer"
        ):
            agent.abort()

    end = await agent.run("go", emit=emit)
    assert (end.status, end.steps) == ("stopped", 0)
    assert [m.role for m in agent.transcript] == ["user", "user"]
    assert [e.type for e in events] == ["run_start", "user_added", "user_added", "run_end"]  # type: ignore[attr-defined]


async def test_the_engines_own_words_say_where_they_come_from() -> None:
    @tool
    async def add(a: int) -> str:
        """Add."""
        return str(a)

    agent = Agent(
        FakeModel(says(""), calls(("add", {"a": 1})), says("so far")),
        [add],
        limits=Limits(model_calls=2),
    )
    agent.steer("shorter")
    agent.follow_up("never read: the run ends at its limit")
    end = await agent.run("go")
    assert (end.reason, end.answer) == ("max_steps", "so far")
    said = [m.source for m in agent.transcript if isinstance(m, User)]
    assert said == ["user", "steer", "repair", "limit"]


async def test_after_turn_may_let_the_run_go_on() -> None:
    turns: list[tuple[str, int]] = []

    async def after(turn: Any) -> None:
        turns.append((turn.reply.stop, len(turn.results)))

    @tool
    async def add(a: int) -> str:
        """Add."""
        return str(a)

    agent = Agent(
        FakeModel(calls(("add", {"a": 1}), ("add", {"a": 2})), says("ok")),
        [add],
        hooks=Hooks(after_turn=after),
    )
    end = await agent.run("go")
    assert (end.status, end.answer) == ("done", "ok")
    assert turns == [("tool_use", 2), ("stop", 0)]


async def test_a_refusal_at_the_limit_says_so() -> None:
    @tool
    async def add(a: int) -> str:
        """Add."""
        return str(a)

    agent = Agent(
        FakeModel(calls(("add", {"a": 1}), ("add", {"a": 2})), says("enough")),
        [add],
        limits=Limits(tool_calls=1),
    )
    end = await agent.run("go")
    assert [r.error_type for r in results(agent)] == [None, "limit"]
    assert results(agent)[1].text.startswith("Not run. The limit of 1 tool calls is reached.")
    assert (end.reason, end.tool_calls) == ("max_tool_calls", 2)
