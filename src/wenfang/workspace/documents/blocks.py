"""A document as a row of blocks, headings marked: what every reader makes, and what is divided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from wenfang.lang import Heading, read_heading

Role: TypeAlias = Literal["", "title", "author"]
WORDED_LEVEL: Final = 2
"""The level of chapters that are known by their words alone; volumes are above."""
SEPARATOR: Final = "---"
"""The line that our own export of txt sets between two chapters (writing.md UI-11)."""
_SENTENCE_ENDS: Final = "。！？…”」』’\"'.!?:：—-=*~）)】]》|#"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A stretch of text (`level` 0, Markdown unless the document is txt), or a heading (1 is the highest;
    `text` without any marks). `role` says that it names the document or its author."""

    text: str
    level: int = 0
    role: Role = ""


def mark_by_words(blocks: Sequence[Block], *, are_lines: bool) -> list[Block]:
    """Blocks in which what reads as a heading is marked as such: for documents whose author set headings
    as plain text. `are_lines` says that a block is a line and may stand in the middle of a paragraph.

    A bare number counts only as one of a run 1, 2, 3, ..., and what is below a chapter only in a text
    without chapters."""
    found = _found(blocks, are_lines=are_lines)
    bare = {at: heading for at, heading in found.items() if heading.is_bare}
    worded = {at: heading for at, heading in found.items() if not heading.is_bare}
    numbers = [heading.number for heading in bare.values()]
    is_run = len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1))
    if is_run and all(heading.kind in ("part", "extra") for heading in worded.values()):
        worded.update(bare)
    if any(heading.kind == "chapter" for heading in worded.values()):
        worded = {at: heading for at, heading in worded.items() if heading.kind != "section"}
    for at in _contents(blocks, worded):
        del worded[at]
    return [
        replace(block, text=block.text.strip(), level=_level(worded[at])) if at in worded else block
        for at, block in enumerate(blocks)
    ]


def _level(heading: Heading) -> int:
    return WORDED_LEVEL - (heading.kind == "part")


def without_separators(blocks: Sequence[Block]) -> Sequence[Block]:
    """Without the separator before each heading, which the first need not have; if another lacks it, they
    mean something else."""
    headings = [at for at, block in enumerate(blocks) if block.level]
    before = {_text_before(blocks, at) for at in headings[1:]}
    if any(at is None or blocks[at].text != SEPARATOR for at in before):
        return blocks
    if before and (first := _text_before(blocks, headings[0])) is not None:
        before |= {first} if blocks[first].text == SEPARATOR else set()
    return [block for at, block in enumerate(blocks) if at not in before]


def _text_before(blocks: Sequence[Block], at: int) -> int | None:
    return next((each for each in range(at - 1, -1, -1) if blocks[each].text.strip()), None)


def _found(blocks: Sequence[Block], *, are_lines: bool) -> dict[int, Heading]:
    found: dict[int, Heading] = {}
    before, is_apart = "", True
    for at, block in enumerate(blocks):
        line = block.text.strip()
        if not line:
            is_apart = True
            continue
        heading = read_heading(line) if "\n" not in line and not block.role else None
        # A line in the middle of wrapped prose is no heading, whatever it says.
        if heading and (
            is_apart or (not heading.is_bare and (before[-1] in _SENTENCE_ENDS or at - 1 in found))
        ):
            found[at] = heading
        before, is_apart = line, not are_lines
    return found


def _contents(blocks: Sequence[Block], headings: dict[int, Heading]) -> list[int]:
    """The lines of a table of contents: nothing stands below them, and the same heading comes again."""
    places = sorted(headings)
    keys = [_key(blocks[at].text, headings[at]) for at in places]
    last = {key: place for place, key in zip(places, keys, strict=True)}
    following = [*places, len(blocks)][1:]
    return [
        at
        for at, key, after in zip(places, keys, following, strict=True)
        if last[key] > at and not any(block.text.strip() for block in blocks[at + 1 : after])
    ]


def _key(text: str, heading: Heading) -> tuple[str, int | str]:
    return heading.kind, heading.number if heading.number is not None else "".join(text.split())
