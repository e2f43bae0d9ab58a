"""edit_file: changes of a text by quotation (TL-9 to TL-15, TL-23, TL-24)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from wenfang.core import JSON, ToolContext
from wenfang.lang import count_words
from wenfang.workspace import WorkspaceError, unified_diff
from wenfang.workspace.edits import (
    AppliedEdit,
    Edit,
    EditField,
    EditResult,
    EditWarning,
    FailedEdit,
    apply_edits,
    describe_failures,
)
from wenfang.workspace.project import BODY_KINDS, Opened, Saved

from ..texts import HeadAndTail
from .by_author import touched_by
from .desk import Desk
from .envelope import Done
from .errors import Refusal
from .params import EditFile, EditItem
from .records import written

DESCRIPTION = (
    "Change a file by quoting: replace, delete, insert_after, insert_before, append, prepend. All edits "
    "are matched against the text as it is now. If one fails, none is made, unless continue_on_error."
)
_TRIES = 5
_PREVIEW_CHARS = 50
_ORIGINAL_CHARS = 400
_DIFF_CHARS = 64 * 1024
_WARNINGS: dict[EditWarning, str] = {
    "old_taken_from_anchor": "`old` was missing, `anchor` was taken for it",
    "anchor_taken_from_old": "`anchor` was missing, `old` was taken for it",
    "new_taken_from_text": "`new` was missing, `text` was taken for it",
    "text_taken_from_new": "`text` was missing, `new` was taken for it",
    "approximate_match": "the passage was not found as quoted; a similar one was changed, see matched_original",
}
_NAMES: dict[EditField, str] = {each: f"`{each}`" for each in ("old", "new", "anchor", "text")}


async def edit_file(desk: Desk, context: ToolContext, args: EditFile) -> Done:
    del context
    item = await desk.files.at(args.id)
    if item.kind == "folder":
        raise Refusal("invalid_edit", f"{item.path!r} is a folder; it has no text to edit.")
    async with desk.locks.hold(item.id, item.path):
        for _ in range(_TRIES):
            opened = await desk.files.opened(item.id)
            _check_seen(desk, opened)
            made = await asyncio.to_thread(_apply, opened, args)
            try:
                saved = await desk.files.put(item.id, made.text, base=opened.item.hash or "")
            except WorkspaceError as error:
                if error.code != "revision_conflict":
                    raise
                continue
            return await _done(desk, args, opened, made, saved)
    raise WorkspaceError("file_busy", path=item.path)


def _check_seen(desk: Desk, opened: Opened) -> None:
    """The edits were made from the text that the model has in mind (TL-14)."""
    known = desk.seen.revision(opened.item.id)
    if known is not None and known != opened.item.hash:
        raise Refusal(
            "stale_content",
            f"{opened.item.path!r} was changed by the author after you read it, so nothing was edited. Read "
            "it again with query_files (by id); its new text counts from your next step on. Keep what the "
            "author changed.",
        )


def _apply(opened: Opened, args: EditFile) -> EditResult:
    is_body = opened.item.kind in BODY_KINDS
    result = apply_edits(
        opened.text,
        [_edit(each) for each in args.edits],
        continue_on_error=args.continue_on_error,
        quotes="manuscript" if is_body else "as_given",
    )
    if result.failed and not result.applied:
        raise Refusal(
            result.failed[0].error_type,
            describe_failures(result, names=_NAMES),
            data={"failed_edits": [_failed(each) for each in result.failed]},
        )
    return result


def _edit(item: EditItem) -> Edit:
    return Edit(
        op=item.op,
        old=item.old,
        new=item.new,
        anchor=item.anchor,
        text=item.text,
        occurrence=item.occurrence,
        replace_all=item.replace_all,
        match_mode=item.match_mode,
        ignore_punct_whitespace=item.ignore_punct_whitespace,
    )


async def _done(desk: Desk, args: EditFile, opened: Opened, made: EditResult, saved: Saved) -> Done:
    after = [made.text[each.span_after.start : each.span_after.end] for each in made.applied]
    effect = written(saved, opened.item.hash or "", sum(map(count_words, after)))
    desk.observe(effect)
    data: dict[str, JSON] = {
        "id": saved.item.id,
        "title": desk.title_of(saved.item.path),
        "details": [_detail(opened.text, made, args.edits, each) for each in _indexes(made)],
        "edits_applied": len({each.index for each in made.applied}),
        "mutation_applied": saved.item.hash != opened.item.hash,
        "new_length": len(made.text),
        "new_word_count": count_words(made.text),
        "failed_edits": [_failed(each) for each in made.failed],
        "warnings": _warnings(made.applied),
    }
    own = await asyncio.to_thread(touched_by, opened, made.applied)
    if own:
        data["author_edits_touched"] = own
    problem = None
    if made.failed:
        problem = Refusal(
            made.failed[0].error_type,
            f"{describe_failures(made, names=_NAMES)}\nThe other edits were made; send only these again.",
        )
    return Done(
        data=data, details=data | {"diff": _diff(opened, made)}, effects=(effect,), problem=problem
    )


def _indexes(made: EditResult) -> list[int]:
    return sorted({each.index for each in (*made.applied, *made.failed)})


def _detail(before: str, made: EditResult, edits: Sequence[EditItem], index: int) -> JSON:
    mine = [each for each in made.applied if each.index == index]
    detail: dict[str, JSON] = {"edit_index": index, "op": edits[index].op, "success": bool(mine)}
    if not mine:
        return detail
    first = mine[0]
    detail["old_preview"] = _preview(before[first.span_before.start : first.span_before.end])
    detail["new_preview"] = _preview(made.text[first.span_after.start : first.span_after.end])
    if len(mine) > 1:
        detail["places"] = len(mine)
    if "approximate_match" in first.warnings:
        detail["matched_original"] = first.matched_original[:_ORIGINAL_CHARS]
    return detail


def _preview(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _PREVIEW_CHARS else f"{text[: _PREVIEW_CHARS - 1]}…"


def _failed(failed: FailedEdit) -> JSON:
    return {
        "edit_index": failed.index,
        "error_type": failed.error_type,
        "candidates": [
            {"occurrence": each.occurrence, "line": each.line, "context": each.context}
            for each in failed.candidates
        ],
    }


def _warnings(applied: Sequence[AppliedEdit]) -> list[JSON]:
    told = {each.index: each.warnings for each in applied}
    return [
        f"edit {index + 1}: {_WARNINGS[warning]}."
        for index, warnings in sorted(told.items())
        for warning in warnings
    ]


def _diff(opened: Opened, made: EditResult) -> str:
    diff = HeadAndTail(_DIFF_CHARS)
    diff.add(unified_diff(opened.text, made.text))
    return diff.text()
