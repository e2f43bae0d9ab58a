"""One blank file at a time (TL-3 to TL-5, FC-14): a model that creates a file writes it before the next.

The guard follows the effects of tools. It trusts the database more than itself: a file that is gone or has
another text does not wait any more. A body beside a call of create_file in one reply is a call before it, so
that its file is written by then (TL-5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from wenfang.core import Effect, FileCreated, FileDeleted, FileRenamed, FileWritten

Present = Callable[[str], Awaitable[str | None]]
"""The hash of a file's text as it is now, by the file's id; None if the file is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A file that waits for its text. `revision` is the text it has until then. `file_id` is empty while
    the file is being created."""

    path: str
    file_id: str = ""
    revision: str = ""


class BlankGuard:
    """`reserve` before a file is created, then its effect binds it, or `release` if nothing came of it."""

    def __init__(self) -> None:
        self._files: dict[str, Waiting] = {}
        self._reserved: Waiting | None = None

    async def blocker(self, present: Present) -> Waiting | None:
        """The file that has to be written first, if there is one."""
        for file_id, waiting in list(self._files.items()):
            if await present(file_id) != waiting.revision:
                self._files.pop(file_id, None)
        return self._blocker()

    def reserve(self, path: str) -> Waiting | None:
        """Take the one place for a new file; returns what has it already. Nothing is awaited, so of two
        calls at the same time one gets it."""
        blocker = self._blocker()
        if blocker is None:
            self._reserved = Waiting(path=path)
        return blocker

    def release(self) -> None:
        """The place that was reserved is free again."""
        self._reserved = None

    def observe(self, effect: Effect) -> None:
        match effect:
            case FileCreated(file_id=str(file_id), kind=kind) if kind != "folder":
                self._reserved = None
                if effect.size_bytes and not effect.reused:
                    return  # it was made with its text
                self._files[file_id] = Waiting(
                    path=effect.path, file_id=file_id, revision=effect.revision
                )
            case FileWritten(file_id=str(file_id)) | FileDeleted(file_id=file_id):
                self._files.pop(file_id, None)
            case FileRenamed(file_id=file_id) if file_id in self._files:
                self._files[file_id] = replace(self._files[file_id], path=effect.path)
            case _:
                pass

    def waiting(self, ref: str) -> Waiting | None:
        """The file with this id, or with this path when it was created, if it waits."""
        paths = (each for each in self._files.values() if each.path == ref)
        return self._files.get(ref) or next(paths, None)

    def newest(self) -> Waiting | None:
        """The file that was created last and still waits."""
        return next(reversed(self._files.values()), None)

    def _blocker(self) -> Waiting | None:
        return self._reserved or next(iter(self._files.values()), None)
