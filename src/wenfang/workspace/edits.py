"""Replacing passages of a text that a model quotes (coding-tools.md, `edit`).

Every passage is looked for in the original text, must be found once, and may not overlap another. A
passage that is not found as it stands is looked for again in a form in which look-alike quotes, dashes,
spaces, line ends and compatibility characters are equal. What no passage covers keeps its bytes.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .diffs import shared_prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """`fuzzy` holds the numbers (from 1) of the edits that matched by look only."""

    text: str
    fuzzy: tuple[int, ...]


class EditError(Exception):
    """An edit that cannot be made. The text is for the model: which edit, what, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    number: int
    start: int
    end: int
    new: str
    fuzzy: bool


def apply_edits(text: str, edits: Sequence[Edit]) -> Edited:
    """`text` with all edits made, or none: raises `EditError` if any of them cannot be made."""
    folded: _Folded | None = None
    changes: list[_Change] = []
    for number, edit in enumerate(edits, 1):
        _check(edit, number)
        start = _only(text, edit.old, number)
        if start is not None:
            end = start + len(edit.old)
            changes.append(_change(text, number, start, end, edit.new, fuzzy=False))
            continue
        folded = folded or _fold(text)
        changes.append(_fuzzy(text, folded, edit, number))
    return _applied(text, changes)


def _check(edit: Edit, number: int) -> None:
    if not edit.old:
        raise EditError(f"edit {number}: old_text is empty; quote the passage to replace.")
    if edit.old == edit.new:
        raise EditError(f"edit {number}: old_text and new_text are the same; nothing would change.")


def _only(text: str, part: str, number: int) -> int | None:
    """Where `part` is in `text`, None if nowhere. Raises if it is there more than once."""
    first = text.find(part)
    if first < 0:
        return None
    again = text.find(part, first + 1)
    if again < 0:
        return first
    raise EditError(_ambiguous(number, [text.count("\n", 0, at) + 1 for at in (first, again)]))


def _ambiguous(number: int, lines: Sequence[int]) -> str:
    where = " and ".join(str(line) for line in lines)
    return (
        f"edit {number}: old_text is found more than once (at lines {where}); "
        "quote more of the lines around it, so that it is found once."
    )


def _change(text: str, number: int, start: int, end: int, new: str, *, fuzzy: bool) -> _Change:
    """`new` takes over the line ends of the passage, or of the text if the passage has none."""
    passage = text[start:end]
    sample = passage if "\n" in passage else text
    if sample.count("\r\n") * 2 > sample.count("\n"):
        new = re.sub(r"(?<!\r)\n", "\r\n", new)
    return _Change(number=number, start=start, end=end, new=new, fuzzy=fuzzy)


def _applied(text: str, changes: list[_Change]) -> Edited:
    changes.sort(key=lambda change: (change.start, change.end))
    pieces: list[str] = []
    at, before = 0, 0
    for change in changes:
        if change.start < at:
            raise EditError(
                f"edits {before} and {change.number} overlap; make one edit of them, or quote less."
            )
        pieces += (text[at : change.start], change.new)
        at, before = change.end, change.number
    result = "".join((*pieces, text[at:]))
    if result == text:
        raise EditError("the edits would change nothing; the file already reads like this.")
    fuzzy = sorted(change.number for change in changes if change.fuzzy)
    return Edited(text=result, fuzzy=tuple(fuzzy))


# Looking for look-alikes

_ALIKE = str.maketrans(
    dict.fromkeys("‘’‚‛′", "'")
    | dict.fromkeys("“”„‟″", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | dict.fromkeys("\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008", " ")
    | dict.fromkeys("\u2009\u200a\u202f\u205f\u3000", " ")
)
# A run that stands for itself; or a line end with the blanks before it; or one character with its marks.
_MARKS = "\u0300-\u036f\u3099\u309a"
_SEGMENT = re.compile(
    rf"(?P<plain>[!-~\u4e00-\u9fff]+(?![{_MARKS}]))|[ \t\u00a0\u3000]*\r?\n|.[{_MARKS}]*", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class _Folded:
    """A text in the form that is compared. Segment i begins at `source[i]` in the original and at
    `target[i]` in `text`; `plain[i]` says that its characters correspond one by one."""

    text: str
    source: list[int]
    target: list[int]
    plain: list[bool]

    def origin(self, at: int) -> int | None:
        """The place in the original, None if `at` is inside something that cannot be split."""
        index = bisect_right(self.target, at) - 1
        inside = at - self.target[index]
        return self.source[index] + inside if self.plain[index] or not inside else None


def _fold(text: str) -> _Folded:
    pieces: list[str] = []
    source: list[int] = []
    target: list[int] = []
    plain: list[bool] = []
    length = 0
    for match in _SEGMENT.finditer(text):
        is_plain = match.lastgroup == "plain"
        piece = match.group() if is_plain else _look(match.group())
        pieces.append(piece)
        source.append(match.start())
        target.append(length)
        plain.append(is_plain)
        length += len(piece)
    return _Folded("".join(pieces), [*source, len(text)], [*target, length], [*plain, False])


@lru_cache(maxsize=1024)
def _look(segment: str) -> str:
    if segment[-1] == "\n":
        return "\n"
    return unicodedata.normalize("NFKC", segment.translate(_ALIKE)).translate(_ALIKE)


def _fuzzy(text: str, folded: _Folded, edit: Edit, number: int) -> _Change:
    old, new = _fold(edit.old), _fold(edit.new)
    places = _places(folded, old.text)
    if not places:
        raise EditError(_not_found(folded, old.text, number))
    if len(places) > 1:
        raise EditError(_ambiguous(number, [folded.text.count("\n", 0, at) + 1 for at in places]))
    at = places[0]
    head, tail = _shared(folded, at, old.text, new)
    begin, finish = folded.origin(at + head), folded.origin(at + len(old.text) - tail)
    start, end = new.origin(head), new.origin(len(new.text) - tail)
    return _change(text, number, begin or 0, finish or 0, edit.new[start:end], fuzzy=True)


def _places(folded: _Folded, part: str) -> list[int]:
    """The first two places of `part` in the folded text. One that splits a character is none."""
    found: list[int] = []
    at = folded.text.find(part) if part else -1
    while at >= 0 and len(found) < 2:
        if folded.origin(at) is not None and folded.origin(at + len(part)) is not None:
            found.append(at)
        at = folded.text.find(part, at + 1)
    return found


def _shared(folded: _Folded, at: int, old: str, new: _Folded) -> tuple[int, int]:
    """How much of a passage and of what replaces it is alike, at both ends: there the file's own
    characters stay. Nothing, if the whole is alike: then the look itself is to be changed."""
    if old == new.text:
        return 0, 0
    head = shared_prefix(old, new.text)
    while folded.origin(at + head) is None or new.origin(head) is None:
        head -= 1
    rest, new_rest = old[head:], new.text[head:]
    tail = shared_prefix(rest[::-1], new_rest[::-1])
    end, new_end = at + len(old), len(new.text)
    while folded.origin(end - tail) is None or new.origin(new_end - tail) is None:
        tail -= 1
    return head, tail


def _not_found(folded: _Folded, old: str, number: int) -> str:
    first = next((line.strip() for line in old.split("\n") if line.strip()), "")
    at = folded.text.find(first) if first and first != old.strip() else -1
    hint = ""
    if at >= 0:
        line = folded.text.count("\n", 0, at) + 1
        hint = f" Its first line is at line {line}, but what follows differs."
    return f"edit {number}: old_text is not in the file.{hint} Read the file and quote it exactly."
