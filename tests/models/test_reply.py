"""Any cutting of the same bytes gives the same reply, and deltas that add up to it (FB05, FB29)."""

from __future__ import annotations

import json
import re
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.fake import DONE, chunk

from wenfang.core import Assistant, Delta, ModelError, Text, Thinking, Usage
from wenfang.models.errors import Redactor
from wenfang.models.reply import Reply
from wenfang.models.sse import EventSplitter


def read(stream: bytes, cuts: list[int], *, think_tags: bool) -> tuple[Assistant, list[Delta]]:
    reply = Reply(
        redact=Redactor(),
        think_tags=think_tags,
        finish={},
        estimate=lambda text: Usage(input=1, output=len(text), estimated=True),
    )
    splitter, deltas = EventSplitter(), []
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    for start, stop in pairwise(places):
        failure = reply.feed(splitter.feed(stream[start:stop]))
        assert failure is None
        deltas += reply.take()
    numbers = count(1)
    message = reply.finish(model="m", new_id=lambda prefix: f"{prefix}{next(numbers)}")
    return message, deltas


_TEXTS = st.text(alphabet=st.sampled_from('ab \n文🖋\u2028\u0085"\\<>'), max_size=6)
_DELTAS = st.lists(
    st.one_of(
        st.builds(lambda text: {"content": text}, _TEXTS),
        st.builds(lambda text: {"reasoning_content": text}, _TEXTS),
        st.sampled_from(["<think>", "</think>", "\n"]).map(lambda text: {"content": text}),
        st.builds(
            lambda at, text: {"tool_calls": [{"index": at, "id": f"c{at}", "function": {"name": "add", "arguments": text}}]},
            st.integers(0, 2),
            st.sampled_from(['{"a":', "1", "}", "", '"文"']),
        ),
    ),
    max_size=8,
)  # fmt: skip


@settings(max_examples=200)
@given(_DELTAS, st.lists(st.integers(0, 1500), max_size=20), st.booleans())
def test_cutting_changes_nothing(
    deltas: list[dict[str, Any]], cuts: list[int], think_tags: bool
) -> None:
    finish = "tool_calls" if any("tool_calls" in each for each in deltas) else "stop"
    stream = b"".join(map(chunk, deltas)) + chunk({}, finish) + DONE
    try:
        expected, _ = read(stream, [], think_tags=think_tags)
    except ModelError as error:
        with pytest.raises(ModelError, match=re.escape(str(error))):
            read(stream, cuts, think_tags=think_tags)
        return
    message, shown = read(stream, cuts, think_tags=think_tags)
    assert message == expected
    for kind, block in (("text", Text), ("thinking", Thinking)):
        written = "".join(each.text for each in message.content if isinstance(each, block))
        assert "".join(delta.text for delta in shown if delta.kind == kind) == written or think_tags
    names = [delta.name for delta in shown if delta.name]
    assert len(names) >= len(message.calls)


def test_one_delta_for_each_block_and_read() -> None:
    stream = b"".join(
        [
            chunk({"reasoning_content": "a"}),
            chunk({"reasoning_content": "b"}),
            chunk({"content": "c"}),
            chunk({"content": "d"}),
            chunk({"tool_calls": [{"index": 0, "id": "x", "function": {"name": "add"}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}),
            chunk({}, "tool_calls"),
        ]
    )
    message, deltas = read(stream, [], think_tags=False)
    assert deltas == [
        Delta(kind="thinking", text="ab", index=0),
        Delta(kind="text", text="cd", index=1),
        Delta(kind="call", text="{}", index=2, name="add"),
    ]
    assert message.stop == "tool_use"
    assert [call.id for call in message.calls] == ["call1"]


@pytest.mark.parametrize("piece", [b"a", b"\xff", b"\xc3"])
def test_invalid_utf8_becomes_a_replacement(piece: bytes) -> None:
    raw = b'data: {"choices":[{"index":0,"delta":{"content":"a' + piece + b'b"}}]}\n\n'
    message, _ = read(raw + chunk({}, "stop"), [], think_tags=False)
    assert message.text in ("aab", "a\ufffdb")


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        (["a\ud83d", "\ude00b"], "a😀b"),
        (["a\ud83d", "b"], "a\ufffdb"),
        (["\ude00"], "\ufffd"),
        (["a\ud83d", "\ud83d\ude00"], "a\ufffd😀"),
    ],
)
def test_halves_of_surrogate_pairs(texts: list[str], joined: str) -> None:
    stream = b"".join(chunk({"content": text}) for text in texts) + chunk({}, "stop")
    cuts = list(range(0, len(stream), 7))
    assert read(stream, cuts, think_tags=False)[0].text == joined
    assert read(stream, [], think_tags=False)[0].text == joined


def test_content_as_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "yes"},
        {"type": "image", "image": "?"},
        "odd",
    ]
    message, _ = read(chunk({"content": parts}) + chunk({}, "stop"), [], think_tags=False)
    assert (message.thinking, message.text) == ("hm", "yes")


def test_a_second_choice_is_passed_over() -> None:
    stream = b"data: " + json.dumps(
        {"choices": [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "yes"}}]}
    ).encode() + b"\n\n" + chunk({}, "stop")  # fmt: skip
    assert read(stream, [], think_tags=False)[0].text == "yes"
