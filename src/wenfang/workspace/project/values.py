"""What an agent's tools are told about the files of a project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..values import Item, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class RootFolder:
    """A folder of a project's template: `name` at the top of the project, `holds` the kind of its new
    files. Its id is made of `key`, so that it can be found and made again (TL-7)."""

    key: str
    name: str
    holds: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A file as an agent works on it: its text, what an agent wrote last (None: never), and whether
    the present text is the author's (AE-2)."""

    item: Item
    text: str
    ai_text: str | None
    is_of_author: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """A file that waits for its text. `reused`: it was there already, with `characters` of an older
    text."""

    item: Item
    reused: bool = False
    characters: int = 0


KeptReason: TypeAlias = Literal["author_text", "unverified", "not_empty", "stale"]


class Kept(Exception):  # noqa: N818 - an expected outcome: nothing was changed, and why
    """Files were left as they are: they hold an author's text (TL-16), or it could not be found out
    whether they do; their folder is not empty; their text is not the one that was read. `paths` names
    the first of them."""

    def __init__(self, reason: KeptReason, paths: tuple[str, ...]) -> None:
        super().__init__(reason)
        self.reason: KeptReason = reason
        self.paths = paths
