"""Typed effects: what a tool did, as data (design M2). Nothing decides by looking at wording.

The union is closed: it grows by a row here together with the tool that produces it.
Paths are relative to the project, with forward slashes; `revision` is the SHA-256 of the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    path: str
    revision: str
    type: Literal["file_read"] = "file_read"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCreated:
    path: str
    revision: str
    size_bytes: int
    type: Literal["file_created"] = "file_created"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWritten:
    """An existing file got new content. `previous` is the revision it replaced."""

    path: str
    revision: str
    previous: str
    size_bytes: int
    type: Literal["file_written"] = "file_written"


Effect: TypeAlias = FileRead | FileCreated | FileWritten
