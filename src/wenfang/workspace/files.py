"""The files of a project as all faces see them, wherever they are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from .values import Content, Found, Item, Kind, Listing, OpenFile, Saved

if TYPE_CHECKING:  # the versions are loaded with the files that have some
    from .project import Revision


class Files(Protocol):
    """One project for one writer: in the database (`project.ProjectFiles`) or in a folder of the disk
    (`FolderFiles`).

    Paths are relative, with forward slashes. Each change is one step for all threads and processes.
    Failures are `WorkspaceError`s.
    """

    async def listing(
        self, path: str = "", *, recursive: bool = True, limit: int = 5000
    ) -> Listing[Item]:
        """What is in a folder, in reading order; a folder comes before what is in it."""
        ...

    async def item(self, path: str) -> Item:
        """Raises "file_not_found"."""
        ...

    async def at(self, ref: str) -> Item:
        """What an id, or a path, names. Raises "file_not_found"."""
        ...

    def open(self, path: str) -> AbstractAsyncContextManager[OpenFile[Item]]:
        """A file's bytes, for reading piece by piece in a worker thread."""
        ...

    async def read(self, path: str, revision: int | None = None) -> Content:
        """A whole text file as it is, or as it was in a version. Bytes that are not UTF-8 text are
        refused. Raises "file_not_text", "file_too_large", "revision_not_found"."""
        ...

    async def find(self, phrase: str, *, match_case: bool = False, limit: int = 200) -> Found:
        """Where a phrase stands in the project's texts, in reading order."""
        ...

    async def revisions(self, path: str) -> list[Revision]:
        """The versions of a file, newest first; none where none are kept."""
        ...

    async def write(
        self, path: str, text: str, *, base: str | None, kind: Kind | None = None
    ) -> Saved:
        """Put `text` at `path`, folders included. `base` is the hash of the text it was made from, None
        for a file that must not exist yet, "*" for whatever is there. Raises "revision_conflict" with
        the present hash."""
        ...

    async def change(self, path: str, make: Callable[[str], str]) -> Saved:
        """Replace the text of a file by `make(text)`, which runs in a worker thread, perhaps twice.
        What it raises leaves the file as it is."""
        ...

    async def restore_revision(self, path: str, n: int) -> Saved:
        """Bring the text of version `n` back as a new version."""
        ...

    async def add(self, path: str, content: str | Mapping[str, str]) -> Sequence[Item]:
        """A new file (its text), or a new folder of files (their texts by name): all of it is there at
        once, or nothing. Never touches what exists: a name that is taken gets ` (2)`, before the suffix
        of a file. Returns the files in the given order."""
        ...

    async def create_folder(self, path: str) -> Item:
        """Raises "path_exists"."""
        ...

    async def move(self, path: str, to: str) -> Item:
        """Rename a file or folder, also into another folder. Raises "path_exists"."""
        ...

    async def arrange(self, folder: str, names: Sequence[str]) -> None:
        """Put the files of a folder in the order of `names`; those that are not named come after.
        Raises "order_fixed" where names decide."""
        ...

    async def delete(self, path: str) -> str:
        """Put a file or folder in the trash. Returns the id that `restore` takes."""
        ...

    async def restore(self, trash_id: str) -> Item:
        """Undo a delete. Raises "trash_not_found", "path_exists"."""
        ...
