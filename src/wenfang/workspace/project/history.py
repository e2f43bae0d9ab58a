"""What becomes a revision, and of whom (writing.md §13, VR-1 to VR-4): rules without a database."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wenfang.lang import count_words

from ..authorship import Actor
from ..diffs import shared_prefix

Change: TypeAlias = Literal["create", "edit", "ai_edit", "restore", "auto_save", "import", "merge"]

AMEND_WINDOW_S = 600.0
_AMENDABLE = ("create", "edit", "auto_save")


@dataclass(frozen=True, slots=True, kw_only=True)
class By:
    """Who writes. `run_id` names the run for an agent's writes."""

    actor: Actor
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One version of a file. `n` counts from 1 per file and `parent` is the one it was made from;
    `origin` is the one whose text a restore brought back. `hash` names the text. A revision that is
    amended keeps `opened_at` (Unix seconds) and moves `saved_at`."""

    n: int
    parent: int | None
    hash: str
    actor: Actor
    change: Change
    run_id: str | None
    origin: int | None
    words: int
    characters: int
    lines_added: int
    lines_removed: int
    opened_at: float
    saved_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """How much text there is and how much of it is new."""

    words: int
    characters: int
    lines_added: int
    lines_removed: int


def is_amended(
    newest: Revision | None, head: str | None, by: By, change: Change, now: float
) -> bool:
    """Whether an author's save goes into the newest revision instead of a new one: it is the author's
    own, its window is open, and no text lies between (VR-3). `head` is the file's present text. What is
    no plain save (a restored text, a merge) is a version of its own."""
    return (
        newest is not None
        and change in _AMENDABLE
        and newest.hash == head
        and by.actor == newest.actor == "author"
        and newest.change in _AMENDABLE
        and now - newest.opened_at < AMEND_WINDOW_S
    )


def is_seed(revision: Revision) -> bool:
    """Whether a text came with the project's template: it is nobody's work, and no more protected than an
    agent's."""
    return revision.actor == "system" and revision.change == "create"


def is_unrecorded(newest: Revision | None, head: str | None) -> bool:
    """Whether the present text is in no revision: one is made of it before it is overwritten (VR-4)."""
    return head is not None and (newest is None or newest.hash != head)


def measure(before: str, words_before: int, after: str) -> Measure:
    """Compare two texts. Only the lines that differ are looked at, so that a save costs what it
    changed; they are counted as a multiset, without regard to where they moved."""
    head = shared_prefix(before, after)
    tail = shared_prefix(before[head:][::-1], after[head:][::-1])
    begin = before.rfind("\n", 0, head) + 1
    old = _to_line_end(before, len(before) - tail)
    new = after[begin : len(after) - (len(before) - old)]
    lost = before[begin:old]
    added, removed = Counter(_lines(new)), Counter(_lines(lost))
    return Measure(
        words=words_before - count_words(lost) + count_words(new),
        characters=len(after),
        lines_added=sum((added - removed).values()),
        lines_removed=sum((removed - added).values()),
    )


def _to_line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
