"""What the files of a project are, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "folder", "outline", "character", "lore", "draft", "script", "snippet", "document"
]
BODY_KINDS: tuple[Kind, ...] = ("draft", "script")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A file or folder of a project. `id` stays when it is renamed or moved. `hash` names a file's
    text (None for a folder) and is the token that writers compare; `position` orders siblings;
    `holds` is the kind of new files in a folder. Times are Unix seconds."""

    id: str
    path: str
    kind: Kind
    position: int
    hash: str | None
    size_bytes: int
    words: int
    created_at: float
    updated_at: float
    holds: Kind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A file with its text, byte for byte what UTF-8 says."""

    item: Item
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What a write did. `previous` is the hash it replaced, None for a new file. `revision` is the
    number of the version that holds the text now; None if the limit of versions is reached: the text
    is saved all the same (VR-2)."""

    item: Item
    previous: str | None
    revision: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A place where a phrase was found. `line` and `column` count from 1, `column` in characters;
    `excerpt` is the line around it."""

    path: str
    line: int
    column: int
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`total` counts all hits, `hits` holds as many as were asked for."""

    hits: tuple[Hit, ...]
    total: int
    files: int
