"""txt and Markdown to blocks. The text between headings stays as it is, line for line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .blocks import Block
from .markup import escape

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]")
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})[^`]*")
_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)*")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def txt_blocks(text: str) -> list[Block]:
    """One block a line."""
    return [Block(text=line) for line in text.split("\n")]


def markdown_blocks(text: str) -> list[Block]:
    """One block a line; headings outside of fenced code are marked."""
    return list(_markdown_lines(text.split("\n")))


def headed(title: str, text: str) -> str:
    """A text of Markdown under its heading, as a file; "" stands for no heading."""
    heading = f"# {escape(title)}" if title else ""
    return "\n\n".join(piece for piece in (heading, text) if piece) + "\n"


def split_heading(text: str) -> tuple[str, str]:
    """The heading that a text of Markdown begins with ("" if it begins with none), and what follows."""
    line, _, rest = _BLANK_LINES.sub("", text, count=1).partition("\n")
    (block, *_) = markdown_blocks(line)
    return (block.text, rest) if block.level else ("", text)


def _markdown_lines(lines: list[str]) -> Iterator[Block]:
    fence = ""
    for line in lines:
        if fence:
            closing = line.strip()
            if closing.startswith(fence) and not closing.strip(fence[0]):
                fence = ""
            yield Block(text=line)
        elif found := _FENCE.fullmatch(line):
            fence = found["marks"]
            yield Block(text=line)
        elif (found := _ATX.match(line)) and (title := _without_closing(line[found.end() :])):
            yield Block(text=_ESCAPED.sub(r"\1", title), level=len(found[1]))
        else:
            yield Block(text=line)


def _without_closing(title: str) -> str:
    """A heading may be closed by marks like those that open it."""
    title = title.strip(" \t")
    opened = title.rstrip("#")
    return opened.rstrip(" \t") if not opened or opened[-1] in " \t" else title
