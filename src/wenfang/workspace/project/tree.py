"""Rows of files and folders, and the paths that their names make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from wenfang.lang import read_heading
from wenfang.storage import Tx, files

from ..errors import WorkspaceError
from ..paths import name_key, new_name
from ..values import Item, Kind

ROOT = ""
NUMBERED = ("draft", "outline", "script")
LARGEST = 2**31 - 1  # that a column of whole numbers holds
_LIVE = files.c.trash_id.is_(None)

CHILD = sa.select(files).where(
    files.c.project_id == sa.bindparam("project"),
    files.c.parent == sa.bindparam("parent"),
    files.c.name_key == sa.bindparam("key"),
    _LIVE,
)
_HOLD = (
    sa.select(files)
    .where(files.c.id == sa.bindparam("id"), _LIVE)
    .with_for_update(key_share=True)  # who only refers to the row does not wait
)
_LAST = sa.select(sa.func.max(files.c.ord)).where(
    files.c.project_id == sa.bindparam("project"),
    files.c.parent == sa.bindparam("parent"),
    _LIVE,
)
_ALL = sa.select(files).where(files.c.project_id == sa.bindparam("project"), _LIVE)


@dataclass(frozen=True, slots=True)
class Place:
    """A row and the path that leads to it, in the names' own spelling."""

    row: Any
    path: str


def find(tx: Tx, project: str, parts: Sequence[str]) -> Place | None:
    """What is at a path, look-alike names included; None if there is nothing."""
    names: list[str] = []
    row = None
    parent = ROOT
    for part in parts:
        values = {"project": project, "parent": parent, "key": name_key(part)}
        row = tx.sa.execute(CHILD, values).one_or_none()
        if row is None:
            return None
        names.append(row.name)
        parent = row.id
    return Place(row, "/".join(names)) if row is not None else None


def lock(tx: Tx, project: str) -> None:
    """Be the only one who adds, moves, arranges or removes files of a project, until the transaction
    ends. Taken before anything is read."""
    tx.lock(f"wenfang: files of {project}")


def hold(tx: Tx, project: str, parts: Sequence[str]) -> Place | None:
    """Like `find`, for who is going to write: what is found is nobody else's to change until the
    transaction ends; where nothing is found, nothing can appear, because the tree is locked."""
    place = find(tx, project, parts)
    mine = held(tx, place)
    if mine is None:  # nothing was there, or it was removed while we waited
        lock(tx, project)
        mine = held(tx, find(tx, project, parts))
    return mine


def held(tx: Tx, place: Place | None) -> Place | None:
    """A place that is nobody else's to change until the transaction ends, as it is now; None if it is gone."""
    row = None if place is None else tx.sa.execute(_HOLD, {"id": place.row.id}).one_or_none()
    return None if place is None or row is None else Place(row, place.path)


def existing(tx: Tx, project: str, parts: Sequence[str], path: str) -> Place:
    """Like `find`. Raises `WorkspaceError` "file_not_found"."""
    place = find(tx, project, parts)
    if place is None:
        raise WorkspaceError("file_not_found", path=path)
    return place


def folder(
    tx: Tx, project: str, parts: Sequence[str], path: str, make: Mapping[str, Any] | None
) -> Place:
    """The folder at a path; with `make`, the values of new rows, those that are missing are made.

    Raises `WorkspaceError` "file_not_found", or "path_invalid" if a file stands there.
    """
    place = Place(None, "")
    for depth in range(1, len(parts) + 1):
        found = find(tx, project, parts[:depth])
        if found is None:
            if make is None:
                raise WorkspaceError("file_not_found", path=path)
            found = insert(tx, project, place, parts[depth - 1], path, {**make, "kind": "folder"})
        if found.row.kind != "folder":
            problem = "it, or a part of it, is a file, not a folder"
            raise WorkspaceError("path_invalid", path=path, problem=problem)
        place = found
    return place


def insert(
    tx: Tx, project: str, into: Place, name: str, path: str, values: Mapping[str, Any]
) -> Place:
    """A new row in a folder. `values` holds at least `kind`, `created_at` and `id_of()`."""
    stored = new_name(name, path)
    row = {
        **{key: value for key, value in values.items() if key != "id_of"},
        "id": values["id_of"]("fil"),
        "project_id": project,
        "parent": ROOT if into.row is None else into.row.id,
        "name": stored,
        "name_key": name_key(stored),
        "updated_at": values["created_at"],
    }
    row["ord"] = position(tx, project, row["parent"], stored, row["kind"])
    tx.sa.execute(files.insert(), row)
    made = tx.sa.execute(sa.select(files).where(files.c.id == row["id"])).one()
    return Place(made, f"{into.path}/{stored}" if into.path else stored)


def position(tx: Tx, project: str, parent: str, name: str, kind: str) -> int:
    """Where a new file stands in its folder: at its chapter's number, or last (TL-7)."""
    heading = read_heading(name.rsplit(".", 1)[0]) if kind in NUMBERED else None
    if heading is not None and heading.number is not None:
        return min(heading.number, LARGEST)
    last = tx.sa.execute(_LAST, {"project": project, "parent": parent}).scalar()
    return min(1 + (last or 0), LARGEST)


def names_in(tx: Tx, project: str, into: Place) -> set[str]:
    """The keys of the names that are taken in a folder."""
    parent = ROOT if into.row is None else into.row.id
    mine = sa.and_(files.c.project_id == project, files.c.parent == parent, _LIVE)
    return set(tx.sa.execute(sa.select(files.c.name_key).where(mine)).scalars())


def is_there(tx: Tx, file_id: str) -> bool:
    """Whether a row exists and is not in the trash."""
    row = tx.sa.execute(sa.select(files.c.id).where(files.c.id == file_id, _LIVE)).one_or_none()
    return row is not None


def kind_in(tx: Tx, into: Place) -> Kind:
    """The kind of a new file in a folder: what the nearest folder above that says so holds."""
    row = into.row
    while row is not None:
        if row.holds is not None:
            return row.holds
        row = tx.sa.execute(sa.select(files).where(files.c.id == row.parent)).one_or_none()
    return "document"


def everything(tx: Tx, project: str) -> list[Place]:
    """All live rows with their paths, in reading order: by position, then by name, folders opened up."""
    below: dict[str, list[Any]] = {}
    for row in tx.sa.execute(_ALL, {"project": project}):
        below.setdefault(row.parent, []).append(row)
    found: list[Place] = []
    waiting = [Place(row, row.name) for row in _sorted(below.get(ROOT, ()))[::-1]]
    while waiting:
        place = waiting.pop()
        found.append(place)
        children = _sorted(below.get(place.row.id, ()))[::-1]
        waiting += [Place(row, f"{place.path}/{row.name}") for row in children]
    return found


def descendants(tx: Tx, project: str, place: Place) -> list[Place]:
    """A row and everything below it."""
    if place.row.kind != "folder":
        return [place]
    prefix = place.path + "/"
    return [
        each
        for each in everything(tx, project)
        if each.path == place.path or each.path.startswith(prefix)
    ]


def item_of(place: Place) -> Item:
    """What a row says, with its path."""
    row = place.row
    return Item(
        id=row.id,
        path=place.path,
        kind=row.kind,
        position=row.ord,
        hash=row.hash,
        size_bytes=row.size_bytes,
        words=row.words,
        created_at=row.created_at,
        updated_at=row.updated_at,
        holds=row.holds,
    )


def _sorted(rows: Iterable[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: (row.ord, row.name_key))
