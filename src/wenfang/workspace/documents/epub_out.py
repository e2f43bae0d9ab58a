"""A book as EPUB 3, with the contents list of EPUB 2 for older readers."""

from __future__ import annotations

import hashlib
import io
import uuid
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from wenfang.problems import Language

from .decoding import clean
from .ordering import parts_in_order
from .rich import has_marks, paragraphs, render
from .values import Book, Part
from .zips import EARLIEST, entry

_FOLDER = "EPUB"
_MODIFIED: Final = "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z".format(*EARLIEST)
_CONTENTS: Final[dict[Language, str]] = {"zh": "目录", "en": "Contents"}
_CONTAINER: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    f'<rootfile full-path="{_FOLDER}/package.opf" media-type="application/oebps-package+xml"/>'
    "</rootfiles></container>\n"
)
_STYLE: Final = """\
body { line-height: 1.7; margin: 0 5%; }
h1, h2 { text-align: center; margin: 2em 0 1.5em; }
p { margin: 0; }
:lang(zh) section > p { text-indent: 2em; }
:lang(en) section > p + p { text-indent: 1.5em; }
hr { border: 0; margin: 1.5em 0; text-align: center; }
hr::before { content: "* * *"; }
blockquote { margin: 1em 2em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border: 1px solid; padding: 0.2em 0.5em; }
.title, .author { text-align: center; text-indent: 0; }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chapter:
    """A page of the book; `level` is that of its heading, `label` stands for it in the contents list."""

    name: str
    title: str
    label: str
    body: str
    level: int


def to_epub(book: Book, *, with_outline: bool = False) -> bytes:
    """A title page, then each part as a page of its own with its heading; volumes hold their chapters in
    the contents list. The identifier is made of the text: the same book gives the same bytes."""
    parts = parts_in_order(book, with_outline=with_outline)
    chapters = list(_chapters(book, parts))
    identifier = f"urn:uuid:{_identity(book, parts)}"
    title = _line(book.title) or "-"
    pages = {
        "title.xhtml": _page(book, title, _title_page(book, title)),
        "nav.xhtml": _page(book, _CONTENTS[book.language], _nav(book, chapters)),
        **{each.name: _page(book, each.label, _chapter_page(each)) for each in chapters},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        package.writestr(entry("mimetype", is_stored=True), "application/epub+zip")
        package.writestr(entry("META-INF/container.xml"), _CONTAINER)
        package.writestr(entry(f"{_FOLDER}/package.opf"), _opf(book, title, identifier, chapters))
        package.writestr(entry(f"{_FOLDER}/toc.ncx"), _ncx(title, identifier, chapters))
        package.writestr(entry(f"{_FOLDER}/style.css"), _STYLE)
        for name, page in pages.items():
            package.writestr(entry(f"{_FOLDER}/{name}"), page)
    return buffer.getvalue()


def _chapters(book: Book, parts: Sequence[Part]) -> Iterable[_Chapter]:
    has_volumes = any(part.kind == "part" for part in parts)
    for number, part in enumerate(parts, 1):
        text = clean(part.text)
        if has_marks(text):
            body = render(text)
        else:
            body = "".join(f"<p>{escape(line)}</p>\n" for line in paragraphs(text))
        yield _Chapter(
            name=f"c{number:05}.xhtml",
            title=_line(part.title),
            label=_line(part.title) or _line(book.title) or "-",
            body=body,
            level=2 if has_volumes and part.kind != "part" else 1,
        )


def _identity(book: Book, parts: Sequence[Part]) -> uuid.UUID:
    pieces = [book.title, book.author or "", book.language]
    pieces += [piece for part in parts for piece in (part.kind, part.title, part.text)]
    digest = hashlib.sha256("\0".join(pieces).encode(errors="replace")).digest()
    return uuid.UUID(bytes=digest[:16], version=4)


def _page(book: Book, title: str, body: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" '
        f'lang="{book.language}" xml:lang="{book.language}">\n'
        f'<head><meta charset="UTF-8"/><title>{escape(title) or "-"}</title>'
        f'<link rel="stylesheet" type="text/css" href="style.css"/></head>\n<body>\n{body}</body>\n</html>\n'
    )


def _title_page(book: Book, title: str) -> str:
    author = f'<p class="author">{escape(_line(book.author))}</p>\n' if book.author else ""
    return f'<section epub:type="titlepage">\n<h1 class="title">{escape(title)}</h1>\n{author}</section>\n'


def _chapter_page(chapter: _Chapter) -> str:
    heading = (
        f"<h{chapter.level}>{escape(chapter.title)}</h{chapter.level}>\n" if chapter.title else ""
    )
    kind = "part" if chapter.level == 1 and not chapter.body else "chapter"
    return f'<section epub:type="{kind}">\n{heading}{chapter.body}</section>\n'


def _nav(book: Book, chapters: Sequence[_Chapter]) -> str:
    lines: list[str] = []
    for group in _groups(chapters):
        first, *below = (f'<a href="{each.name}">{escape(each.label)}</a>' for each in group)
        inner = "<ol>" + "".join(f"<li>{line}</li>" for line in below) + "</ol>" if below else ""
        lines.append(f"<li>{first}{inner}</li>\n")
    if not lines:
        lines.append(f'<li><a href="title.xhtml">{escape(_line(book.title)) or "-"}</a></li>\n')
    return (
        f'<nav epub:type="toc" id="toc">\n<h1>{_CONTENTS[book.language]}</h1>\n<ol>\n'
        f"{''.join(lines)}</ol>\n</nav>\n"
    )


def _groups(chapters: Sequence[_Chapter]) -> list[list[_Chapter]]:
    """Each volume with its chapters; what stands before the first volume stands for itself."""
    groups: list[list[_Chapter]] = []
    for chapter in chapters:
        if chapter.level == 1 or not groups or groups[-1][0].level != 1:
            groups.append([chapter])
        else:
            groups[-1].append(chapter)
    return groups


def _opf(book: Book, title: str, identifier: str, chapters: Sequence[_Chapter]) -> str:
    creator = f"<dc:creator>{escape(_line(book.author))}</dc:creator>" if book.author else ""
    items = "".join(
        f'<item id="c{number}" href="{chapter.name}" media-type="application/xhtml+xml"/>\n'
        for number, chapter in enumerate(chapters, 1)
    )
    spine = "".join(f'<itemref idref="c{number}"/>\n' for number in range(1, len(chapters) + 1))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" '
        f'xml:lang="{book.language}">\n'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<dc:identifier id="id">{identifier}</dc:identifier><dc:title>{escape(title)}</dc:title>'
        f"<dc:language>{book.language}</dc:language>{creator}"
        f'<meta property="dcterms:modified">{_MODIFIED}</meta></metadata>\n<manifest>\n'
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>\n'
        '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>\n'
        '<item id="css" href="style.css" media-type="text/css"/>\n'
        '<item id="title" href="title.xhtml" media-type="application/xhtml+xml"/>\n'
        f'{items}</manifest>\n<spine toc="ncx">\n<itemref idref="title"/>\n{spine}</spine>\n</package>\n'
    )


def _ncx(title: str, identifier: str, chapters: Sequence[_Chapter]) -> str:
    points: list[str] = []
    order = 0
    for group in _groups(chapters):
        opened: list[str] = []
        for chapter in group:
            order += 1
            opened.append(
                f'<navPoint id="p{order}" playOrder="{order}"><navLabel><text>{escape(chapter.label)}'
                f"</text></navLabel><content src={quoteattr(chapter.name)}/>"
            )
        first, *below = opened
        points.append(first + "".join(f"{point}</navPoint>" for point in below) + "</navPoint>\n")
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1">\n'
        f'<head><meta name="dtb:uid" content={quoteattr(identifier)}/></head>\n'
        f"<docTitle><text>{escape(title)}</text></docTitle>\n<navMap>\n{''.join(points)}</navMap>\n</ncx>\n"
    )


def _line(text: str) -> str:
    return " ".join(clean(text).split())
