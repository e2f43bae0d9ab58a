"""What this request's model knows of each file (TL-14): a text that was read in one turn of the model is
known from its next turn on, because the calls beside the read were written without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wenfang.core import Effect, FileCreated, FileDeleted, FileRead, FileWritten, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A text by its hash. `whole`: all of it was read; otherwise a part, which still tells whether the
    file is another one now."""

    revision: str
    whole: bool


class Seen:
    """One object for each request of an author, fed by the effects of its tools."""

    def __init__(self) -> None:
        self._known: dict[str, Snapshot] = {}
        self._read: dict[str, Snapshot] = {}

    def next_call(self) -> None:
        """The model is about to be asked: what was read so far is known to it."""
        for file_id, snapshot in self._read.items():
            known = self._known.get(file_id)
            if known is not None and known.revision == snapshot.revision and known.whole:
                continue  # a part of a text that is known as a whole
            self._known[file_id] = snapshot
        self._read.clear()

    async def prepare(self, transcript: Sequence[Message]) -> Sequence[Message]:
        """`Hooks.prepare`: every request to the model is such a moment; the messages are not changed."""
        self.next_call()
        return transcript

    def show(self, file_id: str, revision: str, *, whole: bool) -> None:
        """A text that stands in the request itself (the context, the working set)."""
        self._read[file_id] = Snapshot(revision=revision, whole=whole)

    def observe(self, effect: Effect) -> None:
        match effect:
            case FileRead(file_id=str(file_id), revision=revision, whole=whole):
                self.show(file_id, revision, whole=whole)
            case FileCreated(file_id=str(file_id), revision=revision, reused=False):
                self._known[file_id] = Snapshot(revision=revision, whole=True)
            case FileWritten(file_id=str(file_id)):
                self._wrote(file_id, effect.previous, effect.revision)
            case FileDeleted(file_id=file_id):
                self._known.pop(file_id, None)
                self._read.pop(file_id, None)
            case _:
                pass

    def revision(self, file_id: str) -> str | None:
        """The text that the model has in mind; None if it has none."""
        known = self._known.get(file_id)
        return None if known is None else known.revision

    def is_whole(self, file_id: str, revision: str) -> bool:
        """Whether the model has read all of this very text."""
        return self._known.get(file_id) == Snapshot(revision=revision, whole=True)

    def revisions(self) -> dict[str, str]:
        """All texts it has in mind, by the files' ids."""
        return {file_id: each.revision for file_id, each in self._known.items()}

    def _wrote(self, file_id: str, previous: str, revision: str) -> None:
        """Who writes knows what it wrote. A read of the text before says nothing about this one."""
        known = self._known.get(file_id)
        whole = known is not None and known.revision == previous and known.whole
        self._known[file_id] = Snapshot(revision=revision, whole=whole)
        read = self._read.get(file_id)
        if read is not None and read.revision == previous:
            self._read[file_id] = replace(read, revision=revision)
