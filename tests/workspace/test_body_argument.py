"""Codec B: a body in the streamed arguments of a tool call (design.md M7)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.workspace.body_streams import SIZES, cut, files_of, merged

from wenfang.core import parse_arguments
from wenfang.workspace.body import (
    MAX_BODY_BYTES,
    ArgumentCapture,
    BodyClosed,
    BodyOpened,
    BodyText,
    CaptureEvent,
    Dropped,
    FileCapture,
)


def read(
    text: str, sizes: list[int] | None = None, *, limit: int = MAX_BODY_BYTES
) -> tuple[list[CaptureEvent], ArgumentCapture]:
    capture = ArgumentCapture("f", max_body_bytes=limit)
    events = [event for chunk in cut(text, sizes or []) for event in capture.feed(chunk)]
    return [*events, *capture.boundary()], capture


# arguments, body or None, how it ended
ROWS: dict[str, tuple[str, str | None, str | None]] = {
    "plain": ('{"path": "a.md", "content": "正文"}', "正文", "end"),
    "key-first": ('{"content":"a","path":"b"}', "a", "end"),
    "key-after-objects": (
        '{"x":{"content":"no"},"y":["content",{"content":1}],"content":"a"}',
        "a",
        "end",
    ),
    "key-after-scalars": ('{"a":1,"b":-0.5e+3,"c":true,"d":null,"content":"a"}', "a", "end"),
    "key-escaped": (r'{"con\u0074ent":"a"}', "a", "end"),
    "empty-body": ('{"content":""}', "", "end"),
    "escapes": (r'{"content":"\"\\\/\b\f\n\r\t\u4e2d"}', '"\\/\b\f\n\r\t中', "end"),
    "surrogate-pair": (r'{"content":"a\ud83d\uDE00b"}', "a😀b", "end"),
    "zero": (r'{"content":"\u0000"}', "\0", "end"),
    "space-everywhere": (' \r\n{ "content" : "a" , "b" : [ ] , "c" : { } } \t', "a", "end"),
    "only-nested": ('{"x":{"content":"no"}}', None, None),
    "no-string": ('{"content":null}', None, None),
    "object-as-body": ('{"content":{"content":"no"}}', None, None),
    "nothing": ("", None, None),
    "FC-9-cut-in-the-body": ('{"content":"a', "a", "boundary"),
    "FC-9-cut-in-an-escape": (r'{"content":"a\u4e', "a", "boundary"),
    "FC-9-cut-in-a-pair": (r'{"content":"a\ud83d', "a", "boundary"),
    "FC-9-cut-after-the-body": ('{"content":"a","pa', "a", "boundary"),
    "FC-9-cut-before-the-brace": ('{"content":"a"', "a", "boundary"),
    "duplicate-later": ('{"content":"a","content":"b"}', None, "duplicate_key"),
    "duplicate-same": ('{"content":"a","content":"a"}', None, "duplicate_key"),
    "duplicate-escaped": (r'{"content":"a","c\u006fntent":"b"}', None, "duplicate_key"),
    "duplicate-nested-is-another": ('{"content":"a","x":{"content":"b"}}', "a", "end"),
    "bad-escape": (r'{"content":"a\q"}', None, "malformed"),
    "bad-hex": (r'{"content":"a\u12g4"}', None, "malformed"),
    "raw-line-break": ('{"content":"a\nb"}', None, "malformed"),
    "high-surrogate-alone": (r'{"content":"a\ud83dx"}', None, "malformed"),
    "high-surrogate-twice": (r'{"content":"a\ud83d\ud83d\ude00"}', None, "malformed"),
    "low-surrogate-alone": (r'{"content":"a\ude00"}', None, "malformed"),
    "text-after": ('{"content":"a"}x', None, "malformed"),
    "comma-missing": ('{"content":"a" "b":1}', None, "malformed"),
    "comma-too-much": ('{"content":"a",}', None, "malformed"),
    "comma-in-array": ('{"content":"a","b":[1,]}', None, "malformed"),
    "bracket-wrong": ('{"content":"a","b":[1}', None, "malformed"),
    "bad-number": ('{"content":"a","b":01}', None, "malformed"),
    "not-a-number": ('{"content":"a","b":NaN}', None, "malformed"),
    "infinite-number": ('{"content":"a","b":1e999}', None, "malformed"),
    "bad-word": ('{"content":"a","b":True}', None, "malformed"),
    "too-deep": ('{"content":"a","b":' + "[" * 101 + "]" * 101 + "}", None, "malformed"),
    "deep": ('{"content":"a","b":' + "[" * 99 + "]" * 99 + "}", "a", "end"),
}


@pytest.mark.parametrize("sizes", [[], [1], [3, 2]], ids=str)
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_arguments(row: tuple[str, str | None, str | None], sizes: list[int]) -> None:
    text, body, end = row
    events, capture = read(text, sizes)
    files = files_of(events)
    assert files.texts == ({} if body is None else {"f": body})
    assert files.ends == ([] if end is None else [("f", end == "end", end)])
    assert capture.problem == (end if end in ("malformed", "duplicate_key") else None)


@pytest.mark.parametrize("text", ["[]", '"content"', "1", "x", "}", '{"a":}', "{1:2}", '{"a" 1}'])
def test_what_is_no_object_is_refused(text: str) -> None:
    events, capture = read(text)
    assert events == []
    assert capture.problem == "malformed"


def test_the_body_is_told_while_it_is_written() -> None:
    capture = ArgumentCapture("f")
    assert capture.feed('{"path":"a.md","con') == []
    assert capture.members == {"path": "a.md"}
    assert capture.feed('tent":"第一') == [
        BodyOpened(file_id="f"),
        BodyText(file_id="f", text="第一"),
    ]
    assert capture.feed("行\\") == [BodyText(file_id="f", text="行")]
    assert capture.feed("n二") == [BodyText(file_id="f", text="\n二")]
    assert capture.feed('"}') == []
    assert capture.is_whole
    assert capture.boundary() == [BodyClosed(file_id="f", reason="end")]
    assert capture.boundary() == []


def test_other_names_of_the_key() -> None:
    capture = ArgumentCapture("f", keys=("content", "text"))
    assert files_of([*capture.feed('{"text":"a"}'), *capture.boundary()]).texts == {"f": "a"}
    capture = ArgumentCapture("f", keys=("content", "text"))
    capture.feed('{"text":"a","content":"b"}')
    assert capture.problem == "duplicate_key"


def test_members_are_short_strings_at_the_top() -> None:
    long = "x" * 4097
    _, capture = read(
        json.dumps({"a": "1", "b": 2, "c": {"d": "3"}, "e": long, "f": long[1:], "content": "4"}),
        [100],
    )
    assert capture.members == {"a": "1", "f": long[1:]}


@pytest.mark.parametrize("reason", ["stop", "disconnect", "timeout", "error"])
def test_FC_12_an_interrupted_body_is_kept(reason: Any) -> None:
    capture = ArgumentCapture("f")
    files = files_of([*capture.feed('{"content":"a'), *capture.close(reason)])
    assert (files.texts, files.ends) == ({"f": "a"}, [("f", False, reason)])
    capture = ArgumentCapture("f")
    assert files_of([*capture.feed('{"content":"a"}'), *capture.close(reason)]).ends == [
        ("f", True, "end")
    ]


def test_a_void_reply_makes_the_body_void() -> None:
    capture = ArgumentCapture("f")
    events = [*capture.feed('{"content":"a"}'), *capture.reset()]
    assert files_of(events).ends == [("f", False, "reset")]


def test_FC_7_a_body_ends_at_its_limit() -> None:
    for sizes in ([], [1]):
        events, _ = read(r'{"content":"ab字\n字c","b":1}', sizes, limit=8)
        assert merged(events) == [
            BodyOpened(file_id="f"),
            BodyText(file_id="f", text="ab字\n"),
            BodyClosed(file_id="f", reason="oversized"),
            Dropped(text="字c", kind="overflow"),
        ]


# Any arguments, cut in any way.

BODIES = st.text(
    st.one_of(
        st.sampled_from('"\\/\n\r\t\b\0{}[],:` 字😀'), st.characters(exclude_categories=["Cs"])
    )
)
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | BODIES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(BODIES, inner, max_size=4),
    max_leaves=12,
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["content", "path", "x"]) | BODIES, JSON_VALUES | BODIES, max_size=5
)
STYLES = st.fixed_dictionaries(
    {"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 2])}
)


@given(ARGUMENTS, STYLES, SIZES)
def test_any_object_is_read_as_json_reads_it(
    arguments: dict[str, Any], style: dict[str, Any], sizes: list[int]
) -> None:
    text = json.dumps(arguments, **style)
    events, capture = read(text, sizes)
    body = arguments.get("content")
    assert capture.is_whole
    assert files_of(events).texts == ({"f": body} if isinstance(body, str) else {})
    assert merged(events) == merged(read(text)[0])


@given(ARGUMENTS, STYLES, SIZES, st.data())
def test_FC_9_a_prefix_gives_a_prefix_and_is_never_complete(
    arguments: dict[str, Any], style: dict[str, Any], sizes: list[int], data: st.DataObject
) -> None:
    text = json.dumps({**arguments, "content": data.draw(BODIES)}, **style)
    whole = files_of(read(text)[0]).texts["f"]
    files = files_of(read(text[: data.draw(st.integers(0, len(text) - 1))], sizes)[0])
    assert whole.startswith(files.texts.get("f", ""))
    assert all(reason == "boundary" for _, _, reason in files.ends)


TOKENS = [
    '{"content":"',
    '"content":',
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "1",
    "-",
    "0.5",
    "true",
    "\\",
]
TOKENS += [
    "\\u",
    "d83d",
    "\\ude00",
    "4e2d",
    "a",
    "\n",
    " ",
    "x",
    '"a"',
    '"content":"b",',
    "1e5",
    "\ud83d",
]


@given(st.lists(st.sampled_from(TOKENS), max_size=14).map("".join), SIZES)
def test_what_is_whole_is_what_runs(text: str, sizes: list[int]) -> None:
    """Arguments that `parse_arguments` takes without a repair are whole, others are not, but for repeated
    names: the one of the body is always refused, and those of others are not looked at."""
    events, capture = read(text, sizes)
    assert merged(events) == merged(read(text)[0])
    parsed = parse_arguments(text, complete=True)
    runs = parsed.error is None and not parsed.repaired and bool(text.strip())
    if "twice" not in (parsed.error or "") and capture.problem != "duplicate_key":
        assert capture.is_whole == runs


@given(BODIES, SIZES, st.sampled_from([5, 40, MAX_BODY_BYTES]))
def test_both_codecs_give_the_same_file(body: str, sizes: list[int], limit: int) -> None:
    assume(not body.endswith("\r"))  # it would be of one line break with what is before the end tag
    tags = FileCapture(max_body_bytes=limit)
    tags.expect("f")
    events = [
        event for chunk in cut(f"<file>\n{body}\n</file>", sizes) for event in tags.feed(chunk)
    ]
    events += tags.boundary()
    of_argument, _ = read(json.dumps({"content": body}), sizes, limit=limit)
    assert files_of(events).texts == files_of(of_argument).texts
    assert files_of(events).ends == files_of(of_argument).ends
