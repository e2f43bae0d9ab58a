"""epub to blocks: the pages in their reading order, divided by the book's own table of contents."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from wenfang.problems import Problem

from .blocks import Block
from .dividing import make_document
from .elements import read_xhtml, read_xml
from .limits import Budget
from .markup import inner_heading
from .packages import Package
from .pages import Page
from .values import Document, DocumentWarning, left_out, warning

CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_PAGE_TYPES: Final = frozenset(
    {"application/xhtml+xml", "text/html", "application/xml", "text/xml"}
)
# Fonts are often scrambled, in books that anybody may read.
_FONT_ALGORITHMS: Final = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_CREATOR: Final = "creator"
_FEWEST_ENTRIES = 2  # a table with less says nothing about the chapters


@dataclass(slots=True)
class _Container:
    """container.xml and encryption.xml: where the book's own description is, and what is encrypted."""

    roots: list[str] = field(default_factory=list[str])
    is_encrypted: bool = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "rootfile" and (path := attributes.get("full-path")):
            self.roots.append(path)
        elif name == "EncryptionMethod" and attributes.get("Algorithm") not in _FONT_ALGORITHMS:
            self.is_encrypted = True

    def end(self, name: str) -> None:
        """Nothing is gathered."""

    def data(self, text: str) -> None:
        """There is no text in these parts."""


