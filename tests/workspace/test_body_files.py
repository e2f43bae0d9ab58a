"""Codec A: `<file>` in the assistant's text (writing.md §8)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.workspace.body_streams import SIZES, chat_of, cut, files_of, merged

from wenfang.workspace.body import (
    MAX_BODY_BYTES,
    BodyClosed,
    BodyOpened,
    BodyText,
    CaptureEvent,
    ChatText,
    Dropped,
    FileCapture,
)

MARKER = "[TASK_COMPLETE]"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One reply, with a file expected unless `idle`. `ends` are the reasons of the bodies that ended."""

    text: str
    chat: str = ""
    file: str | None = None
    ends: list[str] = field(default_factory=list[str])
    state: Literal["idle", "waiting"] = "idle"
    idle: bool = False


FILLER = "字" * 4096
ROWS: dict[str, Row] = {
    # FC-1, FC-2, FC-3
    "FC-1-first-line": Row(text="<file>\n正文\n</file>", file="正文", ends=["end"]),
    "FC-1-on-one-line": Row(text="<file>正文</file>", file="正文", ends=["end"]),
    "FC-1-words-before-and-after": Row(
        text="开始写。\n<file>\n正文\n</file>\n写完了。",
        chat="开始写。\n\n写完了。",
        file="正文",
        ends=["end"],
    ),
    "FC-1-windows-lines": Row(
        text="<file>\r\na\r\nb\r\n</file>\r\n", chat="\r\n", file="a\r\nb", ends=["end"]
    ),
    "FC-1-only-one-line-break-each-side": Row(
        text="<file>\n\n\na\n\n</file>", file="\n\na\n", ends=["end"]
    ),
    "FC-1-carriage-return-is-text": Row(text="<file>\ra\r</file>", file="\ra\r", ends=["end"]),
    "FC-3-empty": Row(text="<file></file>", file="", ends=["end"]),
    "FC-3-empty-with-line-breaks": Row(text="<file>\n\n</file>", file="", ends=["end"]),
    "FC-3-no-body-yet": Row(text="我先看看。", chat="我先看看。", state="waiting"),
    "FC-3-second-block-is-chat": Row(
        text="<file>a</file>\n<file>\nb\n</file>", chat="\nb\n", file="a", ends=["end"]
    ),
    # FC-4
    "FC-4-case": Row(text="<FILE>a</File>", file="a", ends=["end"]),
    "FC-4-blanks": Row(text="< file >a< / file >b", chat="b", file="a", ends=["end"]),
    "FC-4-wide-blanks": Row(text="<\u3000file>a</file\u3000>", file="a", ends=["end"]),
    "FC-4-zero-width": Row(text="<\u200bfile>a<\u200b/file>", file="a", ends=["end"]),
    "FC-4-attributes": Row(
        text='<file name="第一章 雨夜归人与一封很长很长的旧信.md" type=draft>a</file>',
        file="a",
        ends=["end"],
    ),
    "FC-4-attributes-at-the-end": Row(text='<file>a</file name="x">', file="a", ends=["end"]),
    "FC-4-attributes-of-256": Row(text=f"<file {'x' * 249}>a</file>", file="a", ends=["end"]),
    "FC-4-attributes-too-long": Row(
        text=f"<file {'x' * 250}>a", chat=f"<file {'x' * 250}>a", state="waiting"
    ),
    "FC-4-filename": Row(text="<filename>a", chat="<filename>a", state="waiting"),
    "FC-4-files": Row(text="<files>a</files>", chat="<files>a</files>", state="waiting"),
    "FC-4-filename-in-body": Row(
        text="<file>a</filename>b</file>", file="a</filename>b", ends=["end"]
    ),
    "FC-4-no-element": Row(text="<file/>a<file />b", chat="<file/>a<file />b", state="waiting"),
    "FC-4-no-second-line": Row(text="<file\n>a", chat="<file\n>a", state="waiting"),
    "FC-4-cut-off": Row(text="文 <fil", chat="文 <fil", state="waiting"),
    "FC-4-cut-off-end": Row(text="<file>a</fil", file="a</fil", ends=["boundary"]),
    # FC-5, the start tag
    "FC-5-start-in-inline-code": Row(
        text="用 `<file>` 写。\n<file>a</file>", chat="用 `<file>` 写。\n", file="a", ends=["end"]
    ),
    "FC-5-start-in-longer-inline-code": Row(
        text="``<file>` ``<file>a</file>", chat="``<file>` ``", file="a", ends=["end"]
    ),
    "FC-5-backtick-without-end-is-no-code": Row(
        text="`<file>a\n</file>", chat="`", file="a", ends=["end"]
    ),
    "FC-5-start-in-fence-then-real": Row(
        text="```\n<file>\n```\n<file>a</file>", chat="```\n<file>\n```\n", file="a", ends=["end"]
    ),
    "FC-5-pair-in-fence-then-real": Row(
        text="~\n```xml\n<file>x</file>\n```\n<file>a</file>",
        chat="~\n```xml\n<file>x</file>\n```\n",
        file="a",
        ends=["end"],
    ),
    "FC-5-shorter-run-closes-nothing": Row(
        text="````\n```\n<file>\n````\n<file>a</file>",
        chat="````\n```\n<file>\n````\n",
        file="a",
        ends=["end"],
    ),
    "FC-5-run-with-text-closes-nothing": Row(
        text="```\n``` x\n<file>\n```\n<file>a</file>",
        chat="```\n``` x\n<file>\n```\n",
        file="a",
        ends=["end"],
    ),
    "FC-5-inline-code-of-three": Row(
        text="```<file>```\n<file>a</file>", chat="```<file>```\n", file="a", ends=["end"]
    ),
    "FC-5-start-pending-4096": Row(
        text=f"```\n<file>{FILLER[10:]}\n```\n",
        chat="```\n",
        file=f"{FILLER[10:]}\n```\n",
        ends=["boundary"],
    ),
    "FC-5-start-pending-less": Row(
        text=f"```\n<file>{FILLER[11:]}\n```\n",
        chat=f"```\n<file>{FILLER[11:]}\n```\n",
        state="waiting",
    ),
    # FC-5, the end tag
    "FC-5-end-in-inline-code": Row(
        text="<file>a `</file>` b</file>", file="a `</file>` b", ends=["end"]
    ),
    "FC-5-end-in-fence-and-another": Row(
        text="<file>\n```\n</file>\n```\nb\n</file>", file="```\n</file>\n```\nb", ends=["end"]
    ),
    "FC-5-two-fences-and-another": Row(
        text="<file>\n```\n</file>\n```\n```\n</file>\n```\nb\n</file>",
        file="```\n</file>\n```\n```\n</file>\n```\nb",
        ends=["end"],
    ),
    "FC-5-end-in-fence-and-none": Row(
        text="<file>\n```\na\n</file>\n```\nb", chat="\n```\nb", file="```\na", ends=["end"]
    ),
    "FC-5-last-of-two-fences": Row(
        text="<file>\n```\n</file>\n```\n```\nb\n</file>\n```\nc",
        chat="\n```\nc",
        file="```\n</file>\n```\n```\nb",
        ends=["end"],
    ),
    "FC-5-fence-never-closed": Row(
        text="<file>\n```\na\n</file>\nc", chat="\nc", file="```\na", ends=["end"]
    ),
    "FC-5-end-pending-4096": Row(
        text=f"<file>```\na\n</file>{FILLER}</file>",
        chat=f"{FILLER}</file>",
        file="```\na",
        ends=["end"],
    ),
    "FC-5-end-pending-less": Row(
        text=f"<file>```\n</file>\n```\n{FILLER[12:]}</file>",
        file=f"```\n</file>\n```\n{FILLER[12:]}",
        ends=["end"],
    ),
    # FC-6
    "FC-6-nested": Row(text="<file>a<file>b</file>c", chat="c", file="a＜file>b", ends=["end"]),
    "FC-6-nested-with-attributes": Row(
        text='<file>a< File name="x">b</file>', file='a＜ File name="x">b', ends=["end"]
    ),
    "FC-6-not-in-code": Row(
        text="<file>`<file>`\n```\n<file>\n```\n</file>",
        file="`<file>`\n```\n<file>\n```",
        ends=["end"],
    ),
    # FC-8
    "FC-8-pair-in-closed-fence": Row(
        text="```\n<file>\na\n</file>\n```\n好了",
        chat="```\n\n```\n好了",
        file="a",
        ends=["end"],
    ),
    "FC-8-pair-in-last-fence": Row(
        text="```\n<file>\na\n</file>\n```", chat="```\n\n```", file="a", ends=["end"]
    ),
    "FC-8-first-pair": Row(
        text="```\n<file>\n```\n```\n<file>a</file>\n```\n",
        chat="```\n<file>\n```\n```\n\n```\n",
        file="a",
        ends=["end"],
    ),
    "FC-8-no-pair": Row(text="```\n<file>\n```", chat="```\n<file>\n```", state="waiting"),
    "FC-8-pair-in-inline-code": Row(
        text="`<file>a</file>`", chat="`<file>a</file>`", state="waiting"
    ),
    "FC-8-truncated": Row(text="<file>\na\n", file="a\n", ends=["boundary"]),
    "FC-8-truncated-in-open-fence": Row(
        text="```\n<file>\na", chat="```\n", file="a", ends=["boundary"]
    ),
    "FC-8-literal-end": Row(
        text="<file> 用 `</file>` 结束。\n",
        chat=" 用 `</file>` 结束。\n",
        ends=["literal_end"],
        state="waiting",
    ),
    "FC-8-control-marker": Row(
        text=f"好\n<file>\n写完了\n<file>\n{MARKER}",
        chat=f"好\n写完了\n{MARKER}",
        ends=["control_marker"],
        state="waiting",
    ),
    "FC-8-control-marker-in-whole-body": Row(
        text=f"<file>\n{MARKER}\n</file>", file=MARKER, ends=["end"]
    ),
    # FC-10
    "FC-10-lines": Row(text="a\n<file>\nb\n  </file>  \nc", chat="a\nb\n  c", idle=True),
    "FC-10-last-line": Row(text="a\n</file>", chat="a\n", idle=True),
    "FC-10-windows-lines": Row(text="a\r\n</file>\r\nb", chat="a\r\nb", idle=True),
    "FC-10-inline": Row(text="a <file> b\n</file> c", chat="a <file> b\n</file> c", idle=True),
    "FC-10-inline-code": Row(text="`<file>`\n", chat="`<file>`\n", idle=True),
    "FC-10-fence": Row(text="```\n<file>\n```\n", chat="```\n<file>\n```\n", idle=True),
    "FC-10-after-fence": Row(text="```\n```\n<file>\nx", chat="```\n```\nx", idle=True),
    "FC-10-waiting-drops-end-tags": Row(text="a\n</file>\nb", chat="a\nb", state="waiting"),
    "FC-10-after-the-body": Row(text="<file>a</file></file>\nb", chat="b", file="a", ends=["end"]),
}


