"""Limits as tables: what happens in, verdicts out (FB06-FB10, FBx2)."""

from __future__ import annotations

import pytest

from wenfang.core import (
    DIALECTS,
    Assistant,
    CallDone,
    CallDue,
    Deny,
    Hint,
    Limits,
    ModelDone,
    ModelDue,
    Ok,
    Stop,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    tagged,
    user,
)

DUE = ModelDue(seconds=0.0)


def play(guard, calls: str, results: dict[str, object] | None = None) -> list[str]:
    """Letters are calls; each result is the same for the same letter unless `results` is an iterator."""
    out = []
    for at, letter in enumerate(calls):
        call = ToolCall(id=f"c{at}", name=letter, arguments={"x": 1})
        verdict = guard.observe(CallDue(call=call))
        if isinstance(verdict, Stop):
            out.append("stop")
            continue
        text = next(results) if results is not None else letter
        result = ToolResult(call_id=call.id, name=letter, content=(Text(text=text),))
        out.append(
            "hint" if isinstance(guard.observe(CallDone(call=call, result=result)), Hint) else "ok"
        )
    return out


@pytest.mark.parametrize(
    ("calls", "verdicts"),
    [
        ("AAAAA", "ok ok hint hint stop"),
        ("AAAAAA", "ok ok hint hint stop stop"),
        ("ABABAB", "ok ok ok hint hint stop"),
        ("ABCABCA", "ok ok ok ok hint hint stop"),
        ("ABCDABCD", "ok ok ok ok ok ok ok ok"),
        ("AABAAB", "ok ok ok ok hint hint"),
        ("AABBCC", "ok ok ok ok ok ok"),
        ("BAAAA", "ok ok ok hint hint"),
        ("AAABAAAA", "ok ok hint ok ok hint hint hint"),
    ],
)
def test_fb10_repeats(calls: str, verdicts: str) -> None:
    assert play(Limits().start(), calls) == verdicts.split()


def test_fb10_polling_with_changing_results_is_allowed() -> None:
    assert set(play(Limits().start(), "A" * 50, iter(map(str, range(50))))) == {"ok"}


def test_fb10_identical_calls_of_one_batch_are_stopped_before_they_run() -> None:
    guard = Limits().start()
    verdicts = [
        guard.observe(CallDue(call=ToolCall(id=f"c{n}", name="add", arguments={"a": 1})))
        for n in range(8)
    ]
    assert [isinstance(v, Stop) for v in verdicts] == [False] * 4 + [True] * 4


def test_fb10_arguments_are_compared_by_value() -> None:
    guard = Limits(repeat_block=2).start()
    first = CallDue(call=ToolCall(id="1", name="t", arguments={"a": 1, "b": {"x": 2.0, "y": [1]}}))
    second = CallDue(call=ToolCall(id="2", name="t", arguments={"b": {"y": [1.0], "x": 2}, "a": 1}))
    assert isinstance(guard.observe(first), Ok)
    assert isinstance(guard.observe(second), Stop)


def test_model_calls() -> None:
    guard = Limits(model_calls=2).start()
    assert [type(guard.observe(DUE)) for _ in range(3)] == [Ok, Ok, Stop]
    assert guard.stopped is not None
    assert guard.stopped.reason == "max_steps"
    assert guard.stopped.answer_turn


def test_tool_calls_and_the_first_stop_stays() -> None:
    guard = Limits(tool_calls=1, model_calls=1).start()
    assert play(guard, "AB") == ["ok", "stop"]
    guard.observe(DUE)
    guard.observe(DUE)
    assert guard.stopped is not None
    assert guard.stopped.reason == "max_tool_calls"


def test_tokens_count_given_up_attempts_too() -> None:
    from wenfang.core import Attempt, Failure

    guard = Limits(tokens=20).start()
    attempt = Attempt(
        model="a", failure=Failure(kind="rate", message=""), usage=Usage(input=8, output=2)
    )
    reply = Assistant(
        content=(Text(text="x"),), stop="stop", usage=Usage(input=5, output=4), attempts=(attempt,)
    )
    guard.observe(ModelDone(reply=reply))
    assert isinstance(guard.observe(DUE), Ok)
    guard.observe(
        ModelDone(reply=Assistant(content=(Text(text="x"),), stop="stop", usage=Usage(input=1)))
    )
    verdict = guard.observe(DUE)
    assert isinstance(verdict, Stop)
    assert (verdict.reason, verdict.answer_turn) == ("budget", False)


