"""Two texts that were made from the same one become one again, as far as they do not collide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .diffs import Change, changes, lines_of


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeConflict:
    """Lines that both sides changed, each its own way; `base` is what they were."""

    base: str
    mine: str
    theirs: str


Piece: TypeAlias = str | MergeConflict


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """The merged text in order: pieces that are settled, and conflicts."""

    pieces: tuple[Piece, ...]

    @property
    def conflicts(self) -> tuple[MergeConflict, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, MergeConflict))

    @property
    def text(self) -> str | None:
        """The merged text, None as long as there is a conflict."""
        settled = [piece for piece in self.pieces if isinstance(piece, str)]
        return "".join(settled) if len(settled) == len(self.pieces) else None


class _Side:
    """One of the two texts: its lines, its changes, and how far they are used."""

    def __init__(self, base: Sequence[str], text: str) -> None:
        self.lines = lines_of(text)
        self.changes = changes(base, self.lines)
        self.used = 0
        self.shift = 0

    @property
    def next(self) -> Change | None:
        return self.changes[self.used] if self.used < len(self.changes) else None

    def takes(self, start: int, end: int) -> Change | None:
        """The next change, if it collides with base lines `start` to `end`: shares a line with them, or
        inserts at their limits (or they at its), where the order of the two would be a guess."""
        change = self.next
        if change is None or change.start > end:
            return None
        is_insertion = change.start == change.end or start == end
        if change.start == end and not is_insertion:
            return None
        self.used += 1
        return change

    def part(self, start: int, end: int, changed: Sequence[Change]) -> str:
        """What became of base lines `start` to `end`, in which these changes lie."""
        begin = start + self.shift
        self.shift += sum(c.new_end - c.new_start - (c.end - c.start) for c in changed)
        return "".join(self.lines[begin : end + self.shift])


def three_way(base: str, mine: str, theirs: str) -> Merge:
    """Merge two descendants of `base`, line by line. Changes that do not meet are all made, a change both
    made is made once, and where they meet with different results there is a conflict with both texts."""
    lines = lines_of(base)
    sides = (_Side(lines, mine), _Side(lines, theirs))
    pieces: list[Piece] = []
    at = 0
    while starting := [side.next for side in sides if side.next is not None]:
        first = min(starting, key=lambda change: (change.start, change.end))
        start, end, found = _collided(sides, first)
        pieces.append("".join(lines[at:start]))
        texts = [side.part(start, end, made) for side, made in zip(sides, found, strict=True)]
        pieces.append(_settled("".join(lines[start:end]), texts, found))
        at = end
    pieces.append("".join(lines[at:]))
    return Merge(pieces=tuple(piece for piece in pieces if piece))


def _collided(
    sides: tuple[_Side, _Side], first: Change
) -> tuple[int, int, tuple[list[Change], list[Change]]]:
    """The base lines around `first` in which changes of both sides hang together, and these changes."""
    start, end = first.start, first.end
    found: tuple[list[Change], list[Change]] = ([], [])
    grows = True
    while grows:
        grows = False
        for side, made in zip(sides, found, strict=True):
            while (change := side.takes(start, end)) is not None:
                made.append(change)
                end = max(end, change.end)
                grows = True
    return start, end, found


def _settled(base: str, texts: Sequence[str], found: tuple[list[Change], list[Change]]) -> Piece:
    mine, theirs = texts
    if not found[1] or mine == theirs:
        return mine
    return theirs if not found[0] else MergeConflict(base=base, mine=mine, theirs=theirs)
