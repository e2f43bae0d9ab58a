"""Any file to a document: what it is, is decided by its content; the name is only a hint."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from wenfang.problems import Problem

from .decoding import Decoded, decode
from .dividing import make_document
from .elements import read_html
from .epub import CONTAINER, read_epub
from .limits import DEFAULT_LIMITS, Budget, ImportLimits
from .opc import TYPES, read_relations, read_types
from .packages import Package, open_package
from .pages import Page
from .plain import markdown_blocks, txt_blocks
from .sniffing import Format, declared_encoding, is_encrypted_ole, named_format, sniff
from .values import Document, DocumentWarning, left_out, warning
from .word import read_word

_MIME: Final = "mimetype"
_OFFICE: Final = (("xl/", "Excel"), ("ppt/", "PowerPoint"), ("visio/", "Visio"))


def read_document(name: str, data: bytes, limits: ImportLimits = DEFAULT_LIMITS) -> Document:
    """Read one txt, md, html, docx or epub file and divide it into chapters.

    `name` is the file's name (or path), shown in errors and used for want of a title. Raises `Problem`
    for what cannot or must not be read, with a code that begins with `document_`: empty, too large, of
    another type, encrypted, damaged, hostile. Nothing outside of `data` is looked at.
    """
    return read_within(name, data, Budget(name, limits))


def read_within(name: str, data: bytes, budget: Budget) -> Document:
    """`read_document` as a part of an import that has used some of its budget already."""
    budget.check_bytes(len(data))
    if not data:
        raise Problem("document_empty", name=name)
    found = sniff(data)
    if found == "zip":
        package = open_package(data, budget)
        return _read_package(package, budget)
    if found == "ole":
        code = "document_encrypted" if is_encrypted_ole(data) else "document_old_word"
        raise Problem(code, name=name)
    if found not in (None, "html"):
        raise Problem("document_unsupported", name=name, found=found)
    return _read_text(name, data, budget, is_html=found == "html")


def _read_package(package: Package, budget: Budget) -> Document:
    name = budget.name
    if CONTAINER in package:
        return _with_type(read_epub(package, budget), name, "epub")
    if _MIME in package and b"opendocument" in package.read(_MIME):
        raise Problem("document_unsupported", name=name, found="OpenDocument")
    main = _main_part(package, budget) if TYPES in package else None
    if main is None:
        raise Problem("document_is_archive", name=name)
    types = read_types(package, budget)
    form = types.of(main)
    office = next((found for folder, found in _OFFICE if main.startswith(folder)), None)
    if office or ("wordprocessingml" not in form and "ms-word" not in form):
        raise Problem("document_unsupported", name=name, found=office or form[:80])
    has_macros = any(part.lower().endswith("vbaproject.bin") for part in package.names)
    document = read_word(
        package, main, has_macros=has_macros or "macroenabled" in form.lower(), budget=budget
    )
    return _with_type(document, name, "docx")


def _main_part(package: Package, budget: Budget) -> str | None:
    relations = read_relations(package, "", budget).values()
    main = next((path for kind, path in relations if kind == "officeDocument"), None)
    if main is None or main not in package:
        raise Problem("document_damaged", name=budget.name, part=main or "_rels/.rels")
    return main


def _read_text(name: str, data: bytes, budget: Budget, *, is_html: bool) -> Document:
    named = named_format(name)
    is_html = is_html or named == "html"
    decoded = decode(data, budget, declared_encoding(data) if is_html else "")
    if is_html:
        return _with_type(_read_page(decoded, budget), name, "html")
    if named == "md":
        blocks = markdown_blocks(decoded.text)
        return make_document(blocks, name=name, joiner="\n", warnings=decoded.warnings)
    document = make_document(
        txt_blocks(decoded.text), name=name, joiner="\n", warnings=decoded.warnings
    )
    return _with_type(document, name, "txt")


def _read_page(decoded: Decoded, budget: Budget) -> Document:
    page = Page()
    read_html(decoded.text, page, budget)
    blocks = page.finish().blocks
    if not blocks:
        raise Problem("document_empty", name=budget.name)
    dropped = left_out(images_dropped=page.images, links_dropped=page.links)
    return make_document(
        blocks, name=budget.name, title=page.title or None, warnings=[*decoded.warnings, *dropped]
    )


def _with_type(document: Document, name: str, found: Format) -> Document:
    """With a warning if the name claims another type. A name that claims none is fine."""
    named = named_format(name)
    if named is None or named == found:
        return document
    differs: DocumentWarning = warning("type_differs", named=named, found=found)
    return replace(document, warnings=(differs, *document.warnings))
