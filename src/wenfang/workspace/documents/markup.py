"""Formatted text to Markdown: what stands in bold or italics elsewhere keeps it here, and what only looks
like a mark is escaped. `rich.py` reads the same dialect back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

SCENE_BREAK: Final = "***"
_SCENE_BREAK = re.compile(r"\s*(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})")
# Characters that begin a mark wherever they stand, and those that only do at the beginning of a line.
_ANYWHERE = re.compile(
    r"([*`]|(?<![^\W_])_|_(?![^\W_])|\\(?=[!-/:-@\[-`{-~]|[ \t]*(?:\n|$))|(?<=\])\()"
)
_AT_LINE_START = re.compile(
    r"^([ \t]*)(#(?=#{0,5}(?:[ \t]|$))|[-+](?=[ \t]|$)|>|~(?=~~)|[|:-](?=[|: -]*$)"
    r"|\d{1,9}(?=[.)](?:[ \t]|$)))",
    re.MULTILINE,
)
_WEB = re.compile(r"(?:https?://|mailto:)[^\s<>()\\]+", re.IGNORECASE)


_MAY_MARK = re.compile(r"[*`_\\\[]|^[ \t]*[#+>|~:\d-]", re.MULTILINE)


class Style(NamedTuple):
    """How a stretch of text looks."""

    bold: bool = False
    italic: bool = False
    link: str = ""


PLAIN: Final = Style()


@dataclass(slots=True)
class Inline:
    """The text of one paragraph while it is collected, piece by piece."""

    is_blank: bool = True
    _runs: list[tuple[list[str], Style]] = field(default_factory=list[tuple[list[str], Style]])

    def add(self, text: str, style: Style = PLAIN) -> None:
        if not text:
            return
        self.is_blank = self.is_blank and text.isspace()
        if self._runs and self._runs[-1][1] == style:
            self._runs[-1][0].append(text)
        else:
            self._runs.append(([text], style))

    def plain(self) -> str:
        """The text without any marks."""
        return "".join(piece for pieces, _ in self._runs for piece in pieces)

    def markdown(self) -> str:
        """The text with its marks; a scene break stays as it is."""
        if all(style == PLAIN for _, style in self._runs):
            plain = self.plain()
            return SCENE_BREAK if _SCENE_BREAK.fullmatch(plain) else escape(plain)
        return "".join(_marked("".join(pieces), style) for pieces, style in self._runs)


def escape(text: str) -> str:
    """`text` so that a reader of Markdown sees exactly these characters."""
    if not _MAY_MARK.search(text):
        return text
    text = _ANYWHERE.sub(r"\\\1", text)
    return _AT_LINE_START.sub(_set_off, text)


def _set_off(found: re.Match[str]) -> str:
    blank, mark = found.groups()
    # A number is no punctuation and cannot be escaped: its dot can, and stands right behind it.
    return f"{blank}{mark}\\" if mark.isdigit() else f"{blank}\\{mark}"


def _marked(text: str, style: Style) -> str:
    """One stretch with its marks set close around the words of each line, the blanks outside."""
    if "\n" in text:
        return "\n".join(_marked(line, style) for line in text.split("\n"))
    words = text.strip()
    if not words or style == PLAIN:
        return escape(text)
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    marks = "*" * (2 * style.bold + style.italic)
    written = f"{marks}{escape(words)}{marks}"
    return (
        f"{before}[{written}]({style.link}){after}" if style.link else f"{before}{written}{after}"
    )


def inner_heading(title: str, below: int) -> str:
    """A heading inside of a section, whose own is of level 1; `below` says how far below it stands."""
    return f"{'#' * min(6, max(2, below + 1))} {title}"


def fenced(text: str) -> str:
    """Code as a block of its own."""
    text = text.strip("\n")
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{fence}\n{text}\n{fence}"


def is_web(target: str) -> bool:
    """Whether a link leads to an address that is kept: others name files that were not imported."""
    return _WEB.fullmatch(target) is not None


def table(rows: list[list[str]]) -> list[str]:
    """A table as one block of Markdown; what has only one column is no table but a frame around text."""
    rows = [row for row in rows if any(row)]
    width = max(map(len, rows), default=0)
    if width < 2:
        return [cell for row in rows for cell in row if cell]
    written = [
        "| " + " | ".join(_cell(cell) for cell in [*row, *[""] * (width - len(row))]) + " |"
        for row in rows
    ]
    return ["\n".join([written[0], "|" + " --- |" * width, *written[1:]])]


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text.replace("\n", " "))
