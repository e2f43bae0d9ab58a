"""Runs that begin, go on and fail: what `run_loop` and `Agent.resume` count, keep and ask (A5, D1)."""

from __future__ import annotations

import pytest
from tests.core.scripted import FakeModel, calls, pairs_ok, says

from wenfang.core import (
    Abort,
    Agent,
    Assistant,
    AttemptReset,
    Delta,
    Failure,
    Hooks,
    Image,
    Limits,
    MessageDelta,
    ModelError,
    ModelStart,
    Notice,
    Reset,
    RunEnd,
    System,
    Text,
    Thinking,
    Toolbox,
    ToolOutput,
    ToolResult,
    Usage,
    User,
    native,
    run_loop,
    schema_steps,
    tool,
    user,
)

pytestmark = pytest.mark.anyio


@tool
async def add(a: int, b: int = 1) -> str:
    """Add."""
    return str(a + b)


@tool
async def finish(text: str) -> ToolOutput:
    """End the run."""
    return ToolOutput(content=text, terminate=True)


TOOLS = [add, finish]


def result_of(asked: Assistant, at: int = 0, text: str = "1", **more: object) -> ToolResult:
    call = asked.calls[at]
    return ToolResult(call_id=call.id, name=call.name, content=(Text(text=text),), **more)  # type: ignore[arg-type]


async def ignore(event: object) -> None:
    pass


# run_loop with nothing said


async def test_a_run_with_nothing_but_a_model() -> None:
    model, transcript, events = FakeModel(says("hello")), [], []

    async def emit(event: object) -> None:
        events.append(event)

    end = await run_loop(transcript, model, Toolbox(), dialect=native, emit=emit)
    assert (end.status, end.answer, end.steps, end.tool_calls) == ("done", "hello", 1, 0)
    assert [m.role for m in transcript] == ["assistant"]
    assert (model.requests[0].stream, model.requests[0].tool_choice) == (True, "auto")
    (start,) = (e for e in events if isinstance(e, ModelStart))
    assert (start.step, start.model) == (1, "fake")
    assert start.message_id.startswith("msg_")


async def test_what_is_handed_in_is_used() -> None:
    abort, seen = Abort(), []

    async def prepare(transcript):
        seen.append(len(transcript))
        abort.request()
        return transcript

    end = await run_loop(
        [user("go")],
        FakeModel(says("no")),
        Toolbox(),
        dialect=native,
        emit=ignore,
        abort=abort,
        hooks=Hooks(prepare=prepare),
    )
    assert (end.status, seen) == ("stopped", [1])


async def test_an_old_answer_at_the_end_is_no_answer_to_this_run() -> None:
    model = FakeModel(says("new"))
    transcript = [user("go"), says("old")]
    end = await run_loop(transcript, model, Toolbox(), dialect=native, emit=ignore)
    assert (end.answer, end.steps) == ("new", 1)


async def test_ids_are_minted_with_the_name_of_their_kind() -> None:
    minted: list[str] = []

    def mint(prefix: str) -> str:
        minted.append(prefix)
        return f"{prefix}-{len(minted)}"

    step = '{"thought": "", "action": "add", "input": {"a": 1}}'
    final = '{"thought": "", "action": "final", "answer": "2"}'
    agent = Agent(FakeModel(says(step), says(final)), TOOLS, dialect=schema_steps, new_id=mint)
    end = await agent.run("go")
    assert end.answer == "2"
    assert minted == ["msg", "call", "msg"]
    assert [m.call_id for m in agent.transcript if isinstance(m, ToolResult)] == ["call-2"]


async def test_what_an_agent_asks_by_default() -> None:
    model = FakeModel(says("a"), says("b"))
    await Agent(model, TOOLS).run("go")
    await Agent(model, Toolbox(TOOLS), streaming=False).run("go")
    assert [(r.tool_choice, r.stream) for r in model.requests] == [("auto", True), ("auto", False)]
    assert [[t.name for t in r.tools] for r in model.requests] == [["add", "finish"]] * 2


