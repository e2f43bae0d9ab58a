"""The files of one project: reading, changing, and going back (design M8).

Every operation is one transaction of the database, so that a comparison and the write after it are one
step across threads and processes. What takes long (matching an edit in a large text) happens outside
of it and is compared again when it is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from wenfang.core import new_id
from wenfang.storage import Database, Tx, files

from ..authorship import is_author_text
from ..errors import WorkspaceError
from ..paths import name_key, new_name, parse_file, parse_path
from ..texts import decode, encode
from . import blobs, tree, versions
from .history import By, Change, Revision
from .search import search
from .tree import Place, item_of
from .values import Content, Found, Item, Kind, Saved
from .versions import Keeper

_TRIES = 5


class ProjectFiles:
    """The files of the project `project_id`, for one writer: `by` says who it is.

    `clock` gives Unix seconds. `limit` is how many versions of an author's own a file may have; None:
    as many as there are. `text_limit_bytes` bounds one file.
    """

    def __init__(
        self,
        database: Database,
        project_id: str,
        *,
        by: By,
        clock: Callable[[], float],
        new_id: Callable[[str], str] = new_id,
        limit: int | None = None,
        text_limit_bytes: int = 8 * 1024 * 1024,
    ) -> None:
        self._db = database
        self._project = project_id
        self._by = by
        self._clock = clock
        self._new_id = new_id
        self._keeper = Keeper(by, clock, limit)
        self._text_limit = text_limit_bytes

    # Reading

    async def list(self) -> list[Item]:
        """All files and folders in reading order; a folder comes before what is in it."""
        return await self._db.read(
            lambda tx: [item_of(place) for place in tree.everything(tx, self._project)]
        )

    async def item(self, path: str) -> Item:
        """Raises `WorkspaceError` "file_not_found"."""
        parts = parse_file(path)
        return await self._db.read(
            lambda tx: item_of(tree.existing(tx, self._project, parts, path))
        )

    async def read(self, path: str, revision: int | None = None) -> Content:
        """A whole text file as it is, or as it was in a revision. Raises `WorkspaceError`
        "file_not_found", "revision_not_found"."""
        parts = parse_file(path)

        def read(tx: Tx) -> tuple[Place, bytes]:
            place = self._file(tx, parts, path)
            name = place.row.hash
            if revision is not None:
                name = versions.numbered(tx, place, revision).hash
            return place, blobs.get(tx, name)

        place, data = await self._db.read(read)
        return Content(item=item_of(place), text=decode(data, place.path))

    async def revisions(self, path: str) -> list[Revision]:
        """The versions of a file, newest first."""
        parts = parse_file(path)

        def read(tx: Tx) -> list[Revision]:
            return versions.all_of(tx, self._file(tx, parts, path))

        return await self._db.read(read)

    async def last_text_of_ai(self, path: str) -> str | None:
        """What the agent wrote last, to compare the present text with (AE-1); None if it never did."""
        parts = parse_file(path)

        def read(tx: Tx) -> bytes | None:
            last = versions.newest(tx, self._file(tx, parts, path), of_ai=True)
            return None if last is None else blobs.get(tx, last.hash)

        data = await self._db.read(read)
        return None if data is None else decode(data, path)

    async def is_of_author(self, path: str) -> bool:
        """Whether the present text holds an author's work (AE-2): it is not blank, and its newest
        version is not the agent's or does not hold it. A file without versions is nobody's."""
        parts = parse_file(path)

        def read(tx: Tx) -> bool:
            place = self._file(tx, parts, path)
            last = versions.newest(tx, place)
            return last is not None and is_author_text(
                blobs.get(tx, place.row.hash).decode(),
                latest=blobs.get(tx, last.hash).decode(),
                actor=last.actor,
            )

        return await self._db.read(read)

    async def find(self, phrase: str, *, match_case: bool = False, limit: int = 200) -> Found:
        """Where a phrase stands in the project's texts, in reading order."""

        def read(tx: Tx) -> list[tuple[str, bytes]]:
            places = [p for p in tree.everything(tx, self._project) if p.row.hash is not None]
            texts = blobs.get_all(tx, {p.row.hash for p in places})
            return [(p.path, texts[p.row.hash]) for p in places]

        texts = await self._db.read(read)
        return await asyncio.to_thread(search, texts, phrase, match_case=match_case, limit=limit)

    # Changing

    async def create(
        self, path: str, kind: Kind | None = None, *, holds: Kind | None = None
    ) -> Item:
        """A new blank file or folder, with the folders above it. Without `kind` it is what its folder
        holds. Raises `WorkspaceError` "path_exists"."""
        parts = parse_file(path)

        def create(tx: Tx) -> Item:
            into = self._folder(tx, parts[:-1], path, make=True)
            if tree.find(tx, self._project, parts) is not None:
                raise WorkspaceError("path_exists", path=path)
            what = kind or tree.kind_in(tx, into)
            blank = {} if what == "folder" else {"hash": blobs.put(tx, b"")}
            values = self._new_row(what) | blank | {"holds": holds}
            return item_of(tree.insert(tx, self._project, into, parts[-1], path, values))

        return await self._db.write(create)

    async def write(
        self,
        path: str,
        text: str,
        *,
        base: str | None,
        kind: Kind | None = None,
        change: Change | None = None,
    ) -> Saved:
        """Put `text` at `path`, folders included. `base` is the hash of the text it was made from, None
        for a file that must not exist yet, "*" for whatever is there. Raises `WorkspaceError`
        "revision_conflict" with the present hash."""
        parts = parse_file(path)
        data = encode(text, path, self._text_limit)

        def write(tx: Tx) -> Saved:
            place = tree.find(tx, self._project, parts)
            present = None if place is None else place.row.hash
            if base not in ("*", present):
                raise WorkspaceError("revision_conflict", path=path, revision=present or "")
            if place is None:
                return self._create(tx, parts, path, data, kind, change)
            return self._keeper.put(tx, _as_file(place, path), data, change or self._edit)

        return await self._db.write(write)

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
            place = self._file(tx, parts, path)
            data = blobs.get(tx, versions.numbered(tx, place, n).hash)
            return self._keeper.put(tx, place, data, "restore", origin=n)

        return await self._db.write(restore)

    async def move(self, path: str, to: str) -> Item:
        """Rename a file or folder, also into another folder. Nothing is overwritten; ids stay."""
        parts, target = parse_file(path), parse_file(to)

        def move(tx: Tx) -> Item:
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

        return await self._db.write(move)

    async def arrange(self, folder: str, names: Sequence[str]) -> None:
        """Put the files of a folder in the order of `names`; those that are not named come after.
        Raises `WorkspaceError` "file_not_found"."""
        parts = parse_path(folder)

        def arrange(tx: Tx) -> None:
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

        await self._db.write(arrange)

    async def delete(self, path: str) -> str:
        """Put a file or folder in the trash. Returns the id that `restore` takes."""
        parts = parse_file(path)
        trash_id = self._new_id("trash")

        def delete(tx: Tx) -> str:
            place = tree.existing(tx, self._project, parts, path)
            ids = [each.row.id for each in tree.descendants(tx, self._project, place)]
            values = {"trash_id": trash_id, "updated_at": self._clock()}
            tx.sa.execute(files.update().where(files.c.id.in_(ids)).values(values))
            return trash_id

        return await self._db.write(delete)

    async def restore(self, trash_id: str) -> Item:
        """Undo a delete. Raises `WorkspaceError` "trash_not_found", "path_exists", and
        "folder_not_found" if the folder it was in is in the trash itself."""

        def restore(tx: Tx) -> Item:
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

        return await self._db.write(restore)

    # Inside of a transaction

    @property
    def _edit(self) -> Change:
        return "ai_edit" if self._by.actor == "ai" else "edit"

    def _file(self, tx: Tx, parts: Sequence[str], path: str) -> Place:
        return _as_file(tree.existing(tx, self._project, parts, path), path)

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


def _as_file(place: Place, path: str) -> Place:
    if place.row.kind == "folder":
        raise WorkspaceError("path_invalid", path=path, problem="it is a folder")
    return place
