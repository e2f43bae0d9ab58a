"""write_file: a whole text file, new or replaced."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from wenfang.core import Effect, FileCreated, FileWritten, ToolContext, ToolOutput, tool
from wenfang.workspace import Saved

from .files import PATH_ALIASES, PATH_PATTERN, FilePath, done, files_of
from .texts import plural


@tool(
    access="write",
    mode="exclusive",
    replay="idempotent",
    aliases=PATH_ALIASES | {"text": "content", "contents": "content"},
    patterns={"path": PATH_PATTERN},
)
async def write_file(
    ctx: ToolContext,
    path: FilePath,
    content: Annotated[str, Field(description="The whole text of the file")],
) -> ToolOutput:
    """Write a text file of the project: create it, with its folders, or replace all of its text.
    To change a part of a file, use edit_file."""
    written = await done(files_of(ctx).write(path, content, base="*"))
    verb = "Created" if written.previous is None else "Replaced"
    return ToolOutput(
        content=f"{verb} {written.item.path}: {_measures(content, written)}.",
        details={
            "path": written.item.path,
            "created": written.previous is None,
            "revision": written.hash,
            "previous": written.previous,
            "size_bytes": written.item.size_bytes,
            "characters": len(content),
        },
        effects=(effect_of(written),),
    )


def effect_of(written: Saved) -> Effect:
    """What a write did, as data."""
    path, size_bytes = written.item.path, written.item.size_bytes
    if written.previous is None:
        return FileCreated(path=path, revision=written.hash, size_bytes=size_bytes)
    return FileWritten(
        path=path, revision=written.hash, previous=written.previous, size_bytes=size_bytes
    )


def _measures(content: str, written: Saved) -> str:
    lines = content.count("\n") + (not content.endswith("\n") and bool(content))
    counts = (plural(lines, "line"), plural(len(content), "character"))
    return f"{', '.join(counts)}, {plural(written.item.size_bytes, 'byte')}"