def read(
    replies: list[str],
    *,
    expected: bool = True,
    sizes: list[int] | None = None,
    limit: int = MAX_BODY_BYTES,
) -> tuple[list[CaptureEvent], FileCapture]:
    """The events of all replies; each may fill one file, called after its number."""
    capture = FileCapture(control_markers=(MARKER,), max_body_bytes=limit)
    events: list[CaptureEvent] = []
    for number, text in enumerate(replies):
        if expected:
            capture.expect(str(number))
        for chunk in cut(text, sizes or []):
            events += capture.feed(chunk)
        events += capture.boundary()
    return events, capture


@pytest.mark.parametrize("sizes", [[], [1], [2, 3], [31], [1000]], ids=str)
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_replies(row: Row, sizes: list[int]) -> None:
    events, capture = read([row.text], expected=not row.idle, sizes=sizes)
    files = files_of(events)
    assert chat_of(events) == row.chat
    assert files.texts == ({} if row.file is None else {"0": row.file})
    assert [reason for _, _, reason in files.ends] == row.ends
    assert capture.state == row.state


def test_FC_2_a_file_after_the_other_in_one_run() -> None:
    events, _ = read(["<file>\na\n</file>\n下一个", "<file>\nb\n</file>", "完成"])
    assert files_of(events).texts == {"0": "a", "1": "b"}
    assert chat_of(events) == "\n下一个完成"


