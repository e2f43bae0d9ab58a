"""The writing tools of one request, and which of them change files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from wenfang.core import Tool, ToolContext

from . import create_file as create
from . import delete_file as delete
from . import edit_file as edit
from . import parallel_execute as parallel
from . import query_files as query
from . import rename_file as rename
from . import write_chapter as chapter
from .desk import Desk
from .envelope import Done, make_tool
from .params import (
    ID_ALIASES,
    TITLE_ALIASES,
    CreateFile,
    DeleteFile,
    EditFile,
    ParallelExecute,
    QueryFiles,
    RenameFile,
    WriteChapter,
)

_EDITS: Mapping[str, str] = {"changes": "edits", "operations": "edits"}
_TEXTS: Mapping[str, str] = {"text": "content", "body": "content"}


def make_writing_tools(desk: Desk) -> list[Tool]:
    """create_file, edit_file, delete_file, rename_file, query_files and parallel_execute for one request."""
    return [
        make_tool(
            desk,
            "create_file",
            create.DESCRIPTION,
            CreateFile,
            create.create_file,
            access="write",
            aliases=TITLE_ALIASES,
        ),
        _edit(desk),
        _delete(desk),
        make_tool(
            desk,
            "rename_file",
            rename.DESCRIPTION,
            RenameFile,
            rename.rename_file,
            access="write",
            aliases={**ID_ALIASES, "name": "title", "new_title": "title", "new_name": "title"},
        ),
        _query(desk),
        make_tool(
            desk,
            "parallel_execute",
            parallel.DESCRIPTION,
            ParallelExecute,
            _parallel,
            access="write",
            aliases={"calls": "tasks"},
            is_short=False,
        ),
    ]


async def _parallel(desk: Desk, context: ToolContext, args: ParallelExecute) -> Done:
    await parallel.check(desk)
    tasks = args.tasks[: parallel.MOST_TASKS]
    part = replace(desk, result_chars=parallel.budget(desk.result_chars, len(tasks)))
    batch = parallel.Batch(desk, context, _task_tools(part))
    return parallel.report(desk, await batch.run(tasks), len(args.tasks))


def _task_tools(desk: Desk) -> dict[str, Tool]:
    writes = make_tool(
        desk,
        "write_chapter",
        chapter.DESCRIPTION,
        WriteChapter,
        chapter.write_chapter,
        access="write",
        aliases={**TITLE_ALIASES, **_TEXTS},
    )
    return {each.name: each for each in (writes, _edit(desk), _delete(desk), _query(desk))}


def _edit(desk: Desk) -> Tool:
    return make_tool(
        desk,
        "edit_file",
        edit.DESCRIPTION,
        EditFile,
        edit.edit_file,
        access="write",
        aliases={**ID_ALIASES, **_EDITS},
    )


def _delete(desk: Desk) -> Tool:
    return make_tool(
        desk,
        "delete_file",
        delete.DESCRIPTION,
        DeleteFile,
        delete.delete_file,
        access="write",
        aliases=ID_ALIASES,
    )


def _query(desk: Desk) -> Tool:
    return make_tool(
        desk,
        "query_files",
        query.DESCRIPTION,
        QueryFiles,
        query.query_files,
        access="read",
        aliases={**ID_ALIASES, "search": "query", "keyword": "query", "folder_id": "parent_id"},
    )
