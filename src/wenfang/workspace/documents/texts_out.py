"""A book as plain text and as Markdown."""

from __future__ import annotations

import codecs
from typing import Final

from wenfang.problems import Language

from .blocks import SEPARATOR
from .markup import escape
from .ordering import parts_in_order
from .plain import markdown_blocks
from .values import Book

_BY: Final[dict[Language, str]] = {"zh": "作者：{author}", "en": "by {author}"}


def to_txt(book: Book, *, with_outline: bool = False) -> bytes:
    """UTF-8 with byte order mark; the title is the first line, `---` stands between two parts
    (writing.md UI-11). The texts are as they are."""
    head = "\n".join([_line(book.title), *_author(book)])
    parts = [
        "\n\n".join(filter(None, [_line(part.title), part.text.strip("\n")]))
        for part in parts_in_order(book, with_outline=with_outline)
    ]
    text = "\n\n".join([head, f"\n\n{SEPARATOR}\n\n".join(parts)])
    return codecs.BOM_UTF8 + f"{text.rstrip()}\n".encode(errors="replace")


def to_markdown(book: Book, *, with_outline: bool = False) -> bytes:
    """UTF-8; the title is the only heading of level 1, each part one of level 2 (3 below a volume). The
    headings in a text go down with it."""
    parts = parts_in_order(book, with_outline=with_outline)
    has_volumes = any(part.kind == "part" for part in parts)
    pieces = [_heading(1, book.title), *_author(book)]
    for part in parts:
        level = 3 if has_volumes and part.kind != "part" else 2
        pieces += [
            _heading(level, part.title),
            _lowered(part.text, level - 1).strip("\n"),
        ]
    text = "\n\n".join(piece for piece in pieces if piece)
    return f"{text.rstrip()}\n".encode(errors="replace")


def _line(text: str) -> str:
    return " ".join(text.split())


def _heading(level: int, title: str) -> str:
    return f"{'#' * level} {escape(_line(title))}" if title.strip() else ""


def byline(author: str, language: Language) -> str:
    """The line that names the author, as a reader of documents finds it again."""
    return _BY[language].format(author=_line(author))


def _author(book: Book) -> list[str]:
    return [byline(book.author, book.language)] if book.author else []


def _lowered(text: str, by: int) -> str:
    return "\n".join(
        f"{'#' * min(6, block.level + by)} {escape(block.text)}" if block.level else block.text
        for block in markdown_blocks(text)
    )
