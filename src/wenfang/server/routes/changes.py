"""What the routes of files say: shapes of what is there, and facts of what a person changed."""

from __future__ import annotations

from typing import Any, Literal

from wenfang.runs import FileChanged
from wenfang.workspace import Item

from ..services import Services
from ..shapes import Entry


async def tell(
    services: Services,
    pid: str,
    path: str,
    change: Literal["created", "written", "deleted", "renamed", "arranged"],
    *,
    revision: str = "",
    to: str | None = None,
) -> None:
    """Tell all tabs of the project what its author did."""
    fact = FileChanged(path=path, change=change, by="author", revision=revision, to=to)
    await services.runs.record_file_change(pid, fact)


def entry_of(item: Item) -> Entry:
    """A file or folder on the wire."""
    return Entry(
        id=item.id,
        path=item.path,
        kind="folder" if item.kind == "folder" else "file",
        type=item.kind,
        size_bytes=item.size_bytes,
        words=item.words,
        modified_at=item.updated_at,
        revision=item.hash,
    )


def saved_fields(item: Item, text: str) -> dict[str, Any]:
    """The fields of `FileSaved`."""
    return {
        "path": item.path,
        "revision": item.hash or "",
        "size_bytes": item.size_bytes,
        "words": item.words,
        "modified_at": item.updated_at,
        "newline": "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n",
    }
