"""Where new files go: the folders of a project's template, made again where they are missing (TL-7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from wenfang.storage import Tx, files

from ..errors import WorkspaceError
from ..paths import name_key, new_name
from ..values import Kind
from . import ids, tree
from .tree import Place
from .values import Root

TOP = Place(None, "")
# What a file of this kind becomes in a project whose template has no folder for it but one for the other.
_INSTEAD: dict[Kind, Kind] = {"draft": "script", "script": "draft"}
_ANY = sa.select(files).where(
    files.c.id == sa.bindparam("id"), files.c.project_id == sa.bindparam("project")
)


def root_id(project: str, key: str) -> str:
    """The id of a template's folder."""
    return f"{project}-{key}-folder"


def find(tx: Tx, project: str, root: Root) -> Place | None:
    """The template's folder: by its id, else the folder at the top that has its name."""
    place = ids.by_id(tx, project, root_id(project, root.key))
    if place is None:
        place = tree.find(tx, project, (root.name,))
    return place if place is not None and place.row.kind == "folder" else None


def place_for(
    tx: Tx,
    project: str,
    into: str | None,
    kind: Kind | None,
    roots: Sequence[Root],
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
        place = find(tx, project, root) or _made(tx, project, root, row)
        return place, root.kind if kind in (None, *_INSTEAD) else kind
    place = _named(tx, project, into, roots, row)
    return place, kind or _kind_in(tx, place)


def _root_for(kind: Kind, roots: Sequence[Root]) -> Root | None:
    wanted = (kind, _INSTEAD.get(kind))
    found = [root for each in wanted for root in roots if root.kind == each]
    return found[0] if found else None


def _named(
    tx: Tx,
    project: str,
    into: str,
    roots: Sequence[Root],
    row: Callable[[Kind], dict[str, Any]],
) -> Place:
    """The folder that was asked for; one of the template's is made if it is missing."""
    root = next((r for r in roots if into in (root_id(project, r.key), r.name)), None)
    if root is not None:
        return find(tx, project, root) or _made(tx, project, root, row)
    if into.strip() in ("", ".", "/"):
        return TOP
    place = ids.resolve(tx, project, into)
    if place.row.kind != "folder":
        raise WorkspaceError("path_invalid", path=place.path, problem="it is no folder")
    return place


def _made(tx: Tx, project: str, root: Root, row: Callable[[Kind], dict[str, Any]]) -> Place:
    """The template's folder, new or back from the trash; what was in it stays there."""
    name = new_name(root.name, root.name)
    if tree.find(tx, project, (name,)) is not None:
        raise WorkspaceError("path_exists", path=name)
    wanted = root_id(project, root.key)

    def id_of(prefix: str) -> str:
        del prefix
        return wanted

    values = row("folder") | {"holds": root.kind, "id_of": id_of}
    if tx.sa.execute(_ANY, {"id": wanted, "project": project}).one_or_none() is None:
        return tree.insert(tx, project, TOP, name, name, values)
    back: dict[str, Any] = {
        "trash_id": None,
        "name": name,
        "name_key": name_key(name),
        "parent": tree.ROOT,
        "ord": tree.position(tx, project, tree.ROOT, name, "folder"),
        "updated_at": values["created_at"],
    }
    tx.sa.execute(files.update().where(files.c.id == wanted).values(back))
    return Place(tx.sa.execute(_ANY, {"id": wanted, "project": project}).one(), name)


def _kind_in(tx: Tx, into: Place) -> Kind:
    """What a chapter is in this folder: the kind that the folder, or one above it, holds; else a draft."""
    held = tree.kind_in(tx, into)
    return "draft" if held == "document" else held
