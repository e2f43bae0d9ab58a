"""The text that has arrived and was not yet understood.

Readers are generators: one that cannot decide yet yields, and is resumed when there is more text or
when it is certain that none will come (`final`). Indices into `text` hold until then. What stays unread between two pieces is short, so
that no character is looked at more than a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from enum import Enum
from typing import TypeAlias, TypeVar

_T = TypeVar("_T")
Steps: TypeAlias = Generator[None, None, _T]


class Wait(Enum):
    """The answer of a look-ahead that needs more text."""

    MORE = 0


MORE = Wait.MORE

# Invisible characters: data in values, nothing in names, labels and tags.
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_BLANKS = re.compile(rf"[\s{INVISIBLE}]*")


class Source:
    """`text[at:]` is unread. `final` tells that nothing follows, `cut` that the output limit ended it."""

    __slots__ = ("_before", "_trail", "at", "cut", "final", "offset", "text")

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.offset = 0  # characters dropped from the front of `text`
        self.final = False
        self.cut = False
        self._before = ""
        self._trail: list[str] | None = None

    def add(self, piece: str) -> None:
        if self.at:
            self._before = self.text[self.at - 1]
            self.offset += self.at
            self.text = self.text[self.at :] + piece
            self.at = 0
        else:
            self.text += piece

    def skip(self, piece: str) -> None:
        """Account for a piece that was read without passing through here. Nothing is unread."""
        self.offset += self.at + len(piece)
        self.text, self.at = "", 0
        self._before = piece[-1]

    def take(self, end: int) -> str:
        piece = self.text[self.at : end]
        self.at = end
        if self._trail is not None:
            self._trail.append(piece)
        return piece

    def record(self) -> None:
        """Keep what is read from here on, in case it turns out to be ordinary text."""
        self._trail = []

    def recorded(self) -> str:
        trail, self._trail = self._trail or [], None
        return "".join(trail)

    @property
    def empty(self) -> bool:
        return self.at >= len(self.text)

    @property
    def before(self) -> str:
        """The last character that was read, or ""."""
        return self.text[self.at - 1] if self.at else self._before

    @property
    def position(self) -> int:
        return self.offset + self.at

    def starts(self, word: str) -> bool | Wait:
        """Whether the unread text starts with `word`."""
        if self.text.startswith(word, self.at):
            return True
        rest = len(self.text) - self.at
        if not self.final and rest < len(word) and word.startswith(self.text[self.at :]):
            return MORE
        return False


def starts(src: Source, word: str) -> Steps[bool]:
    while True:
        found = src.starts(word)
        if not isinstance(found, Wait):
            return found
        yield


def peek(src: Source) -> Steps[str]:
    """The next character, or "" at the end of the output."""
    while src.empty and not src.final:
        yield
    return src.text[src.at] if not src.empty else ""


def skip(src: Source, pattern: re.Pattern[str] = _BLANKS) -> Steps[str]:
    """Read what `pattern` (a repeated class of characters) matches; the character after it, or ""."""
    while True:
        match = pattern.match(src.text, src.at)
        if match is not None and match.end() > src.at:
            src.take(match.end())
        if not src.empty:
            return src.text[src.at]
        if src.final:
            return ""
        yield


def line(src: Source, limit: int) -> Steps[str | None]:
    """The rest of the line without its end, unread; None if it is longer than `limit` characters."""
    while True:
        end = src.text.find("\n", src.at, src.at + limit + 1)
        if end >= 0:
            return src.text[src.at : end]
        if len(src.text) - src.at > limit:
            return None
        if src.final:
            return src.text[src.at :]
        yield