async def test_messages_of_hooks_and_of_the_agent_are_read_one_after_the_other() -> None:
    outside = [user("from outside", source="steer")]

    def steering() -> tuple[User, ...]:
        return (outside.pop(),) if outside else ()

    agent = Agent(FakeModel(says("a"), says("b"), says("c")), hooks=Hooks(steering=steering))
    agent.steer("one")
    agent.steer("two")
    agent.follow_up("three")
    end = await agent.run("go")
    assert end.answer == "c"
    assert [m.text for m in agent.transcript] == [
        *("go", "from outside", "one", "a", "two", "b", "three", "c")
    ]


# Failures


FAILURES = {
    ("rate", False): "provider_error",
    ("rate", True): "failover_exhausted",
    ("overload", False): "provider_error",
    ("overload", True): "failover_exhausted",
    ("network", False): "provider_error",
    ("network", True): "failover_exhausted",
    ("auth", True): "provider_error",
    ("quota", True): "provider_error",
    ("fatal", True): "provider_error",
    ("refused", True): "refused",
    ("overflow", True): "context_overflow",
    ("stream_incomplete", True): "stream_incomplete",
}


@pytest.mark.parametrize(("kind", "was_tried"), FAILURES)
@pytest.mark.parametrize("in_last_turn", [False, True])
async def test_fb01_fb02_why_a_run_fails(kind: str, was_tried: bool, in_last_turn: bool) -> None:
    reset = Reset(attempt=2, failure=Failure(kind="network", message="gone"), usage=Usage(input=3))
    pieces = [*([reset] if was_tried else []), ModelError(kind, "why", usage=Usage(input=4))]  # type: ignore[arg-type]
    before = [calls(("add", {"a": 1}))] if in_last_turn else []
    agent = Agent(FakeModel(*before, pieces), TOOLS, limits=Limits(model_calls=len(before) or 9))
    end = await agent.run("go")
    assert (end.status, end.reason) == ("failed", FAILURES[kind, was_tried])
    assert end.failure == Failure(kind=kind, message="why")  # type: ignore[arg-type]
    assert end.usage.input == 10 * len(before) + 4 + 3 * was_tried


@pytest.mark.parametrize("name", ["prepare", "after_turn", "steering", "follow_up"])
@pytest.mark.parametrize("first", [calls(("add", {"a": 1})), says("said")])
async def test_a_hook_that_crashes_is_an_internal_error(name: str, first: Assistant) -> None:
    def crash(*given: object) -> None:
        raise ZeroDivisionError("a bug")

    async def crash_later(*given: object) -> None:
        crash()

    hook = crash_later if name in ("prepare", "after_turn") else crash
    agent = Agent(FakeModel(first, says("said")), TOOLS, hooks=Hooks(**{name: hook}))  # type: ignore[arg-type]
    events: list[object] = []

    async def emit(event: object) -> None:
        events.append(event)

    end = await agent.run("go", emit=emit)
    assert (end.status, end.reason) == ("failed", "internal_error")
    assert events[-1] is end
    assert pairs_ok(agent.transcript)


async def test_fb02_tries_are_numbered_and_named() -> None:
    failure = Failure(kind="network", message="reset")
    word = Delta(kind="text", text="a")
    reset = Reset(attempt=2, failure=failure, usage=Usage(input=7))
    agent = Agent(FakeModel([word, reset, word, word, ModelError("fatal", "why")]))
    events: list[object] = []

    async def emit(event: object) -> None:
        events.append(event)

    await agent.run("go", emit=emit)
    shown = [
        (e.type, e.step, e.attempt, e.off if isinstance(e, MessageDelta) else e.failure)
        for e in events
        if isinstance(e, MessageDelta | AttemptReset)
    ]
    assert shown == [
        ("message_delta", 1, 1, 0),
        ("attempt_reset", 1, 2, failure),
        ("message_delta", 1, 2, 0),
        ("message_delta", 1, 2, 1),
    ]
    reply = agent.transcript[-1]
    assert isinstance(reply, Assistant)
    assert [a.model for a in reply.attempts] == ["fake"]
    assert (reply.text, reply.stop, reply.model) == ("aa", "error", "fake")


