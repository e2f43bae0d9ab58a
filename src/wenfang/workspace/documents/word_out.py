"""A book as docx: Word's own heading, list and quotation styles, set for Chinese and English.

python-docx makes the package, its styles and its numbering; the paragraphs are written as WordprocessingML
into the place of one that it holds for them, because an object for each takes minutes for a long novel.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape as escape_xml
from xml.sax.saxutils import quoteattr

from wenfang.problems import Language

from .decoding import clean
from .ordering import parts_in_order
from .rich import has_marks, paragraphs, parse
from .values import Book, Part
from .zips import EARLIEST, entry

if TYPE_CHECKING:
    from markdown_it.token import Token

SCENE_BREAK_TEXT: Final = "* * *"
_BODY, _LIST, _QUOTE, _CODE, _SCENE = "BodyText", "ListParagraph", "Quote", "Code", "SceneBreak"
_CELL = "TableCell"
_NEW_STYLES: Final = (
    ("Author", "Author", '<w:pPr><w:jc w:val="center"/></w:pPr>'),
    (
        _SCENE,
        "Scene Break",
        '<w:pPr><w:spacing w:before="240" w:after="240"/><w:jc w:val="center"/></w:pPr>',
    ),
    (
        _CODE,
        "Code",
        '<w:rPr><w:rFonts w:ascii="Courier New" w:hAnsi="Courier New"/><w:sz w:val="20"/></w:rPr>',
    ),
    (_CELL, "Table Cell", '<w:pPr><w:spacing w:after="0"/></w:pPr>'),
)
_LATIN_FONT = "Times New Roman"
_BODY_FONT, _HEADING_FONT = "宋体", "黑体"
_W: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_NS: Final = (
    f'xmlns:w="{_W}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
_MAIN = "word/document.xml"
_PLACE = "the paragraphs of the book"
_HOLDS_PLACE: Final = re.compile(
    rb"<w:p>(?:(?!</w:p>).)*" + _PLACE.encode() + rb".*?</w:p>", re.DOTALL
)
_HYPERLINK: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"
_BULLETS, _FIRST_NUMBERS = 100, 101
_LIST_LEVELS = 9
_LANGUAGES: Final[dict[Language, str]] = {"zh": "zh-CN", "en": "en-US"}


def to_docx(book: Book, *, with_outline: bool = False) -> bytes:
    """Title and author, then each part under a heading: level 1, or 2 below a volume. The same book gives
    the same bytes."""
    docx: Any = import_module("docx")
    document = docx.Document()
    _set_styles(document, book.language)
    parts = parts_in_order(book, with_outline=with_outline)
    has_volumes = any(part.kind == "part" for part in parts)
    writer = _Writer(document)
    writer.head(book)
    for part in parts:
        writer.part(part, 2 if has_volumes and part.kind != "part" else 1)
    _set_properties(document, book)
    document.add_paragraph(_PLACE)
    buffer = io.BytesIO()
    document.save(buffer)
    return _finished(buffer.getvalue(), "".join(writer.xml).encode())


@dataclass(slots=True)
class _Writer:
    """Writes into `document`. `xml` are the paragraphs; the rest says where in the Markdown of a part
    we are."""

    document: Any
    xml: list[str] = field(default_factory=list[str])
    below: int = 1
    lists: list[int] = field(default_factory=list[int])
    quotes: int = 0
    heading: int = 0
    starts_item: bool = False
    rows: list[list[str]] | None = None
    _numberings: int = _FIRST_NUMBERS
    _links: dict[str, str] = field(default_factory=dict[str, str])

    def head(self, book: Book) -> None:
        self.paragraph("Title", _run(_line(book.title)))
        if book.author:
            self.paragraph("Author", _run(_line(book.author)))

    def part(self, part: Part, level: int) -> None:
        self.below = level
        if title := _line(part.title):
            self.paragraph(f"Heading{level}", _run(title))
        text = clean(part.text)
        if has_marks(text):
            for token in parse(text):
                if handle := _HANDLERS.get(token.type):
                    handle(self, token)
        else:
            for line in paragraphs(text):
                self.paragraph(_BODY, _run(line))

    def paragraph(self, style: str, runs: str, properties: str = "") -> None:
        self.xml.append(f'<w:p><w:pPr><w:pStyle w:val="{style}"/>{properties}</w:pPr>{runs}</w:p>')

    def inline(self, token: Token) -> None:
        runs = self.runs(token)
        if self.rows is not None:
            self.rows[-1].append(runs)
        elif self.heading:
            self.paragraph(f"Heading{self.heading}", runs)
        elif self.lists:
            self.paragraph(_LIST, runs, self._item_properties())
        else:
            self.paragraph(_QUOTE if self.quotes else _BODY, runs)
        self.starts_item = False

    def runs(self, token: Token) -> str:
        """The text of an inline token; images leave their description."""
        bold = italic = 0
        written: list[str] = []
        for child in token.children or ():
            if child.type in ("strong_open", "strong_close"):
                bold += child.nesting
            elif child.type in ("em_open", "em_close"):
                italic += child.nesting
            elif child.type == "link_open":
                identity = self._link(str(child.attrs.get("href", "")))
                written.append(f"<w:hyperlink r:id={quoteattr(identity)}>")
            elif child.type == "link_close":
                written.append("</w:hyperlink>")
            elif child.type in ("hardbreak", "softbreak"):
                written.append("<w:r><w:br/></w:r>")
            else:
                written.append(_run(child.content, bold=bold > 0, italic=italic > 0))
        return "".join(written)

    def numbering(self, first: int | None) -> int:
        """The number of a list: bullets share one, each numbered list begins anew."""
        if first is None:
            return _BULLETS
        self._numberings += 1
        starts = "".join(
            f'<w:lvlOverride w:ilvl="{level}"><w:startOverride w:val="{first if level == len(self.lists) else 1}"/></w:lvlOverride>'
            for level in range(_LIST_LEVELS)
        )
        self._numbering_part().append(
            _parsed(
                f'<w:num {_NS} w:numId="{self._numberings}"><w:abstractNumId w:val="{_FIRST_NUMBERS}"/>{starts}</w:num>'
            )
        )
        return self._numberings

    def _item_properties(self) -> str:
        level = min(len(self.lists), _LIST_LEVELS) - 1
        if not self.starts_item:
            return f'<w:ind w:left="{420 * (level + 1)}"/>'
        return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{self.lists[-1]}"/></w:numPr>'

    def _link(self, target: str) -> str:
        if target not in self._links:
            self._links[target] = self.document.part.relate_to(target, _HYPERLINK, is_external=True)
        return self._links[target]

    def _numbering_part(self) -> Any:
        return self.document.part.numbering_part.element


def _open_list(writer: _Writer, token: Token) -> None:
    first = int(token.attrs.get("start", 1)) if token.type == "ordered_list_open" else None
    writer.lists.append(writer.numbering(first))


def _close_list(writer: _Writer, _: Token) -> None:
    writer.lists.pop()


def _open_item(writer: _Writer, _: Token) -> None:
    writer.starts_item = True


def _quote(writer: _Writer, token: Token) -> None:
    writer.quotes += token.nesting


def _open_heading(writer: _Writer, token: Token) -> None:
    writer.heading = min(9, max(2, int(token.tag[1:])) + writer.below - 1)


def _close_heading(writer: _Writer, _: Token) -> None:
    writer.heading = 0


def _scene_break(writer: _Writer, _: Token) -> None:
    writer.paragraph(_SCENE, _run(SCENE_BREAK_TEXT))


def _code(writer: _Writer, token: Token) -> None:
    writer.paragraph(_CODE, _run(token.content.rstrip("\n")))


def _open_table(writer: _Writer, _: Token) -> None:
    writer.rows = []


def _open_row(writer: _Writer, _: Token) -> None:
    if writer.rows is not None:
        writer.rows.append([])


def _close_table(writer: _Writer, _: Token) -> None:
    rows, writer.rows = writer.rows or [], None
    cells = [
        "".join(
            f'<w:tc><w:tcPr/><w:p><w:pPr><w:pStyle w:val="{_CELL}"/></w:pPr>{runs}</w:p></w:tc>'
            for runs in row
        )
        for row in rows
    ]
    grid = "<w:gridCol/>" * max(map(len, rows), default=1)
    body = "".join(f"<w:tr>{row}</w:tr>" for row in cells)
    writer.xml.append(
        f'<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="0" w:type="auto"/></w:tblPr>'
        f"<w:tblGrid>{grid}</w:tblGrid>{body}</w:tbl>"
    )


_HANDLERS: Final[dict[str, Callable[[_Writer, Token], None]]] = {
    "inline": _Writer.inline,
    "bullet_list_open": _open_list,
    "bullet_list_close": _close_list,
    "ordered_list_open": _open_list,
    "ordered_list_close": _close_list,
    "list_item_open": _open_item,
    "blockquote_open": _quote,
    "blockquote_close": _quote,
    "heading_open": _open_heading,
    "heading_close": _close_heading,
    "hr": _scene_break,
    "fence": _code,
    "table_open": _open_table,
    "tr_open": _open_row,
    "table_close": _close_table,
}


def _run(text: str, *, bold: bool = False, italic: bool = False) -> str:
    if not text:
        return ""
    properties = "<w:b/>" * bold + "<w:i/>" * italic
    lines = "<w:br/>".join(_text(line) for line in text.split("\n"))
    return f"<w:r>{f'<w:rPr>{properties}</w:rPr>' if properties else ''}{lines}</w:r>"


def _text(line: str) -> str:
    pieces = (escape_xml(piece) for piece in line.split("\t"))
    return "<w:tab/>".join(
        f'<w:t xml:space="preserve">{piece}</w:t>' if piece else "" for piece in pieces
    )


def _line(text: str) -> str:
    return " ".join(clean(text).split())


def _parsed(xml: str) -> Any:
    return import_module("docx.oxml").parse_xml(xml)


def _set_styles(document: Any, language: Language) -> None:
    """Fonts for both scripts, black headings, a new page for each chapter, and the styles that the
    template lacks."""
    styles = document.styles
    _set_font(styles["Normal"], _BODY_FONT, size=12)
    for name in ("Title", *(f"Heading {level}" for level in range(1, 10))):
        _set_font(styles[name], _HEADING_FONT)
    styles["Heading 1"].paragraph_format.page_break_before = True
    styles["Body Text"].paragraph_format.line_spacing = 1.5
    if language == "zh":
        styles["Body Text"].element.get_or_add_pPr().append(
            _parsed(f'<w:ind {_NS} w:firstLineChars="200" w:firstLine="480"/>')
        )
    defaults = styles.element.find(".//{*}docDefaults//{*}lang")
    for attribute, value in (("val", "en-US"), ("eastAsia", "zh-CN")):
        defaults.set(f"{{{_W}}}{attribute}", value)
    for identity, name, properties in _NEW_STYLES:
        styles.element.append(
            _parsed(
                f'<w:style {_NS} w:type="paragraph" w:customStyle="1" w:styleId="{identity}">'
                f'<w:name w:val="{name}"/><w:basedOn w:val="Normal"/><w:qFormat/>{properties}</w:style>'
            )
        )
    numbering = document.part.numbering_part.element
    for number, form, text in ((_FIRST_NUMBERS, "decimal", "%{}."), (_BULLETS, "bullet", "•")):
        numbering.insert(0, _parsed(_abstract_numbering(number, form, text)))
    numbering.append(
        _parsed(f'<w:num {_NS} w:numId="{_BULLETS}"><w:abstractNumId w:val="{_BULLETS}"/></w:num>')
    )


def _abstract_numbering(number: int, form: str, text: str) -> str:
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{text.format(level + 1)}"/><w:lvlJc w:val="left"/>'
        f'<w:pPr><w:ind w:left="{420 * (level + 1)}" w:hanging="420"/></w:pPr></w:lvl>'
        for level in range(_LIST_LEVELS)
    )
    return (
        f'<w:abstractNum {_NS} w:abstractNumId="{number}"><w:multiLevelType w:val="multilevel"/>'
        f"{levels}</w:abstractNum>"
    )


def _set_font(style: Any, east_asian: str, size: int | None = None) -> None:
    """Theme fonts would win over what is named here, so they go."""
    style.font.name = _LATIN_FONT
    fonts = style.element.rPr.rFonts
    for attribute in list(fonts.attrib):
        if attribute.endswith("Theme"):
            del fonts.attrib[attribute]
    fonts.set(f"{{{_W}}}eastAsia", east_asian)
    if size is not None:
        style.font.size = import_module("docx.shared").Pt(size)
    else:
        style.font.color.rgb = import_module("docx.shared").RGBColor(0, 0, 0)


def _set_properties(document: Any, book: Book) -> None:
    properties = document.core_properties
    properties.title = _line(book.title)[:255]
    properties.author = _line(book.author or "")[:255]
    properties.language = _LANGUAGES[book.language]
    properties.comments = ""
    properties.created = properties.modified = datetime.datetime(*EARLIEST, tzinfo=datetime.UTC)


def _finished(data: bytes, paragraphs_xml: bytes) -> bytes:
    """The package with the paragraphs in their place, and without the date of its making."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(buffer, "w") as target:
        for name in source.namelist():
            part = source.read(name)
            if name == _MAIN:
                part = _HOLDS_PLACE.sub(lambda _: paragraphs_xml, part, count=1)
            target.writestr(entry(name), part)
    return buffer.getvalue()
