"""The loop through its public doors: Agent and run_loop with a scripted model (design §3, engine C)."""

from __future__ import annotations

import asyncio
import gc
import json
from itertools import pairwise

import pytest
from tests.core.scripted import FakeModel, Hang, calls, pairs_ok, says

from wenfang.core import (
    REASONS,
    Agent,
    AgentBusy,
    Allow,
    Assistant,
    AttemptReset,
    Delta,
    Deny,
    Failure,
    Hooks,
    Limits,
    MessageDelta,
    MessageEnd,
    ModelError,
    Notice,
    Reset,
    Rewrite,
    RunEnd,
    System,
    Text,
    ToolContext,
    ToolEnd,
    ToolError,
    ToolOutput,
    ToolResult,
    ToolStart,
    ToolUpdate,
    Usage,
    User,
    UserAdded,
    tool,
)

pytestmark = pytest.mark.anyio


class World:
    """Tools that count, and a log of what was announced."""

    def __init__(self) -> None:
        self.ran: list[object] = []
        self.events: list[object] = []
        self.gate = asyncio.Event()
        self.started = asyncio.Event()

        @tool
        async def add(a: int, b: int) -> str:
            """Add."""
            self.ran.append((a, b))
            return str(a + b)

        @tool
        async def boom() -> str:
            """Fail."""
            self.ran.append("boom")
            raise ToolError("it broke: value 7; try 8")

        @tool
        async def crash() -> str:
            """Crash."""
            raise ValueError("secret in /home/someone/private/file.txt line\nsecond line")

        @tool
        async def wait() -> str:
            """Wait for the gate."""
            self.ran.append("wait")
            self.started.set()
            await self.gate.wait()
            return "waited"

        @tool
        async def stubborn() -> str:
            """Swallow cancellation."""
            self.started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "went on"
            return ""

        @tool
        async def finish(text: str) -> ToolOutput:
            """End the run."""
            return ToolOutput(content=text, terminate=True)

        @tool(mode="exclusive", access="write")
        async def write(n: int) -> str:
            """Write."""
            self.ran.append(("begin", n))
            await asyncio.sleep(0)
            self.ran.append(("end", n))
            return "ok"

        self.tools = [add, boom, crash, wait, stubborn, finish, write]

    async def emit(self, event: object) -> None:
        self.events.append(event)

    def kinds(self) -> list[str]:
        return [e.type for e in self.events if not isinstance(e, MessageDelta)]

    def agent(self, *replies: object, **options: object) -> Agent:
        return Agent(FakeModel(*replies), self.tools, **options)  # type: ignore[arg-type]


def results(agent: Agent) -> list[ToolResult]:
    return [m for m in agent.transcript if isinstance(m, ToolResult)]


def check(agent: Agent, world: World, end: RunEnd) -> None:
    """What holds after every run."""
    assert pairs_ok(agent.transcript)
    closing = [e for e in world.events if isinstance(e, RunEnd)]
    assert closing == [end]
    assert world.events[-1] is end
    begun = [e.call.id for e in world.events if isinstance(e, ToolStart)]
    ended = [e.call.id for e in world.events if isinstance(e, ToolEnd)]
    assert len(ended) == len(set(ended))
    assert set(begun) <= set(ended)
    said = [e.message for e in world.events if isinstance(e, MessageEnd)]
    assert said == [m for m in agent.transcript if isinstance(m, Assistant)]
    assert end.usage == sum(
        (u for m in said for u in (m.usage, *(a.usage for a in m.attempts))), Usage()
    )


async def test_a_call_and_an_answer() -> None:
    world = World()
    agent = world.agent(
        calls(("add", {"a": 2, "b": 3}), text="Let me see."),
        says("It is 5."),
        instructions="Be brief.",
    )
    end = await agent.run("2 + 3?", emit=world.emit)
    check(agent, world, end)
    assert (end.status, end.reason, end.answer) == ("done", "completed", "It is 5.")
    assert (end.steps, end.tool_calls) == (2, 1)
    assert end.usage == Usage(input=20, output=7)
    assert world.ran == [(2, 3)]
    assert isinstance(agent.transcript[0], System)
    assert world.kinds() == [
        "run_start", "user_added", "model_start", "message_end", "tool_start", "tool_end",
        "model_start", "message_end", "run_end",
    ]  # fmt: skip
    assert results(agent)[0].seconds is not None