@pytest.mark.parametrize("how", ["abort", "error"])
async def test_what_is_kept_of_a_reply_that_broke_off(how: str) -> None:
    deltas = [
        Delta(kind="thinking", text="h"),
        Delta(kind="text", text="长" * 100, index=1),
        Delta(kind="thinking", text="m"),
        Delta(kind="call", text='{"a"', index=2, name="add"),
    ]
    agent = Agent(FakeModel([*deltas, ModelError("refused", "why")]), TOOLS)

    async def emit(event: object) -> None:
        if how == "abort" and isinstance(event, MessageDelta) and event.kind == "call":
            agent.abort()

    await agent.run("go", emit=emit)
    reply = agent.transcript[-1]
    assert isinstance(reply, Assistant)
    assert reply.content == (Thinking(text="hm"), Text(text="长" * 100))
    assert (reply.stop, reply.model) == ("error", "fake")
    assert reply.usage.estimated
    assert reply.usage.output == 87 + 1 + 1


async def test_an_abort_in_the_last_turn_and_a_notice_before_it() -> None:
    agent = Agent(
        FakeModel(calls(("add", {"a": 1})), says("never")), TOOLS, limits=Limits(model_calls=1)
    )
    notices: list[Notice] = []

    async def emit(event: object) -> None:
        if isinstance(event, Notice):
            notices.append(event)
        if isinstance(event, ModelStart) and event.step == 2:
            agent.abort()

    end = await agent.run("go", emit=emit)
    assert notices == [Notice(code="limit_reached", params={"reason": "max_steps"})]
    assert (end.status, end.reason) == ("stopped", "cancelled_by_user")
    assert agent.transcript[-1].stop == "aborted"  # type: ignore[union-attr]
    assert len(agent.client.requests) == 1  # type: ignore[attr-defined]


async def test_a_spent_budget_asks_for_no_more_words() -> None:
    model = FakeModel(calls(("add", {"a": 1}), text="so far"))
    end = await Agent(model, TOOLS, limits=Limits(tokens=15)).run("go")
    assert (end.status, end.reason, end.answer) == ("partial", "budget", "so far")
    assert len(model.requests) == 1


async def test_what_was_said_beside_a_last_call_stays_the_answer() -> None:
    for text, answer in (("", "end"), ("said", "said")):
        model = FakeModel(calls(("finish", {"text": "end"}), text=text))
        end = await Agent(model, TOOLS).run("go")
        assert (end.status, end.answer) == ("done", answer)


# Going on


def before(*messages: object) -> list:
    return [System(content="Be brief."), user("an older task"), says("done"), *messages]


async def resumed(agent: Agent, *messages: object) -> RunEnd:
    agent.transcript += messages  # type: ignore[arg-type]
    end = await agent.resume()
    assert pairs_ok(agent.transcript)
    return end


async def test_only_what_came_after_the_newest_question_counts() -> None:
    asked = calls(("add", {"a": 1}), text="looking")
    model = FakeModel(says("ok"))
    agent = Agent(model, TOOLS, tool_choice="required")
    end = await resumed(
        agent,
        *before(user("go"), asked, result_of(asked), user("shorter", source="steer")),
    )
    assert (end.answer, end.steps, end.tool_calls) == ("ok", 2, 1)
    assert end.usage == Usage(input=20, output=7)
    assert model.requests[0].tool_choice == "auto"


async def test_a_call_that_is_still_required_after_an_interruption() -> None:
    model = FakeModel(calls(("add", {"a": 1})), says("ok"))
    await resumed(Agent(model, TOOLS, tool_choice="required"), *before(user("go")))
    assert [r.tool_choice for r in model.requests] == ["required", "auto"]


