"""A part of a text, and which part it is (TL-18)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wenfang.lang import UnitKind, read_heading

from .errors import Refusal
from .params import QueryFiles

_MARKDOWN = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
# What stands below what, where headings are told by their words.
_LEVELS: dict[UnitKind, int] = {"part": 1, "chapter": 2, "extra": 2, "section": 3}
_MOST_NAMED = 30
_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Characters `start` to `end` (not included) of a text of `total`; `section` is the heading that was
    asked for."""

    start: int
    end: int
    total: int
    section: str | None = None

    @property
    def is_whole(self) -> bool:
        return self.start == 0 and self.end == self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heading:
    title: str
    level: int
    at: int


def asked_range(text: str, args: QueryFiles) -> Range:
    """The part that the arguments name, or all of it. Raises `Refusal`."""
    total = len(text)
    by_place = args.start_char is not None or args.max_chars is not None
    if sum((args.section is not None, args.tail_chars is not None, by_place)) > 1:
        raise Refusal(
            "invalid_arguments",
            "Give one of section, tail_chars, or start_char with max_chars; they exclude each other.",
        )
    if args.section is not None:
        return _section(text, args.section)
    if args.tail_chars is not None:
        return Range(start=max(0, total - args.tail_chars), end=total, total=total)
    start = args.start_char or 0
    if start > total:
        raise Refusal(
            "invalid_arguments",
            f"The file has {total} characters; start_char={start} is past its end.",
        )
    end = total if args.max_chars is None else min(total, start + args.max_chars)
    return Range(start=start, end=end, total=total)


def _section(text: str, wanted: str) -> Range:
    headings = _headings(text)
    key = _key(wanted)
    found = next((each for each in headings if _key(each.title) == key), None)
    found = found or next((each for each in headings if key and key in _key(each.title)), None)
    if found is None:
        names = ", ".join(repr(each.title[:_SHOWN]) for each in headings[:_MOST_NAMED])
        known = f"its headings are: {names}" if names else "it has no headings"
        raise Refusal(
            "anchor_not_found", f"There is no heading {wanted[:_SHOWN]!r} in the file; {known}."
        )
    after = (each.at for each in headings if each.at > found.at and each.level <= found.level)
    end = next(after, len(text))
    return Range(start=found.at, end=end, total=len(text), section=found.title)


def _headings(text: str) -> list[_Heading]:
    found: list[_Heading] = []
    at = 0
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if marked := _MARKDOWN.fullmatch(stripped):
            found.append(_Heading(title=marked[2], level=len(marked[1]), at=at))
        elif stripped and (heading := read_heading(stripped)) and not heading.is_bare:
            found.append(_Heading(title=stripped, level=_LEVELS[heading.kind], at=at))
        at += len(line)
    return found


def _key(title: str) -> str:
    return " ".join(title.lstrip("#").split()).casefold()