@pytest.mark.parametrize("preamble", ["Let me compute.", "\n\n", ""])
async def test_fb04_the_preamble_is_no_part_of_the_answer(preamble: str) -> None:
    world = World()
    agent = world.agent(calls(("add", {"a": 1, "b": 1}), text=preamble), says("DONE"))
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert end.answer == "DONE"
    assert end.steps == 2


async def test_invariant_7_request_n_is_a_prefix_of_request_n_plus_1() -> None:
    world = World()
    made = [calls(("add", {"a": n, "b": n})) for n in range(4)]
    agent = world.agent(*made, says("ok"), says("again"))
    await agent.run("go")
    await agent.run("more")
    snapshots = agent.client.snapshots  # type: ignore[attr-defined]
    for one, two in pairwise(snapshots):
        assert two[: len(one)] == one
        assert all(a is b for a, b in zip(one, two, strict=False))


async def test_fb12_one_failing_call_leaves_its_siblings_alone() -> None:
    world = World()
    agent = world.agent(
        calls(("add", {"a": 1, "b": 1}), ("boom", {}), ("crash", {}), ("add", {"a": 2, "b": 2})),
        says("ok"),
    )
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert [r.text for r in results(agent)][0::3] == ["2", "4"]
    broke, crashed = results(agent)[1:3]
    assert broke.text == "it broke: value 7; try 8"
    assert crashed.text.startswith("crash failed unexpectedly: ValueError")
    assert "someone" not in crashed.text
    assert "second line" not in crashed.text


async def test_results_come_in_call_order_but_are_announced_as_they_finish() -> None:
    world = World()
    agent = world.agent(calls(("wait", {}), ("add", {"a": 1, "b": 1})), says("ok"))

    async def emit(event: object) -> None:
        await world.emit(event)
        if isinstance(event, ToolEnd) and event.call.name == "add":
            world.gate.set()

    end = await agent.run("go", emit=emit)
    check(agent, world, end)
    assert [r.name for r in results(agent)] == ["wait", "add"]
    assert [e.call.name for e in world.events if isinstance(e, ToolEnd)] == ["add", "wait"]


async def test_an_exclusive_tool_makes_the_batch_run_one_by_one() -> None:
    world = World()
    agent = world.agent(
        calls(("write", {"n": 1}), ("write", {"n": 2}), ("add", {"a": 1, "b": 1})), says("ok")
    )
    await agent.run("go", emit=world.emit)
    assert world.ran == [("begin", 1), ("end", 1), ("begin", 2), ("end", 2), (1, 1)]


async def test_fb08_an_invented_tool_gets_near_names_and_the_rest_runs() -> None:
    world = World()
    agent = world.agent(calls(("ad", {}), ("add", {"a": 1, "b": 1})), says("ok"))
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert results(agent)[0].error_type == "unknown_tool"
    assert "Did you mean 'add'?" in results(agent)[0].text
    assert results(agent)[1].text == "2"


async def test_fb08_three_invented_names_end_in_an_answer() -> None:
    world = World()
    agent = world.agent(
        calls(("x1", {}), ("x2", {})), calls(("x3", {})), says("Sorry, no such tools.")
    )
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert (end.status, end.reason, end.steps) == ("partial", "invalid_model_output", 3)
    assert agent.client.requests[-1].tool_choice == "none"  # type: ignore[attr-defined]


@pytest.mark.parametrize("error", [None, "cut off at character 40"])
async def test_fb06_calls_of_a_reply_that_was_cut_never_run(error: str | None) -> None:
    world = World()
    bad = lambda: calls(("add", {} if error else {"a": 1, "b": 1}), stop="length", error=error)  # noqa: E731
    agent = world.agent(bad(), bad(), bad(), says("I could not."))
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert world.ran == []
    assert {r.error_type for r in results(agent)} == {"truncated"}
    assert "smaller parts" in results(agent)[0].text
    assert (end.reason, end.steps) == ("invalid_model_output", 4)


