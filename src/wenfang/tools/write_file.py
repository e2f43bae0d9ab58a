"""write_file: a whole text file, new or replaced."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from wenfang.core import Effect, FileCreated, FileWritten, Tool, ToolOutput, tool
from wenfang.workspace import Workspace, Written

from .files import PATH_ALIASES, PATH_PATTERN, FilePath, on_disk
from .texts import plural


def make_write_file(workspace: Workspace) -> Tool:
    @tool(
        access="write",
        mode="exclusive",
        replay="idempotent",
        aliases=PATH_ALIASES | {"text": "content", "contents": "content"},
        patterns={"path": PATH_PATTERN},
    )
    async def write_file(
        path: FilePath,
        content: Annotated[str, Field(description="The whole text of the file")],
    ) -> ToolOutput:
        """Write a text file of the project: create it, with its folders, or replace all of its text.
        To change a part of a file, use edit_file."""
        written = await on_disk(workspace.write_text, path, content, base="*")
        verb = "Created" if written.previous is None else "Replaced"
        return ToolOutput(
            content=f"{verb} {written.entry.path}: {_measures(content, written)}.",
            details={
                "path": written.entry.path,
                "created": written.previous is None,
                "revision": written.revision,
                "previous": written.previous,
                "size_bytes": written.entry.size_bytes,
                "characters": len(content),
            },
            effects=(effect_of(written),),
        )

    return write_file


def effect_of(written: Written) -> Effect:
    """What a write did, as data."""
    path, size_bytes = written.entry.path, written.entry.size_bytes
    if written.previous is None:
        return FileCreated(path=path, revision=written.revision, size_bytes=size_bytes)
    return FileWritten(
        path=path, revision=written.revision, previous=written.previous, size_bytes=size_bytes
    )


def _measures(content: str, written: Written) -> str:
    lines = content.count("\n") + (not content.endswith("\n") and bool(content))
    counts = (plural(lines, "line"), plural(len(content), "character"))
    return f"{', '.join(counts)}, {plural(written.entry.size_bytes, 'byte')}"
