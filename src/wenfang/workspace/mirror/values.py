"""What a folder and a project that mirror each other are compared by, and what is then done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..paths import name_key

Side: TypeAlias = Literal["project", "folder"]
Reason: TypeAlias = Literal[
    "link", "special", "unreadable", "not_text", "too_large", "name", "alike", "kind"
]
"""Why something is left alone: a link, no regular file, not allowed to be read, no UTF-8 text, too large,
a name that no project takes, two names that look alike, a file here and a folder there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A file or folder, on one side or at the last sync. `hash` is the SHA-256 of a file's bytes in hex,
    None for a folder; `id` is the project's, where it is known."""

    path: str
    hash: str | None
    id: str | None = None


State: TypeAlias = Mapping[str, Node]
"""Files and folders by the key of their path (`key_of`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Something that is not mirrored, and why."""

    path: str
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A file that was renamed on the other side gets the same name here. `side` None: both sides have it
    already. `was` and `hash` are its path and its text at the last sync."""

    side: Side | None
    was: str
    path: str
    to: str
    hash: str
    id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeFolder:
    side: Side
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """The text `hash` of the other side goes to `side`, in place of `replaces` (None: it is new)."""

    side: Side
    path: str
    hash: str
    replaces: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Collide:
    """Both sides changed a text. They are merged, or the folder's is kept at `beside`. `base` is the text
    at the last sync, None if there was none."""

    path: str
    beside: str
    base: str | None
    project: str
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """What the other side deleted goes into the trash here, if it still holds `hash` (None: a folder that
    is empty by then)."""

    side: Side
    path: str
    hash: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Both sides are the same; only the record of the last sync is not."""

    path: str
    hash: str | None
    id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """Gone on both sides."""

    path: str


Result: TypeAlias = Literal["done", "merged", "kept_both"]
Action: TypeAlias = Move | MakeFolder | Put | Collide | Delete | Record | Forget


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What makes both sides the same, in the order in which it is done."""

    actions: tuple[Action, ...]
    left: tuple[Left, ...] = ()


def key_of(path: str) -> str:
    """Equal for paths that look alike."""
    return "/".join(name_key(name) for name in path.split("/"))


def is_mirrored(path: str) -> bool:
    """Names with a dot in front belong to programs, and are nobody's text."""
    return not any(name.startswith(".") for name in path.split("/"))