async def test_invariant_4_arguments_that_do_not_fit_never_run() -> None:
    world = World()
    agent = world.agent(
        calls(("add", {"a": "xx", "b": 1}), ("add", {"a": 1}), ("add", {"a": 1, "b": 2, "c": 3})),
        says("ok"),
    )
    await agent.run("go", emit=world.emit)
    assert world.ran == []
    assert [r.error_type for r in results(agent)] == ["invalid_arguments"] * 3
    assert not [e for e in world.events if isinstance(e, ToolStart)]


async def test_fb07_a_malformed_call_gets_its_reason() -> None:
    world = World()
    agent = world.agent(calls(("add", {}), error="expected a value at character 9"), says("ok"))
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert "expected a value at character 9" in results(agent)[0].text
    assert results(agent)[0].error_type == "malformed"


@pytest.mark.parametrize("limit", [1, 3])
async def test_fb09_fb11_at_the_limit_there_is_one_answer_without_tools(limit: int) -> None:
    world = World()
    model = FakeModel(
        *[calls(("add", {"a": n, "b": n})) for n in range(limit)], says("So far: " + "x" * limit)
    )
    agent = Agent(model, world.tools, limits=Limits(model_calls=limit))
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert (end.status, end.reason) == ("partial", "max_steps")
    assert len(model.requests) == limit + 1
    assert model.requests[-1].tool_choice == "none"
    assert [e.params for e in world.events if isinstance(e, Notice)] == [{"reason": "max_steps"}]
    model.replies = [says("went on")]
    end = await agent.run("go on")
    assert end.answer == "went on"
    assert len(results(agent)) == limit


async def test_fb09_calls_in_the_answer_turn_are_refused() -> None:
    world = World()
    model = FakeModel(forever=lambda: calls(("add", {"a": 1, "b": 1})))
    agent = Agent(model, world.tools, limits=Limits(model_calls=2, repeat_block=99, repeat_hint=99))
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert len(model.requests) == 3
    assert len(world.ran) == 2
    assert (end.status, end.reason) == ("failed", "max_steps")


async def test_fb09_a_required_call_is_required_once() -> None:
    world = World()
    agent = world.agent(calls(("add", {"a": 1, "b": 1})), says("ok"), tool_choice="required")
    await agent.run("go")
    assert [r.tool_choice for r in agent.client.requests] == ["required", "auto"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("first", "choices"),
    [
        (calls(("add", {"a": 1}), error="no JSON"), ["add", "add", "auto"]),
        (calls(("add", {"a": "x", "b": 1})), ["add", "add", "auto"]),
        (calls(("fly", {})), ["add", "add", "auto"]),
        (calls(("add", {"a": 1, "b": 1}), stop="length"), ["add", "add", "auto"]),
        (calls(("fly", {}), ("add", {"a": 1, "b": 1})), ["add", "auto", "auto"]),
        (calls(("boom", {})), ["add", "auto", "auto"]),
    ],
    ids=["malformed", "invalid arguments", "unknown tool", "cut", "one of two", "failed"],
)
async def test_fb09_what_is_no_call_does_not_end_the_requirement(first, choices: list) -> None:
    world = World()
    agent = world.agent(first, calls(("add", {"a": 1, "b": 1})), says("ok"), tool_choice="add")
    await agent.run("go")
    assert [r.tool_choice for r in agent.client.requests] == choices  # type: ignore[attr-defined]


async def test_fb09_a_choice_that_names_no_tool_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"names no tool: 'fly'; the tools are: .*add"):
        World().agent(tool_choice="fly")


async def test_fb10_the_same_call_forever_ends_with_at_most_7_requests() -> None:
    world = World()
    model = FakeModel(*[calls(("add", {"a": 1, "b": 1})) for _ in range(5)], says("It is 2."))
    agent = Agent(model, world.tools)
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert (end.status, end.reason, len(model.requests)) == ("partial", "no_progress", 6)
    assert len(world.ran) == 4
    assert "result is the same again" in results(agent)[2].text
    assert "result is the same again" not in results(agent)[1].text


