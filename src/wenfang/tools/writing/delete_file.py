"""delete_file: into the trash, and never an author's text (TL-2, TL-14, TL-16)."""

from __future__ import annotations

from wenfang.core import FileDeleted, ToolContext

from .desk import Desk
from .envelope import Done
from .params import DeleteFile

DESCRIPTION = (
    "Delete a file, or with recursive a folder and everything in it. Texts that the author wrote or changed "
    "are never deleted."
)


async def delete_file(desk: Desk, context: ToolContext, args: DeleteFile) -> Done:
    del context
    items = await desk.files.discard(
        args.id,
        recursive=args.recursive,
        protect=not desk.overwrite_author_text,
        seen=desk.seen.revisions(),
    )
    effects = tuple(FileDeleted(path=each.path, file_id=each.id, kind=each.kind) for each in items)
    desk.observe(*effects)
    return Done(
        data={
            "deleted": [
                {"id": each.id, "title": desk.title_of(each.path), "file_type": each.kind}
                for each in items
            ]
        },
        effects=effects,
    )
