"""Which fields an operation needs, and which stands in for one that was not given (TL-11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .values import Edit, EditField, EditOp, EditWarning, FailedEdit

_Row: TypeAlias = tuple[EditField, EditField, EditWarning]
_QUOTED: _Row = ("old", "anchor", "old_taken_from_anchor")
_ANCHORED: _Row = ("anchor", "old", "anchor_taken_from_old")
_NEW: _Row = ("new", "text", "new_taken_from_text")
_TEXT: _Row = ("text", "new", "text_taken_from_new")
# Where an operation looks, and what it puts there.
_FIELDS: dict[EditOp, tuple[_Row | None, _Row | None]] = {
    "replace": (_QUOTED, _NEW),
    "delete": (_QUOTED, None),
    "insert_after": (_ANCHORED, _TEXT),
    "insert_before": (_ANCHORED, _TEXT),
    "append": (None, _TEXT),
    "prepend": (None, _TEXT),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is looked for (None: nothing, at the field `where_field`) and what is put there."""

    where: str | None
    where_field: EditField
    what: str
    warnings: tuple[EditWarning, ...]


def asked(edit: Edit, index: int) -> Asked | FailedEdit:
    """An edit with its fields filled. A missing `new` is an error, never a deletion; an empty one is a
    deletion that was asked for."""
    where_row, what_row = _FIELDS[edit.op]
    warnings: list[EditWarning] = []
    where: str | None = None
    what = ""
    if where_row is not None:
        where, warned = _filled(edit, where_row)
        if not where:
            return _absent(index, where, where_row[0])
        warnings += warned
    if what_row is not None:
        given, warned = _filled(edit, what_row)
        if given is None or (edit.op != "replace" and not given):
            return _absent(index, given, what_row[0])
        what = given
        warnings += warned
    if edit.op == "replace" and where == what:
        return _invalid(index, "same", "old")
    return Asked(
        where=where,
        where_field=where_row[0] if where_row else "anchor",
        what=what,
        warnings=tuple(warnings),
    )


def _filled(edit: Edit, row: _Row) -> tuple[str | None, tuple[EditWarning, ...]]:
    values: dict[EditField, str | None] = {
        "old": edit.old,
        "new": edit.new,
        "anchor": edit.anchor,
        "text": edit.text,
    }
    field, other, warned = row
    value = values[field]
    # An empty `new` says something; an empty field of another kind is one that was not given.
    if value or (value is not None and field == "new") or values[other] is None:
        return value, ()
    return values[other], (warned,)


def _absent(index: int, value: str | None, field: EditField) -> FailedEdit:
    return _invalid(index, "missing" if value is None else "empty", field)


def _invalid(
    index: int, reason: Literal["missing", "empty", "same"], field: EditField
) -> FailedEdit:
    return FailedEdit(index=index, error_type="invalid_edit", reason=reason, field=field)
