"""From facts to the message list."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from wenfang.core import Assistant, Text, ToolCall, ToolResult, Usage
from wenfang.runs.facts import (
    Fact,
    FileChanged,
    MessageFinished,
    NoticeGiven,
    RunFinished,
    RunStarted,
    SessionChanged,
    StepReset,
    StepStarted,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from wenfang.runs.fold import fold

BEGIN = RunStarted(agent="solo", model="m", dialect="native")
END = RunFinished(
    status="done", reason="completed", answer="", usage=Usage(), steps=0, tool_calls=0
)


def person(text: str, **more: object) -> Fact:
    return UserMessage(message_id="u", text=text, **more)  # type: ignore[arg-type]


def step(n: int = 1) -> Fact:
    return StepStarted(step=n, message_id=f"m{n}", model="m")


def reply(*calls: str, text: str = "") -> Fact:
    blocks = (Text(text=text),) if text else ()
    made = tuple(ToolCall(id=c, name="t", arguments={}) for c in calls)
    message = Assistant(content=(*blocks, *made), stop="tool_use" if calls else "stop")
    return MessageFinished(step=1, message_id="m1", message=message)


def started(call: str) -> Fact:
    return ToolStarted(call_id=call, name="t", args={}, access="exec", replay="unsafe")


def done(call: str) -> Fact:
    result = ToolResult(call_id=call, name="t", content=(Text(text=f"r{call}"),))
    return ToolFinished(call_id=call, name="t", args={}, result=result)


def shape(messages: list) -> list[str]:
    return [getattr(m, "call_id", None) or m.text or m.role for m in messages]


def test_results_stand_in_call_order() -> None:
    state = fold([BEGIN, person("q"), reply("a", "b"), done("b"), done("a"), step(2)])
    assert shape(state.messages) == ["q", "assistant", "a", "b"]
    assert state.tool_calls == 2


def test_an_open_batch_is_at_the_tail_only() -> None:
    state = fold([BEGIN, person("q"), reply("a", "b", "c"), started("a"), started("b"), done("b")])
    assert shape(state.messages) == ["q", "assistant"]
    assert shape(state.transcript()) == ["q", "assistant", "b"]
    assert [call.id for call in state.unanswered()] == ["a", "c"]
    assert list(state.open_calls) == ["a"]


def test_past_runs_are_paired_whatever_they_left() -> None:
    """FB14: also a journal that a crash cut."""
    facts = [
        BEGIN,
        person("one"),
        reply("a", "b", text="Partial."),
        done("b"),
        END,
        BEGIN,
        person("two"),
    ]
    state = fold(facts)
    assert shape(state.messages) == ["one", "Partial.", "a", "b", "two"]
    assert state.messages[2].error_type == "interrupted"  # type: ignore[union-attr]
    assert state.start == 4
    assert (state.steps, state.tool_calls, state.answer) == (0, 0, "")
    without_end = fold([f for f in facts if f is not END])
    assert shape(without_end.messages) == shape(state.messages)


def test_the_newest_request_without_a_reply_is_open() -> None:
    state = fold([BEGIN, person("q"), step(1)])
    assert state.open_step == step(1)
    again = fold([BEGIN, person("q"), step(1), StepReset(step=1, message_id="m1", attempt=2, reason="network")])  # fmt: skip
    assert (again.open_step, again.attempt) == (step(1), 2)
    over = fold([BEGIN, person("q"), step(1), StepReset(step=1, message_id="m1", attempt=2, reason="takeover")])  # fmt: skip
    assert over.open_step is None
    assert fold([BEGIN, person("q"), step(1), END]).open_step is None


def test_words_between_steps_close_the_batch() -> None:
    state = fold(
        [BEGIN, person("q"), reply("a"), done("a"), person("more", source="steer", signal=1)]
    )
    assert shape(state.messages) == ["q", "assistant", "a", "more"]
    assert state.messages[-1].source == "steer"  # type: ignore[union-attr]


def test_answers_and_what_is_no_message() -> None:
    others = [
        NoticeGiven(level="info", code="c"),
        FileChanged(path="a", change="created", by="ai"),
        SessionChanged(title="t"),
    ]
    state = fold([BEGIN, person("q"), reply(text="First."), *others, reply(text=" "), END])
    assert state.answer == "First."
    assert state.steps == 2
    assert len(state.messages) == 3


calls = st.lists(st.sampled_from("abcd"), unique=True, max_size=3)
facts = st.one_of(
    st.just(BEGIN),
    st.just(END),
    st.builds(person, st.sampled_from(["x", "y"])),
    st.builds(step, st.integers(1, 3)),
    calls.map(lambda ids: reply(*ids)),
    st.sampled_from("abcd").map(started),
    st.sampled_from("abcd").map(done),
    st.just(StepReset(step=1, message_id="m1", attempt=2, reason="takeover")),
)


@settings(deadline=None)
@given(st.lists(facts, max_size=30))
def test_any_journal_folds_to_a_paired_transcript(journal: list[Fact]) -> None:
    """Invariant 1, for every journal a crash could leave and many that none could."""
    state = fold([*journal, END])
    waiting: list[str] = []
    for message in state.messages:
        if isinstance(message, ToolResult):
            assert message.call_id == waiting.pop(0)
        else:
            assert not waiting
            waiting = [c.id for c in message.calls] if isinstance(message, Assistant) else []
    assert not waiting


@settings(deadline=None)
@given(st.lists(facts, max_size=20), st.data())
def test_a_prefix_and_the_rest_give_the_same_state(
    journal: list[Fact], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(journal)))
    state = fold(journal[:cut])
    for fact in journal[cut:]:
        state.add(fact)
    assert state == fold(journal)
