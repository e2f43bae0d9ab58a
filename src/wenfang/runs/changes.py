"""What an effect of a tool means for those who show the project's files."""

from __future__ import annotations

from typing import assert_never

from wenfang.core import Effect, FileCreated, FileDeleted, FileRead, FileRenamed, FileWritten

from .facts import FileChanged


def change_of(effect: Effect) -> FileChanged | None:
    """The change to tell about; None if the project's files are as they were."""
    match effect:
        case FileCreated(path=path, revision=revision, reused=False):
            return FileChanged(path=path, change="created", by="ai", revision=revision)
        case FileWritten(path=path, revision=revision):
            return FileChanged(path=path, change="written", by="ai", revision=revision)
        case FileDeleted(path=path):
            return FileChanged(path=path, change="deleted", by="ai")
        case FileRenamed(path=path, previous_path=previous):
            return FileChanged(path=previous, change="renamed", by="ai", to=path)
        case FileRead() | FileCreated():
            return None
        case _:
            assert_never(effect)
