"""Language packs: every heuristic about wording, behind one protocol. Control flow may use them only
where no typed fact can exist."""

from __future__ import annotations

from typing import Final

from wenfang.problems import Language

from .en import English
from .values import Heading, LanguagePack, UnitKind
from .words import count_words, detect_language
from .zh import Chinese

PACKS: Final[dict[Language, LanguagePack]] = {"zh": Chinese(), "en": English()}


def read_heading(line: str) -> Heading | None:
    """What `line` heads in the first language that knows it as a heading, or None if it is prose."""
    for pack in PACKS.values():
        if heading := pack.read_heading(line):
            return heading
    return None


__all__ = [
    "PACKS",
    "Heading",
    "LanguagePack",
    "UnitKind",
    "count_words",
    "detect_language",
    "read_heading",
]