async def test_fbx2_an_empty_reply_is_asked_again_then_fails() -> None:
    world = World()
    agent = world.agent(says(""), says("here"))
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert (end.status, end.answer) == ("done", "here")
    agent = world.agent(says(""), says(""))
    end = await agent.run("go")
    assert (end.status, end.reason) == ("failed", "invalid_model_output")


async def test_a_cut_answer_is_partial() -> None:
    world = World()
    end = await world.agent(says("Once upon", stop="length")).run("go")
    assert (end.status, end.reason, end.answer) == ("partial", "output_truncated", "Once upon")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("stream_incomplete", "stream_incomplete"),
        ("overflow", "context_overflow"),
        ("refused", "refused"),
        ("auth", "provider_error"),
        ("network", "provider_error"),
    ],
)
async def test_fb01_a_reply_that_broke_off_is_a_failure_that_keeps_its_text(kind, reason) -> None:
    world = World()
    agent = world.agent([Delta(kind="text", text="partial"), ModelError(kind, "why")])
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert (end.status, end.reason, end.answer) == ("failed", reason, "partial")
    assert end.failure == Failure(kind=kind, message="why")
    assert end.usage.estimated
    assert end.usage.input > 0


async def test_fb02_what_a_given_up_try_showed_is_retracted() -> None:
    world = World()
    failure = Failure(kind="network", message="reset")
    reset = Reset(
        attempt=2, failure=failure, usage=Usage(input=7, output=1, estimated=True), model="first"
    )
    agent = world.agent([Delta(kind="text", text="par"), reset, Delta(kind="text", text="hello")])
    agent.client.replies[0].append(ModelError("network", "gone too"))  # type: ignore[attr-defined]
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    shown = [e for e in world.events if isinstance(e, MessageDelta | AttemptReset)]
    assert [e.type for e in shown] == ["message_delta", "attempt_reset", "message_delta"]
    assert (shown[2].attempt, shown[2].off) == (2, 0)
    assert end.answer == "hello"
    assert end.reason == "failover_exhausted"
    assert [a.model for a in agent.transcript[-1].attempts] == ["first"]  # type: ignore[union-attr]


async def test_offsets_count_utf16_units() -> None:
    world = World()
    agent = world.agent(
        [Delta(kind="text", text="𠮷a"), Delta(kind="text", text="b"), says("𠮷ab")]
    )
    await agent.run("go", emit=world.emit)
    assert [e.off for e in world.events if isinstance(e, MessageDelta)] == [0, 3]


async def test_c4_a_silent_stream_ends_the_turn() -> None:
    world = World()
    for replies in ([Hang()], [Delta(kind="text", text="a"), Hang()]):
        agent = world.agent(replies, limits=Limits(first_s=0.02, idle_s=0.02))
        end = await agent.run("go")
        assert (end.status, end.reason) == ("failed", "provider_error")
        assert end.failure is not None
        assert end.failure.kind == "network"


async def test_a_tool_that_takes_too_long() -> None:
    world = World()
    agent = world.agent(calls(("wait", {})), says("ok"), limits=Limits(tool_timeout_s=0.02))
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert results(agent)[0].error_type == "timeout"
    assert end.status == "done"


async def test_terminate_ends_only_if_every_result_agrees() -> None:
    world = World()
    agent = world.agent(
        calls(("finish", {"text": "no"}), ("add", {"a": 1, "b": 1})),
        calls(("finish", {"text": "yes"})),
    )
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert (end.status, end.answer, end.steps) == ("done", "yes", 2)


async def test_c1_steering_waits_for_the_whole_batch() -> None:
    world = World()
    agent = world.agent(
        calls(("add", {"a": 1, "b": 1}), ("add", {"a": 2, "b": 2}), ("add", {"a": 3, "b": 3})),
        says("ok"),
    )

    async def emit(event: object) -> None:
        await world.emit(event)
        if isinstance(event, ToolStart) and len(world.ran) == 0 and not agent._steering:
            agent.steer("shorter")

    end = await agent.run("go", emit=emit)
    check(agent, world, end)
    assert len(world.ran) == 3
    last = agent.client.snapshots[-1]  # type: ignore[attr-defined]
    assert isinstance(last[-1], User)
    assert (last[-1].text, last[-1].source) == ("shorter", "steer")


