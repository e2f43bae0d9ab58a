"""What an edit says, and what came of it (writing.md §7.2, TL-9 to TL-13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

EditOp: TypeAlias = Literal[
    "replace", "insert_after", "insert_before", "append", "prepend", "delete"
]
MatchMode: TypeAlias = Literal["auto", "look", "exact"]
MatchKind: TypeAlias = Literal["exact", "look", "fuzzy", "approximate", "paragraph"]
EditField: TypeAlias = Literal["old", "new", "anchor", "text"]
EditErrorType: TypeAlias = Literal["anchor_not_found", "anchor_ambiguous", "invalid_edit"]
EditReason: TypeAlias = Literal[
    "missing",
    "empty",
    "same",
    "occurrence",
    "not_found",
    "too_few",
    "ambiguous",
    "overlap",
    "no_change",
]
EditWarning: TypeAlias = Literal[
    "old_taken_from_anchor",
    "anchor_taken_from_old",
    "new_taken_from_text",
    "text_taken_from_new",
    "approximate_match",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Characters `start` (included) to `end` (not included) of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change of a text. `replace` and `delete` quote a passage in `old`, the two inserts in `anchor`;
    `new` is what replaces it, `text` what is put in. None says that a field was not given.

    `match_mode`: how far the passage is looked for: "exact" (double quotes of any kind are equal, and
    line ends), "look" (letter by letter, then look-alike characters), "auto" (all of the ladder).
    `occurrence` (from 1) picks one of several places; `replace_all` takes them all."""

    op: EditOp = "replace"
    old: str | None = None
    new: str | None = None
    anchor: str | None = None
    text: str | None = None
    occurrence: int | None = None
    replace_all: bool = False
    match_mode: MatchMode = "auto"
    ignore_punct_whitespace: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedEdit:
    """A change that was made. `index` counts the list's edits from 0; an edit of all places has one of
    these per place. The spans hold what really differs, before and after; `matched_original` is the whole
    passage that was found, `match` how (None: no passage was looked for)."""

    index: int
    op: EditOp
    match: MatchKind | None
    span_before: Span
    span_after: Span
    matched_original: str
    warnings: tuple[EditWarning, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A place that may be meant: its number for `occurrence`, its line (from 1), and the words
    around it, with the place itself in ⟦ ⟧."""

    occurrence: int
    line: int
    span: Span
    context: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedEdit:
    """An edit that cannot be made. `candidates` are all places in question (at most nine), or for a
    passage that is not found the most similar one. `other` is the index of the edit it collides with
    or whose new text it quotes; `line` is where the passage's first line stands, `count` how often the
    passage is there."""

    index: int
    error_type: EditErrorType
    reason: EditReason
    field: EditField
    candidates: tuple[Candidate, ...] = ()
    other: int | None = None
    line: int | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EditResult:
    """The text with the applied edits, `applied` in the order of the text, `failed` in the list's."""

    text: str
    applied: tuple[AppliedEdit, ...]
    failed: tuple[FailedEdit, ...]
    total: int
