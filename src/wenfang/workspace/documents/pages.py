"""HTML and XHTML to blocks: headings, paragraphs, lists, quotations and tables as Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .blocks import Block
from .markup import PLAIN, SCENE_BREAK, Inline, Style, fenced, is_web, table

_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_PARAGRAPHS: Final = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "option",
        "title",
    ]
)
_HIDDEN: Final = frozenset(
    ["script", "style", "template", "head", "noscript", "iframe", "object", "embed", "svg", "rp"]
)
_BOLD: Final = frozenset({"b", "strong"})
_ITALIC: Final = frozenset({"i", "em", "cite", "dfn", "var"})
_IMAGES: Final = frozenset({"img", "image"})
_BLANKS = re.compile("[ \t\n\r\f]+")


@dataclass(slots=True)
class Page:
    """Reads the elements of one page; `blocks` is what stands in it, with the place of each anchor."""

    blocks: list[Block] = field(default_factory=list[Block])
    anchors: dict[str, int] = field(default_factory=dict[str, int])
    title_pieces: list[str] = field(default_factory=list[str])
    images: int = 0
    links: int = 0
    _inline: Inline = field(default_factory=Inline)
    _styles: list[tuple[str, Style]] = field(default_factory=list[tuple[str, Style]])
    _lists: list[int | None] = field(default_factory=list[int | None])
    _rows: list[list[list[str]]] | None = None
    _hidden: int = 0
    _quotes: int = 0
    _marker: str = ""
    _heading: int = 0
    _pre: int = 0
    _in_title: bool = False
    _in_cell: bool = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        name = name.lower()
        if identity := attributes.get("id") or (attributes.get("name") if name == "a" else None):
            self._flush_for_anchor()
            self.anchors.setdefault(identity, len(self.blocks))
        if name == "title" and not self.title_pieces:
            self._in_title = True
        if name in _HIDDEN:
            self._hidden += 1
        elif name in _HEADINGS or name in _PARAGRAPHS:
            self._flush()
            self._open(name, attributes)
        else:
            self._start_inline(name, attributes)

    def end(self, name: str) -> None:
        name = name.lower()
        if name == "title":
            self._in_title = False
        if name in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif name in _HEADINGS or name in _PARAGRAPHS:
            self._flush()
            self._close(name)
        elif self._styles and self._styles[-1][0] == name:
            self._styles.pop()

    def data(self, text: str) -> None:
        if self._in_title:
            self.title_pieces.append(text)
        elif not self._hidden:
            self._inline.add(text if self._pre else _BLANKS.sub(" ", text), self._style)

    def finish(self) -> Page:
        """After the last element."""
        self._flush()
        return self

    @property
    def title(self) -> str:
        """What the page calls itself, "" if it does not."""
        return " ".join("".join(self.title_pieces).split())

    @property
    def _style(self) -> Style:
        return self._styles[-1][1] if self._styles else PLAIN

    def _start_inline(self, name: str, attributes: Mapping[str, str]) -> None:
        style = self._style
        if name == "br":
            self._inline.add("\n", style)
        elif name in _IMAGES:
            self.images += 1
            self._inline.add(attributes.get("alt", ""), style)
        elif name in _BOLD:
            self._styles.append((name, style._replace(bold=True)))
        elif name in _ITALIC:
            self._styles.append((name, style._replace(italic=True)))
        elif name == "a" and (target := attributes.get("href", "")):
            is_kept = is_web(target)
            self.links += not is_kept and not target.startswith("#") and ":" in target
            self._styles.append((name, style._replace(link=target if is_kept else style.link)))

    def _open(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in _HEADINGS:
            self._heading = _HEADINGS[name]
        elif name == "blockquote":
            self._quotes += 1
        elif name == "pre":
            self._pre += 1
        elif name in ("ol", "ul"):
            start = attributes.get("start", "1")
            first = int(start) if start.isdecimal() and len(start) < 9 else 1
            self._lists.append(first if name == "ol" else None)
        elif name == "li":
            self._marker = self._next_marker()
        elif name == "hr":
            self.blocks.append(Block(text=SCENE_BREAK))
        elif name == "table" and self._rows is None:
            self._rows = []
        elif name == "tr" and self._rows is not None:
            self._rows.append([])
        elif name in ("td", "th") and self._rows is not None:
            if not self._rows:
                self._rows.append([])
            self._rows[-1].append([])
            self._in_cell = True

    def _close(self, name: str) -> None:
        if name in _HEADINGS:
            self._heading = 0
        elif name == "blockquote":
            self._quotes = max(0, self._quotes - 1)
        elif name == "pre":
            self._pre = max(0, self._pre - 1)
        elif name in ("ol", "ul") and self._lists:
            self._lists.pop()
        elif name == "li":
            self._marker = ""
        elif name in ("td", "th"):
            self._in_cell = False
        elif name == "table" and self._rows is not None:
            rows, self._rows, self._in_cell = self._rows, None, False
            self.blocks += [
                Block(text=text)
                for text in table([[" ".join(cell) for cell in row] for row in rows])
            ]

    def _next_marker(self) -> str:
        if not self._lists:
            return "- "
        indent = "   " * (len(self._lists) - 1)
        number = self._lists[-1]
        if number is None:
            return f"{indent}- "
        self._lists[-1] = number + 1
        return f"{indent}{number}. "

    def _flush_for_anchor(self) -> None:
        """An anchor between two paragraphs belongs to the second."""
        if self._inline.is_blank:
            self._flush()

    def _flush(self) -> None:
        inline, self._inline = self._inline, Inline()
        if inline.is_blank:
            return
        if self._in_cell and self._rows:
            self._rows[-1][-1].append(inline.markdown().strip())
        elif self._pre:
            self.blocks.append(Block(text=fenced(inline.plain())))
        elif self._heading:
            self.blocks.append(Block(text=" ".join(inline.plain().split()), level=self._heading))
        else:
            lines = (line.strip(" \t") for line in inline.markdown().split("\n"))
            text = "\n".join(line for line in lines if line)
            marker, self._marker = self._marker, " " * len(self._marker)
            text = f"{marker}{text}" if marker else text
            self.blocks.append(
                Block(text="\n".join("> " * self._quotes + line for line in text.split("\n")))
            )
