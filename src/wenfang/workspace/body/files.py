"""Codec A: a body between `<file>` and `</file>` in the text of the assistant (writing.md §8).

A file is created in one reply; the next reply holds its text between the tags. What cannot be decided yet
(a tag inside of code, FC-5) is held back, and read again once it is decided. A character is read a few
times at most, and every decision depends on the text alone, never on how it was cut into chunks.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from .collect import Collector
from .events import MAX_BODY_BYTES, BodyReason, CaptureEvent, Interruption
from .frame import Frame
from .spans import Change, CodeSpans
from .tags import Tag, line_end_after, tag_at

CaptureState: TypeAlias = Literal["idle", "waiting", "writing", "draining"]

_MAX_UNDECIDED = 4096  # characters, from the tag on
_ESCAPED = "\uff1c"  # the wide form of `<`, which no reader of tags takes for one


_Kind: TypeAlias = Literal["text", "nested", "line"]


class _Piece(NamedTuple):
    """`kind` says what becomes of it where it ends up: text, a start tag in a body, a line to drop."""

    kind: _Kind
    text: str


@dataclass(slots=True, kw_only=True)
class _Held:
    """A tag inside of code, and the text after it, until it is known whether the tag is real."""

    fence: int  # that the tag is in; 0 for inline code
    pieces: list[_Piece]
    length: int
    is_after_fence: bool = False
    is_pair: bool = False  # an end tag follows the start tag in the same code


@dataclass(slots=True, kw_only=True)
class _Body:
    """What has to be known of a body until it ends."""

    frame: Frame = field(default_factory=Frame)
    raw: list[str] = field(default_factory=list[str])
    dropped: int = 0  # characters of `raw` that were the line break after the tag
    around: int = 0  # the fence that the start tag was in
    has_literal_end: bool = False


class FileCapture:
    """Reads the assistant's text of one run, reply after reply.

    `expect` after a file was created, `feed` for each delta, `boundary` at the end of each reply, `reset` if
    the reply is void and tried again, `close` if the run is interrupted. `control_markers` are texts that no
    body holds: a body without end that holds one was chat (FC-8). Takes linear time, and any text.
    """

    def __init__(
        self, *, control_markers: Collection[str] = (), max_body_bytes: int = MAX_BODY_BYTES
    ) -> None:
        self._markers = tuple(control_markers)
        self._out = Collector(max_body_bytes)
        self._state: Literal["idle", "waiting", "writing"] = "idle"
        self._file_id: str | None = None
        self._file_id_before_reply: str | None = None
        self._body = _Body()
        self._forget()

    def _forget(self) -> None:
        """Begin a reply: code does not go on from one to the next."""
        self._text, self._at = "", 0  # what is before _at is done
        self._code = CodeSpans()
        self._held: _Held | None = None
        # from the first start tag on that a closed fence made a literal
        self._examples: list[_Piece] = []
        # the first pair of tags in one fence: its piece in _examples, and the fence
        self._pair: tuple[int, int] | None = None

    @property
    def state(self) -> CaptureState:
        """FC-3. In "draining" the body outgrew its limit and is closed; its end tag is still to come."""
        if self._state == "writing" and not self._out.is_open:
            return "draining"
        return self._state

    @property
    def file_id(self) -> str | None:
        """The file whose body is expected or open."""
        return self._file_id

    def expect(self, file_id: str) -> None:
        """The next `<file>` is the text of `file_id`, instead of what was expected. Call it between replies.
        Raises `RuntimeError` while a body is open."""
        if self._state == "writing":
            raise RuntimeError(f"the body of {self._file_id!r} is open; end the reply first")
        self._state, self._file_id, self._file_id_before_reply = "waiting", file_id, file_id

    def feed(self, text: str) -> list[CaptureEvent]:
        """The next piece of the reply."""
        is_quiet = not (self._text or self._held or self._examples) and self._code.is_plain
        if is_quiet and "<" not in text and "`" not in text:
            self._code.skip(text)
            self._write("text", text)
        else:
            self._unread(text)
            self._advance(final=False)
        return self._out.take()

    def boundary(self) -> list[CaptureEvent]:
        """The reply ended. What is undecided is real; a body without end is truncated, or was chat (FC-8). A
        file whose body did not begin, or was chat, is still expected."""
        return self._end("boundary")

    def close(self, reason: Interruption) -> list[CaptureEvent]:
        """The run is interrupted: like `boundary`, but an open body is text of the file in any case (FC-12),
        and nothing is expected any more."""
        events = self._end(reason)
        self._state, self._file_id, self._file_id_before_reply = "idle", None, None
        return events

    def reset(self) -> list[CaptureEvent]:
        """What the reply said is void, and it is tried again: what was expected when it began is expected.
        An open body is void, and what was held back is gone with the rest of the reply."""
        if self._out.is_open:
            self._out.close("reset")
        self._forget()
        self._file_id = self._file_id_before_reply
        self._state = "idle" if self._file_id is None else "waiting"
        return self._out.take()

    def _end(self, reason: BodyReason) -> list[CaptureEvent]:
        self._settle()
        if self._state == "writing":
            self._cut(reason)
        self._forget()
        self._file_id_before_reply = self._file_id
        return self._out.take()

    # Reading

    def _unread(self, text: str) -> None:
        """Put `text` after what is still to be read."""
        self._text = self._text[self._at :] + text
        self._at = 0

    def _read_again(self, pieces: list[_Piece]) -> None:
        """Put `pieces` before what is still to be read."""
        self._text = "".join(piece.text for piece in pieces) + self._text[self._at :]
        self._at = 0

    def _advance(self, *, final: bool) -> None:
        while self._at < len(self._text):
            if not self._step(final):
                return
        self._text, self._at = "", 0

    def _step(self, final: bool) -> bool:
        """Read up to the next mark, or the mark. False if more text is needed."""
        text, at, code = self._text, self._at, self._code
        if code.in_run and text[at] != "`":
            self._change(code.end_run())
            return True
        mark = code.next_mark(text, at)
        if mark > at:
            self._pass_plain(text[at:mark])
        elif text[at] == "\n":
            change = code.newline()
            self._pass("text", "\n")
            self._change(change)
        elif code.is_closing:
            code.other()
        elif text[at] == "`":
            run = _run_length(text, at)
            code.run(run)
            self._pass("text", text[at : at + run])
        else:
            return self._open_bracket(final)
        return True

    def _open_bracket(self, final: bool) -> bool:
        code = self._code
        if self._state != "idle" or (code.at_line_start and not code.is_code):
            tag = tag_at(self._text, self._at)
            if tag == "partial" and not final:
                return False
            if isinstance(tag, Tag):
                return self._tag(tag, final)
        self._pass_plain("<")
        return True

    def _settle(self) -> None:
        """Decide everything: nothing follows in this reply."""
        while True:
            self._advance(final=True)
            if self._code.in_run:
                self._change(self._code.end_run())
            elif self._held or self._code.span or self._code.is_closing:
                change = self._code.newline()
                if change is None and self._held:
                    self._take_as_real()
                else:
                    self._change(change)
            elif self._examples:
                self._end_examples()
            else:
                return

    # What a text is

    def _pass_plain(self, text: str) -> None:
        self._code.skip(text)
        self._pass("text", text)

    def _pass(self, kind: _Kind, text: str) -> None:
        """`text` is read. It goes to where it belongs, or waits with what is held back. This may be the end
        of waiting: then `_text` and `_code` are new."""
        self._at += len(text)
        held = self._held
        if held:
            held.pieces.append(_Piece(kind, text))
            held.length += len(text)
            if held.length > _MAX_UNDECIDED:
                self._take_as_real()
        elif self._examples:
            self._examples.append(_Piece(kind, text))
        else:
            self._write(kind, text)

    def _write(self, kind: _Kind, text: str) -> None:
        out = self._out
        if self._state != "writing":
            out.add("line" if kind == "line" else "chat", text)
            return
        body = self._body
        if out.is_open:
            body.raw.append(text)
        shown = _ESCAPED + text[1:] if kind == "nested" else text
        dropped, inside = body.frame.feed(shown)
        if dropped:
            body.dropped += len(dropped)
            out.add("tag", dropped)
        out.write(inside)

    def _write_all(self, pieces: list[_Piece]) -> None:
        for kind, text in pieces:
            self._write(kind, text)

    # Tags

    def _tag(self, tag: Tag, final: bool) -> bool:
        if self._state == "writing":
            self._tag_in_body(tag)
        elif self._state == "waiting" and tag.kind == "start":
            self._start_tag(tag)
        elif self._held:  # a start tag in the same code: it is held back while the code is open
            self._held.is_pair = True
            self._pass_plain(tag.raw)
        else:
            return self._tag_in_chat(tag, final)
        return True

    def _start_tag(self, tag: Tag) -> None:
        if self._held:
            self._pass_plain(tag.raw)
        elif self._code.is_code:
            self._hold(tag)
        else:
            self._at += len(tag.raw)
            self._open_body(tag.raw, around=0)

    def _tag_in_body(self, tag: Tag) -> None:
        if tag.kind == "start":
            kind = "text" if self._code.is_code else "nested"
            self._code.skip(tag.raw)
            self._pass(kind, tag.raw)
            return
        if self._held and self._held.is_after_fence:
            self._take_as_literal()
        if self._held:
            self._pass_plain(tag.raw)
        elif self._code.is_code:
            self._hold(tag)
        else:
            self._at += len(tag.raw)
            self._end_body(tag.raw)

    def _tag_in_chat(self, tag: Tag, final: bool) -> bool:
        """A line of nothing but a tag is dropped (FC-10)."""
        end = None
        if self._code.at_line_start and not self._code.is_code:
            end = line_end_after(self._text, self._at + len(tag.raw), final=final)
        if end == "partial":
            return False
        if end is None:
            self._pass_plain(tag.raw)
        else:
            self._pass("line", self._text[self._at : end])
        return True

    def _hold(self, tag: Tag) -> None:
        self._at += len(tag.raw)
        self._code.skip(tag.raw)
        self._held = _Held(
            fence=self._code.fence, pieces=[_Piece("text", tag.raw)], length=len(tag.raw)
        )

    # Decisions

    def _change(self, change: Change | None) -> None:
        """The code changed that a tag is held back for."""
        held = self._held
        if held is None or change is None:
            return
        if change == "fence_closed":
            if self._state == "waiting":
                self._take_as_literal()
            else:
                held.is_after_fence = True
        elif held.fence:
            return
        elif change == "fence_opened":  # the tag is on the line that opens it
            held.fence = self._code.fence
        elif change == "span_closed":
            self._take_as_literal()
        else:
            self._take_as_real()

    def _take_as_literal(self) -> None:
        held, self._held = self._held, None
        assert held is not None
        if self._state == "writing":
            self._body.has_literal_end = True
            self._write_all(held.pieces)
        elif held.fence or self._examples:
            if held.is_pair and held.fence and self._pair is None:
                self._pair = (len(self._examples), held.fence)
            self._examples += held.pieces
        else:
            self._write_all(held.pieces)

    def _take_as_real(self) -> None:
        held, self._held = self._held, None
        assert held is not None
        tag = held.pieces[0].text
        self._read_again(held.pieces[1:])
        if self._state == "waiting":
            self._open_body(tag, around=held.fence)
        else:
            self._end_body(tag)

    def _end_examples(self) -> None:
        """The reply ended without a start tag outside of code: a pair inside of a fence is taken instead
        (FC-8)."""
        examples, pair = self._examples, self._pair
        self._examples, self._pair = [], None
        if pair is None:
            self._write_all(examples)
            return
        start, fence = pair
        self._write_all(examples[:start])
        self._read_again(examples[start + 1 :])
        self._open_body(examples[start].text, around=fence)

    # Bodies

    def _open_body(self, tag: str, *, around: int) -> None:
        self._write_all(self._examples)
        self._examples, self._pair = [], None
        assert self._file_id is not None
        self._state = "writing"
        self._out.open(self._file_id)
        self._out.add("tag", tag)
        self._body = _Body(around=around)
        self._code = CodeSpans()

    def _end_body(self, tag: str) -> None:
        dropped, text = self._body.frame.end(at_tag=True)
        self._out.write(text)
        if self._out.is_open:
            self._out.close("end")
        self._out.add("tag", dropped + tag)
        self._state, self._file_id = "idle", None
        self._code = CodeSpans(fence=self._body.around)
        self._body = _Body()

    def _cut(self, reason: BodyReason) -> None:
        """The reply ended inside of a body."""
        raw = "".join(self._body.raw)[self._body.dropped :]
        chat = self._chat_reason(raw) if reason == "boundary" and self._out.is_open else None
        if chat is not None:
            self._out.close(chat)
            self._state = "idle"
            self._forget()
            self._unread(raw)
            self._settle()
            self._state = "waiting"
        else:
            self._out.write(self._body.frame.end(at_tag=False)[1])
            if self._out.is_open:
                self._out.close(reason)
            self._state, self._file_id = "idle", None
        self._body = _Body()

    def _chat_reason(self, raw: str) -> Literal["literal_end", "control_marker"] | None:
        if self._body.has_literal_end:
            return "literal_end"
        return "control_marker" if any(marker in raw for marker in self._markers) else None


def _run_length(text: str, at: int) -> int:
    end = at
    while text.startswith("`", end):
        end += 1
    return end - at