async def test_steering_after_the_answer_and_follow_ups_go_on() -> None:
    world = World()
    agent = world.agent(says("one"), says("two"), says("three"))
    agent.follow_up("then this")

    async def emit(event: object) -> None:
        await world.emit(event)
        if isinstance(event, MessageEnd) and event.message.text == "one":
            agent.steer("wait, that")

    end = await agent.run("go", emit=emit)
    check(agent, world, end)
    added = [e.message for e in world.events if isinstance(e, UserAdded)]
    assert [m.source for m in added] == ["user", "steer", "follow_up"]
    assert end.answer == "three"


async def test_abort_in_the_stream_keeps_the_text() -> None:
    world = World()
    agent = world.agent(
        [Delta(kind="thinking", text="hm"), Delta(kind="text", text="half", index=1), Hang()]
    )

    async def emit(event: object) -> None:
        await world.emit(event)
        if isinstance(event, MessageDelta) and event.kind == "text":
            agent.abort()

    end = await agent.run("go", emit=emit)
    check(agent, world, end)
    assert (end.status, end.reason, end.answer) == ("stopped", "cancelled_by_user", "half")
    assert agent.client.closed == 1  # type: ignore[attr-defined]
    assert agent.transcript[-1].stop == "aborted"  # type: ignore[union-attr]


async def test_fb14_abort_in_a_tool_pairs_every_call() -> None:
    world = World()
    agent = world.agent(
        calls(("add", {"a": 1, "b": 1}), ("wait", {}), ("stubborn", {}), text="on it"), says("back")
    )
    running = asyncio.ensure_future(agent.run("go", emit=world.emit))
    await world.started.wait()
    while not any(isinstance(e, ToolEnd) for e in world.events):
        await asyncio.sleep(0)
    agent.abort()
    agent.abort()
    end = await running
    check(agent, world, end)
    assert end.status == "stopped"
    assert [(r.text, r.error_type) for r in results(agent)] == [
        ("2", None),
        ("This call was stopped before it finished.", "aborted"),
        ("went on", None),
    ]
    end = await agent.run("again")
    assert end.answer == "back"
    assert pairs_ok(agent.transcript)
    assert any(isinstance(m, User) and m.text == "go" for m in agent.transcript)


async def test_a_tool_that_never_stops_is_left_alone() -> None:
    world = World()
    held = asyncio.Event()

    @tool
    async def deaf() -> str:
        """Never stop."""
        world.started.set()
        while not held.is_set():
            try:
                await held.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    model = FakeModel(calls(("deaf", {})))
    agent = Agent(model, [deaf], limits=Limits(cleanup_s=0.01))
    running = asyncio.ensure_future(agent.run("go", emit=world.emit))
    await world.started.wait()
    agent.abort()
    end = await running
    check(agent, world, end)
    assert results(agent)[0].error_type == "aborted"
    held.set()


async def test_no_work_starts_after_an_abort() -> None:
    world = World()
    agent = world.agent(calls(("add", {"a": 1, "b": 1}), ("add", {"a": 2, "b": 2})))

    async def emit(event: object) -> None:
        await world.emit(event)
        if isinstance(event, MessageEnd):
            agent.abort()

    end = await agent.run("go", emit=emit)
    check(agent, world, end)
    assert world.ran == []
    assert [r.error_type for r in results(agent)] == ["aborted"] * 2
    assert len(agent.client.requests) == 1  # type: ignore[attr-defined]


async def test_outer_cancellation_passes_through_and_leaves_a_valid_transcript() -> None:
    world = World()
    agent = world.agent(calls(("add", {"a": 1, "b": 1}), ("wait", {})), says("on"))
    running = asyncio.ensure_future(agent.run("go", emit=world.emit))
    await world.started.wait()
    while not any(isinstance(e, ToolEnd) for e in world.events):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert pairs_ok(agent.transcript)
    assert [r.error_type for r in results(agent)] == [None, "aborted"]
    assert (await agent.resume()).answer == "on"


