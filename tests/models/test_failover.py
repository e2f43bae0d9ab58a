"""FO-5, FO-6, FO-8, FB02 as properties: a provider that fails at every point, in every way, under every
policy. What a viewer is left with is what is stored, and it is one provider's."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wenfang.core import (
    Agent,
    AgentEvent,
    Assistant,
    AttemptReset,
    Hooks,
    MessageDelta,
    MessageEnd,
    RunEnd,
    Text,
    ToolStart,
    Usage,
    tool,
)
from wenfang.models import Chooser, Resilient, RetryPolicy
from wenfang.testing import (
    FAULT_KINDS,
    FAULT_POINTS,
    ChaosModel,
    Fault,
    FaultKind,
    FaultPoint,
    Reply,
    ToolUse,
)

pytestmark = pytest.mark.anyio
PASSING = {"rate", "overload", "network", "stream_incomplete", "silent"}
AFTER_OUTPUT = {"thinking", "text", "arguments", "finish"}
AfterOutput = Literal["switch", "surface"]
USED = Usage(input=11, output=3)


@tool
def note(text: str, by: str) -> str:
    """Note a text."""
    return f"noted {text} by {by}"


def reply(by: str) -> Reply:
    """It ends the run with its call, so that a run is one request."""
    return Reply(
        text=[f"{by} says ", "so."],
        thinking=f"{by} thinks",
        tools=[ToolUse(name="note", args={"text": "a", "by": by})],
    )


@dataclass
class Viewer:
    """Sees what is shown, and forgets what is taken back."""

    text: str = ""
    resets: list[str] = field(default_factory=list[str])
    started: list[str] = field(default_factory=list[str])
    stored: list[Assistant] = field(default_factory=list[Assistant])
    end: RunEnd | None = None

    async def see(self, event: AgentEvent) -> None:
        if isinstance(event, MessageDelta) and event.kind == "text":
            self.text += event.text
        elif isinstance(event, AttemptReset):
            self.text = ""
            self.resets.append(event.failure.kind)
        elif isinstance(event, ToolStart):
            self.started.append(str(event.call.arguments["by"]))
        elif isinstance(event, MessageEnd):
            self.stored.append(event.message)
        elif isinstance(event, RunEnd):
            self.end = event


async def play(
    first: ChaosModel, second: ChaosModel, *, after_output: AfterOutput, retries: int = 0
) -> Viewer:
    async def no_sleep(_seconds: float) -> None:
        pass

    policy = RetryPolicy(retries=retries, after_output=after_output, silent_s=0.05, idle_s=0.05)
    route = Chooser(clock=lambda: 0.0).route(("a", "b"), "s")
    client = Resilient((first, second), policy=policy, route=route, sleep=no_sleep)
    viewer = Viewer()

    async def end_after_one(turn: object) -> Literal["completed"]:
        return "completed"

    agent = Agent(client, [note], hooks=Hooks(after_turn=end_after_one))
    await agent.run("hi", emit=viewer.see)
    return viewer


def shown(message: Assistant) -> str:
    return "".join(block.text for block in message.content if isinstance(block, Text))


def check(viewer: Viewer, first: ChaosModel, second: ChaosModel) -> Assistant:
    """What holds whatever happens."""
    (message,) = viewer.stored
    assert viewer.text == shown(message)
    assert len(message.attempts) == len(viewer.resets)
    by = [attempt.model for attempt in message.attempts] + [message.model]
    assert by == sorted(by)  # from a to b, once
    assert by.count("a") == len(first.requests)
    assert by.count("b") == len(second.requests)
    if message.error is None:
        assert viewer.started == [message.model]
        assert shown(message) == f"{message.model} says so."
    else:
        assert viewer.started == []
    assert viewer.end is not None
    total = sum((attempt.usage for attempt in message.attempts), message.usage)
    assert viewer.end.usage == total
    return message


@pytest.mark.parametrize("after_output", ["switch", "surface"])
@pytest.mark.parametrize("at", FAULT_POINTS)
@pytest.mark.parametrize("kind", FAULT_KINDS)
async def test_one_fault(at: FaultPoint, kind: FaultKind, after_output: AfterOutput) -> None:
    """FO-5, FO-6: every point, kind and policy."""
    fault = Fault(at=at, kind=kind, usage=USED if at in AFTER_OUTPUT else None)
    first = ChaosModel(reply("a"), fault, name="a")
    second = ChaosModel(reply("b"), name="b")
    message = check(await play(first, second, after_output=after_output), first, second)
    is_switch = kind in PASSING and (after_output == "switch" or at not in AFTER_OUTPUT)
    if not is_switch:
        assert (message.model, message.error is None) == ("a", False)
        assert second.requests == []
        return
    assert (message.model, message.error) == ("b", None)
    (lost,) = message.attempts
    if at not in AFTER_OUTPUT:
        assert lost.usage == Usage()  # not a word: it cost nothing
    elif kind == "silent":
        assert lost.usage.estimated
        assert lost.usage.output > 0
    else:
        assert lost.usage == USED


faults = st.builds(
    Fault,
    at=st.sampled_from(FAULT_POINTS),
    kind=st.sampled_from([kind for kind in FAULT_KINDS if kind != "silent"]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    ours=st.lists(faults, max_size=5),
    theirs=st.lists(faults, max_size=5),
    after_output=st.sampled_from(["switch", "surface"]),
    retries=st.integers(0, 3),
)
async def test_any_faults_on_both_sides(
    ours: list[Fault], theirs: list[Fault], after_output: AfterOutput, retries: int
) -> None:
    """FO-8, FB02: with retries, and the backup failing, too."""
    first = ChaosModel(reply("a"), *ours, name="a")
    second = ChaosModel(reply("b"), *theirs, name="b")
    viewer = await play(first, second, after_output=after_output, retries=retries)
    message = check(viewer, first, second)
    if message.error is not None:
        asked, script = (second, theirs) if message.model == "b" else (first, ours)
        assert message.error.kind == script[len(asked.requests) - 1].kind
    assert len(first.requests) <= 3  # then its breaker is open


async def test_a_failed_reply_names_who_was_asked_last() -> None:
    """FO-7."""
    first = ChaosModel(reply("a"), Fault(at="text"), name="a")
    second = ChaosModel(reply("b"), Fault(at="text"), name="b")
    viewer = await play(first, second, after_output="switch")
    message = check(viewer, first, second)
    assert (message.model, message.error is None, shown(message)) == ("b", False, "b s")


@pytest.mark.parametrize("is_pinned", [False, True])
async def test_a_stopped_reply_names_who_was_being_asked(is_pinned: bool) -> None:
    """FO-7: after a switch, and in a session that began elsewhere."""
    first = ChaosModel(reply("a"), Fault(at="text"), name="a")
    second = ChaosModel(reply("b"), Fault(at="text", kind="silent"), name="b")
    route = Chooser().route(("a", "b"), "s")
    if is_pinned:
        route.begin(1).end("answered")
    agent = Agent(Resilient((first, second), route=route), [note])
    viewer = Viewer()
    running = asyncio.create_task(agent.run("hi", emit=viewer.see))
    await second.silent.wait()
    agent.abort()
    await running
    (message,) = viewer.stored
    assert (message.stop, message.model, shown(message)) == ("aborted", "b", "b s")
    assert [attempt.model for attempt in message.attempts] == ([] if is_pinned else ["a"])
    assert viewer.text == shown(message)
