"""What a person changed in a text since an AI wrote it (TL-15, AE-1, AE-2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

from .diffs import Change, changes, lines_of, shared_prefix
from .edits import Span
from .edits.widening import splits_word

Actor: TypeAlias = Literal["author", "ai", "system"]
HunkPartKind: TypeAlias = Literal["equal", "removed", "added"]
# A letter of a script without spaces, a word, a run of blanks, or a mark.
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+|\s+|.", re.DOTALL)
# What two passages have in common between two changes counts from this many characters on.
_ISLAND_CHARS = 3
# With less in common than this share, a passage is another one and not a changed one.
_KINSHIP = 0.4
# So many characters of changed passages are compared word by word in one call (about half a second);
# what lies beyond is told as removed and added as a whole.
_MAX_DETAIL_CHARS = 250_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HunkPart:
    kind: HunkPartKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Whole paragraphs that differ: where they were, where they are now (without the line end of the
    last one), and in `parts` what of them was removed and added."""

    before: Span
    after: Span
    parts: tuple[HunkPart, ...]


def author_edits(ai_text: str, now_text: str) -> tuple[Hunk, ...]:
    """The net difference, paragraph by paragraph. Line ends and blank lines are none."""
    old, new = lines_of(ai_text), lines_of(now_text)
    old_at = [0, *accumulate(map(len, old))]
    new_at = [0, *accumulate(map(len, new))]
    hunks: list[Hunk] = []
    left = _MAX_DETAIL_CHARS
    for change in changes([line.rstrip() for line in old], [line.rstrip() for line in new]):
        before = _span(ai_text, old_at[change.start], old_at[change.end])
        after = _span(now_text, new_at[change.new_start], new_at[change.new_end])
        one, other = ai_text[before.start : before.end], now_text[after.start : after.end]
        if one or other:
            head, tail = _ends(one, other)
            left -= len(one) + len(other) - 2 * (head + tail)
            parts = tuple(_parts(one, other, head, tail, in_words=left >= 0))
            hunks.append(Hunk(before=before, after=after, parts=parts))
    return tuple(hunks)


def touched(spans: Sequence[Span], hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """The hunks whose paragraphs, as they are now, one of the spans changes: it covers a part of them
    or, if it is empty, stands inside of them. `hunks` in the order of the text, as `author_edits` gives."""
    ordered = sorted(spans, key=lambda span: (span.start, span.end))
    found: list[Hunk] = []
    first = 0
    for hunk in hunks:
        # Edits do not overlap, so what ends before this hunk ends before the next one as well.
        while first < len(ordered) and ordered[first].end <= hunk.after.start:
            first += 1
        if first < len(ordered) and ordered[first].start < hunk.after.end:
            found.append(hunk)
    return tuple(found)


def is_author_text(text: str, *, latest: str | None, actor: Actor | None) -> bool:
    """Whether a text counts as the author's: it is not blank, and its latest version is not by the AI
    or is another text. Without a version (None) it does not."""
    if latest is None or not text.strip():
        return False
    return actor != "ai" or text != latest


def _span(text: str, start: int, end: int) -> Span:
    """The span without the blanks around it."""
    inner = text[start:end]
    head = len(inner) - len(inner.lstrip("\r\n"))
    return Span(start=start + head, end=max(start + head, start + len(inner.rstrip())))


def _ends(one: str, other: str) -> tuple[int, int]:
    """How many characters are the same at both ends, without cutting a word."""
    head = shared_prefix(one, other)
    while splits_word(one, head) or splits_word(other, head):
        head -= 1
    tail = shared_prefix(one[head:][::-1], other[head:][::-1])
    while splits_word(one, len(one) - tail) or splits_word(other, len(other) - tail):
        tail -= 1
    return head, tail


def _parts(one: str, other: str, head: int, tail: int, *, in_words: bool) -> list[HunkPart]:
    """What is the same, removed and added, or all of it if hardly anything is the same."""
    compare = _words if in_words else _whole
    parts = [
        *_part("equal", one[:head]),
        *compare(one[head : len(one) - tail], other[head : len(other) - tail]),
        *_part("equal", one[len(one) - tail :]),
    ]
    same = sum(len(part.text) for part in parts if part.kind == "equal")
    return parts if same >= _KINSHIP * max(len(one), len(other)) else _whole(one, other)


def _words(one: str, other: str) -> list[HunkPart]:
    old, new = _TOKEN.findall(one), _TOKEN.findall(other)
    parts: list[HunkPart] = []
    at = 0
    for change in _joined(old, changes(old, new, unique_first=False)):
        parts += _part("equal", "".join(old[at : change.start]))
        parts += _part("removed", "".join(old[change.start : change.end]))
        parts += _part("added", "".join(new[change.new_start : change.new_end]))
        at = change.end
    return [*parts, *_part("equal", "".join(old[at:]))]


def _whole(one: str, other: str) -> list[HunkPart]:
    return [*_part("removed", one), *_part("added", other)]


def _part(kind: HunkPartKind, text: str) -> list[HunkPart]:
    return [HunkPart(kind=kind, text=text)] if text else []


def _joined(old: Sequence[str], found: Sequence[Change]) -> list[Change]:
    """Changes with hardly anything between them, as one."""
    joined: list[Change] = []
    for change in found:
        last = joined[-1] if joined else None
        if last and sum(map(len, old[last.end : change.start])) < _ISLAND_CHARS:
            joined[-1] = Change(last.start, change.end, last.new_start, change.new_end)
        else:
            joined.append(change)
    return joined
