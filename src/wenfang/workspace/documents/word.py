"""docx to blocks. The parts are read as streams of elements; macros, links and objects are never opened."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from wenfang.problems import Problem

from .blocks import Block
from .dividing import make_document
from .elements import read_xml
from .limits import Budget
from .markup import PLAIN, Inline, Style, escape, fenced, is_web, table
from .numbering import Numbering, number_of
from .opc import read_relations
from .packages import Package
from .styles import Styles
from .values import Document, DocumentWarning, left_out, warning

# What is deleted, moved away, a field's formula, or a second version for older programs.
_HIDDEN: Final = frozenset({"del", "moveFrom", "Fallback", "instrText", "delText", "delInstrText"})
_CHARACTERS: Final = {
    "tab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "\u2011",
    "softHyphen": "",
    "ptab": "\t",
}
_NOTES: Final = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_LIST_LABEL = re.compile(r"\d{1,9}[.)]")
_OFF: Final = frozenset({"0", "false", "off", "none"})


@dataclass(slots=True)
class _Paragraph:
    inline: Inline = field(default_factory=Inline)
    style_id: str = ""
    outline: int | None = None
    num: str | None = None
    level: int | None = None
    notes: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@dataclass(slots=True)
class Body:
    """Reads the elements of a part with paragraphs: the document itself, or its notes."""

    styles: Styles
    numbering: Numbering
    links: Mapping[str, str]
    blocks: list[Block] = field(default_factory=list[Block])
    notes: dict[str, list[Block]] = field(default_factory=dict[str, list[Block]])
    pending: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    images: int = 0
    objects: int = 0
    dropped_links: int = 0
    _paragraphs: list[_Paragraph] = field(default_factory=list[_Paragraph])
    _tables: list[list[list[list[str]]]] = field(default_factory=list[list[list[list[str]]]])
    _run: Style = PLAIN
    _link: str = ""
    _hidden: int = 0
    _in_text: bool = False
    _in_run_properties: bool = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._hidden or name in _HIDDEN:
            self._hidden += 1
        elif name == "t":
            self._in_text = True
        elif name == "p":
            self._paragraphs.append(_Paragraph())
        elif self._in_run_properties:
            self._run_property(name, attributes.get("val", ""))
        elif name == "rPr":
            self._in_run_properties = True
        elif name == "r":
            self._run = Style(link=self._link)
        elif name in ("tbl", "tr", "tc"):
            self._table(name)
        elif self._paragraphs:
            self._in_paragraph(self._paragraphs[-1], name, attributes)
        if name in ("footnote", "endnote") and not self._hidden:
            self.blocks = self.notes.setdefault(attributes.get("id", ""), [])

    def end(self, name: str) -> None:
        if self._hidden:
            self._hidden -= 1
        elif name == "t":
            self._in_text = False
        elif name == "rPr":
            self._in_run_properties = False
        elif name == "hyperlink":
            self._link = ""
        elif name == "p" and self._paragraphs:
            self._finish(self._paragraphs.pop())
        elif name == "tbl" and self._tables:
            rows = [[" ".join(cell) for cell in row] for row in self._tables.pop()]
            for text in table(rows):
                self._place(text)

    def data(self, text: str) -> None:
        if self._in_text and not self._hidden and self._paragraphs:
            self._paragraphs[-1].inline.add(text, self._run)

    def _run_property(self, name: str, value: str) -> None:
        is_on = value not in _OFF
        if name == "b":
            self._run = self._run._replace(bold=is_on)
        elif name == "i":
            self._run = self._run._replace(italic=is_on)
        elif name == "rStyle":
            style = self.styles.get(value)
            self._run = self._run._replace(bold=style.bold, italic=style.italic)

    def _in_paragraph(
        self, paragraph: _Paragraph, name: str, attributes: Mapping[str, str]
    ) -> None:
        value = attributes.get("val", "")
        if name == "pStyle":
            paragraph.style_id = value
        elif name == "outlineLvl":
            paragraph.outline = number_of(value)
        elif name == "numId":
            paragraph.num = value
        elif name == "ilvl":
            paragraph.level = number_of(value)
        elif name == "hyperlink":
            target = self.links.get(attributes.get("id", ""), "")
            self._link = target if is_web(target) else ""
            self.dropped_links += bool(target) and not self._link
        elif name in ("blip", "imagedata"):
            self.images += 1
        elif name == "object":
            self.objects += 1
        else:
            self._character(paragraph, name, attributes)

    def _character(self, paragraph: _Paragraph, name: str, attributes: Mapping[str, str]) -> None:
        """What stands for text without being any."""
        if name in _CHARACTERS:
            is_page = name == "br" and attributes.get("type") in ("page", "column")
            is_stop = name == "tab" and "val" in attributes  # a stop of the ruler, not a character
            if not is_page and not is_stop:
                paragraph.inline.add(_CHARACTERS[name], self._run)
        elif name == "sym":
            paragraph.inline.add(_symbol(attributes.get("char", "")), self._run)
        elif name == "docPr":
            paragraph.inline.add(attributes.get("descr", ""))
        elif name in _NOTES and attributes.get("id"):
            paragraph.notes.append((_NOTES[name], attributes["id"]))
            paragraph.inline.add(f"[^{attributes['id']}]")

    def _table(self, name: str) -> None:
        if name == "tbl":
            self._tables.append([])
        elif self._tables and name == "tr":
            self._tables[-1].append([])
        elif self._tables and self._tables[-1] and name == "tc":
            self._tables[-1][-1].append([])

    def _finish(self, paragraph: _Paragraph) -> None:
        style = self.styles.get(paragraph.style_id)
        if paragraph.inline.is_blank:
            return
        num = style.num if paragraph.num is None else paragraph.num
        level = paragraph.level if paragraph.level is not None else style.num_level
        label = self.numbering.label(num, level) if num and num != "0" else ""
        outline = style.outline if paragraph.outline is None else paragraph.outline
        for kind, identity in paragraph.notes:
            self.pending.append((len(self.blocks), kind, identity))
        if style.role and not self._tables:
            text = " ".join(paragraph.inline.plain().split())
            self.blocks.append(Block(text=text, role=style.role))
        elif outline is not None and outline < 9 and not self._tables:
            text = " ".join(f"{label} {paragraph.inline.plain()}".split())
            self.blocks.append(Block(text=text, level=outline + 1))
        elif style.is_code:
            self._place(fenced(paragraph.inline.plain()))
        else:
            self._place(
                _labelled(paragraph.inline.markdown().strip("\n "), label, level, style.is_quote)
            )

    def _place(self, text: str) -> None:
        if self._tables and self._tables[-1] and self._tables[-1][-1]:
            self._tables[-1][-1][-1].append(text)
        else:
            self.blocks.append(Block(text=text))


def read_word(package: Package, main: str, *, has_macros: bool, budget: Budget) -> Document:
    """The document in a docx package whose main part is `main`. Raises `Problem`."""
    relations = read_relations(package, main, budget)
    styles, numbering = Styles(), Numbering()
    for reader, kind in ((styles, "styles"), (numbering, "numbering")):
        if part := _part(package, relations, kind):
            read_xml(package.read(part), reader, part, budget)
    links = {
        identity: target for identity, (kind, target) in relations.items() if kind == "hyperlink"
    }
    body = Body(styles, numbering, links)
    read_xml(package.read(main), body, main, budget)
    notes: dict[str, dict[str, list[Block]]] = {}
    for kind in {kind for _, kind, _ in body.pending}:
        if part := _part(package, relations, kind):
            reader = Body(styles, numbering, {})
            read_xml(package.read(part), reader, part, budget)
            notes[kind] = reader.notes
    blocks = _with_notes(body, notes)
    budget.take_chars(sum(len(block.text) for block in blocks))
    if not blocks:
        raise Problem("document_empty", name=budget.name)
    return make_document(blocks, name=budget.name, warnings=_warnings(body, has_macros))


def _part(package: Package, relations: Mapping[str, tuple[str, str]], kind: str) -> str | None:
    return next((path for of, path in relations.values() if of == kind and path in package), None)


def _with_notes(body: Body, notes: Mapping[str, Mapping[str, list[Block]]]) -> list[Block]:
    """Each note behind the paragraph that refers to it, so that it stays in its chapter."""
    blocks: list[Block] = []
    after: dict[int, list[Block]] = {}
    for at, kind, identity in body.pending:
        text = "\n".join(block.text for block in notes.get(kind, {}).get(identity, []))
        after.setdefault(at, []).append(Block(text=f"[^{identity}]: {text}"))
    for at, block in enumerate(body.blocks):
        blocks += [block, *after.get(at, [])]
    return blocks


def _labelled(text: str, label: str, level: int, is_quote: bool) -> str:
    if is_quote:
        text = "\n".join(f"> {line}" for line in text.split("\n"))
    if not label:
        return text
    indent = "   " * level if label == "-" or _LIST_LABEL.fullmatch(label) else ""
    label = label if label == "-" or _LIST_LABEL.fullmatch(label) else escape(label)
    return f"{indent}{label} {text}"


def _symbol(code: str) -> str:
    """A character of a symbol font; those of Wingdings and its like have no meaning outside of it."""
    try:
        char = chr(int(code, 16))
    except (ValueError, OverflowError):
        return ""
    return char if char.isprintable() else ""


def _warnings(body: Body, has_macros: bool) -> list[DocumentWarning]:
    dropped = left_out(
        images_dropped=body.images,
        objects_dropped=body.objects,
        links_dropped=body.dropped_links,
    )
    return [warning("macros_dropped"), *dropped] if has_macros else dropped
