"""Typed effects: what a tool did, as data (design M2). Nothing decides by looking at wording.

The union is closed: it grows by a row here together with the tool that produces it.
Paths are relative to the project, with forward slashes; `revision` is the SHA-256 of the bytes.
`file_id` and `kind` are those of a project whose files are in the database, None elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """`whole`: the model was shown all of the text in one result."""

    path: str
    revision: str
    file_id: str | None = None
    whole: bool = False
    type: Literal["file_read"] = "file_read"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCreated:
    """A new file or folder, with nothing in it if `size_bytes` is 0. `reused`: it was there already and
    waits for a new text; until then it keeps its own."""

    path: str
    revision: str
    size_bytes: int
    file_id: str | None = None
    kind: str | None = None
    reused: bool = False
    type: Literal["file_created"] = "file_created"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWritten:
    """An existing file got new content. `previous` is the revision it replaced; `words_added` counts what
    was put in, as the editor counts."""

    path: str
    revision: str
    previous: str
    size_bytes: int
    file_id: str | None = None
    kind: str | None = None
    words_added: int = 0
    type: Literal["file_written"] = "file_written"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDeleted:
    """A file or folder went into the trash; one effect for each of those below a folder."""

    path: str
    file_id: str
    kind: str
    type: Literal["file_deleted"] = "file_deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRenamed:
    """A file or folder has another name; its text and its id are the same."""

    path: str
    previous_path: str
    file_id: str
    kind: str
    type: Literal["file_renamed"] = "file_renamed"


Effect: TypeAlias = FileRead | FileCreated | FileWritten | FileDeleted | FileRenamed
