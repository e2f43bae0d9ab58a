"""Where new files go: the folders of a project's template, made again where they are missing (TL-7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from wenfang.storage import Tx, files

from ..errors import WorkspaceError
from ..paths import new_name
from ..values import Kind
from . import ids, tree
from .tree import Place
from .values import RootFolder

TOP = Place(None, "")
# What a file of this kind becomes in a project whose template has no folder for it but one for the other.
_INSTEAD: dict[Kind, Kind] = {"draft": "script", "script": "draft"}
_ANY = sa.select(files).where(
    files.c.id == sa.bindparam("id"), files.c.project_id == sa.bindparam("project")
)


def root_folder_id(project: str, key: str) -> str:
    """The id of a template's folder."""
    return f"{project}-{key}-folder"


def find(tx: Tx, project: str, root: RootFolder) -> Place | None:
    """The template's folder: by its id, else the folder at the top that has its name."""
    place = ids.by_id(tx, project, root_folder_id(project, root.key))
    if place is None:
        place = tree.find(tx, project, (root.name,))
    return place if place is not None and place.row.kind == "folder" else None


def place_for(
    tx: Tx,
    project: str,
    into: str | None,
    kind: Kind | None,
    roots: Sequence[RootFolder],
    row: Callable[[Kind], dict[str, Any]],
) -> tuple[Place, Kind]:
    """The folder for a new file and the kind it gets there. `into` names the folder; without it, it is
    the template's for the kind, else the top. `row` gives the values of a new row.

    Raises `WorkspaceError` "file_not_found" if there is no such folder, and "path_exists" if a file
    stands where the template's folder belongs.
    """
    if into is None:
        root = _root_for(kind or "draft", roots)
        if root is None:
            return TOP, kind or "draft"
        place = ensure(tx, project, root, row)
        return place, root.holds if kind in (None, *_INSTEAD) else kind
    place = _named(tx, project, into, roots, row)
    return place, kind or _kind_in(tx, place)


def _root_for(kind: Kind, roots: Sequence[RootFolder]) -> RootFolder | None:
    wanted = (kind, _INSTEAD.get(kind))
    found = [root for each in wanted for root in roots if root.holds == each]
    return found[0] if found else None


def _named(
    tx: Tx,
    project: str,
    into: str,
    roots: Sequence[RootFolder],
    row: Callable[[Kind], dict[str, Any]],
) -> Place:
    """The folder that was asked for; one of the template's is made if it is missing."""
    root = next((r for r in roots if into in (root_folder_id(project, r.key), r.name)), None)
    if root is not None:
        return ensure(tx, project, root, row)
    if into.strip() in ("", ".", "/"):
        return TOP
    place = ids.resolve(tx, project, into)
    if place.row.kind != "folder":
        raise WorkspaceError("path_invalid", path=place.path, problem="it is no folder")
    return place


def ensure(tx: Tx, project: str, root: RootFolder, row: Callable[[Kind], dict[str, Any]]) -> Place:
    """The template's folder, made if it is missing. Raises `WorkspaceError` "path_exists" if a file stands
    in its place."""
    return find(tx, project, root) or _made(tx, project, root, row)


def _made(tx: Tx, project: str, root: RootFolder, row: Callable[[Kind], dict[str, Any]]) -> Place:
    name = new_name(root.name, root.name)
    if tree.find(tx, project, (name,)) is not None:
        raise WorkspaceError("path_exists", path=name)
    wanted = root_folder_id(project, root.key)
    values = row("folder")
    if tx.sa.execute(_ANY, {"id": wanted, "project": project}).one_or_none() is not None:
        _rename_trashed(tx, wanted, values["id_of"]("fil"))

    def id_of(prefix: str) -> str:
        del prefix
        return wanted

    return tree.insert(tx, project, TOP, name, name, values | {"holds": root.holds, "id_of": id_of})


def _rename_trashed(tx: Tx, file_id: str, other: str) -> None:
    """A folder in the trash gives its id to the one that comes in its place, and can still be restored."""
    tx.sa.execute(files.update().where(files.c.id == file_id).values(id=other))
    tx.sa.execute(files.update().where(files.c.parent == file_id).values(parent=other))


def _kind_in(tx: Tx, into: Place) -> Kind:
    """What a chapter is in this folder: the kind that the folder, or one above it, holds; else a draft."""
    held = tree.kind_in(tx, into)
    return "draft" if held == "document" else held
