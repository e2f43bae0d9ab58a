"""The files of one project: reading, changing, and going back (design M8).

Every operation is one transaction of the database, so that a comparison and the write after it are one
step across threads and processes. What takes long (matching an edit in a large text) happens outside
of it and is compared again when it is written.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import sqlalchemy as sa

from wenfang.core import new_id
from wenfang.problems import Problem
from wenfang.storage import Store, Tx, files

from ..errors import WorkspaceError
from ..paths import free_name, name_key, new_child, new_name, parse_file, parse_path
from ..texts import encode
from ..values import Item, Kind, Saved
from . import blobs, tree, versions
from .history import By, Change
from .planting import Planter, RootFolder, Seed
from .reading import FileReader, as_file
from .tree import Place, item_of
from .versions import Keeper

T = TypeVar("T")

_TRIES = 5
_WAIT_S = 0.5


class ProjectFiles(FileReader):
    """The files of the project `project_id`, for one writer: `by` says who it is.

    `clock` gives Unix seconds. `limit` is how many versions of an author's own a file may have; None:
    as many as there are. `text_limit_bytes` bounds one file.
    """

    def __init__(
        self,
        database: Store,
        project_id: str,
        *,
        by: By,
        clock: Callable[[], float],
        new_id: Callable[[str], str] = new_id,
        limit: int | None = None,
        text_limit_bytes: int = 8 * 1024 * 1024,
    ) -> None:
        super().__init__(database, project_id)
        self._by = by
        self._clock = clock
        self._new_id = new_id
        self._keeper = Keeper(by, clock, limit)
        self._text_limit = text_limit_bytes

    async def create(
        self, path: str, kind: Kind | None = None, *, holds: Kind | None = None
    ) -> Item:
        """A new blank file or folder, with the folders above it. Without `kind` it is what its folder
        holds. Raises `WorkspaceError` "path_exists"."""
        parts = parse_file(path)

        def create(tx: Tx) -> Item:
            tree.lock(tx, self._project)
            into = self._folder(tx, parts[:-1], path, make=True)
            if tree.find(tx, self._project, parts) is not None:
                raise WorkspaceError("path_exists", path=path)
            what = kind or tree.kind_in(tx, into)
            blank = {} if what == "folder" else {"hash": blobs.put(tx, b"")}
            values = self._new_row(what) | blank | {"holds": holds}
            return item_of(tree.insert(tx, self._project, into, parts[-1], path, values))

        return await self._write(path, create)

    async def create_folder(self, path: str) -> Item:
        """A new folder. Raises `WorkspaceError` "path_exists"."""
        return await self.create(path, "folder")

    async def add(self, path: str, content: str | Mapping[str, str]) -> tuple[Item, ...]:
        """A new file (its text), or a new folder of files (their texts by name): all of it is there at
        once, or nothing. Never touches what exists: a name that is taken gets ` (2)`, before the suffix
        of a file. Returns the files in the given order."""
        parts = parse_file(path)
        new_name(parts[-1], path)
        stem, suffix = parts[-1], ""
        if isinstance(content, str):
            texts = {(): encode(content, path, self._text_limit)}
            stem, suffix = os.path.splitext(parts[-1])
        else:
            texts = {
                (new_child(name, path),): encode(text, path, self._text_limit)
                for name, text in content.items()
            }

        def add(tx: Tx) -> tuple[Item, ...]:
            tree.lock(tx, self._project)
            blobs.put_all(tx, texts.values())
            into = self._folder(tx, parts[:-1], path, make=True)
            name = free_name(stem, suffix, tree.names_in(tx, self._project, into))
            return tuple(
                self._create(tx, (*parts[:-1], name, *below), path, data, None, "import").item
                for below, data in texts.items()
            )

        return await self._write(path, add)

    async def plant(self, folders: Sequence[RootFolder], seeds: Sequence[Seed] = ()) -> None:
        """Begin a project from a template, or bring back root folders that are missing (TL-7): everything,
        or nothing. Raises `WorkspaceError` "path_exists"."""
        await self._write(tree.ROOT, lambda tx: self.plant_in(tx, folders, seeds))

    def plant_in(self, tx: Tx, folders: Sequence[RootFolder], seeds: Sequence[Seed] = ()) -> None:
        """`plant`, as a part of a transaction that does more."""
        tree.lock(tx, self._project)
        planter = Planter(
            self._project,
            clock=self._clock,
            new_id=self._new_id,
            text_limit_bytes=self._text_limit,
        )
        planter.plant(tx, folders, seeds)

    async def write(
        self,
        path: str,
        text: str,
        *,
        base: str | None,
        kind: Kind | None = None,
        change: Change | None = None,
        also: Callable[[Tx, Saved], None] | None = None,
    ) -> Saved:
        """Put `text` at `path`, folders included. `base` is the hash of the text it was made from, None
        for a file that must not exist yet, "*" for whatever is there. `also` is done in the same
        transaction. Raises `WorkspaceError` "revision_conflict" with the present hash."""
        parts = parse_file(path)
        data = encode(text, path, self._text_limit)

        def write(tx: Tx) -> Saved:
            place = tree.hold(tx, self._project, parts)
            present = None if place is None else place.row.hash
            if base not in ("*", present):
                raise WorkspaceError("revision_conflict", path=path, revision=present or "")
            if place is None:
                saved = self._create(tx, parts, path, data, kind, change)
            else:
                saved = self._keeper.put(tx, as_file(place, path), data, change or self._edit)
            if also is not None:
                also(tx, saved)
            return saved

        return await self._write(path, write)

    async def change(self, path: str, make: Callable[[str], str]) -> Saved:
        """Replace the text of a file by `make(text)`, which runs in a thread of its own and again if
        the file was changed meanwhile. What it raises leaves the file as it is."""
        for _ in range(_TRIES):
            content = await self.read(path)
            text = await asyncio.to_thread(make, content.text)
            try:
                return await self.write(path, text, base=content.item.hash)
            except WorkspaceError as error:
                if error.code != "revision_conflict":
                    raise
        raise WorkspaceError("file_busy", path=path)

    async def restore_revision(self, path: str, n: int) -> Saved:
        """Bring the text of version `n` back as a new version."""
        parts = parse_file(path)

        def restore(tx: Tx) -> Saved:
            place = as_file(tree.hold(tx, self._project, parts), path)
            data = blobs.get(tx, versions.numbered(tx, place, n).hash)
            return self._keeper.put(tx, place, data, "restore", origin=n)

        return await self._write(path, restore)

    async def move(self, path: str, to: str) -> Item:
        """Rename a file or folder, also into another folder. Nothing is overwritten; ids stay."""
        parts, target = parse_file(path), parse_file(to)

        def move(tx: Tx) -> Item:
            tree.lock(tx, self._project)
            place = tree.existing(tx, self._project, parts, path)
            into = self._folder(tx, target[:-1], to, make=True)
            if into.path == place.path or into.path.startswith(place.path + "/"):
                problem = "a folder cannot be moved into itself"
                raise WorkspaceError("path_invalid", path=to, problem=problem)
            there = tree.find(tx, self._project, target)
            # A new spelling of the same name (plan.md to Plan.md) finds the file itself.
            if there is not None and there.row.id != place.row.id:
                raise WorkspaceError("path_exists", path=to)
            name = new_name(target[-1], to)
            parent = tree.ROOT if into.row is None else into.row.id
            values: dict[str, Any] = {"name": name, "name_key": name_key(name), "parent": parent}
            if (parent, name) != (place.row.parent, place.row.name):
                values["ord"] = tree.position(tx, self._project, parent, name, place.row.kind)
            values["updated_at"] = self._clock()
            tx.sa.execute(files.update().where(files.c.id == place.row.id).values(values))
            return item_of(tree.existing(tx, self._project, target, to))

        return await self._write(path, move)

    async def arrange(self, folder: str, names: Sequence[str]) -> None:
        """Put the files of a folder in the order of `names`; those that are not named come after.
        Raises `WorkspaceError` "file_not_found"."""
        parts = parse_path(folder)

        def arrange(tx: Tx) -> None:
            tree.lock(tx, self._project)
            self._folder(tx, parts, folder, make=False)
            for at, name in enumerate(names, 1):
                place = tree.existing(tx, self._project, (*parts, name), f"{folder}/{name}")
                tx.sa.execute(files.update().where(files.c.id == place.row.id).values(ord=at))
            known = {name_key(name) for name in names}
            prefix = "".join(f"{part}/" for part in parts)
            rest = [
                place
                for place in tree.everything(tx, self._project)
                if place.path == prefix + place.row.name and place.row.name_key not in known
            ]
            for at, place in enumerate(rest, len(names) + 1):
                tx.sa.execute(files.update().where(files.c.id == place.row.id).values(ord=at))

        await self._write(folder, arrange)

    async def delete(self, path: str, *, base: str | None = "*") -> str:
        """Put a file or folder in the trash. Returns the id that `restore` takes. `base` is the hash that
        a file must have, None for a folder that must be empty, "*" for whatever is there. Raises
        `WorkspaceError` "revision_conflict"."""
        parts = parse_file(path)
        trash_id = self._new_id("trash")

        def delete(tx: Tx) -> str:
            tree.lock(tx, self._project)
            place = tree.existing(tx, self._project, parts, path)
            ids = [each.row.id for each in tree.descendants(tx, self._project, place)]
            if base not in ("*", place.row.hash) or (base is None and len(ids) > 1):
                raise WorkspaceError("revision_conflict", path=path, revision=place.row.hash or "")
            values = {"trash_id": trash_id, "updated_at": self._clock()}
            tx.sa.execute(files.update().where(files.c.id.in_(ids)).values(values))
            return trash_id

        return await self._write(path, delete)

    async def restore(self, trash_id: str) -> Item:
        """Undo a delete. Raises `WorkspaceError` "trash_not_found", "path_exists", and
        "folder_not_found" if the folder it was in is in the trash itself."""

        if not trash_id.isprintable():  # the database may refuse even to look for it
            raise WorkspaceError("trash_not_found", id=trash_id)

        def restore(tx: Tx) -> Item:
            tree.lock(tx, self._project)
            trashed = sa.and_(files.c.trash_id == trash_id, files.c.project_id == self._project)
            rows = {row.id: row for row in tx.sa.execute(sa.select(files).where(trashed))}
            top = next((row for row in rows.values() if row.parent not in rows), None)
            if top is None:
                raise WorkspaceError("trash_not_found", id=trash_id)
            if top.parent != tree.ROOT and not tree.is_there(tx, top.parent):
                raise WorkspaceError("folder_not_found", path=top.name)
            key = {"project": self._project, "parent": top.parent, "key": top.name_key}
            if tx.sa.execute(tree.CHILD, key).one_or_none() is not None:
                raise WorkspaceError("path_exists", path=top.name)
            tx.sa.execute(files.update().where(trashed).values(trash_id=None))
            return next(
                item_of(place)
                for place in tree.everything(tx, self._project)
                if place.row.id == top.id
            )

        return await self._write(tree.ROOT, restore)

    async def _write(self, path: str, operation: Callable[[Tx], T]) -> T:
        """Raises `WorkspaceError` "file_busy" if others hold what it needs for too long (TL-24)."""
        try:
            return await self._db.write(operation, wait_s=_WAIT_S)
        except Problem as problem:
            if problem.code != "database_locked":
                raise
            raise WorkspaceError("file_busy", path=path or ".") from problem

    # Inside of a transaction

    @property
    def _edit(self) -> Change:
        return "ai_edit" if self._by.actor == "ai" else "edit"

    def _folder(self, tx: Tx, parts: Sequence[str], path: str, *, make: bool) -> Place:
        values = self._new_row("folder") if make else None
        return tree.folder(tx, self._project, parts, path, values)

    def _new_row(self, kind: Kind) -> dict[str, Any]:
        return {"kind": kind, "created_at": self._clock(), "id_of": self._new_id}

    def _create(
        self,
        tx: Tx,
        parts: Sequence[str],
        path: str,
        data: bytes,
        kind: Kind | None,
        change: Change | None,
    ) -> Saved:
        into = self._folder(tx, parts[:-1], path, make=True)
        values = self._new_row(kind or tree.kind_in(tx, into)) | {"hash": blobs.put(tx, b"")}
        place = tree.insert(tx, self._project, into, parts[-1], path, values)
        saved = self._keeper.put(tx, place, data, change or "create")
        return replace(saved, previous=None)
