"""What the workspace says about files. Paths are relative to the project, with forward slashes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO, Generic, Literal, TypeAlias, TypeVar

E = TypeVar("E")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file or folder on disk. `modified_at` is Unix seconds. `revision` is the SHA-256 of a file's bytes,
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
class Listing(Generic[E]):
    """What is in a folder, at most as many entries as asked for. `files`,
    `folders`, `size_bytes` and `words` count all of them (`words` is None where they were not counted); `truncated` says that entries were left out, and
    `complete` that the counts are exact (they stop at a very large number of entries)."""

    path: str
    entries: tuple[E, ...]
    files: int
    folders: int
    size_bytes: int
    truncated: bool
    complete: bool
    words: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFile(Generic[E]):
    """A file opened for reading: its bytes from the start, and what is known of it."""

    stream: BinaryIO
    entry: E


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file after a write. `previous` is the revision it had, None if it is new."""

    entry: Entry
    revision: str
    previous: str | None


Kind: TypeAlias = Literal[
    "folder", "outline", "character", "lore", "draft", "script", "snippet", "document"
]
BODY_KINDS: tuple[Kind, ...] = ("draft", "script")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A file or folder of a project. `id` stays when it is renamed or moved (in a folder of the disk
    it is the path). `hash` names a file's bytes (None for a folder, and where a listing did not read
    them) and is the token that writers compare; `position` orders siblings; `words` is None where
    they were not counted; `holds` is the kind of new files in a folder. Times are Unix seconds."""

    id: str
    path: str
    kind: Kind
    position: int
    hash: str | None
    size_bytes: int
    words: int | None
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

    @property
    def hash(self) -> str:
        """What names the text that is there now."""
        return self.item.hash or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A place where a phrase was found. `line` and `column` count from 1, `column` in characters;
    `excerpt` is the line around it, in which the phrase goes from `start` to `end` (characters, from 0)."""

    path: str
    line: int
    column: int
    excerpt: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`total` counts all hits, `hits` holds as many as were asked for."""

    hits: tuple[Hit, ...]
    total: int
    files: int
