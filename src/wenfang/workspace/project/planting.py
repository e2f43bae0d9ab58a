"""What a project begins with: root folders under ids that everybody can compute, and texts to start from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa

from wenfang.core import new_id
from wenfang.storage import Tx, files

from ..errors import WorkspaceError
from ..paths import parse_file
from ..texts import encode
from ..values import Kind
from . import blobs, tree
from .history import By
from .tree import Place
from .versions import Keeper


def _always(file_id: str, _prefix: str) -> str:
    return file_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RootFolder:
    """A folder at the top of a project. `key` is its part of the id, `holds` the kind of its new files."""

    key: str
    name: str
    holds: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """A text that a project begins with, in the root folder with the key `folder`."""

    folder: str
    name: str
    text: str


def root_folder_id(project_id: str, key: str) -> str:
    """The id of a root folder (writing.md TL-7)."""
    return f"{project_id}-{key}-folder"


class Planter:
    """Plants in one transaction. Its texts are the system's: nobody wrote them, and nobody is asked before
    they are overwritten."""

    def __init__(
        self,
        project_id: str,
        *,
        clock: Callable[[], float],
        new_id: Callable[[str], str] = new_id,
        text_limit_bytes: int,
    ) -> None:
        self._project = project_id
        self._clock = clock
        self._new_id = new_id
        self._keeper = Keeper(By(actor="system"), clock, None)
        self._text_limit = text_limit_bytes

    def plant(self, tx: Tx, folders: Sequence[RootFolder], seeds: Sequence[Seed]) -> None:
        """Raises `WorkspaceError` "path_exists" if something stands where a seed belongs."""
        places = {folder.key: self._root(tx, folder) for folder in folders}
        for seed in seeds:
            self._seed(tx, places[seed.folder], seed)

    def _root(self, tx: Tx, folder: RootFolder) -> Place:
        """The folder: under its id, whatever it is called by now; else under its name; else a new one."""
        file_id = root_folder_id(self._project, folder.key)
        row = tx.sa.execute(sa.select(files).where(files.c.id == file_id)).one_or_none()
        if row is not None and row.trash_id is None:
            return next(
                place for place in tree.everything(tx, self._project) if place.row.id == file_id
            )
        there = tree.find(tx, self._project, parse_file(folder.name))
        if there is not None:
            if there.row.kind != "folder":
                raise WorkspaceError("path_exists", path=folder.name)
            return there
        if row is not None:
            self._rename_trashed(tx, file_id)
        values: dict[str, Any] = {
            "kind": "folder",
            "holds": folder.holds,
            "created_at": self._clock(),
            "id_of": partial(_always, file_id),
        }
        return tree.insert(tx, self._project, Place(None, ""), folder.name, folder.name, values)

    def _rename_trashed(self, tx: Tx, file_id: str) -> None:
        """A folder in the trash gives its id to the one that comes in its place, and can still be restored."""
        other = self._new_id("fil")
        tx.sa.execute(files.update().where(files.c.id == file_id).values(id=other))
        tx.sa.execute(files.update().where(files.c.parent == file_id).values(parent=other))

    def _seed(self, tx: Tx, into: Place, seed: Seed) -> None:
        path = f"{into.path}/{seed.name}"
        parts = parse_file(path)
        if tree.find(tx, self._project, parts) is not None:
            raise WorkspaceError("path_exists", path=path)
        values: dict[str, Any] = {
            "kind": tree.kind_in(tx, into),
            "created_at": self._clock(),
            "id_of": self._new_id,
            "hash": blobs.put(tx, b""),
        }
        place = tree.insert(tx, self._project, into, parts[-1], path, values)
        self._keeper.put(tx, place, encode(seed.text, path, self._text_limit), "create")
