"""What the workspace says about files. Paths are relative to the project, with forward slashes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file or folder. `modified_at` is Unix seconds. `revision` is the SHA-256 of a file's bytes,
    in hex, where it was read or written anyway; a listing leaves it out."""

    path: str
    kind: Literal["file", "folder"]
    size_bytes: int
    modified_at: float
    revision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """A whole text file. `text` is byte for byte what UTF-8 says: byte order mark and line ends
    included. `newline` is the line end most lines have."""

    path: str
    text: str
    revision: str
    size_bytes: int
    modified_at: float
    newline: Literal["\n", "\r\n"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A folder's entries, by path without regard to case, at most as many as asked for. `files`,
    `folders` and `size_bytes` count all of them; `truncated` says that entries were left out, and
    `complete` that the counts are exact (they stop at a very large number of entries)."""

    path: str
    entries: tuple[Entry, ...]
    files: int
    folders: int
    size_bytes: int
    truncated: bool
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file after a write. `previous` is the revision it had, None if it is new."""

    entry: Entry
    revision: str
    previous: str | None