@pytest.mark.parametrize("at", range(9))
async def test_c24_a_listener_that_fails_at_any_event_breaks_nothing(at: int) -> None:
    world = World()
    agent = world.agent(calls(("add", {"a": 1, "b": 1}), text="x"), says("ok"))
    seen = 0

    async def emit(event: object) -> None:
        nonlocal seen
        seen += 1
        if seen == at + 1:
            raise RuntimeError("the screen is gone")
        await world.emit(event)

    end = await agent.run("go", emit=emit)
    assert pairs_ok(agent.transcript)
    assert (end.status, end.reason) == ("failed", "listener_failed")
    assert [e for e in world.events if isinstance(e, RunEnd)] == [end]


async def test_invariant_3_a_client_that_crashes_is_a_failure() -> None:
    world = World()

    class Broken(FakeModel):
        async def stream(self, request):
            yield Delta(kind="text", text="some")
            raise ZeroDivisionError("a bug")

    agent = Agent(Broken(), world.tools)
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert (end.status, end.reason, end.answer) == ("failed", "provider_error", "some")
    assert end.failure == Failure(
        kind="fatal", message="the model client crashed with ZeroDivisionError"
    )


async def test_a_stream_that_ends_without_a_message() -> None:
    world = World()
    end = await world.agent([Delta(kind="text", text="some")]).run("go")
    assert (end.status, end.reason) == ("failed", "stream_incomplete")


async def test_hooks_allow_deny_rewrite_and_fail_closed() -> None:
    world = World()
    decisions = {
        1: Allow(),
        2: Deny(error_type="denied", text="not now", details={"why": "later"}),
        3: Rewrite(arguments={"a": 30, "b": 3}),
        4: Rewrite(arguments={"a": "x", "b": 3}),
    }

    async def before(call, args):
        if args.a == 5:
            raise RuntimeError("broken rule")
        return decisions[args.a]

    agent = world.agent(
        calls(*[("add", {"a": n, "b": 3}) for n in range(1, 6)]),
        says("ok"),
        hooks=Hooks(before_tool=before),
    )
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    assert [r.error_type for r in results(agent)] == [
        None,
        "denied",
        None,
        "invalid_arguments",
        "denied",
    ]
    assert [r.details for r in results(agent)] == [None, {"why": "later"}, None, None, None]
    assert world.ran == [(1, 3), (30, 3)]


async def test_after_tool_changes_or_fails() -> None:
    world = World()

    async def after(call, result):
        if result.text == "2":
            raise RuntimeError("broken")
        return ToolResult(call_id=result.call_id, name=result.name, content=(Text(text="changed"),))

    agent = world.agent(
        calls(("add", {"a": 1, "b": 1}), ("add", {"a": 2, "b": 2})),
        says("ok"),
        hooks=Hooks(after_tool=after),
    )
    await agent.run("go", emit=world.emit)
    assert [(r.text, r.error_type) for r in results(agent)] == [
        ("The result of this call could not be processed.", "failed"),
        ("changed", None),
    ]


@pytest.mark.parametrize("replies", [[calls(("add", {"a": 1, "b": 1}))], [says("x")]])
async def test_after_turn_may_end_the_run(replies) -> None:
    world = World()

    async def after(turn):
        return "budget"

    end = await world.agent(*replies, hooks=Hooks(after_turn=after)).run("go")
    assert end.reason == "budget"


async def test_prepare_gives_the_view_of_one_request() -> None:
    world = World()

    async def prepare(transcript):
        return transcript[-1:]

    agent = world.agent(calls(("add", {"a": 1, "b": 1})), says("ok"), hooks=Hooks(prepare=prepare))
    end = await agent.run("go")
    assert end.status == "done"
    assert [len(s) for s in agent.client.snapshots] == [1, 1]  # type: ignore[attr-defined]


