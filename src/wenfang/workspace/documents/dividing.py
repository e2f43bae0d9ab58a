"""Blocks into sections: which headings are chapters, which belong to the text, which name the whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from wenfang.lang import Heading, detect_language, read_heading

from .blocks import WORDED_LEVEL, Block, mark_by_words, without_separators
from .markup import inner_heading
from .values import Document, DocumentWarning, Section

_LONGEST_TITLE = 60
_MOST_TITLE_LINES = 4
_AUTHOR = re.compile(
    r"(?:作者|著者|文)\s*[:：/／]\s*(?P<zh>\S.{0,40})|by\s+(?P<en>\S.{0,60})", re.IGNORECASE
)
_NO_TITLE = re.compile(rf"[。，；！？,;!?]|[.…]$|^(?:{_AUTHOR.pattern})$|^\W*$", re.IGNORECASE)
_LANGUAGE_CHARS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    title: str | None
    author: str | None
    blocks: Sequence[Block]


def make_document(
    blocks: Sequence[Block],
    *,
    name: str,
    joiner: str = "\n\n",
    title: str | None = None,
    author: str | None = None,
    warnings: Sequence[DocumentWarning] = (),
) -> Document:
    """The document of these blocks. `name` is the file's, for want of a title; `joiner` stood between two
    blocks of text."""
    names = _take_names(blocks)
    title, author = title or names.title, author or names.author
    blocks, are_lines = names.blocks, joiner == "\n"
    if title is None:
        title, blocks = _lone_heading(blocks, are_lines=are_lines)
    is_worded = not any(block.level for block in blocks)
    if is_worded:
        blocks = without_separators(mark_by_words(blocks, are_lines=are_lines))
        if title is None and any(block.level for block in blocks):
            names = _first_lines(blocks)
            title, author, blocks = names.title, author or names.author, names.blocks
    if title is None and not is_worded:
        title, blocks = _only_heading(blocks)
    if title is not None and author is None:
        author, blocks = _take_author(blocks)
    level = WORDED_LEVEL if is_worded else _chapter_level(blocks)
    sections = tuple(_sections(blocks, level, joiner))
    return Document(
        title=title or PurePosixPath(name).stem or name,
        author=author,
        language=detect_language(" ".join(_opening(sections))),
        sections=sections,
        warnings=tuple(warnings),
    )


def _opening(sections: Sequence[Section]) -> list[str]:
    texts: list[str] = []
    size = 0
    for section in sections:
        texts += [section.title, section.text[:_LANGUAGE_CHARS]]
        size += len(section.text)
        if size > _LANGUAGE_CHARS:
            break
    return texts


def _take_names(blocks: Sequence[Block]) -> _Names:
    """Blocks that are marked as title and author; a second one of a kind stays in the text."""
    first: dict[str, int] = {}
    for at, block in enumerate(blocks):
        if block.role and block.text.strip():
            first.setdefault(block.role, at)
    taken = {role: blocks[at].text.strip() for role, at in first.items()}
    rest = [block for at, block in enumerate(blocks) if at not in first.values()]
    return _Names(title=taken.get("title"), author=taken.get("author"), blocks=rest)


def _first_lines(blocks: Sequence[Block]) -> _Names:
    """A few short lines above the first heading are the title page."""
    first = next(at for at, block in enumerate(blocks) if block.level)
    lines = [at for at in range(first) if blocks[at].text.strip()]
    if not 0 < len(lines) <= _MOST_TITLE_LINES:
        return _Names(title=None, author=None, blocks=blocks)
    title = blocks[lines[0]].text.strip()
    if len(title) > _LONGEST_TITLE or "\n" in title or _NO_TITLE.search(title):
        return _Names(title=None, author=None, blocks=blocks)
    rest = [block for at, block in enumerate(blocks) if at != lines[0]]
    author, rest = _take_author(rest)
    return _Names(title=title, author=author, blocks=rest)


def _take_author(blocks: Sequence[Block]) -> tuple[str | None, Sequence[Block]]:
    """A line that names the author, below the title and above everything else."""
    at = next((at for at, block in enumerate(blocks) if block.text.strip()), None)
    if at is None or blocks[at].level or not (found := _AUTHOR.fullmatch(blocks[at].text.strip())):
        return None, blocks
    return found["zh"] or found["en"], [*blocks[:at], *blocks[at + 1 :]]


def split_byline(text: str) -> tuple[str | None, str]:
    """The author whom the first line of a text names (None if it names none), and what follows."""
    author, rest = _take_author([Block(text=line) for line in text.split("\n")])
    return author, "\n".join(block.text for block in rest)


def _lone_heading(
    blocks: Sequence[Block], *, are_lines: bool
) -> tuple[str | None, Sequence[Block]]:
    """A heading that is the only one of its document names it, if its chapters are set as plain text."""
    headings = [at for at, block in enumerate(blocks) if block.level]
    if len(headings) != 1 or any(block.text.strip() for block in blocks[: headings[0]]):
        return None, blocks
    lone, rest = blocks[headings[0]], blocks[headings[0] + 1 :]
    chapters = sum(block.level > 0 for block in mark_by_words(rest, are_lines=are_lines))
    return (lone.text, rest) if chapters > 1 and _heading_of(lone) is None else (None, blocks)


def _only_heading(blocks: Sequence[Block]) -> tuple[str | None, Sequence[Block]]:
    """A heading above all others, at the very beginning, names the document."""
    headings = [(at, block) for at, block in enumerate(blocks) if block.level]
    if len(headings) < 2:
        return None, blocks
    at, top = headings[0]
    is_first = not any(block.text.strip() for block in blocks[:at])
    is_alone = all(block.level > top.level for _, block in headings[1:])
    if is_first and is_alone and _heading_of(top) is None:
        return top.text, [*blocks[:at], *blocks[at + 1 :]]
    return None, blocks


def _chapter_level(blocks: Sequence[Block]) -> int:
    """The level at which a new section begins: that of the chapters by their wording, else the highest
    with more than one heading."""
    levels = Counter(block.level for block in blocks if block.level)
    if not levels:
        return 0
    worded = Counter(
        block.level
        for block in blocks
        if block.level and (heading := _heading_of(block)) and heading.kind == "chapter"
    )
    if worded:
        return worded.most_common(1)[0][0]
    return next((level for level in sorted(levels) if levels[level] > 1), min(levels))


def _sections(blocks: Sequence[Block], level: int, joiner: str) -> list[Section]:
    sections: list[Section] = []
    title: Block | None = None
    texts: list[str] = []

    def close() -> None:
        text = joiner.join(texts).strip("\n \t") if joiner != "\n" else _trimmed(joiner.join(texts))
        if title is not None or text:
            sections.append(_section(title, text))

    for block in blocks:
        if 0 < block.level <= level:
            close()
            title, texts = block, []
        elif block.level:
            texts.append(inner_heading(block.text, block.level - level))
        else:
            texts.append(block.text)
    close()
    return sections


def _trimmed(text: str) -> str:
    """Without the blank lines around; what stands before the first word of a line stays."""
    lines = text.rstrip().split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    return "\n".join(lines[first:])


def _section(title: Block | None, text: str) -> Section:
    if title is None:
        return Section(title="", text=text, kind="front")
    heading = _heading_of(title)
    if heading is None:
        return Section(title=title.text, text=text)
    return Section(title=title.text, text=text, number=heading.number, kind=heading.kind)


def _heading_of(block: Block) -> Heading | None:
    return read_heading(block.text.strip())