def test_FC_3_states_as_the_text_arrives() -> None:
    capture = FileCapture(max_body_bytes=4)
    states = [capture.state]
    capture.expect("f")
    for text in ("好", "<file>", "abcd", "e", "f</file>"):
        states.append(capture.state)
        capture.feed(text)
    assert [*states, capture.state] == [
        "idle",
        "waiting",
        "waiting",
        "writing",
        "writing",
        "draining",
        "idle",
    ]


def test_FC_3_a_file_stays_expected_until_its_body_began() -> None:
    capture = FileCapture()
    capture.expect("f")
    capture.feed("先读一下。")
    capture.boundary()
    assert capture.file_id == "f"
    assert files_of([*capture.feed("<file>a</file>"), *capture.boundary()]).texts == {"f": "a"}
    assert capture.file_id is None


def test_FC_3_no_file_is_expected_while_a_body_is_open() -> None:
    capture = FileCapture()
    capture.expect("f")
    capture.feed("<file>a")
    with pytest.raises(RuntimeError, match="'f' is open"):
        capture.expect("g")


def test_FC_3_a_later_expectation_replaces_one_that_was_not_met() -> None:
    capture = FileCapture()
    capture.expect("f")
    capture.expect("g")
    assert files_of(capture.feed("<file>a</file>")).texts == {"g": "a"}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<", 1),
        ("</file", 6),
        ("<" + " " * 12 + "/" + " " * 12 + "file", 30),
        ("<" + " " * 13, 0),
        ("<filen", 0),
        ("<file name=", 11),
        ("<file " + "x" * 249, 255),
        ("<file " + "x" * 250, 0),
        ("< b", 0),
    ],
)
def test_FC_4_no_more_is_held_back_than_may_become_a_tag(text: str, kept: int) -> None:
    capture = FileCapture()
    capture.expect("f")
    shown = "".join(chat_of(capture.feed(char)) for char in "好" + text)
    assert len(shown) == 1 + len(text) - kept


