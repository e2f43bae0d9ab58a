"""Finding the end of a JSON value or of a bracketed list of arguments: string-aware, in one pass.

JSON ends itself, so no closing tag or fence is needed to know where it ends, and one inside a string
ends nothing.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from .source import Source, Steps, peek

MAX_DEPTH = 128

_PLAIN = re.compile(r"[^\"“'{}\[\]()｛｝<`/#]+")
_IN_STRING = {
    '"': re.compile(r'[^"\\]+'),
    "'": re.compile(r"[^'\\]+"),
    "”": re.compile(r"[^”\\]+"),
}
_IN_LINE = re.compile(r"[^\n]+")
_IN_COMMENT = re.compile(r"[^*]+")
_CLOSER = {"{": "}", "[": "]", "(": ")", "｛": "}"}
_BEFORE_VALUE = "{[(｛,:=，："


class Scan(NamedTuple):
    """`text` is the value as written. "complete": it ended itself. "stopped": brackets are open, but a
    tag or fence shows that the writer was done; `missing` are their closers. "open": the output ended
    inside. "deep": nested deeper than `MAX_DEPTH`."""

    text: str
    state: Literal["complete", "stopped", "open", "deep"]
    missing: str = ""


class _Scanner:
    def __init__(self, src: Source, has_marks: bool) -> None:
        self._src = src
        self._has_marks = has_marks
        self._parts: list[str] = []
        self._open: list[str] = []  # closers that are due
        self._last = ""  # the last character that is not blank

    def run(self) -> Steps[Scan]:
        while True:
            char = yield from peek(self._src)
            if not char:
                return self._result("open")
            if char in "\"“'" and self._begins_string(char):
                closed = yield from self._string("”" if char == "“" else char)
                if not closed:
                    return self._result("open")
                if not self._open:
                    return self._result("complete")
            elif char in _CLOSER:
                self._open.append(_CLOSER[char])
                if len(self._open) > MAX_DEPTH:
                    return self._result("deep")
                self._take(1)
            elif char in "}])｝":
                self._close("}" if char == "｝" else char)
                if not self._open:
                    return self._result("complete")
            elif self._has_marks and char in "<`/#":
                if (yield from self._special(char)):
                    return self._result("stopped")
            else:
                self._plain()

    def _result(self, state: Literal["complete", "stopped", "open", "deep"]) -> Scan:
        return Scan("".join(self._parts), state, "".join(reversed(self._open)))

    def _take(self, count: int) -> None:
        piece = self._src.take(self._src.at + count)
        self._parts.append(piece)
        if not piece.isspace():
            self._last = piece.rstrip()[-1]

    def _plain(self) -> None:
        match = _PLAIN.match(self._src.text, self._src.at)
        self._take(match.end() - self._src.at if match else 1)

    def _begins_string(self, char: str) -> bool:
        return char != "'" or not self._last or self._last in _BEFORE_VALUE

    def _close(self, char: str) -> None:
        """A closer that skips others ends them too; whether the text can be read is decided later."""
        if char in self._open:
            while self._open.pop() != char:
                pass
        self._take(1)

    def _string(self, quote: str) -> Steps[bool]:
        self._take(1)
        src = self._src
        while True:
            char = yield from peek(src)
            if not char:
                return False
            match = _IN_STRING[quote].match(src.text, src.at)
            if match:
                self._parts.append(src.take(match.end()))
            elif char == "\\":
                self._parts.append(src.take(src.at + 1))
                if (yield from peek(src)):
                    self._parts.append(src.take(src.at + 1))
            else:
                self._take(1)
                return True

    def _special(self, char: str) -> Steps[bool]:
        """Whether the text shows here that the writer was done. Comments are passed over."""
        src = self._src
        if char == "<":
            return True
        if char == "#":
            yield from self._run(_IN_LINE)
            return False
        while len(src.text) - src.at < 3 and not src.final:
            yield
        if char == "`" and src.text.startswith("```", src.at):
            return True
        if src.text.startswith("//", src.at):
            yield from self._run(_IN_LINE)
        elif src.text.startswith("/*", src.at):
            yield from self._block_comment()
        else:
            self._take(1)
        return False

    def _run(self, pattern: re.Pattern[str]) -> Steps[str]:
        """Take what `pattern` matches, over several pieces; the next character, or ""."""
        src = self._src
        while True:
            match = pattern.match(src.text, src.at)
            if match:
                self._parts.append(src.take(match.end()))
            if not src.empty:
                return src.text[src.at]
            if src.final:
                return ""
            yield

    def _block_comment(self) -> Steps[None]:
        self._parts.append(self._src.take(self._src.at + 2))
        while (yield from self._run(_IN_COMMENT)):
            self._parts.append(self._src.take(self._src.at + 1))
            if (yield from peek(self._src)) == "/":
                self._parts.append(self._src.take(self._src.at + 1))
                return


def balanced(src: Source, *, has_marks: bool = True) -> Steps[Scan]:
    """Read the value at the unread text, which is a bracket or a quote. With `has_marks`, comments are
    passed over and a tag or fence ends the value."""
    return (yield from _Scanner(src, has_marks).run())
