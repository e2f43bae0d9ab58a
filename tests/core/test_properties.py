"""The invariants of design §3 (1, 3, 4, 7, 9) for any script, interrupted at any await point."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.scripted import FakeModel, Hang, pairs_ok, says

from wenfang.core import (
    Agent,
    Assistant,
    Delta,
    Limits,
    MessageEnd,
    ModelError,
    ModelStart,
    RunEnd,
    Text,
    ToolCall,
    ToolEnd,
    ToolError,
    ToolResult,
    ToolStart,
    User,
    UserAdded,
    tool,
)

_TOOLS = ("add", "boom", "slow", "swallow", "solo", "nope")


class World:
    def __init__(self) -> None:
        self.ran: list[tuple[object, object]] = []
        self.events: list[object] = []

        @tool
        async def add(a: int, b: int = 1) -> str:
            """Add."""
            self.ran.append((a, b))
            return str(a + b)

        @tool
        async def boom() -> str:
            """Fail."""
            raise ToolError("no")

        @tool
        async def slow() -> str:
            """Take some steps."""
            for _ in range(4):
                await asyncio.sleep(0)
            return "slow"

        @tool
        async def swallow() -> str:
            """Finish in spite of cancellation."""
            try:
                for _ in range(4):
                    await asyncio.sleep(0)
            except asyncio.CancelledError:
                return "swallowed"
            return "done"

        @tool(mode="exclusive", access="write")
        async def solo(a: int) -> str:
            """Run alone."""
            await asyncio.sleep(0)
            return str(a)

        self.tools = [add, boom, slow, swallow, solo]

    async def emit(self, event: object) -> None:
        await asyncio.sleep(0)
        self.events.append(event)


_arguments = st.sampled_from([{}, {"a": 1}, {"a": 1, "b": 2}, {"a": "x"}, {"a": None}, {"z": 1}])
_call = st.tuples(
    st.sampled_from(_TOOLS), _arguments, st.sampled_from([None, None, None, "bad JSON"])
)


@st.composite
def _reply(draw: st.DrawFn, number: int):
    text = draw(st.sampled_from(["", "word", "𠮷 word"]))
    made = draw(st.lists(_call, max_size=4))
    content: list[object] = [Text(text=text)] if text else []
    for at, (name, arguments, error) in enumerate(made):
        content.append(
            ToolCall(
                id=f"c{number}_{at}", name=name, arguments={} if error else arguments, error=error
            )
        )
    stop = draw(st.sampled_from(["tool_use" if made else "stop"] * 4 + ["length"]))
    pieces: list[object] = [Delta(kind="text", text=text)] if text else []
    ending = draw(st.sampled_from(["end"] * 6 + ["error", "hang"]))
    if ending == "end":
        return [*pieces, Assistant(content=tuple(content), stop=stop)]  # type: ignore[arg-type]
    return [*pieces, ModelError("network", "x") if ending == "error" else Hang()]


@st.composite
def _script(draw: st.DrawFn):
    return [draw(_reply(number)) for number in range(draw(st.integers(1, 5)))]


def _check(agent: Agent, world: World) -> None:
    assert pairs_ok(agent.transcript)
    announced = [
        e.message if isinstance(e, MessageEnd | UserAdded) else e.result
        for e in world.events
        if isinstance(e, MessageEnd | UserAdded | ToolEnd)
    ]
    told = Counter(id(m) for m in announced)
    assert not [n for n in told.values() if n > 1]
    # What was told stands in the transcript: nothing a listener saw is lost or changed.
    assert set(told) <= {id(m) for m in agent.transcript}
    in_order = [m for m in agent.transcript if not isinstance(m, ToolResult) and id(m) in told]
    assert [m for m in announced if not isinstance(m, ToolResult)] == in_order
    begun = {e.call.id for e in world.events if isinstance(e, ToolStart)}
    assert all(
        r.call_id in begun for r in agent.transcript if isinstance(r, ToolResult) and not r.is_error
    )
    assert all(isinstance(a, int) and isinstance(b, int) for a, b in world.ran)


async def _drive(script, at: int, how: str) -> None:
    world = World()
    model = FakeModel(*script, forever=lambda: says("that is all"))
    agent = Agent(model, world.tools, limits=Limits(model_calls=6, first_s=5, idle_s=5))
    left = asyncio.all_tasks()
    running = asyncio.ensure_future(agent.run("go", emit=world.emit))
    for _ in range(at):
        if running.done():
            break
        await asyncio.sleep(0)
    begun = len(world.events)
    if how == "abort":
        agent.abort()
    elif how == "cancel":
        running.cancel()
        await asyncio.sleep(0)
        running.cancel()
    while not running.done():
        await asyncio.sleep(0)
        if how == "none" and _hangs(script, model):
            agent.abort()
    if running.cancelled():
        assert how == "cancel"
        assert not [e for e in world.events if isinstance(e, RunEnd)]
    else:
        end = running.result()
        assert [e for e in world.events if isinstance(e, RunEnd)] == [end]
        assert world.events[-1] is end
        if end.status == "stopped" and how == "abort":
            after = world.events[begun + 1 :]
            assert not [e for e in after if isinstance(e, ModelStart)]
    _check(agent, world)
    assert asyncio.all_tasks() == left
    model.replies = []
    end = await agent.run("and now", emit=world.emit)
    assert end.answer == "that is all"
    assert pairs_ok(agent.transcript)
    users = [m.text for m in agent.transcript if isinstance(m, User) and m.source == "user"]
    assert users[-1] == "and now"


def _hangs(script, model: FakeModel) -> bool:
    at = len(model.requests) - 1
    return 0 <= at < len(script) and any(isinstance(piece, Hang) for piece in script[at])


@settings(max_examples=250, deadline=None)
@given(_script(), st.integers(0, 120), st.sampled_from(["abort", "cancel", "none"]))
def test_any_script_interrupted_anywhere(script, at: int, how: str) -> None:
    asyncio.run(_drive(script, at, how))


_STRAIGHT = [
    [
        Delta(kind="text", text="on it"),
        Assistant(
            content=(
                Text(text="on it"),
                ToolCall(id="a", name="add", arguments={"a": 1}),
                ToolCall(id="b", name="slow", arguments={}),
                ToolCall(id="c", name="nope", arguments={}),
                ToolCall(id="d", name="swallow", arguments={}),
            ),
            stop="tool_use",
        ),
    ],
    [Assistant(content=(ToolCall(id="e", name="solo", arguments={"a": 2}),), stop="tool_use")],
    [Delta(kind="text", text="end"), says("end")],
]


@pytest.mark.parametrize("how", ["abort", "cancel"])
def test_one_run_interrupted_at_every_await_point(how: str) -> None:
    for at in range(90):
        asyncio.run(_drive([list(reply) for reply in _STRAIGHT], at, how))