async def test_fb09_what_was_no_call_before_an_interruption_leaves_it_required() -> None:
    asked = calls(("fly", {}))
    model = FakeModel(calls(("add", {"a": 1})), says("ok"))
    refused = result_of(asked, error_type="unknown_tool")
    await resumed(Agent(model, TOOLS, tool_choice="required"), *before(user("go"), asked, refused))
    assert [r.tool_choice for r in model.requests] == ["required", "auto"]


async def test_what_was_said_before_is_the_answer_if_nothing_comes() -> None:
    asked = calls(("add", {"a": 1}), text="so far")
    silent = calls(("add", {"a": 2}))
    agent = Agent(FakeModel(), TOOLS, limits=Limits(tokens=1))
    end = await resumed(
        agent, *before(user("go"), asked, result_of(asked), silent, result_of(silent))
    )
    assert (end.status, end.answer, end.steps) == ("partial", "so far", 2)


async def test_usage_of_given_up_tries_counts_after_an_interruption() -> None:
    from dataclasses import replace

    from wenfang.core import Attempt

    attempt = Attempt(
        model="a", failure=Failure(kind="rate", message=""), usage=Usage(input=100, output=1)
    )
    asked = replace(calls(("add", {"a": 1})), attempts=(attempt,))
    agent = Agent(FakeModel(says("ok")), TOOLS)
    end = await resumed(agent, *before(user("go"), asked, result_of(asked)))
    assert end.usage == Usage(input=120, output=8)


@pytest.mark.parametrize("stop", ["error", "aborted", "length"])
async def test_a_reply_that_broke_off_is_asked_for_again(stop: str) -> None:
    agent = Agent(FakeModel(says("whole")), TOOLS)
    end = await resumed(agent, *before(user("go"), says("half", stop=stop)))
    assert (end.answer, end.steps) == ("whole", 2)


async def test_an_empty_reply_is_asked_for_again() -> None:
    agent = Agent(FakeModel(says("whole")), TOOLS)
    end = await resumed(agent, *before(user("go"), says(" ")))
    assert (end.answer, end.steps) == ("whole", 2)


async def test_a_last_call_that_comes_to_run_ends_the_run() -> None:
    agent = Agent(FakeModel(), TOOLS)
    end = await resumed(agent, *before(user("go"), calls(("finish", {"text": "end"}))))
    assert (end.status, end.answer, end.steps, end.tool_calls) == ("done", "end", 1, 1)


async def test_calls_without_a_question_run_too() -> None:
    agent = Agent(FakeModel(says("ok")), TOOLS)
    end = await resumed(agent, calls(("add", {"a": 1})))
    assert (end.answer, end.steps, end.tool_calls) == ("ok", 2, 1)
    assert isinstance(agent.transcript[1], ToolResult)
    assert agent.transcript[1].text == "2"


@pytest.mark.parametrize(
    ("limits", "known", "errors"),
    [
        (Limits(tool_calls=1), {}, [None, "limit"]),
        (Limits(tool_calls=2), {}, [None, None]),
        (
            Limits(invented_names=1),
            {"is_error": True, "error_type": "unknown_tool"},
            ["unknown_tool", "limit"],
        ),
        (Limits(repeat_block=2), {}, [None, "limit"]),
    ],
)
async def test_a_known_result_of_an_open_batch_counts_against_the_limits(
    limits: Limits, known: dict, errors: list
) -> None:
    asked = calls(("add", {"a": 1}), ("add", {"a": 1}))
    agent = Agent(FakeModel(says("ok")), TOOLS, limits=limits)
    end = await resumed(agent, *before(user("go"), asked, result_of(asked, text="kept", **known)))
    assert [m.error_type for m in agent.transcript if isinstance(m, ToolResult)] == errors
    assert end.tool_calls == 2


async def test_a_picture_in_a_prompt_is_sent_as_it_is() -> None:
    prompt = User(content=(Text(text="see"), Image(data="AA==", media_type="image/png")))
    model = FakeModel(says("ok"))
    await Agent(model).run(prompt)
    assert model.snapshots[0][0] is prompt
