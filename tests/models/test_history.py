"""Engine A3: a transcript as a provider may see it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wenfang.core import (
    Assistant,
    Message,
    ModelRequest,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    user,
)
from wenfang.models import Profile, repair_history
from wenfang.models.wire import RequestEncoder


def reply(*ids: str, text: str = "", stop: Any = "tool_use") -> Assistant:
    blocks: list[Any] = [Text(text=text)] if text else []
    blocks += [ToolCall(id=each, name="add", arguments={}) for each in ids]
    return Assistant(content=tuple(blocks), stop=stop)


def result(call_id: str, text: str = "ok") -> ToolResult:
    return ToolResult(call_id=call_id, name="add", content=(Text(text=text),))


def ids(messages: list[Message]) -> list[str]:
    return [m.call_id if isinstance(m, ToolResult) else m.role for m in messages]


def test_failed_stopped_and_empty_replies_are_left_out() -> None:
    thought = Assistant(content=(Thinking(text="hm"),), stop="stop")
    messages = [
        user("a"),
        reply(text="x", stop="error"),
        reply("c0", text="x", stop="aborted"),
        result("c0"),
        thought,
        reply(stop="stop"),
        user("b"),
    ]
    assert ids(repair_history(messages)) == ["user", "user"]


def test_a_missing_result_says_interrupted() -> None:
    mended = repair_history([user("a"), reply("c1", "c2"), result("c2"), user("b"), reply("c3")])
    assert ids(mended) == ["user", "assistant", "c1", "c2", "user", "assistant", "c3"]
    missing = [m for m in mended if isinstance(m, ToolResult) and m.error_type == "interrupted"]
    assert [m.call_id for m in missing] == ["c1", "c3"]
    assert all(m.is_error and "interrupted" in m.text for m in missing)


def test_results_are_put_in_call_order_after_their_call() -> None:
    mended = repair_history([reply("c1", "c2"), user("b"), result("c2"), result("c1", "1")])
    assert ids(mended) == ["assistant", "c1", "c2", "user"]


def test_stray_and_second_results_are_left_out() -> None:
    mended = repair_history(
        [result("c0"), reply("c1"), result("c1", "first"), result("c1", "again")]
    )
    assert ids(mended) == ["assistant", "c1"]
    assert mended[1].content == (Text(text="first"),)


def test_of_two_calls_with_one_id_the_last_stays() -> None:
    twins = Assistant(
        content=(
            Text(text="x"),
            ToolCall(id="c1", name="add", arguments={"a": 1}),
            ToolCall(id="c1", name="add", arguments={"a": 2}),
        ),
        stop="tool_use",
    )
    mended = repair_history([twins, result("c1")])
    assert ids(mended) == ["assistant", "c1"]
    assert [dict(call.arguments) for call in mended[0].calls] == [{"a": 2}]


def test_an_id_used_again_belongs_to_the_later_reply() -> None:
    messages = [reply("c1"), result("c1", "one"), reply("c1"), result("c1", "two")]
    assert [m.text for m in repair_history(messages) if isinstance(m, ToolResult)] == ["one", "two"]


_IDS = st.sampled_from(["c1", "c2", "c3"])
_STOPS = st.sampled_from(["stop", "length", "tool_use", "error", "aborted"])
_MESSAGES = st.lists(
    st.one_of(
        st.just(user("u")),
        st.builds(lambda each, stop: reply(*each, stop=stop), st.lists(_IDS), _STOPS),
        st.builds(result, _IDS),
    ),
    max_size=10,
)


@given(_MESSAGES)
def test_every_transcript_becomes_pairable(messages: list[Message]) -> None:
    body = RequestEncoder("m", Profile()).body(ModelRequest(messages=messages))
    waiting: list[str] = []
    for message in json.loads(body)["messages"]:
        if message["role"] == "tool":
            assert waiting.pop(0) == message["tool_call_id"]
        else:
            assert not waiting
            waiting = [call["id"] for call in message.get("tool_calls", ())]
            assert len(set(waiting)) == len(waiting)
    assert not waiting


@given(_MESSAGES)
def test_mending_twice_changes_nothing(messages: list[Message]) -> None:
    once = repair_history(messages)
    assert repair_history(once) == once
