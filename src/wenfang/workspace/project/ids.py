"""Rows of files by their id, which stays when a file is renamed or moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from wenfang.storage import Tx, files

from ..errors import WorkspaceError
from ..paths import parse_file
from . import tree
from .tree import Place

_ROW = sa.select(files).where(
    files.c.id == sa.bindparam("id"),
    files.c.project_id == sa.bindparam("project"),
    files.c.trash_id.is_(None),
)
_CHILDREN = (
    sa.select(files)
    .where(
        files.c.project_id == sa.bindparam("project"),
        files.c.parent == sa.bindparam("parent"),
        files.c.trash_id.is_(None),
    )
    .order_by(files.c.ord, files.c.name_key)
)
_SHOWN = 80  # characters of a name that leads nowhere


def by_id(tx: Tx, project: str, file_id: str) -> Place | None:
    """The file or folder with this id; None if the project has none, or it is in the trash."""
    row = tx.sa.execute(_ROW, {"id": file_id, "project": project}).one_or_none()
    if row is None:
        return None
    place = Place(row, row.name)
    above = row.parent
    while above != tree.ROOT:
        parent = tx.sa.execute(_ROW, {"id": above, "project": project}).one_or_none()
        if parent is None:
            return None
        place = replace(place, path=f"{parent.name}/{place.path}")
        above = parent.parent
    return place


def resolve(tx: Tx, project: str, ref: str, suffix: str = "") -> Place:
    """The file or folder that `ref` names: an id, else a path, else a path without `suffix`.

    Raises `WorkspaceError` "file_not_found", also for what can be no path at all.
    """
    place = by_id(tx, project, ref) if ref.isprintable() else None
    for path in (ref, ref + suffix):
        if place is None:
            try:
                place = tree.find(tx, project, parse_file(path))
            except WorkspaceError:
                break
    if place is None:
        raise WorkspaceError("file_not_found", path=ref[:_SHOWN])
    return place


def rows_in(tx: Tx, project: str, parent: str) -> Sequence[sa.Row[Any]]:
    """The rows of what is in the folder with the id `parent`, in reading order."""
    return tx.sa.execute(_CHILDREN, {"project": project, "parent": parent}).all()
