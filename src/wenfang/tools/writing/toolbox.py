"""The writing tools: made once, and bound to the desk of each request."""

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
from . import write_text as text
from .desk import Desk
from .envelope import Done, make_tool
from .params import (
    EDIT_ALIASES,
    ID_ALIASES,
    NAME_ALIASES,
    QUERY_ALIASES,
    TITLE_ALIASES,
    CreateFile,
    DeleteFile,
    EditFile,
    ParallelExecute,
    QueryFiles,
    RenameFile,
    WriteChapter,
    WriteText,
)


def make_writing_tools(desk: Desk) -> list[Tool]:
    """create_file, write_text, edit_file, delete_file, rename_file, query_files and parallel_execute for
    one request. For a desk with the codec "tags", open the run with `FileTags`."""
    return [tool.bound(desk) for tool in _TOOLS]


async def _parallel(desk: Desk, context: ToolContext, args: ParallelExecute) -> Done:
    await parallel.check(desk)
    tasks = args.tasks[: parallel.MOST_TASKS]
    part = replace(desk, result_chars=parallel.budget(desk.result_chars, len(tasks)))
    tools = {name: tool.bound(part) for name, tool in _OF_TASKS.items()}
    batch = parallel.Batch(desk, context, tools)
    return parallel.report(desk, await batch.run(tasks), len(args.tasks))


_EDIT = make_tool(
    "edit_file",
    edit.DESCRIPTION,
    EditFile,
    edit.edit_file,
    access="write",
    aliases=ID_ALIASES | EDIT_ALIASES,
)
_DELETE = make_tool(
    "delete_file",
    delete.DESCRIPTION,
    DeleteFile,
    delete.delete_file,
    access="write",
    aliases=ID_ALIASES,
)
_QUERY = make_tool(
    "query_files",
    query.DESCRIPTION,
    QueryFiles,
    query.query_files,
    access="read",
    aliases=ID_ALIASES | QUERY_ALIASES,
)
_CHAPTER = make_tool(
    "write_chapter",
    chapter.DESCRIPTION,
    WriteChapter,
    chapter.write_chapter,
    access="write",
    aliases=TITLE_ALIASES | {"text": "content", "body": "content"},
)
_OF_TASKS: Mapping[str, Tool] = {tool.name: tool for tool in (_CHAPTER, _EDIT, _DELETE, _QUERY)}
_TOOLS: tuple[Tool, ...] = (
    make_tool(
        "create_file",
        create.DESCRIPTION,
        CreateFile,
        create.create_file,
        access="write",
        aliases=TITLE_ALIASES,
    ),
    make_tool(
        text.NAME,
        text.DESCRIPTION,
        WriteText,
        text.write_text,
        access="write",
        aliases=ID_ALIASES | {"text": "content", "body": "content"},
    ),
    _EDIT,
    _DELETE,
    make_tool(
        "rename_file",
        rename.DESCRIPTION,
        RenameFile,
        rename.rename_file,
        access="write",
        aliases=ID_ALIASES | NAME_ALIASES,
    ),
    _QUERY,
    make_tool(
        "parallel_execute",
        parallel.DESCRIPTION,
        ParallelExecute,
        _parallel,
        access="write",
        aliases={"calls": "tasks"},
        is_short=False,
    ),
)
