"""What the file tools have in common: waiting for the work, and errors as the model reads them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any, TypeVar

from pydantic import Field

from wenfang.core import ToolContext, ToolError
from wenfang.workspace import EditError, Files, WorkspaceError

R = TypeVar("R")

FilePath = Annotated[str, Field(description="Path inside the project, for example docs/plan.md")]
PATH_ALIASES = {"file_path": "path", "filepath": "path", "filename": "path", "file": "path"}
# The names our authors give files, bounded, for models whose output is constrained by a schema.
PATH_PATTERN = r"^[A-Za-z0-9_./一-鿿-]{1,60}$"


def files_of(ctx: ToolContext) -> Files:
    """The files that the tool was bound to."""
    return ctx.deps


async def to_the_end(work: Coroutine[Any, Any, R]) -> R:
    """Short work on files is not abandoned: a cancelled call waits for it and still returns its value, so
    that what was changed is never reported as not done."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        return task.result()


async def done(work: Coroutine[Any, Any, R]) -> R:
    """Wait for work on files, and say what went wrong in words for the model."""
    try:
        return await to_the_end(work)
    except (WorkspaceError, EditError) as error:
        is_missing = isinstance(error, WorkspaceError) and error.code == "file_not_found"
        advice = " Call list_files to see what there is." if is_missing else ""
        raise ToolError(f"{error}{advice}") from error
