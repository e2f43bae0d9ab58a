"""The client over a transport of the test's own: what it sends, what it makes of answers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.models.fake import (
    DONE,
    JSON,
    STOP,
    Answer,
    ask,
    chunk,
    client,
    collect,
    event,
    seen_until_failure,
    text_of,
    whole,
)

from wenfang.core import ModelError, Text, Thinking, Usage
from wenfang.models import Profile, TransportError

pytestmark = pytest.mark.anyio
_USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}


async def fails(*pieces: bytes | TransportError, **options: Any) -> ModelError:
    chat, _ = client(Answer(*pieces, **options), api_key="the-secret-key")
    with pytest.raises(ModelError) as caught:
        await collect(chat)
    return caught.value


async def test_it_sends_one_request() -> None:
    chat, transport = client(Answer(STOP), base_url="http://model.test/v1/", api_key="k123")
    await collect(chat)
    request = transport.requests[0]
    assert (request.method, request.url) == ("POST", "http://model.test/v1/chat/completions")
    assert request.headers["authorization"] == "Bearer k123"
    assert transport.body["model"] == "m"


async def test_no_key_no_header() -> None:
    chat, transport = client(Answer(STOP))
    await collect(chat)
    assert "authorization" not in transport.requests[0].headers


async def test_a_stream() -> None:
    chat, _ = client(
        Answer(
            chunk({"role": "assistant", "content": ""}),
            chunk({"reasoning": "hm"}) + chunk({"content": "he"}),
            chunk({"content": "llo"}, "stop") + event({"choices": [], "usage": _USAGE}) + DONE,
        )
    )
    deltas, message = await collect(chat)
    assert message is not None
    assert message.content == (Thinking(text="hm"), Text(text="hello"))
    assert [delta.text for delta in deltas] == ["hm", "he", "llo"]
    assert message.stop == "stop"
    assert message.model == "m"
    assert message.usage == Usage(input=9, output=3)


async def test_a_whole_reply() -> None:
    call = {"id": "x", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
    message = {"role": "assistant", "content": "so", "thinking": "hm", "tool_calls": [call]}
    chat, _ = client(whole(message, "tool_calls", usage=_USAGE), new_id=lambda p: f"{p}_7")
    deltas, reply = await collect(chat, ask(stream=False))
    assert deltas == []
    assert reply is not None
    assert [(c.id, c.name, c.arguments) for c in reply.calls] == [("call_7", "add", {"a": 1})]
    assert (reply.stop, reply.text, reply.thinking) == ("tool_use", "so", "hm")


async def test_duplicates_in_a_whole_reply() -> None:
    one = {"id": "x", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}
    same = {"id": "x", "function": {"name": "add", "arguments": '{"b":2,"a":1.0}'}}
    other = {"id": "x", "function": {"name": "add", "arguments": '{"a": 3}'}}
    bad = {"id": "x", "function": {"name": "add", "arguments": "{"}}
    chat, _ = client(whole({"tool_calls": [one, same, other, bad, bad]}))
    _, reply = await collect(chat, ask(stream=False))
    assert reply is not None
    assert [dict(c.arguments) for c in reply.calls] == [{"a": 1, "b": 2}, {"a": 3}, {}]
    assert len({c.id for c in reply.calls}) == 3


async def test_the_kind_of_answer_decides_not_the_question() -> None:
    chat, _ = client(whole({"content": "whole"}), Answer(chunk({"content": "piece"}, "stop")))
    _, first = await collect(chat, ask(stream=True))
    _, second = await collect(chat, ask(stream=False))
    assert first is not None
    assert second is not None
    assert (first.text, second.text) == ("whole", "piece")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", "stop"), ("tool_calls", "stop"), ("length", "length"), ("max_tokens", "length"),
        ("MAX_TOKENS", "length"), ("eos", "stop"), ("never heard of", "stop"),
    ],
)  # fmt: skip
async def test_finish_reasons(reason: str, stop: str) -> None:
    chat, _ = client(Answer(chunk({"content": "x"}, reason)))
    _, reply = await collect(chat)
    assert reply is not None
    assert reply.stop == stop


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("content_filter", "refused"), ("SAFETY", "refused"), ("sensitive", "refused"),
        ("insufficient_system_resource", "overload"), ("network_error", "overload"),
    ],
)  # fmt: skip
async def test_finish_reasons_that_are_failures(reason: str, kind: str) -> None:
    error = await fails(chunk({"content": "x"}, reason, usage=_USAGE))
    assert error.failure.kind == kind
    assert error.usage == Usage(input=9, output=3)


@pytest.mark.parametrize(
    ("tail", "ends"),
    [
        pytest.param(b"", "stream_incomplete", id="FB01-eof"),
        pytest.param(DONE, None, id="FB01-done-without-finish"),
        pytest.param(chunk({}, "stop"), None, id="finish-without-done"),
        pytest.param(chunk({}, "stop").rstrip(b"\n"), None, id="last-event-without-empty-line"),
        pytest.param(DONE.strip(), None, id="done-without-empty-line"),
        pytest.param(chunk({}, "stop")[:20], "stream_incomplete", id="piece-of-an-event"),
        pytest.param(b"data: \n\n: ping\n\n", "stream_incomplete", id="empty-events"),
        pytest.param(event({"id": "x"}), "stream_incomplete", id="no-choices-field"),
        pytest.param(event({"choices": None, "usage": _USAGE}) + DONE, None, id="usage-null-choices"),
    ],
)  # fmt: skip
async def test_ends(tail: bytes, ends: str | None) -> None:
    if ends is None:
        chat, _ = client(Answer(chunk({"content": "x"}), tail))
        _, reply = await collect(chat)
        assert reply is not None
        assert reply.text == "x"
    else:
        assert (await fails(chunk({"content": "x"}), tail)).failure.kind == ends


async def test_nothing_is_read_after_done() -> None:
    answer = Answer(chunk({"content": "x"}, "stop") + DONE, TransportError("never read"))
    chat, _ = client(answer)
    _, reply = await collect(chat)
    assert reply is not None
    assert answer.left


async def test_text_before_a_failure_is_shown_first() -> None:
    bad = chunk({"content": "seen"}) + event({"error": {"message": "Overloaded", "code": 529}})
    chat, _ = client(Answer(bad))
    shown, error = await seen_until_failure(chat)
    assert text_of(shown) == "seen"
    assert error is not None
    assert error.failure.kind == "overload"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(b'{"choices": []}', headers=JSON), id="FB03c"),
        pytest.param(Answer(b'{"choices": null}', headers=JSON), id="FB03d"),
        pytest.param(Answer(b"{}", headers=JSON), id="no-choices"),
        pytest.param(Answer(b'{"choices": [{"index": 0}]}', headers=JSON), id="no-message"),
        pytest.param(Answer(b"not json", headers=JSON), id="no-json"),
        pytest.param(Answer(b"[]", headers=JSON), id="a-list"),
        pytest.param(Answer(b"", headers=JSON), id="nothing"),
        pytest.param(Answer(b'{"choices": 5}', headers=JSON), id="choices-a-number"),
        pytest.param(Answer(b"[" * 100_000, headers=JSON), id="very-deep"),
        pytest.param(Answer(b"<html>", headers={"content-type": "text/html"}), id="a-page"),
        pytest.param(Answer(event({"choices": None})), id="stream-choices-null"),
        pytest.param(Answer(b"data: {\n\n"), id="stream-half-json"),
        pytest.param(Answer(b"data: " + b"x" * 17_000_000), id="stream-huge-event"),
        pytest.param(
            Answer(event({"choices": [{"delta": {"content": 5}}]})), id="content-a-number"
        ),
    ],
)
async def test_protocol_errors(answer: Answer) -> None:
    chat, _ = client(answer)
    with pytest.raises(ModelError) as caught:
        await collect(chat)
    assert caught.value.failure.kind == "fatal"


async def test_a_body_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wenfang.models.chat._MAX_BODY", 10)
    assert (await fails(b"x" * 8, b"x" * 8, headers=JSON)).failure.kind == "fatal"


async def test_statuses() -> None:
    error = await fails(
        b'{"error": {"message": "slow down, the-secret-key"}}',
        status=429,
        headers={**JSON, "retry-after": "4"},
    )
    assert error.failure.kind == "rate"
    assert error.failure.retry_after_s == 4
    assert error.usage == Usage()
    assert "the-secret-key" not in str(error)


async def test_a_long_error_page_is_cut() -> None:
    error = await fails(b"<html>" + b"x" * 200_000, status=502, headers={})
    assert error.failure.kind == "overload"
    assert len(str(error)) < 700


async def test_a_redirect_says_where_to() -> None:
    error = await fails(status=308, headers={"location": "https://model.test/v1"})
    assert error.failure.kind == "fatal"
    assert "https://model.test/v1" in str(error)


async def test_no_connection() -> None:
    error = await fails(refuse=TransportError("refused the-secret-key"))
    assert error.failure.kind == "network"
    assert error.usage == Usage()
    assert "http://model.test/v1" in str(error)
    assert "the-secret-key" not in str(error)


async def test_a_broken_connection() -> None:
    error = await fails(chunk({"content": "x"}, usage=_USAGE), TransportError("reset"))
    assert error.failure.kind == "stream_incomplete"
    assert error.usage == Usage(input=9, output=3)
    error = await fails(b"{", TransportError("reset"), headers=JSON)
    assert error.failure.kind == "stream_incomplete"
    assert error.usage is None


async def test_a_whole_chunk_that_is_an_error() -> None:
    error = await fails(event({"object": "error", "message": "too long", "code": 500}))
    assert error.failure.kind == "overload"


_ZERO = {"prompt_tokens": 0, "completion_tokens": 0}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param(_USAGE, Usage(input=9, output=3), id="plain"),
        pytest.param(
            {**_USAGE, "completion_tokens": 33, "total_tokens": 42, "completion_tokens_details": {"reasoning_tokens": 21}},
            Usage(input=9, output=33, reasoning=21), id="C19-reasoning-is-a-part"),
        pytest.param(
            {**_USAGE, "completion_tokens": 12, "total_tokens": 42, "completion_tokens_details": {"reasoning_tokens": 21}},
            Usage(input=9, output=33, reasoning=21), id="reasoning-counted-apart"),
        pytest.param({**_USAGE, "prompt_tokens_details": {"cached_tokens": 5}}, Usage(input=9, output=3, cache_read=5), id="cached"),
        pytest.param({**_USAGE, "prompt_cache_hit_tokens": 5}, Usage(input=9, output=3, cache_read=5), id="cached-other-name"),
        pytest.param({**_USAGE, "prompt_tokens_details": None}, Usage(input=9, output=3), id="null-details"),
        pytest.param(_ZERO, Usage(input=5, output=1, estimated=True), id="zeros"),
        pytest.param({**_USAGE, "completion_tokens": 0}, Usage(input=9, output=1, estimated=True), id="only-input"),
        pytest.param({**_USAGE, "prompt_tokens": None}, Usage(input=5, output=3, estimated=True), id="only-output"),
        pytest.param(None, Usage(input=5, output=1, estimated=True), id="never"),
    ],
)  # fmt: skip
async def test_usage(usage: Any, expected: Usage) -> None:
    chat, _ = client(Answer(chunk({"content": "abc"}, "stop", usage=usage)))
    _, reply = await collect(chat)
    assert reply is not None
    assert reply.usage == expected


async def test_usage_of_an_empty_reply_is_no_estimate() -> None:
    chat, _ = client(Answer(chunk({}, "stop", usage={**_USAGE, "completion_tokens": 0})))
    _, reply = await collect(chat)
    assert reply is not None
    assert reply.usage == Usage(input=9)


async def test_usage_inside_a_choice() -> None:
    end = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": _USAGE}]})
    chat, _ = client(Answer(chunk({"content": "abc"}) + end))
    _, reply = await collect(chat)
    assert reply is not None
    assert reply.usage == Usage(input=9, output=3)


async def test_an_error_without_an_empty_line_after_it() -> None:
    error = await fails(chunk({"content": "x"}) + event({"error": {"code": 529}}).rstrip())
    assert error.failure.kind == "overload"


async def test_a_stream_that_does_not_say_what_it_is() -> None:
    chat, _ = client(Answer(chunk({"content": "x"}, "stop"), headers={}))
    deltas, reply = await collect(chat)
    assert text_of(deltas) == "x"
    assert reply is not None


async def test_an_empty_error_is_none() -> None:
    chat, _ = client(Answer(chunk({"content": "x"}, "stop", error={})))
    _, reply = await collect(chat)
    assert reply is not None


@pytest.mark.parametrize(
    ("message", "read", "is_full"),
    [({}, 99, True), ({}, 98, False), ({"content": "x"}, 99, False)],
)
async def test_a_window_that_is_full(message: Any, read: int, is_full: bool) -> None:
    answer = whole(message, "length", usage={"prompt_tokens": read, "completion_tokens": 0})
    chat, _ = client(answer, profile=Profile(context_window=100))
    _, error = await seen_until_failure(chat, ask(stream=False))
    assert (error is not None and error.failure.kind == "overflow") == is_full


async def test_refusals_are_words() -> None:
    chat, _ = client(Answer(chunk({"refusal": "I cannot."}, "stop")))
    _, reply = await collect(chat)
    assert reply is not None
    assert reply.text == "I cannot."


async def test_reasoning_in_tags_by_profile() -> None:
    chat, _ = client(Answer(chunk({"content": "<think>hm</think>yes"}, "stop")), model="qwen3-8b")
    _, reply = await collect(chat)
    assert reply is not None
    assert (reply.thinking, reply.text) == ("hm", "yes")


async def test_reasoning_that_never_closes() -> None:
    chat, _ = client(Answer(chunk({"content": "<think>hm\n"}, "stop")), model="qwen3-8b")
    _, reply = await collect(chat)
    assert reply is not None
    assert (reply.thinking, reply.text) == ("hm\n", "")