def test_FC_5_other_code_is_shown_at_once() -> None:
    capture = FileCapture()
    capture.expect("f")
    text = "看 `code` 和\n```py\nprint(1 < 2)\n"
    assert "".join(chat_of(capture.feed(char)) for char in text) == text


def test_FC_5_code_does_not_go_on_in_the_next_reply() -> None:
    events, _ = read(["```\n", "<file>a</file>"])
    assert files_of(events).texts == {"1": "a"}


@pytest.mark.parametrize("sizes", [[], [1], [7]], ids=str)
def test_FC_7_a_body_ends_at_its_limit(sizes: list[int]) -> None:
    # a character of three bytes does not fit into the last two
    events, capture = read(["<file>ab字字\nc字`</file>`\n</file>x"], sizes=sizes, limit=10)
    assert merged(events) == [
        BodyOpened(file_id="0"),
        Dropped(text="<file>", kind="tag"),
        BodyText(file_id="0", text="ab字字\nc"),
        BodyClosed(file_id="0", reason="oversized"),
        Dropped(text="字`</file>`", kind="overflow"),
        Dropped(text="\n</file>", kind="tag"),
        ChatText(text="x"),
    ]
    assert capture.state == "idle"


def test_FC_7_a_full_body_is_not_too_long() -> None:
    events, _ = read(["<file>\n字a\n</file>"], limit=4)
    assert files_of(events).ends == [("0", True, "end")]


