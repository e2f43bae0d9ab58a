"""Making a list of edits (TL-9 to TL-12, coding-tools.md `edit`).

Every passage is looked for in the original text, so the edits may come in any order; no two may overlap.
What no passage covers keeps its bytes, and so does what old and new have in common at their ends."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from ..diffs import shared_prefix
from .candidates import MAX_CANDIDATES, candidates, line_of
from .fields import Asked, asked
from .folding import Folded, Form
from .matching import Found, Quotation, Source, find, most_similar, places
from .style import line_end_of, quotes_of, with_line_ends, with_quotes
from .values import (
    AppliedEdit,
    Edit,
    EditResult,
    EditWarning,
    FailedEdit,
    MatchKind,
    Span,
)

QuoteStyle: TypeAlias = Literal["as_given", "manuscript"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """`passage` is what may not overlap; from it, `head` and `tail` characters stay as they are."""

    index: int
    passage: Span
    head: int
    tail: int
    new: str
    match: MatchKind | None
    original: str
    warnings: tuple[EditWarning, ...]

    @property
    def key(self) -> tuple[int, int, int]:
        return self.passage.start, self.passage.end, self.index


def apply_edits(
    text: str,
    edits: Sequence[Edit],
    *,
    continue_on_error: bool = False,
    quotes: QuoteStyle = "as_given",
) -> EditResult:
    """`text` with the edits made: all of them or, if one fails, none; with `continue_on_error` those that
    do not fail. `quotes="manuscript"`: new text takes the file's double quotes. Never raises; an edit of
    the list that cannot be made is in `failed`."""
    source, pair = Source(text), quotes_of(text) if quotes == "manuscript" else None
    taken: list[_Change] = []
    failed: list[FailedEdit] = []
    for index, edit in enumerate(edits):
        changes = _changes(source, index, edit, edits, pair)
        if not isinstance(changes, FailedEdit):
            changes = _without_overlap(taken, changes)
        if isinstance(changes, FailedEdit):
            failed.append(changes)
            continue
        for change in changes:
            insort(taken, change, key=lambda each: each.key)
    if failed and not continue_on_error:
        taken = []
    result, applied = _made(text, taken, edits)
    if taken and result == text:
        indexes = sorted({change.index for change in taken})
        failed += [_invalid(index, "no_change") for index in indexes]
        applied = ()
    failed.sort(key=lambda each: each.index)
    return EditResult(text=result, applied=applied, failed=tuple(failed), total=len(edits))


def _invalid(index: int, reason: Literal["no_change", "occurrence"]) -> FailedEdit:
    return FailedEdit(index=index, error_type="invalid_edit", reason=reason, field="old")


def _changes(
    source: Source, index: int, edit: Edit, edits: Sequence[Edit], pair: str | None
) -> list[_Change] | FailedEdit:
    """What the edit changes, in the order of the text."""
    if edit.occurrence is not None and edit.occurrence < 1:
        return _invalid(index, "occurrence")
    told = asked(edit, index)
    if isinstance(told, FailedEdit):
        return told
    if told.where is None:
        return [_at_the_end(source, index, told, edit.op == "append", pair)]
    is_new = edit.op == "replace"
    quotation = Quotation(
        old=told.where, new=told.what if is_new else "", bare=edit.ignore_punct_whitespace
    )
    wanted = None if edit.replace_all else edit.occurrence or MAX_CANDIDATES
    found = find(source, quotation, mode=edit.match_mode, count=wanted)
    if found is None:
        return _not_found(source, index, edit, told, quotation, edits)
    spans = _chosen(source.text, index, edit, told, found)
    if isinstance(spans, FailedEdit):
        return spans
    return [_change(source, index, edit, told, found, span, pair) for span in spans]


def _chosen(
    text: str, index: int, edit: Edit, told: Asked, found: Found
) -> list[Span] | FailedEdit:
    """Which of the places are meant."""
    spans = found.spans
    if edit.replace_all:
        return list(_apart(spans))
    if edit.occurrence is not None:
        if edit.occurrence <= len(spans):
            return [spans[edit.occurrence - 1]]
        return FailedEdit(
            index=index,
            error_type="anchor_not_found",
            reason="too_few",
            field=told.where_field,
            candidates=candidates(text, spans),
            count=len(spans),
        )
    if len(spans) == 1:
        return spans
    literal = list(islice(places(text, told.where or ""), 2))
    if len(literal) == 1:
        return [Span(start=literal[0], end=literal[0] + len(told.where or ""))]
    return FailedEdit(
        index=index,
        error_type="anchor_ambiguous",
        reason="ambiguous",
        field=told.where_field,
        candidates=candidates(text, spans),
    )


def _apart(spans: Sequence[Span]) -> Iterator[Span]:
    end = 0
    for span in spans:
        if span.start >= end:
            yield span
            end = span.end


def _not_found(
    source: Source,
    index: int,
    edit: Edit,
    told: Asked,
    quotation: Quotation,
    edits: Sequence[Edit],
) -> FailedEdit:
    old = told.where or ""
    earlier = (n for n, each in enumerate(edits[:index]) if old in (each.new or each.text or ""))
    first = next((line.strip() for line in old.splitlines() if line.strip()), "")
    at = source.text.find(first) if first and first != old.strip() else -1
    near = most_similar(source, quotation) if edit.match_mode == "auto" else None
    return FailedEdit(
        index=index,
        error_type="anchor_not_found",
        reason="not_found",
        field=told.where_field,
        other=next(earlier, None),
        line=line_of(source.text, at) if at >= 0 else None,
        candidates=candidates(source.text, [near]) if near else (),
    )


def _at_the_end(
    source: Source, index: int, told: Asked, is_append: bool, pair: str | None
) -> _Change:
    """Text put before or behind everything, on lines of its own; behind a byte order mark."""
    text, line_end = source.text, source.line_end
    what = with_line_ends(with_quotes(told.what, pair), line_end)
    at = len(text) if is_append else int(text.startswith("\ufeff"))
    sides = (text, what) if is_append else (what, text[at:])
    if all(sides) and sides[0][-1] not in "\r\n" and sides[1][0] not in "\r\n":
        what = f"{line_end or chr(10)}{what}" if is_append else f"{what}{line_end or chr(10)}"
    return _Change(
        index=index,
        passage=Span(start=at, end=at),
        head=0,
        tail=0,
        new=what,
        match=None,
        original="",
        warnings=told.warnings,
    )


def _change(
    source: Source, index: int, edit: Edit, told: Asked, found: Found, span: Span, pair: str | None
) -> _Change:
    text = source.text
    original = text[span.start : span.end]
    match = found.rung.match
    warnings = told.warnings
    if match in ("fuzzy", "approximate", "paragraph"):
        warnings = (*warnings, "approximate_match")
    if edit.op == "insert_after":
        span = Span(start=span.end, end=span.end)
    elif edit.op == "insert_before":
        span = Span(start=span.start, end=span.start)
    new = _styled(source, span, told, pair)
    passage = text[span.start : span.end]
    head, tail, cut = _shared(found.rung.alike, passage, new)
    return _Change(
        index=index,
        passage=span,
        head=head,
        tail=tail,
        new=cut,
        match=match,
        original=original,
        warnings=warnings,
    )


def _styled(source: Source, span: Span, told: Asked, pair: str | None) -> str:
    """New text with the quotes of the manuscript and the line ends of the passage, or else of the text.
    Line ends stay as given if they are what the edit changes."""
    text, new = source.text, told.what
    if pair is not None:
        line = max(text.rfind("\n", 0, span.start), text.rfind("\r", 0, span.start)) + 1
        new = with_quotes(new, pair, text[line : span.start])
    if told.where and with_line_ends(told.where, "\n") == with_line_ends(new, "\n"):
        return new
    return with_line_ends(new, line_end_of(text[span.start : span.end]) or source.line_end)


def _shared(form: Form | None, passage: str, new: str) -> tuple[int, int, str]:
    """How many characters of the passage stay at its ends, and what of `new` goes between. What is alike
    in the form stays as the file has it, unless all is: then the look itself is to be changed."""
    if form is not None and passage and new and (folded := form.fold(passage)) != form.fold(new):
        return _alike(Folded(passage, form), Folded(new, form), folded)
    head = shared_prefix(passage, new)
    tail = shared_prefix(passage[head:][::-1], new[head:][::-1])
    return head, tail, new[head : len(new) - tail]


def _alike(old: Folded, new: Folded, folded: str) -> tuple[int, int, str]:
    head = shared_prefix(folded, new.text)
    while old.start_of(head) is None or new.start_of(head) is None:
        head -= 1
    tail = shared_prefix(folded[head:][::-1], new.text[head:][::-1])
    end, new_end = len(folded), len(new.text)
    while old.end_of(end - tail) is None or new.end_of(new_end - tail) is None:
        tail -= 1
    cut = slice(new.start_of(head), new.end_of(new_end - tail))
    return old.start_of(head) or 0, old.size - (old.end_of(end - tail) or 0), new.original[cut]


def _without_overlap(taken: list[_Change], changes: list[_Change]) -> list[_Change] | FailedEdit:
    for change in changes:
        at = bisect_left(taken, change.key, key=lambda each: each.key)
        around = taken[max(0, at - 1) : at + 1]
        for other in around:
            if (
                other.passage.start < change.passage.end
                and change.passage.start < other.passage.end
            ):
                return FailedEdit(
                    index=change.index,
                    error_type="invalid_edit",
                    reason="overlap",
                    field="old",
                    other=other.index,
                )
    return changes


def _made(
    text: str, changes: Sequence[_Change], edits: Sequence[Edit]
) -> tuple[str, tuple[AppliedEdit, ...]]:
    pieces: list[str] = []
    applied: list[AppliedEdit] = []
    at, length = 0, 0
    for change in changes:
        start, end = change.passage.start + change.head, change.passage.end - change.tail
        pieces += (text[at:start], change.new)
        length += start - at
        applied.append(
            AppliedEdit(
                index=change.index,
                op=edits[change.index].op,
                match=change.match,
                span_before=Span(start=start, end=end),
                span_after=Span(start=length, end=length + len(change.new)),
                matched_original=change.original,
                warnings=change.warnings,
            )
        )
        length += len(change.new)
        at = end
    return "".join((*pieces, text[at:])), tuple(applied)
