"""rename_file: another title in the same folder; id and text stay (TL-8)."""

from __future__ import annotations

from wenfang.core import FileRenamed, ToolContext

from .desk import Desk
from .envelope import Done
from .params import RenameFile
from .records import record
from .titles import file_name

DESCRIPTION = (
    "Give a file or folder another title. Its id and its text stay. A title that its folder has already is "
    "refused."
)
_OTHER_ENDINGS = (".txt", ".markdown")


async def rename_file(desk: Desk, context: ToolContext, args: RenameFile) -> Done:
    del context
    item = await desk.files.at(args.id)
    endings = (desk.files.suffix, *_OTHER_ENDINGS)
    suffix = next((each for each in endings if item.path.endswith(each)), "")
    name = file_name(args.title, "" if item.kind == "folder" else suffix)
    before, after = await desk.files.rename(item.id, name)
    effect = FileRenamed(
        path=after.path, previous_path=before.path, file_id=after.id, kind=after.kind
    )
    desk.observe(effect)
    data = record(desk, after) | {"previous_title": desk.title_of(before.path)}
    return Done(data=data, effects=(effect,))