@dataclass(slots=True)
class _Description:
    """The package document: names of the book, its files, their order."""

    names: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    files: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    spine: list[str] = field(default_factory=list[str])
    contents: str = ""
    _current: str = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in ("title", _CREATOR):
            self._current = name if name not in self.names else ""
        elif name == "item":
            self.files[attributes.get("id", "")] = dict(attributes)
        elif name == "itemref":
            self.spine.append(attributes.get("idref", ""))
        elif name == "spine":
            self.contents = attributes.get("toc", "")

    def end(self, name: str) -> None:
        if name in ("title", _CREATOR):
            self._current = ""

    def data(self, text: str) -> None:
        if self._current:
            self.names.setdefault(self._current, []).append(text)

    def name(self, name: str) -> str | None:
        return " ".join("".join(self.names.get(name, [])).split()) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A line of the table of contents; `level` counts from 1."""

    title: str
    target: str
    level: int


@dataclass(slots=True)
class _Contents:
    """nav.xhtml (lists of links) or toc.ncx (navPoints), whichever it is given."""

    entries: list[_Entry] = field(default_factory=list[_Entry])
    _depth: int = 0
    _navs: list[bool] = field(default_factory=list[bool])
    _text: list[str] = field(default_factory=list[str])
    _target: str = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "nav":
            self._navs.append(attributes.get("type", "toc") == "toc")
        elif name in ("ol", "navPoint"):
            self._depth += 1
            if name == "navPoint":
                self._text = []
        elif name == "a":
            self._text, self._target = [], attributes.get("href", "")
        elif name == "content" and self._depth:
            self._add(attributes.get("src", ""))

    def end(self, name: str) -> None:
        if name == "nav" and self._navs:
            self._navs.pop()
        elif name in ("ol", "navPoint"):
            self._depth -= 1
        elif name == "a" and self._depth and self._navs and all(self._navs):
            self._add(self._target)

    def data(self, text: str) -> None:
        self._text.append(text)

    def _add(self, target: str) -> None:
        title = " ".join("".join(self._text).split())
        if title and target:
            self.entries.append(_Entry(title=title, target=target, level=max(1, self._depth)))


@dataclass(slots=True)
class _Reading:
    """The pages that were read, and what went wrong with them."""

    package: Package
    budget: Budget
    images: int = 0
    missing: int = 0
    warnings: list[DocumentWarning] = field(default_factory=list[DocumentWarning])

    def page(self, path: str) -> Page | None:
        if path not in self.package:
            self.missing += 1
            return None
        data = self.package.read(path)
        page, is_repaired = read_xhtml(data, Page, path, self.budget)
        assert isinstance(page, Page)
        if is_repaired:
            self.warnings.append(warning("markup_repaired", part=path))
        page.finish()
        self.images += page.images
        self.budget.take_chars(sum(len(block.text) for block in page.blocks))
        return page


def read_epub(package: Package, budget: Budget) -> Document:
    """Raises `Problem`: `document_encrypted`, `document_damaged`, `document_empty`, and those of parts."""
    container = _Container()
    for part in (CONTAINER, _ENCRYPTION):
        if part in package:
            read_xml(package.read(part), container, part, budget)
    if container.is_encrypted:
        raise Problem("document_encrypted", name=budget.name)
    root = next((path for path in container.roots if path in package), None)
    if root is None:
        raise Problem("document_damaged", name=budget.name, part=CONTAINER)
    book = _Description()
    read_xml(package.read(root), book, root, budget, may_have_doctype=True)
    reading = _Reading(package, budget)
    folder = posixpath.dirname(root)
    blocks = list(_blocks(book, folder, reading))
    if not any(block.text for block in blocks):
        raise Problem("document_empty", name=budget.name)
    dropped = left_out(images_dropped=reading.images, parts_missing=reading.missing)
    return make_document(
        blocks,
        name=budget.name,
        title=book.name("title"),
        author=book.name(_CREATOR),
        warnings=[*dropped, *reading.warnings],
    )


def _blocks(book: _Description, folder: str, reading: _Reading) -> Iterator[Block]:
    contents, nav = _read_contents(book, folder, reading)
    known = {text for text in (book.name("title"), book.name(_CREATOR)) if text}
    for identity in book.spine:
        item = book.files.get(identity, {})
        path = _join(folder, item.get("href", ""))
        if path == nav or item.get("media-type", "application/xhtml+xml") not in _PAGE_TYPES:
            continue
        page = reading.page(path)
        if page is None:
            continue
        texts = {block.text for block in page.blocks}
        if texts <= known:  # the title page
            continue
        yield from _headed(page, contents.get(path, []), has_contents=bool(contents))


def _read_contents(
    book: _Description, folder: str, reading: _Reading
) -> tuple[dict[str, list[_Entry]], str]:
    """The entries of the table of contents for each page, and the page that is nothing but the table."""
    navs = [item for item in book.files.values() if "nav" in item.get("properties", "").split()]
    ncx = [book.files[book.contents]] if book.contents in book.files else []
    nav = _join(folder, navs[0].get("href", "")) if navs else ""
    for item in (*navs, *ncx):
        path = _join(folder, item.get("href", ""))
        if path not in reading.package:
            continue
        reader, _ = read_xhtml(reading.package.read(path), _Contents, path, reading.budget)
        assert isinstance(reader, _Contents)
        by_page: dict[str, list[_Entry]] = {}
        for entry in reader.entries:
            target, _, anchor = entry.target.partition("#")
            place = _join(posixpath.dirname(path), target)
            by_page.setdefault(place, []).append(
                _Entry(title=entry.title, target=anchor, level=entry.level)
            )
        if len(reader.entries) >= _FEWEST_ENTRIES:
            return by_page, nav
    return {}, nav


def _headed(page: Page, entries: list[_Entry], *, has_contents: bool) -> Iterator[Block]:
    """The page's blocks with a heading where the table of contents says so. Its other headings belong to
    the text then; in a book without a table they count as they are."""
    if not has_contents:
        yield from page.blocks
        return
    at: dict[int, list[_Entry]] = {}
    for entry in entries:
        at.setdefault(page.anchors.get(entry.target, 0), []).append(entry)
    above = 1
    for place, block in enumerate(page.blocks):
        title = block.text if block.level else None
        for entry in at.get(place, []):
            if title is not None and _same(title, entry.title):
                yield Block(text=max(title, entry.title, key=len), level=entry.level)
                title, above = None, block.level
            else:
                yield Block(text=entry.title, level=entry.level)
        if not block.level:
            yield block
        elif title is not None:
            yield Block(text=inner_heading(title, block.level - above))
    for entry in at.get(len(page.blocks), []):
        yield Block(text=entry.title, level=entry.level)


def _same(heading: str, title: str) -> bool:
    """Whether a heading says what the table says, or a little more or less."""
    one, two = (re.sub(r"\W+", "", text).casefold() for text in (heading, title))
    return bool(one and two) and (one in two or two in one)


def _join(folder: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(href)))
