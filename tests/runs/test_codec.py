"""Facts to bytes and back."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wenfang.core import Assistant, Failure, Text, ToolCall, ToolResult, Usage
from wenfang.runs.codec import decode, encode, wrap
from wenfang.runs.facts import (
    BlockDelta,
    FileChanged,
    MessageFinished,
    NoticeGiven,
    RunFinished,
    RunStarted,
    SessionChanged,
    StepReset,
    StepStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    UserMessage,
)

RESULT = ToolResult(call_id="c", name="n", content=(Text(text="r"),), details={"a": [1, None]})
EVENTS = [
    RunStarted(agent="solo", model="m", dialect="native"),
    UserMessage(message_id="m1", text="你好 \u2028 <&>"),
    UserMessage(message_id="m1", text="x", source="steer", signal=3),
    StepStarted(step=1, message_id="m2", model="m"),
    StepReset(step=1, message_id="m2", attempt=2, reason="network", usage=Usage(input=1)),
    MessageFinished(
        step=1,
        message_id="m2",
        message=Assistant(
            content=(Text(text="t"), ToolCall(id="c", name="n", arguments={"a": {"b": [1.5]}})),
            stop="error",
            error=Failure(kind="rate", message="slow", retry_after_s=1.0),
        ),
    ),
    ToolStarted(call_id="c", name="n", args={"a": 1}, access="exec", replay="unsafe"),
    ToolFinished(call_id="c", name="n", args={}, result=RESULT),
    NoticeGiven(level="info", code="limit", params={"reason": "x"}),
    RunFinished(
        status="done", reason="completed", answer="a", usage=Usage(), steps=1, tool_calls=0
    ),
    FileChanged(path="a/b", change="renamed", by="author", to="c"),
    SessionChanged(title="t"),
    BlockDelta(step=1, message_id="m", attempt=1, kind="call", index=0, off=2, text="x", name="n"),
    ToolProgress(call_id="c", text="half", fraction=0.5),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
def test_there_and_back(event: Any) -> None:
    body = encode(event)
    assert decode(body) == event
    values = json.loads(body)
    assert not {"seq", "ts", "run_id", "session_id"} & set(values)
    assert b"\n" not in body


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
def test_a_frame_is_the_envelope_and_the_body(event: Any) -> None:
    data = wrap(encode(event), seq=7, ts=1.5, run_id="run_1", session_id="ses_1")
    found = decode(data)
    assert (found.seq, found.ts, found.run_id, found.session_id) == (7, 1.5, "run_1", "ses_1")
    assert json.loads(data) == {
        "seq": 7,
        "ts": 1.5,
        "run_id": "run_1",
        "session_id": "ses_1",
        **json.loads(encode(event)),
    }


def test_words_that_look_like_an_envelope_change_nothing() -> None:
    text = '"session_id":"","seq":1,'
    assert decode(encode(UserMessage(message_id="m", text=text))).text == text  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        (float("nan"), None),
        (float("inf"), None),
        (MappingProxyType({"x": MappingProxyType({"y": 1})}), {"x": {"y": 1}}),
        (MappingProxyType({"\ud800": [("\udfff",)]}), {"\ufffd": [["\ufffd"]]}),
        ({"\ud800": {"n": 1.5, "b": True}}, {"\ufffd": {"n": 1.5, "b": True}}),
        (1j, "1j"),
    ],
)
def test_what_json_cannot_say(given_: Any, kept: Any) -> None:
    body = encode(NoticeGiven(level="info", code="c", params={"v": given_}))
    assert json.loads(body)["params"]["v"] == kept


@settings(deadline=None)
@given(st.text(), st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8))  # fmt: skip
def test_any_text_and_any_json_survive(text: str, value: Any) -> None:
    result = ToolResult(call_id="c", name="n", content=(Text(text=text),), details=value)
    found = decode(encode(ToolFinished(call_id="c", name="n", args={"v": value}, result=result)))
    assert isinstance(found, ToolFinished)
    assert found.result.text == text
    assert found.args == {"v": value}
    assert found.result.details == value
