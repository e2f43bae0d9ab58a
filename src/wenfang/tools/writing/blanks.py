"""One blank file at a time (TL-3 to TL-5, FC-14): a model that creates a file writes it before the next.

The guard follows what happens: effects of tools and the bodies that a codec reads. It trusts the database
more than itself: a file that is gone or has another text does not wait any more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from wenfang.core import Effect, FileCreated, FileDeleted, FileRenamed, FileWritten
from wenfang.workspace.body import BodyClosed, BodyOpened, BodyText, CaptureEvent

Present = Callable[[str], Awaitable[str | None]]
"""The hash of a file's text as it is now, by the file's id; None if the file is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A file that waits for its text. `revision` is the text it has until then; `is_closed`: its text
    was written to the end and is on its way into the file (TL-5). `file_id` is empty while the file is
    being created."""

    path: str
    file_id: str = ""
    revision: str = ""
    is_closed: bool = False


class BlankGuard:
    """`reserve` before a file is created, then its effect binds it, or `release` if nothing came of it."""

    def __init__(self) -> None:
        self._files: dict[str, Waiting] = {}
        self._reserved: Waiting | None = None
        self._has_text: set[str] = set()

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
                self._files[file_id] = Waiting(
                    path=effect.path, file_id=file_id, revision=effect.revision
                )
            case FileWritten(file_id=str(file_id)) | FileDeleted(file_id=file_id):
                self._files.pop(file_id, None)
            case FileRenamed(file_id=file_id) if file_id in self._files:
                self._files[file_id] = replace(self._files[file_id], path=effect.path)
            case _:
                pass

    def on_body(self, event: CaptureEvent) -> None:
        """A body that is whole and says something counts as written when it ends, also before it is
        stored: the same reply may create the next file."""
        match event:
            case BodyOpened(file_id=file_id):
                self._has_text.discard(file_id)
            case BodyText(file_id=file_id, text=text):
                if text.strip():
                    self._has_text.add(file_id)
            case BodyClosed(file_id=file_id, ending="complete") if file_id in self._has_text:
                self._close(file_id, is_closed=True)
            case _:
                pass

    def refused(self, file_id: str) -> None:
        """A body that had ended could not be stored: its file waits again."""
        self._close(file_id, is_closed=False)

    def unwritten(self) -> tuple[Waiting, ...]:
        """All files that have no text yet, those on their way included."""
        return tuple(self._files.values())

    def _close(self, file_id: str, *, is_closed: bool) -> None:
        if file_id in self._files:
            self._files[file_id] = replace(self._files[file_id], is_closed=is_closed)

    def _blocker(self) -> Waiting | None:
        open_files = (each for each in self._files.values() if not each.is_closed)
        return self._reserved or next(open_files, None)