def test_FC_7_the_limit_is_one_mebibyte() -> None:
    body = "字" * (MAX_BODY_BYTES // 3) + "a"
    assert len(body.encode()) == MAX_BODY_BYTES == 1024 * 1024
    events, _ = read([f"<file>{body}</file>", f"<file>{body}b</file>"])
    files = files_of(events)
    assert files.texts == {"0": body, "1": body}
    assert [reason for _, _, reason in files.ends] == ["end", "oversized"]


def test_FC_7_nothing_more_is_said_of_a_body_that_outgrew_its_limit() -> None:
    events, capture = read(["<file>abc", "<file>d</file>"], limit=2)
    files = files_of(events)
    assert files.texts == {"0": "ab", "1": "d"}
    assert files.ends == [("0", True, "oversized"), ("1", True, "end")]
    assert capture.state == "idle"


def test_FC_11_the_body_is_told_while_it_is_written() -> None:
    capture = FileCapture()
    capture.expect("f")
    assert capture.feed("<file>\n第一") == [
        BodyOpened(file_id="f"),
        Dropped(text="<file>\n", kind="tag"),
        BodyText(file_id="f", text="第一"),
    ]
    assert capture.feed("行\n") == [BodyText(file_id="f", text="行")]
    assert capture.feed("二") == [BodyText(file_id="f", text="\n二")]


@pytest.mark.parametrize("reason", ["stop", "disconnect", "timeout", "error"])
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<file>\na\n", "a\n"),
        ("<file>a</fi", "a</fi"),
        ("<file>说 `</file>` 和 [TASK_COMPLETE]", "说 `</file>` 和 [TASK_COMPLETE]"),
        ("```\n<file>a", "a"),
    ],
)
def test_FC_12_an_interrupted_body_is_kept(
    text: str, kept: str, reason: Literal["stop", "disconnect", "timeout", "error"]
) -> None:
    capture = FileCapture(control_markers=(MARKER,))
    capture.expect("f")
    events = [*capture.feed(text), *capture.close(reason)]
    files = files_of(events)
    assert files.texts == {"f": kept}
    assert files.ends == [("f", False, reason)]
    assert (capture.state, capture.file_id) == ("idle", None)


def test_FC_12_an_ended_body_stays_complete() -> None:
    capture = FileCapture()
    capture.expect("f")
    events = [*capture.feed("<file>```\na</file>"), *capture.close("stop")]
    assert files_of(events).ends == [("f", True, "end")]


def test_FC_12_nothing_is_expected_after_an_interruption() -> None:
    capture = FileCapture()
    capture.expect("f")
    assert capture.close("stop") == []
    assert capture.feed("x <file> y") == [ChatText(text="x <file> y")]


@pytest.mark.parametrize(
    ("void", "ends"),
    [
        ("<file>a", ["reset", "end"]),
        ("<file>a</file>", ["end", "end"]),
        ("```\n<file>a", ["end"]),
        ("前言 <fi", ["end"]),
        ("<file>abcdef", ["oversized", "end"]),
    ],
)
def test_a_void_reply_is_tried_again(void: str, ends: list[str]) -> None:
    capture = FileCapture(max_body_bytes=5)
    capture.expect("f")
    events = [*capture.feed(void), *capture.reset(), *capture.feed("<file>b</file>")]
    files = files_of([*events, *capture.boundary()])
    assert files.texts == {"f": "b"}
    assert [reason for _, _, reason in files.ends] == ends


def test_a_void_reply_brings_no_file_back_that_an_earlier_one_filled() -> None:
    _, capture = read(["<file>a</file>"])
    capture.feed("接着")
    capture.reset()
    assert capture.state == "idle"


# Any text, cut in any way.

FRAGMENTS = [
    *("<file>", "</file>", "< / FILE >", '<file name="a">', "<file/>", "<filename>", "<", "/", ">"),
    *("`", "``", "```", "````", "```xml\n", "\n```\n", "\n", "\r\n", "\r", " ", "\u3000", "  \n"),
    *("a", "正文", "😀", "\ud83d", MARKER, "＜file>", "file", "<file " + "x" * 240),
    "字" * 1400,
]
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join)
REPLIES = st.lists(TEXTS, min_size=1, max_size=3)
LIMITS = st.sampled_from([3, 40, MAX_BODY_BYTES])


