"""Inline code and fences in a text that is still growing: where a tag is a literal (FC-5)."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Change: TypeAlias = Literal["span_closed", "span_open_at_line_end", "fence_opened", "fence_closed"]

_IN_TEXT = re.compile(r"[`<]")
_IN_SPAN = re.compile(r"[`<\n]")
_AFTER_CLOSING_RUN = re.compile(r"[^ \t\r]")
_FENCE = 3


class CodeSpans:
    """What kind of code the current position is in.

    A run of backticks opens inline code, which a run of the same length closes on the same line. A run of
    three or more at the beginning of a line that holds no other run opens a fence with that line; a line of
    nothing but a run of at least that length closes it. Chunks may end anywhere, also inside of a run.
    """

    __slots__ = ("_closing", "_may_be_fence", "_run", "at_line_start", "fence", "span")

    def __init__(self, *, fence: int = 0, at_line_start: bool = True) -> None:
        self.fence = fence
        """Length of the run that opened the fence, 0 outside of fences."""
        self.span = 0
        """Length of the run that opened inline code, 0 outside."""
        self.at_line_start = at_line_start
        """Whether nothing but white space precedes on the line."""
        self._run = 0  # of the run that is being read
        self._may_be_fence = False
        self._closing = False  # a run that closes the fence, if nothing else is on its line

    @property
    def is_code(self) -> bool:
        return bool(self.fence or self.span)

    @property
    def is_plain(self) -> bool:
        """Whether only a backtick or a `<` can change anything."""
        return not (self.span or self._run or self._closing)

    def next_mark(self, text: str, at: int) -> int:
        """Where the next character stands that `run`, `newline`, `other` or the caller (`<`) has to see."""
        if self._closing:
            found = _AFTER_CLOSING_RUN.search(text, at)
        elif self.span:
            found = _IN_SPAN.search(text, at)
        else:
            found = _IN_TEXT.search(text, at)
        return found.start() if found else len(text)

    def skip(self, text: str) -> None:
        """Pass text up to a mark."""
        line = text.rfind("\n") + 1
        if line or self.at_line_start:
            self.at_line_start = not text[line:].strip()

    def run(self, length: int) -> None:
        """Pass backticks. What they mean is known when the run has ended."""
        self._run += length

    @property
    def in_run(self) -> bool:
        return self._run > 0

    def end_run(self) -> Change | None:
        run, self._run = self._run, 0
        at_line_start, self.at_line_start = self.at_line_start, False
        if self.fence:
            self._closing = at_line_start and run >= self.fence
        elif not self.span:
            self.span = run
            self._may_be_fence = at_line_start and run >= _FENCE
        elif self.span == run:
            self.span = 0
            return "span_closed"
        else:
            self._may_be_fence = False
        return None

    def newline(self) -> Change | None:
        """Pass a line end inside of inline code or after a closing run."""
        self.at_line_start = True
        if self._closing:
            self._closing = False
            self.fence = 0
            return "fence_closed"
        if not self.span:
            return None
        span, self.span = self.span, 0
        if self._may_be_fence:
            self.fence = span
            return "fence_opened"
        return "span_open_at_line_end"

    def other(self) -> None:
        """Meet anything but blanks on the line of a closing run: it closes nothing."""
        self._closing = False

    @property
    def is_closing(self) -> bool:
        return self._closing
