"""What every language pack answers, and in which types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

UnitKind: TypeAlias = Literal["part", "chapter", "extra", "section"]
"""`part` holds chapters (第一卷, Part One); `extra` stands beside them (序章, Epilogue); `section` is below
a chapter (第二节, 第3场, INT. TEA HOUSE); a text without chapters is divided by its sections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A line that reads as the heading of a unit. `number` is the unit's own, if the line names one;
    `is_bare` says that the line is nothing but a number, which only a run of such lines makes a heading."""

    kind: UnitKind
    number: int | None = None
    is_bare: bool = False


class LanguagePack(Protocol):
    """Every rule about wording, for one language. Rules fail safe: what is unclear is no heading.

    `untitled` names a file whose name never came; `unfinished` is set behind the name of a file that holds
    a text that was cut off.
    """

    untitled: str
    unfinished: str

    def read_heading(self, line: str) -> Heading | None:
        """What `line` (one line, trimmed) heads, or None if it is prose."""
        ...

    def read_number(self, words: str) -> int | None:
        """The number that `words` write out (十二, twelve, XII, 12), or None."""
        ...

    def write_number(self, number: int) -> str:
        """A number from 0 to 9999 as a chapter's number is written in this language (十二, 12)."""
        ...
