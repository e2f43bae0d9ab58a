"""Reading the files of a project in the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from io import BytesIO

from wenfang.storage import Store, Tx

from ..errors import WorkspaceError
from ..paths import parse_file, parse_path
from ..search import search
from ..texts import decode
from ..values import Content, Found, Item, Listing, OpenFile
from . import authors, blobs, ids, tree, versions
from .history import Revision
from .tree import Place, item_of


class FileReader:
    """What `ProjectFiles` tells; each call sees one state of the project. A `ref` is a file's id, its
    path, or its path without `suffix`."""

    suffix = ""

    def __init__(self, database: Store, project_id: str) -> None:
        self._db = database
        self._project = project_id

    async def list(self) -> list[Item]:
        """All files and folders in reading order; a folder comes before what is in it."""
        return await self._db.read(
            lambda tx: [item_of(place) for place in tree.everything(tx, self._project)]
        )

    async def listing(
        self, path: str = "", *, recursive: bool = True, limit: int = 5000
    ) -> Listing[Item]:
        """What is in a folder, in reading order; a folder comes before what is in it."""
        parts = parse_path(path)

        def read(tx: Tx) -> tuple[str, list[Place]]:
            base = tree.folder(tx, self._project, parts, path, None).path
            return base, tree.everything(tx, self._project)

        base, places = await self._db.read(read)
        start = f"{base}/" if base else ""
        found = [
            place
            for place in places
            if place.path.startswith(start) and (recursive or "/" not in place.path[len(start) :])
        ]
        folders = sum(place.row.kind == "folder" for place in found)
        return Listing(
            path=base,
            entries=tuple(map(item_of, found[:limit])),
            files=len(found) - folders,
            folders=folders,
            size_bytes=sum(place.row.size_bytes for place in found),
            words=sum(place.row.words or 0 for place in found),
            truncated=len(found) > limit,
            complete=True,
        )

    async def item(self, path: str) -> Item:
        """Raises `WorkspaceError` "file_not_found"."""
        parts = parse_file(path)
        return await self._db.read(
            lambda tx: item_of(tree.existing(tx, self._project, parts, path))
        )

    async def at(self, ref: str) -> Item:
        """What `ref` names, folders included. Raises `WorkspaceError` "file_not_found"."""
        return await self._db.read(lambda tx: item_of(self._at(tx, ref)))

    def _at(self, tx: Tx, ref: str) -> Place:
        return ids.resolve(tx, self._project, ref, self.suffix)

    @asynccontextmanager
    async def open(self, path: str) -> AsyncGenerator[OpenFile[Item]]:
        """A file's bytes, for reading piece by piece."""
        parts = parse_file(path)

        def read(tx: Tx) -> tuple[Place, bytes]:
            place = self._file(tx, parts, path)
            return place, blobs.get(tx, place.row.hash)

        place, data = await self._db.read(read)
        yield OpenFile(stream=BytesIO(data), entry=item_of(place))

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
        """Whether the present text holds an author's work (AE-2)."""
        parts = parse_file(path)
        return await self._db.read(lambda tx: authors.is_of_author(tx, self._file(tx, parts, path)))

    async def find(self, phrase: str, *, match_case: bool = False, limit: int = 200) -> Found:
        """Where a phrase stands in the project's texts, in reading order."""

        def read(tx: Tx) -> list[tuple[str, bytes]]:
            places = [p for p in tree.everything(tx, self._project) if p.row.hash is not None]
            texts = blobs.get_all(tx, {p.row.hash for p in places})
            return [(p.path, texts[p.row.hash]) for p in places]

        texts = await self._db.read(read)
        return await asyncio.to_thread(search, texts, phrase, match_case=match_case, limit=limit)

    def _file(self, tx: Tx, parts: Sequence[str], path: str) -> Place:
        return as_file(tree.existing(tx, self._project, parts, path), path)


def as_file(place: Place | None, path: str) -> Place:
    if place is None:
        raise WorkspaceError("file_not_found", path=path)
    if place.row.kind == "folder":
        raise WorkspaceError("path_invalid", path=path, problem="it is a folder")
    return place