@pytest.mark.parametrize(
    ("seconds", "stops"), [(0.0, False), (9.9, False), (10.0, True), (11.0, True)]
)
def test_wall_clock(seconds: float, stops: bool) -> None:
    verdict = Limits(wall_s=10).start().observe(ModelDue(seconds=seconds))
    assert isinstance(verdict, Stop) is stops
    if isinstance(verdict, Stop):
        assert (verdict.reason, verdict.answer_turn) == ("deadline", False)


def result(error_type: str | None) -> CallDone:
    call = ToolCall(id="c", name="t", arguments={})
    return CallDone(
        call=call,
        result=ToolResult(
            call_id="c",
            name="t",
            content=(),
            is_error=error_type is not None,
            error_type=error_type,
        ),
    )


def test_fb08_one_budget_for_all_invented_names() -> None:
    guard = Limits().start()
    assert [type(guard.observe(result(e))) for e in ("unknown_tool", None, "unknown_tool")] == [
        Ok
    ] * 3
    verdict = guard.observe(result("unknown_tool"))
    assert isinstance(verdict, Stop)
    assert verdict.reason == "invalid_model_output"


@pytest.mark.parametrize(
    ("rounds", "stops_at"),
    [
        ([["malformed"]] * 4, 3),
        ([["truncated"], ["invalid_arguments"], ["malformed"], ["malformed"]], 3),
        ([["malformed"], ["malformed"], [None], ["malformed"], ["malformed"]], None),
        ([["malformed", None]] * 6, None),
        ([["failed"]] * 6, None),
    ],
)
def test_fb06_fb07_unusable_calls_in_a_row(rounds, stops_at) -> None:
    guard = Limits().start()
    for at, errors in enumerate(rounds, 1):
        guard.observe(DUE)
        if guard.stopped:
            assert at - 1 == stops_at
            return
        for error in errors:
            guard.observe(result(error))
    guard.observe(DUE)
    assert (len(rounds) if guard.stopped else None) == stops_at


def unread(raw: str | None, *, error: str | None = "it ends early") -> CallDone:
    call = ToolCall(id="c", name="t", arguments={}, error=error, raw=raw)
    kind = "malformed" if error else None
    return CallDone(
        call=call, result=ToolResult(call_id="c", name="t", content=(), error_type=kind)
    )


@pytest.mark.parametrize(
    ("calls", "stops_at"),
    [
        pytest.param([unread("x"), unread("x")], 2, id="the same twice"),
        pytest.param(
            [unread("x"), unread("y"), unread("x")], None, id="each differs from the last"
        ),
        pytest.param([unread("x"), unread("y"), unread("y")], 3, id="the same after another"),
        pytest.param([unread("x"), result(None), unread("x")], None, id="a good call between"),
        pytest.param([unread(None)] * 3, None, id="nothing was kept of the text"),
        pytest.param([unread("x", error=None)] * 3, None, id="repaired and run"),
        pytest.param([unread("x", error="a"), unread("x", error="b")], 2, id="another reason"),
    ],
)
def test_dialects_5_11_the_same_unreadable_text(calls: list, stops_at: int | None) -> None:
    guard = Limits(invalid_output=99).start(tagged.limits())
    seen = None
    for at, event in enumerate(calls, 1):
        guard.observe(DUE)
        guard.observe(event)
        seen = seen or (at if guard.stopped else None)
    assert seen == stops_at
    if guard.stopped:
        assert guard.stopped.reason == "invalid_model_output"
        assert guard.stopped.answer_turn


def test_dialects_5_11_the_same_text_before_an_interruption_counts() -> None:
    call = ToolCall(id="r", name="t", arguments={}, error="it ends early", raw="x")
    guard = Limits().start(tagged.limits())
    result = ToolResult(call_id="r", name="t", content=(), error_type="malformed")
    guard.replay([Assistant(content=(call,), stop="tool_use"), result])
    assert guard.stopped is None
    assert isinstance(guard.observe(unread("x")), Stop)


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_5_11_where_calls_are_text(name: str) -> None:
    guard = Limits().start(DIALECTS[name].limits())
    for _ in range(2):
        guard.observe(unread("x"))
    assert (guard.stopped is None) is (name == "native")


def test_fbx2_an_empty_reply_is_asked_for_once_more() -> None:
    guard = Limits().start()
    empty = ModelDone(reply=Assistant(content=(Text(text=" \n"),), stop="stop"))
    kinds = []
    for _ in range(3):
        kinds.append(type(guard.observe(DUE)))
        guard.observe(empty)
    assert kinds == [Ok, Ok, Stop]
    assert guard.stopped is not None
    assert not guard.stopped.answer_turn


