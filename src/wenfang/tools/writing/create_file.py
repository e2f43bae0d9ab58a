"""create_file: a blank file; its text follows in the next reply (TL-3 to TL-7)."""

from __future__ import annotations

from wenfang.core import JSON, ToolContext
from wenfang.workspace import name_key
from wenfang.workspace.project import BODY_KINDS

from .blanks import Waiting
from .desk import Desk
from .envelope import Done
from .errors import Refusal
from .params import CreateFile
from .records import created, record
from .titles import file_name

DESCRIPTION = (
    "Create a blank file or a folder. Its text comes right afterwards, as the result says; create one file "
    "at a time. A title that is there already is refused."
)
_NEXT_STEP = (
    "Write it now: {how}. Plain text, the title not repeated. Nothing else is created before."
)


async def create_file(desk: Desk, context: ToolContext, args: CreateFile) -> Done:
    del context
    is_folder = args.file_type == "folder"
    name = file_name(args.title, "" if is_folder else desk.files.suffix)
    if is_folder:
        return await _create(desk, args, name)
    blocker = await desk.blocker()
    if blocker is None:
        blocker = desk.blanks.reserve(name)
    if blocker is not None:
        return await _again(desk, args, name, blocker)
    try:
        return await _create(desk, args, name)
    finally:
        desk.blanks.release()


async def _create(desk: Desk, args: CreateFile, name: str) -> Done:
    made = await desk.files.begin(
        name,
        args.file_type,
        into=args.parent_id,
        order=args.order,
        roots_of=desk.roots,
        notes=args.metadata,
        may_replace=desk.overwrite_author_text,
    )
    effect = created(made)
    desk.observe(effect)
    data = _told(desk, record(desk, made.item, args.metadata))
    if made.reused:
        data |= {"reused_existing": True, "original_content_length": made.characters}
    return Done(data=data, effects=(effect,))


async def _again(desk: Desk, args: CreateFile, name: str, blocker: Waiting) -> Done:
    """The file that waits, if it is the one that was asked for (TL-4); else it comes first."""
    waiting = await desk.files.at(blocker.file_id) if blocker.file_id else None
    if waiting is not None and name_key(waiting.path.rpartition("/")[2]) == name_key(name):
        bodies = (waiting.kind in BODY_KINDS, args.file_type in BODY_KINDS)
        if waiting.kind == args.file_type or all(bodies):
            return Done(data=_told(desk, record(desk, waiting)))
    title = desk.title_of(blocker.path)
    raise Refusal(
        "pending_empty_file_unwritten",
        f"{title!r} was created and is still blank, so {args.title[:80]!r} was not created. Write {title!r} "
        f"first: {desk.how_to_write}; or fill it with edit_file, or delete it.",
        data={"blocking_file": record(desk, waiting)} if waiting is not None else None,
    )


def _told(desk: Desk, told: dict[str, JSON]) -> dict[str, JSON]:
    if told["file_type"] == "folder":
        return told
    return told | {"content": "", "next_step": _NEXT_STEP.format(how=desk.how_to_write)}
