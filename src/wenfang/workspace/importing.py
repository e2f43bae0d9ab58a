"""Documents of strangers become files of a project: a book a folder of chapters, an archive all of its documents."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from wenfang.problems import Problem

from .errors import WorkspaceError
from .files import Files
from .paths import parse_path, portable_name
from .values import Item

if TYPE_CHECKING:  # the readers are loaded when there is something to read
    from .documents import Document, DocumentWarning, ImportLimits

_SUFFIX: Final = ".md"
_LEAST_DIGITS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A file that was not imported, and why."""

    name: str
    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import has made: `files` in reading order. `refused` are files of an archive."""

    files: tuple[Item, ...]
    warnings: tuple[DocumentWarning, ...] = ()
    refused: tuple[Refused, ...] = ()


async def import_document(
    files: Files,
    name: str,
    data: bytes,
    *,
    folder: str = "",
    limits: ImportLimits | None = None,
) -> Imported:
    """Put a txt, md, html, docx or epub document, or all those of a zip, into `folder` of a project.

    A document with several sections becomes a folder with a Markdown file for each, any other document one
    file; both appear whole or not at all, and nothing that exists is touched. `name` is the file's name.
    Raises `Problem` for a document or an archive that cannot be read, `WorkspaceError` for one that cannot
    be stored; one document of an archive stops no other.
    """
    from .documents import DEFAULT_LIMITS, read_archive, read_document

    parse_path(folder)
    limits = limits or DEFAULT_LIMITS
    try:
        document = await asyncio.to_thread(read_document, name, data, limits)
    except Problem as problem:
        if problem.code != "document_is_archive":
            raise
    else:
        made = await _place(files, document, name, folder)
        return Imported(files=tuple(made), warnings=document.warnings)
    return await _import_all(files, name, read_archive(data, limits, name), folder)


async def _import_all(
    files: Files,
    name: str,
    documents: Iterator[tuple[str, Document | Problem]],
    folder: str,
) -> Imported:
    made: list[Item] = []
    warnings: list[DocumentWarning] = []
    refused: list[Refused] = []
    outcomes = _outcomes(name, documents)
    while (found := await asyncio.to_thread(next, outcomes, None)) is not None:
        member, outcome = found
        if isinstance(outcome, Problem):
            refused.append(Refused(name=member, problem=outcome))
            continue
        try:
            made += await _place(files, outcome, member, _joined(folder, *_folders(member)))
        except WorkspaceError as error:
            refused.append(Refused(name=member, problem=Problem(error.code, **error.params)))
        else:
            warnings += outcome.warnings
    if not made and not refused:
        raise Problem("document_empty", name=name)
    return Imported(files=tuple(made), warnings=tuple(warnings), refused=tuple(refused))


def _outcomes(
    name: str, documents: Iterator[tuple[str, Document | Problem]]
) -> Iterator[tuple[str, Document | Problem]]:
    """What passes a limit of the whole archive ends the reading, and is told of the archive: the documents
    before it are in the project already."""
    try:
        yield from documents
    except Problem as problem:
        yield name, problem


async def _place(files: Files, document: Document, name: str, folder: str) -> Sequence[Item]:
    from .documents import headed

    title = portable_name(document.title) or portable_name(_stem(name)) or "_"
    file = portable_name(f"{title}{_SUFFIX}")
    is_kept = title == document.title and file == f"{title}{_SUFFIX}"
    pages = _pages(document, name, is_title_kept=is_kept)
    if len(pages) == 1:
        return await files.add(_joined(folder, file), headed(*pages[0]))
    digits = max(_LEAST_DIGITS, len(str(len(pages))))
    named = {
        portable_name(f"{number:0{digits}} {heading}{_SUFFIX}"): headed(heading, text)
        for number, (heading, text) in enumerate(pages, 1)
    }
    return await files.add(_joined(folder, title), named)


def _pages(document: Document, name: str, *, is_title_kept: bool) -> list[tuple[str, str]]:
    """Heading and text of each file. What no section holds (the author, a title that no file can be named
    by) stands before the first, so that nothing of the document is lost."""
    from .documents import byline

    author = byline(document.author, document.language or "zh") if document.author else ""
    title = _line(document.title)
    pages = [(_line(each.title), each.text) for each in document.sections] or [("", "")]
    heading, text = pages[0]
    if heading in ("", title):  # the document's own page
        is_needed = heading or len(pages) > 1 or not is_title_kept or title != _stem(name)
        return [(title if is_needed else "", _joined_texts(author, text)), *pages[1:]]
    if len(pages) > 1:
        is_needed = author or not is_title_kept
        return [(title, author), *pages] if is_needed else pages
    return [(heading, _joined_texts("" if is_title_kept else title, author, text))]


def _joined_texts(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


def _line(title: str) -> str:
    return " ".join(title.splitlines())


def _stem(name: str) -> str:
    return PurePosixPath(name).stem or name


def _folders(member: str) -> Iterator[str]:
    return filter(None, map(portable_name, PurePosixPath(member).parts[:-1]))


def _joined(*parts: str) -> str:
    return "/".join(filter(None, parts))
