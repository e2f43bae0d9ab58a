"""A file as the tools tell of it."""

from __future__ import annotations

from datetime import UTC, datetime

from wenfang.core import JSON, FileCreated, FileWritten
from wenfang.lang import read_heading
from wenfang.workspace.edits import in_quotes_of
from wenfang.workspace.project import BODY_KINDS, Created, Item, Kind, Saved

from .desk import Desk


def record(desk: Desk, item: Item, notes: dict[str, JSON] | None = None) -> dict[str, JSON]:
    """What is known of a file or folder, without its text. `notes` are what is noted beside it."""
    title = desk.title_of(item.path)
    told: dict[str, JSON] = {
        "id": item.id,
        "title": title,
        "file_type": item.kind,
        "path": item.path,
        "order": item.position,
        "updated_at": datetime.fromtimestamp(item.updated_at, UTC).isoformat(timespec="seconds"),
    }
    heading = read_heading(title)
    if heading is not None and heading.number is not None:
        told["chapter_number"] = heading.number
    if notes:
        told["metadata"] = notes
    return told


def created(made: Created) -> FileCreated:
    item = made.item
    return FileCreated(
        path=item.path,
        revision=item.hash or "",
        size_bytes=item.size_bytes,
        file_id=item.id,
        kind=item.kind,
        reused=made.reused,
    )


def written(saved: Saved, previous: str, words_added: int) -> FileWritten:
    item = saved.item
    return FileWritten(
        path=item.path,
        revision=item.hash or "",
        previous=previous,
        size_bytes=item.size_bytes,
        file_id=item.id,
        kind=item.kind,
        words_added=words_added,
    )


def in_style_of(beside: str | None, kind: Kind, text: str) -> str:
    """A new text, prose with the double quotes of a text beside it (TL-23)."""
    return in_quotes_of(beside, text) if kind in BODY_KINDS and beside is not None else text
