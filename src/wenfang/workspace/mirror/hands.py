"""Doing what was planned. Each action first makes the text safe, then replaces anything, then is noted: a
crash between any two steps leaves a state from which the next sync goes on, and loses nothing.

What was changed since the plan was made is not touched: the step fails with `Changed`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Final, TypeVar

from wenfang.storage import Store, Tx

from ..errors import Code, WorkspaceError
from ..merging import three_way
from ..project import ProjectFiles, Saved
from ..project.blobs import get, hash_of
from ..project.history import Change
from ..texts import decode
from ..workspace import Workspace
from . import record
from .values import Action, Collide, Delete, Forget, MakeFolder, Move, Node, Put, Record, Result

T = TypeVar("T")
_MEANWHILE: Final[frozenset[Code]] = frozenset(
    ("revision_conflict", "file_not_found", "path_exists", "file_busy")
)
"""What the project and the folder say if something is not as it was when the plan was made."""


class Changed(Exception):  # noqa: N818 - an outcome: the next plan will see it
    """Somebody changed a file since it was looked at."""


class Hands:
    """Both sides of one mirror, and the record of it. `thread` runs one thing at a time."""

    def __init__(
        self,
        database: Store,
        files: ProjectFiles,
        folder: Workspace,
        mirror_id: str,
        thread: Executor,
    ) -> None:
        self._db = database
        self._thread = thread
        self._files = files
        self._folder = folder
        self._mirror = mirror_id

    async def do(self, action: Action) -> tuple[Result, str]:
        """What came of it, and the hash of the text that the project has now, "" if it got none. Raises `Changed`, `WorkspaceError`, `Problem`; then the action is not done, or can be done
        again."""
        try:
            return await self._do(action)
        except WorkspaceError as error:
            if error.code in _MEANWHILE:
                raise Changed from error
            raise

    async def note_all(self, actions: Sequence[Record | Forget]) -> None:
        """What needs no more than the record, in one transaction."""

        def note(tx: Tx) -> None:
            for each in actions:
                if isinstance(each, Forget):
                    record.forget(tx, self._mirror, each.path)
                else:
                    node = Node(path=each.path, hash=each.hash, id=each.id)
                    record.note(tx, self._mirror, node)

        await self._db.write(note)

    async def _do(self, action: Action) -> tuple[Result, str]:
        match action:
            case Move():
                await self._move(action)
            case MakeFolder():
                await self._make_folder(action)
            case Put(side="project"):
                await self._to_project(action)
                return "done", action.hash
            case Put():
                text, file_id = await self._project_text(action.path, action.hash)
                await self._to_folder(action.path, text, action.replaces, file_id)
            case Collide():
                return await self._settle(action)
            case Delete():
                await self._delete(action)
            case Record() | Forget():
                await self.note_all([action])
        return "done", ""

    # Texts

    async def _to_project(self, put: Put) -> None:
        text = await self._folder_text(put.path, put.hash)
        await self._write(put.path, text, put.replaces, "edit" if put.replaces else "import")

    async def _to_folder(
        self, path: str, text: str, replaces: str | None, file_id: str | None
    ) -> None:
        write = partial(self._folder.write_text, path, text, base=replaces)
        await self._in_folder(write)
        data = text.encode()
        node = Node(path=path, hash=hash_of(data), id=file_id)
        await self._db.write(lambda tx: record.note(tx, self._mirror, node, data))

    async def _settle(self, both: Collide) -> tuple[Result, str]:
        """Merge, or keep the folder's text beside the project's. With that, and in the same transaction,
        the folder's text counts as known: whatever happens then, it is not taken for a new change."""
        theirs = await self._folder_text(both.path, both.folder)
        mine, file_id = await self._project_text(both.path, both.project)
        merged = await self._merged(both, mine, theirs)
        data = theirs.encode()

        def known(tx: Tx, _: Saved) -> None:
            node = Node(path=both.path, hash=both.folder, id=file_id)
            record.note(tx, self._mirror, node, data)

        if merged is not None:
            await self._files.write(
                both.path, merged, base=both.project, change="merge", also=known
            )
            await self._to_folder(both.path, merged, both.folder, file_id)
            return "merged", hash_of(merged.encode())
        kept = await self._files.write(both.beside, theirs, base=None, change="import", also=known)
        await self._to_folder(both.beside, theirs, None, kept.item.id)
        await self._to_folder(both.path, mine, both.folder, file_id)
        return "kept_both", both.folder

    async def _merged(self, both: Collide, mine: str, theirs: str) -> str | None:
        base = both.base
        if base is None:
            return None
        before = await self._db.read(lambda tx: get(tx, base))
        return (await asyncio.to_thread(three_way, before.decode(), mine, theirs)).text

    async def _write(self, path: str, text: str, base: str | None, change: Change) -> None:
        def known(tx: Tx, saved: Saved) -> None:
            node = Node(path=saved.item.path, hash=saved.item.hash, id=saved.item.id)
            record.note(tx, self._mirror, node)

        await self._files.write(path, text, base=base, change=change, also=known)

    async def _folder_text(self, path: str, name: str) -> str:
        data, entry = await self._in_folder(self._folder.read_bytes, path)
        if entry.revision != name:
            raise Changed
        return decode(data, path)

    async def _project_text(self, path: str, name: str) -> tuple[str, str]:
        content = await self._files.read(path)
        if content.item.hash != name:
            raise Changed
        return content.text, content.item.id

    async def _in_folder(self, work: Callable[..., T], *args: object) -> T:
        """One thread for the folder, as there is one for the database: what was begun in order is done in
        order, and new files of the project stand in the order of the plan."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *args)

    # Names

    async def _move(self, move: Move) -> None:
        if move.side == "project":
            await self._files.move(move.path, move.to)
        elif move.side == "folder":
            await self._in_folder(self._folder.move, move.path, move.to)
        node = Node(path=move.to, hash=move.hash, id=move.id)

        def note(tx: Tx) -> None:
            record.note(tx, self._mirror, node)
            record.forget(tx, self._mirror, move.was)

        await self._db.write(note)

    async def _make_folder(self, make: MakeFolder) -> None:
        try:
            if make.side == "project":
                await self._files.create(make.path, "folder")
            else:
                await self._in_folder(self._folder.create_folder, make.path)
        except WorkspaceError as error:
            if error.code != "path_exists":  # a file in it was there first
                raise
        await self.note_all([Record(path=make.path, hash=None, id=None)])

    async def _delete(self, delete: Delete) -> None:
        if delete.side == "project":
            await self._files.delete(delete.path, base=delete.hash)
        else:
            await self._in_folder(self._delete_in_folder, delete)
        await self.note_all([Forget(path=delete.path)])

    def _delete_in_folder(self, delete: Delete) -> None:
        if delete.hash is None:
            if self._folder.list(delete.path).entries:
                raise Changed
        elif self._folder.read_bytes(delete.path)[1].revision != delete.hash:
            raise Changed
        self._folder.delete(delete.path)