def test_an_answer_between_ends_the_row_of_empty_replies() -> None:
    guard = Limits().start()
    empty = ModelDone(reply=Assistant(content=(), stop="stop"))
    spoken = ModelDone(reply=Assistant(content=(Text(text="x"),), stop="stop"))
    for event in (DUE, empty, DUE, spoken, DUE, empty):
        guard.observe(event)
    assert isinstance(guard.observe(DUE), Ok)


def test_replay_counts_but_forgets_old_verdicts() -> None:
    messages = []
    for n in range(3):
        call = ToolCall(id=f"r{n}", name="t", arguments={"n": n})
        messages.append(Assistant(content=(call,), stop="tool_use"))
        messages.append(ToolResult(call_id=call.id, name="t", content=(Text(text="x"),)))
    guard = Limits(model_calls=4, tool_calls=3).start()
    guard.replay(messages)
    assert guard.stopped is None
    assert isinstance(guard.observe(DUE), Ok)
    assert play(guard, "A") == ["stop"]
    full = Limits(model_calls=2).start()
    full.replay(messages)
    assert isinstance(full.observe(DUE), Stop)


def test_replay_counts_tokens_and_passes_over_what_is_not_of_a_call() -> None:
    guard = Limits(tokens=10, tool_calls=2).start()
    call = ToolCall(id="r", name="t", arguments={})
    asked = Assistant(content=(call,), stop="tool_use", usage=Usage(input=9, output=1))
    answered = ToolResult(call_id="r", name="t", content=())
    foreign = ToolResult(call_id="other", name="t", content=())
    guard.replay([user("go"), asked, answered, foreign, user("more")])
    assert guard.stopped is None
    assert play(guard, "A") == ["ok"]
    verdict = guard.observe(DUE)
    assert isinstance(verdict, Stop)
    assert verdict.reason == "budget"


def test_replay_remembers_results_and_bad_calls() -> None:
    """A call that changes its result is no repeat; an invented name counts, also from before."""
    messages: list = []
    for n in range(4):
        call = ToolCall(id=f"r{n}", name="A", arguments={"x": 1})
        text = "A" if n else "first"
        messages += [
            Assistant(content=(call,), stop="tool_use"),
            ToolResult(call_id=call.id, name="A", content=(Text(text=text),)),
        ]
    guard = Limits().start()
    guard.replay(messages)
    assert play(guard, "AA") == ["hint", "stop"]
    names = Limits(invented_names=2).start()
    call = ToolCall(id="r", name="x", arguments={})
    unknown = result("unknown_tool").result
    names.replay(
        [
            Assistant(content=(call,), stop="tool_use"),
            ToolResult(call_id="r", name="x", content=(), error_type=unknown.error_type),
        ]
    )
    assert isinstance(names.observe(result("unknown_tool")), Stop)


@pytest.mark.parametrize(
    ("reply", "is_empty"),
    [
        (Assistant(content=(), stop="stop"), True),
        (Assistant(content=(), stop="tool_use"), True),
        (Assistant(content=(), stop="length"), False),
        (Assistant(content=(), stop="aborted"), False),
        (Assistant(content=(Text(text="x"),), stop="tool_use"), False),
        (
            Assistant(content=(ToolCall(id="c", name="t", arguments={}),), stop="tool_use"),
            False,
        ),
    ],
)
def test_fbx2_what_counts_as_empty(reply: Assistant, is_empty: bool) -> None:
    guard = Limits(empty_replies=0).start()
    guard.observe(ModelDone(reply=reply))
    assert isinstance(guard.observe(DUE), Stop) is is_empty


def test_fb06_unusable_calls_before_the_first_request_count() -> None:
    guard = Limits(invalid_output=0).start()
    guard.observe(result("malformed"))
    assert isinstance(guard.observe(DUE), Stop)


class Says:
    """A limit of somebody else's that always says the same."""

    def __init__(self, verdict: object) -> None:
        self.verdict = verdict

    def observe(self, event: object) -> object:
        return self.verdict


NO, NEVER = Deny(error_type="denied", text="no"), Deny(error_type="denied", text="never")
END, LATER = Stop(reason="budget", text="end"), Stop(reason="deadline", text="later")


@pytest.mark.parametrize(
    ("verdicts", "together"),
    [
        ([], Ok()),
        ([Ok(), Ok()], Ok()),
        ([Hint(text="a"), Ok(), Hint(text="b")], Hint(text="a\nb")),
        ([Hint(text="a"), NO, NEVER], NO),
        ([NO, END, LATER, Hint(text="a")], END),
    ],
)
def test_the_strictest_verdict_holds(verdicts: list, together: object) -> None:
    guard = Limits().start(Says(each) for each in verdicts)  # type: ignore[misc]
    assert guard.observe(DUE) == together
    assert guard.stopped == (together if isinstance(together, Stop) else None)
