"""list_files: what is in the project."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from wenfang.core import ToolContext, ToolOutput, tool
from wenfang.workspace import Item, Listing

from .files import PATH_ALIASES, PATH_PATTERN, done, files_of
from .texts import MAX_BYTES, plural, size

_MAX_ENTRIES = 500


@tool(
    access="read",
    aliases=PATH_ALIASES | {"folder": "path", "directory": "path", "dir": "path"},
    patterns={"path": PATH_PATTERN},
)
async def list_files(
    ctx: ToolContext,
    path: Annotated[str, Field(description="Folder to list; . is the whole project")] = ".",
    recursive: Annotated[bool, Field(description="Also list what is inside folders")] = False,
) -> ToolOutput:
    """List files and folders of the project, and how many there are. Use it for any question
    about which or how many files exist."""
    listing = await done(files_of(ctx).listing(path, recursive=recursive, limit=_MAX_ENTRIES))
    return _output(listing, recursive=recursive)


def _output(listing: Listing[Item], *, recursive: bool) -> ToolOutput:
    lines = [_summary(listing, recursive=recursive)]
    room = MAX_BYTES
    for entry in listing.entries:
        line = _line(entry)
        room -= len(line.encode()) + 1
        if room < 0:
            break
        lines.append(line)
    shown = len(lines) - 1
    total = listing.files + listing.folders
    if shown < total:
        lines.append(f"... {total - shown} more not shown; list one folder at a time.")
    elif listing.folders and not recursive:
        lines.append("(Folders are not opened; list one by its path, or use recursive=true.)")
    return ToolOutput(
        content="\n".join(lines),
        details={
            "path": listing.path,
            "files": listing.files,
            "folders": listing.folders,
            "size_bytes": listing.size_bytes,
            "shown": shown,
            "truncated": shown < total or not listing.complete,
        },
    )


def _summary(listing: Listing[Item], *, recursive: bool) -> str:
    where = listing.path or "The project"
    if not listing.files and not listing.folders:
        return f"{where}: no files and no folders (empty)."
    least = "" if listing.complete else "at least "
    inside = ", counting everything inside" if recursive else ""
    counts = f"{plural(listing.files, 'file')} and {plural(listing.folders, 'folder')}"
    return f"{where}: {least}{counts}{inside}."


def _line(entry: Item) -> str:
    return (
        f"{entry.path}/" if entry.kind == "folder" else f"{entry.path} ({size(entry.size_bytes)})"
    )
