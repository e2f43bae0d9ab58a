"""Whether an ended body becomes the text of its file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from wenfang.lang import PACKS, detect_language

from .events import BodyClosed, Ending

KeepReason: TypeAlias = Literal["truncated", "void", "blank"]


@dataclass(frozen=True, slots=True)
class Commit:
    """The body becomes the file's text. Only this makes a blank file no longer blank (FC-14)."""


@dataclass(frozen=True, slots=True)
class Keep:
    """The file stays as it is: the body was cut off and the file has a text (FC-9), the body is not the
    file's, or it holds nothing but white space."""

    reason: KeepReason


Decision: TypeAlias = Commit | Keep

# ending: for a file that was blank, for a file with a text
_DECISIONS: Mapping[Ending, tuple[Decision, Decision]] = MappingProxyType(
    {
        "complete": (Commit(), Commit()),
        "truncated": (Commit(), Keep("truncated")),
        "void": (Keep("void"), Keep("void")),
    }
)


def commit_decision(before_blank: bool, closed: BodyClosed, text: str) -> Decision:
    """What to do with `text`, the whole body that `closed` ended. `before_blank`: the file holds nothing
    but white space now."""
    decision = _DECISIONS[closed.ending][0 if before_blank else 1]
    if isinstance(decision, Commit) and not text.strip():
        return Keep("blank")
    return decision


def beside_name(path: str, text: str) -> str:
    """Where a text is kept that its file cannot take: a new name next to it, in the text's language."""
    stem, suffix = os.path.splitext(path)
    return f"{stem}{PACKS[detect_language(text) or 'zh'].unfinished}{suffix}"