async def test_progress_reaches_the_listener_from_a_thread_too() -> None:
    world = World()

    @tool
    def slow(ctx: ToolContext) -> str:
        """Count in a thread."""
        for n in range(3):
            ctx.update(f"part {n}", n / 3)
        return "done"

    agent = Agent(FakeModel(calls(("slow", {})), says("ok")), [slow])
    end = await agent.run("go", emit=world.emit)
    check(agent, world, end)
    lines = [e.text for e in world.events if isinstance(e, ToolUpdate)]
    assert set(lines) <= {"part 0", "part 1", "part 2"}
    assert "slow" not in json.dumps(agent.client.requests[0].tools[0].parameters)  # type: ignore[attr-defined]


async def test_resume_runs_only_the_calls_without_a_result() -> None:
    world = World()
    asked = calls(("add", {"a": 1, "b": 1}), ("add", {"a": 2, "b": 2}), ("add", {"a": 3, "b": 3}))
    agent = world.agent(says("ok"))
    agent.transcript += [
        User(content=(Text(text="go"),)),
        asked,
        ToolResult(call_id=asked.calls[1].id, name="add", content=(Text(text="kept"),)),
    ]
    end = await agent.resume(emit=world.emit)
    assert pairs_ok(agent.transcript)
    assert [r.text for r in results(agent)] == ["2", "kept", "6"]
    assert world.ran == [(1, 1), (3, 3)]
    assert (end.status, end.tool_calls, end.steps) == ("done", 3, 2)


async def test_resume_of_a_finished_run_asks_nothing() -> None:
    world = World()
    agent = world.agent()
    agent.transcript += [User(content=(Text(text="go"),)), says("was said")]
    end = await agent.resume(emit=world.emit)
    assert (end.status, end.answer) == ("done", "was said")


async def test_resume_counts_what_was_done_before() -> None:
    world = World()
    agent = world.agent(says("enough"), limits=Limits(model_calls=2))
    agent.transcript.append(User(content=(Text(text="go"),)))
    for n in range(2):
        asked = calls(("add", {"a": n, "b": 1}))
        agent.transcript += [
            asked,
            ToolResult(call_id=asked.calls[0].id, name="add", content=(Text(text="1"),)),
        ]
    end = await agent.resume(emit=world.emit)
    assert (end.status, end.reason, end.steps) == ("partial", "max_steps", 3)


async def test_e3_10_two_runs_at_once_are_misuse() -> None:
    world = World()
    agent = world.agent(calls(("wait", {})), says("ok"))
    first = asyncio.ensure_future(agent.run("go"))
    await world.started.wait()
    with pytest.raises(AgentBusy, match="running already"):
        await agent.run("me too")
    world.gate.set()
    assert (await first).status == "done"


async def test_stream_gives_every_event_and_ends() -> None:
    world = World()
    agent = world.agent(calls(("add", {"a": 1, "b": 1})), says("ok"))
    async with agent.stream("go") as events:
        seen = [event async for event in events]
    assert isinstance(seen[-1], RunEnd)
    assert events.end is seen[-1]
    assert [e.text for e in seen if isinstance(e, MessageDelta)] == ["ok"]


async def test_d1_leaving_the_stream_early_stops_the_run_and_leaks_nothing() -> None:
    world = World()
    agent = world.agent(calls(("wait", {})))
    before = asyncio.all_tasks()
    async with agent.stream("go") as events:
        async for event in events:
            if isinstance(event, ToolStart):
                break
    assert asyncio.all_tasks() == before
    assert pairs_ok(agent.transcript)
    gc.collect()


async def test_a_slow_reader_holds_the_run_back() -> None:
    world = World()
    pieces = [Delta(kind="text", text="x") for _ in range(2000)]
    agent = world.agent([*pieces, says("x" * 2000)])
    most = 0
    async with agent.stream("go") as events:
        async for _ in events:
            most = max(most, len(events._events))
    assert most <= 256


async def test_not_streaming_gives_whole_messages() -> None:
    world = World()
    agent = world.agent(says("whole"), streaming=False)
    end = await agent.run("go", emit=world.emit)
    assert end.answer == "whole"
    assert not [e for e in world.events if isinstance(e, MessageDelta)]


def test_every_reason_has_words_in_both_languages() -> None:
    for code, row in REASONS.items():
        assert row.code == code
        assert row.zh
        assert row.en
        assert row.zh != row.en
