"""A text in a form in which what shall count as equal is equal, and the way back to the original.

The whole is folded by string methods in blocks; only the block of a hit is taken apart to find the
place in the original. What cannot be taken apart (a ligature, half of an accented letter) has no place."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

_BLOCK_CHARS = 2048
# Marks and the second and third parts of a decomposed syllable: they belong to the letter before.
_MARKS = "\u0300-\u036f\u3099\u309a\uff9e\uff9f\u1160-\u11ff"
# A block may begin after a line end, or with a letter that joins nothing before it.
_CUT = re.compile(
    "(?<=\n)|[0-9A-Za-z\u0400-\u0481\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3]"
)
_BLANKS_BEFORE_LINE_END = re.compile(r"(?<![ \t])[ \t]++\n")
_NO_WORD = re.compile(r"[\W_]")
_CLUSTER = rf"(?<![ \t\u00a0\u3000])[ \t\u00a0\u3000]*+(?:\r\n|\r|\n)|\r\n|.[{_MARKS}]*"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form:
    """`swaps` replace single characters; then, as told, compatibility characters become plain (NFKC), case
    goes, line ends of all kinds are equal and blanks before them go; with `drops`, the most frequent of
    them, all punctuation and whitespace goes. `plain` are the characters that stand for themselves."""

    swaps: tuple[tuple[str, str], ...] = ()
    compat: bool = False
    caseless: bool = False
    line_ends: bool = False
    blanks: bool = False
    drops: tuple[str, ...] = ()
    plain: str

    def fold(self, text: str) -> str:
        text = self._swapped(text)
        if self.compat and not unicodedata.is_normalized("NFKC", text):
            text = self._swapped(unicodedata.normalize("NFKC", text))
        if self.caseless:
            text = text.casefold()
        if self.line_ends:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if self.blanks and (" \n" in text or "\t\n" in text):
            text = _BLANKS_BEFORE_LINE_END.sub("\n", text)
        for run in self.drops:
            text = text.replace(run, "")
        if self.drops and not text.isalnum():
            for char in filter(is_dropped, set(_NO_WORD.findall(text))):
                text = text.replace(char, "")
        return text

    def _swapped(self, text: str) -> str:
        for char, plain in self.swaps:
            text = text.replace(char, plain)
        return text


@lru_cache(maxsize=4096)
def is_dropped(char: str) -> bool:
    """Whether a character is punctuation, whitespace or invisible."""
    category = unicodedata.category(char)
    return category[0] in "PZ" or category in ("Cc", "Cf")


def _swaps(*groups: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((char, plain) for chars, plain in groups for char in chars)


DOUBLE_QUOTES = "“”„‟＂「」『』"
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
# The wide punctuation of ordinary prose: swapped first, so that most blocks need no normalizing.
_PLAIN = tuple((char, unicodedata.normalize("NFKC", char)) for char in "，：；！？（）～…")

QUOTES = Form(swaps=_swaps((DOUBLE_QUOTES, '"')), line_ends=True, plain=r"[^\r]+")
LOOK = Form(
    swaps=(
        *_swaps(("‘’‚‛′", "'"), ("“”„‟″", '"'), ("‐‑‒–—―−", "-"), (_SPACES, " ")),
        *_PLAIN,
    ),
    compat=True,
    line_ends=True,
    blanks=True,
    plain=rf"[!-~\u4e00-\u9fff]+(?![{_MARKS}])",
)
CASELESS = Form(compat=True, caseless=True, plain=rf"[!-~\u4e00-\u9fff]+(?![{_MARKS}])")
BARE = Form(
    swaps=(*_swaps(("\u3000", " ")), *_PLAIN),
    compat=True,
    caseless=True,
    # Runs first, for speed.
    drops=("\n\n  ", "\n\n", *" \t\r\n,.:;!?()[]'\"-*#。、《》“”‘’「」『』【】—·"),
    plain=rf"[0-9A-Za-z\u4e00-\u9fff]+(?![{_MARKS}])",
)


@lru_cache(maxsize=8)
def _clusters(form: Form) -> re.Pattern[str]:
    return re.compile(rf"(?P<plain>{form.plain})|{_CLUSTER}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Part i begins at `source[i]` in the original and at `target[i]` in the folded text; `plain[i]` says
    that its characters correspond one by one."""

    source: list[int]
    target: list[int]
    plain: list[bool]


class Folded:
    """A text in a form. `text` is what is searched; `start_of` and `end_of` lead back.
    `size` is the length of the original."""

    def __init__(self, original: str, form: Form) -> None:
        self._form = form
        self.original = original
        self._source = list(_cuts(original))
        pieces = [
            form.fold(original[start:end])
            for start, end in zip(self._source, [*self._source[1:], None], strict=True)
        ]
        self._target: list[int] = []
        length = 0
        for piece in pieces:
            self._target.append(length)
            length += len(piece)
        self._parts: dict[int, _Parts] = {}
        self.text = "".join(pieces)
        self.size = len(original)

    def start_of(self, at: int) -> int | None:
        """Where the folded character `at` begins in the original; None inside of what has no parts."""
        if at >= len(self.text):
            return len(self.original)
        parts, index = self._part(at)
        inside = at - parts.target[index]
        return parts.source[index] + inside if parts.plain[index] or not inside else None

    def end_of(self, at: int) -> int | None:
        """Where the folded characters before `at` end in the original."""
        if at <= 0:
            return 0
        parts, index = self._part(at - 1)
        if at == parts.target[index + 1]:
            return parts.source[index + 1]
        return parts.source[index] + at - parts.target[index] if parts.plain[index] else None

    def _part(self, at: int) -> tuple[_Parts, int]:
        block = bisect_right(self._target, at) - 1
        parts = self._parts.get(block)
        if parts is None:
            parts = self._parts[block] = self._taken_apart(block)
        return parts, bisect_right(parts.target, at) - 1

    def _taken_apart(self, block: int) -> _Parts:
        begin, length = self._source[block], self._target[block]
        end = self._source[block + 1] if block + 1 < len(self._source) else len(self.original)
        known = self._target[block + 1] if block + 1 < len(self._target) else len(self.text)
        source: list[int] = []
        target: list[int] = []
        plain: list[bool] = []
        pieces: list[str] = []
        start = length
        for match in _clusters(self._form).finditer(self.original, begin, end):
            is_plain = match.lastgroup == "plain"
            fold = self._form.fold if is_plain else _folded_part(self._form)
            piece = fold(match.group())
            source.append(match.start())
            target.append(length)
            plain.append(is_plain)
            pieces.append(piece)
            length += len(piece)
        if "".join(pieces) != self.text[start:known]:
            # Characters that act on each other in a way not foreseen here: one part, and no place inside.
            return _Parts([begin, end], [start, known], [False, False])
        return _Parts([*source, end], [*target, length], [*plain, False])


@lru_cache(maxsize=8)
def _folded_part(form: Form) -> Callable[[str], str]:
    """`form.fold` for parts of a few characters, which repeat."""
    return lru_cache(maxsize=1024)(form.fold)


def _cuts(text: str) -> Iterator[int]:
    """Where blocks begin: cut where nothing acts across."""
    at = 0
    while True:
        yield at
        cut = _CUT.search(text, at + _BLOCK_CHARS)
        if cut is None or cut.start() >= len(text):
            return
        at = cut.start()
