"""A folder of the disk as the files of a project: the folder is the truth, and no versions are kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from .errors import WorkspaceError
from .search import search
from .values import Content, Entry, Found, Item, Kind, Listing, OpenFile, Saved, Written
from .workspace import Workspace

if TYPE_CHECKING:
    from .project import Revision

_MOST_SEARCHED = 20_000


class FolderFiles:
    """`Files` over a `Workspace`, whose blocking work runs in worker threads."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def listing(
        self, path: str = "", *, recursive: bool = True, limit: int = 5000
    ) -> Listing[Item]:
        listed = await asyncio.to_thread(
            self._workspace.list, path, recursive=recursive, limit=limit
        )
        return Listing(
            path=listed.path,
            entries=tuple(map(_item, listed.entries)),
            files=listed.files,
            folders=listed.folders,
            size_bytes=listed.size_bytes,
            truncated=listed.truncated,
            complete=listed.complete,
        )

    async def item(self, path: str) -> Item:
        return _item(await asyncio.to_thread(self._workspace.entry, path))

    async def at(self, ref: str) -> Item:
        return await self.item(ref)

    @asynccontextmanager
    async def open(self, path: str) -> AsyncGenerator[OpenFile[Item]]:
        with ExitStack() as stack:
            file = await asyncio.to_thread(stack.enter_context, self._workspace.open(path))
            yield OpenFile(stream=file.stream, entry=_item(file.entry))

    async def read(self, path: str, revision: int | None = None) -> Content:
        if revision is not None:
            raise WorkspaceError("revision_not_found", path=path, revision=revision)
        file = await asyncio.to_thread(self._workspace.read_text, path)
        entry = Entry(
            path=file.path,
            kind="file",
            size_bytes=file.size_bytes,
            modified_at=file.modified_at,
            revision=file.revision,
        )
        return Content(item=_item(entry), text=file.text)

    async def find(self, phrase: str, *, match_case: bool = False, limit: int = 200) -> Found:
        texts = self._texts()
        return await asyncio.to_thread(search, texts, phrase, match_case=match_case, limit=limit)

    def _texts(self) -> Iterator[tuple[str, bytes]]:
        for entry in self._workspace.list(recursive=True, limit=_MOST_SEARCHED).entries:
            if entry.kind == "folder":
                continue
            try:
                data, _ = self._workspace.read_bytes(entry.path)
            except WorkspaceError:  # too large for a text, or gone since it was listed
                continue
            if b"\0" not in data:
                yield entry.path, data

    async def revisions(self, path: str) -> list[Revision]:
        await self.item(path)
        return []

    async def write(
        self, path: str, text: str, *, base: str | None, kind: Kind | None = None
    ) -> Saved:
        del kind  # the disk knows files only
        return _saved(await asyncio.to_thread(self._workspace.write_text, path, text, base=base))

    async def change(self, path: str, make: Callable[[str], str]) -> Saved:
        return _saved(await asyncio.to_thread(self._workspace.change_text, path, make))

    async def restore_revision(self, path: str, n: int) -> Saved:
        raise WorkspaceError("revision_not_found", path=path, revision=n)

    async def add(self, path: str, content: str | Mapping[str, str]) -> Sequence[Item]:
        return tuple(map(_item, await asyncio.to_thread(self._workspace.add, path, content)))

    async def create_folder(self, path: str) -> Item:
        return _item(await asyncio.to_thread(self._workspace.create_folder, path))

    async def move(self, path: str, to: str) -> Item:
        return _item(await asyncio.to_thread(self._workspace.move, path, to))

    async def arrange(self, folder: str, names: Sequence[str]) -> None:
        del names
        raise WorkspaceError("order_fixed", path=folder)

    async def delete(self, path: str) -> str:
        return await asyncio.to_thread(self._workspace.delete, path)

    async def restore(self, trash_id: str) -> Item:
        return _item(await asyncio.to_thread(self._workspace.restore, trash_id))


def _item(entry: Entry) -> Item:
    return Item(
        id=entry.path,
        path=entry.path,
        kind="folder" if entry.kind == "folder" else "document",
        position=0,
        hash=entry.revision,
        size_bytes=entry.size_bytes,
        words=None,
        created_at=entry.modified_at,
        updated_at=entry.modified_at,
    )


def _saved(written: Written) -> Saved:
    return Saved(item=_item(written.entry), previous=written.previous, revision=None)