@given(REPLIES, SIZES, st.booleans(), LIMITS)
@example(["<file>\r", "\n"], [1], True, 3)
def test_any_chunks_give_the_same_events(
    replies: list[str], sizes: list[int], expected: bool, limit: int
) -> None:
    whole, _ = read(replies, expected=expected, limit=limit)
    cut_up, _ = read(replies, expected=expected, limit=limit, sizes=sizes)
    assert merged(cut_up) == merged(whole)


def said(events: list[CaptureEvent]) -> Iterator[str]:
    """All texts but those of void bodies, whose text is said again as chat."""
    parts: list[str] = []
    for event in events:
        if isinstance(event, BodyClosed):
            yield from [] if event.ending == "void" else parts
            parts = []
        elif isinstance(event, BodyText):
            parts.append(event.text)
        elif not isinstance(event, BodyOpened):
            assert not parts, "a body is told in one go"
            yield event.text


@given(REPLIES, SIZES, st.booleans(), LIMITS)
def test_no_character_is_lost(
    replies: list[str], sizes: list[int], expected: bool, limit: int
) -> None:
    events, _ = read(replies, expected=expected, limit=limit, sizes=sizes)
    # FC-6 writes `＜` for the `<` of a nested tag
    assert "".join(said(events)).replace("＜", "<") == "".join(replies).replace("＜", "<")


@given(TEXTS, SIZES)
def test_FC_12_no_character_is_lost_when_interrupted(text: str, sizes: list[int]) -> None:
    capture = FileCapture(control_markers=(MARKER,))
    capture.expect("f")
    events = [event for chunk in cut(text, sizes) for event in capture.feed(chunk)]
    events += capture.close("stop")
    assert "".join(said(events)).replace("＜", "<") == text.replace("＜", "<")
    assert all(reason in ("end", "stop") for _, _, reason in files_of(events).ends)


@given(TEXTS.filter(lambda text: "file" not in text.casefold()))
def test_a_body_without_tags_is_the_file(body: str) -> None:
    assume(not body.endswith("\r"))  # it would be of one line break with what is before the end tag
    events, _ = read([f"<file>\n{body}\n</file>"])
    assert files_of(events).texts == {"0": body}
    assert chat_of(events) == ""


# What could take more than linear time: what is held back, read again, or joined again and again.
HOSTILE: dict[str, Callable[[int], str]] = {
    "brackets": lambda size: "<" * size,
    "half-tags": lambda size: "<file " * (size // 6),
    "long-half-tag": lambda size: "<file " + "x" * size,
    "backticks": lambda size: "`" * size,
    "blanks": lambda size: "\n" + " " * size,
    "line-breaks": lambda size: "<file>" + "\n" * size,
    "open-fence-of-tags": lambda size: "```\n" + "<file>" * (size // 6),
    "fences-of-tags": lambda size: "```\n<file>\n```\n" * (size // 15),
    "ends-in-a-fence": lambda size: "<file>```\n" + "</file>" * (size // 7),
    "ends-in-inline-code": lambda size: "<file>" + "`</file>`" * (size // 9),
    "ends-in-fences": lambda size: "<file>" + "\n```\n</file>\n```\n" * (size // 17),
    "nested": lambda size: "<file>" + "<file>" * (size // 6),
    "literal-end": lambda size: "<file>`</file>`" + "<file>\n" * (size // 7),
    "lines-of-tags": lambda size: "</file>\n" * (size // 8),
}


def seconds(text: str, sizes: list[int]) -> float:
    began = time.process_time()
    read([text], sizes=sizes)
    return time.process_time() - began


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[], [1]], ids=["whole", "one-by-one"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_time_is_linear(text: Callable[[int], str], sizes: list[int]) -> None:
    """Sixteen times the text may take sixteen times as long; a quadratic reader would take 256 times."""
    small = max(min(seconds(text(1 << 13), sizes) for _ in range(2)), 0.002)
    assert seconds(text(1 << 17), sizes) < 64 * small
