"""A project, a folder of it or one file becomes a book in one file, or a zip of the files as they are."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from wenfang.problems import Problem

from .errors import WorkspaceError
from .files import Files
from .paths import parse_path, portable_name
from .values import Item

if TYPE_CHECKING:  # the writers are loaded when there is something to write
    from .documents import Book, Part

BookFormat: TypeAlias = Literal["txt", "md", "docx", "epub"]
ExportFormat: TypeAlias = Literal["txt", "md", "docx", "epub", "zip"]

MEDIA_TYPES: Final[dict[ExportFormat, str]] = {
    "txt": "text/plain; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "epub": "application/epub+zip",
    "zip": "application/zip",
}
_TEXTS: Final = frozenset({".md", ".txt"})
_NUMBER_PREFIX: Final = re.compile(r"^\d+[\s._、-]+(?=\D)")
_LANGUAGE_CHARS: Final = 20_000
_MOST_ENTRIES: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A file to hand out. `name` can be kept on every system; `pieces` of a zip are made while they are
    taken."""

    name: str
    media_type: str
    pieces: AsyncIterator[bytes]


async def export_project(
    files: Files,
    to: ExportFormat,
    *,
    title: str,
    path: str = "",
) -> Export:
    """All text files at or below `path` as one book in their reading order, or (zip) all files.

    The book has the name of the project, `title`, or of what `path` names. Raises Problem
    `nothing_to_export` and `export_too_large`, and `WorkspaceError`.
    """
    names = parse_path(path)
    found, base = await _found(files, "/".join(names))
    title = _title_of(PurePosixPath(names[-1])) if names else title
    if to == "zip":
        pieces = _zip(files, found, base)
        is_empty = not found
    else:
        texts = [
            (each.path, (await files.read(each.path)).text)
            for each in found
            if PurePosixPath(each.path).suffix.lower() in _TEXTS
        ]
        data = await asyncio.to_thread(_make, to, texts, base, title)
        pieces = _whole(data)
        is_empty = not data
    if is_empty:
        raise Problem("nothing_to_export", name=path or title)
    name = portable_name(f"{portable_name(title) or '_'}.{to}")
    return Export(name=name, media_type=MEDIA_TYPES[to], pieces=pieces)


async def _found(files: Files, path: str) -> tuple[list[Item], int]:
    """The files to export in reading order, and how many names of their paths are not told."""
    if path and (item := await files.item(path)).kind != "folder":
        return [item], path.count("/")
    listing = await files.listing(path, recursive=True, limit=_MOST_ENTRIES)
    if listing.truncated:
        raise Problem("export_too_large", limit=_MOST_ENTRIES)
    return [each for each in listing.entries if each.kind != "folder"], len(parse_path(path))


async def _whole(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def _zip(files: Files, found: Sequence[Item], base: int) -> AsyncIterator[bytes]:
    from .documents import Zip

    with Zip() as package:
        for each in found:
            try:
                async with files.open(each.path) as file:
                    data = await asyncio.to_thread(file.stream.read)
            except WorkspaceError as error:
                if error.code != "file_not_found":  # deleted since it was listed
                    raise
            else:
                name = "/".join(each.path.split("/")[base:])
                yield await asyncio.to_thread(package.add, name, data)
        yield package.end()


def _make(to: BookFormat, texts: Sequence[tuple[str, str]], base: int, title: str) -> bytes:
    """The book; nothing if no text has anything in it."""
    book = _book(texts, base, title, is_plain=to == "txt")
    return _writer(to)(book) if book.parts else b""


def _writer(to: BookFormat) -> Callable[[Book], bytes]:
    from .documents import to_docx, to_epub, to_markdown, to_txt

    writers: dict[BookFormat, Callable[[Book], bytes]] = {
        "txt": to_txt,
        "md": to_markdown,
        "docx": to_docx,
        "epub": to_epub,
    }
    return writers[to]


def _book(texts: Sequence[tuple[str, str]], base: int, title: str, *, is_plain: bool) -> Book:
    from wenfang.lang import detect_language

    from .documents import Book, split_byline

    read = [
        (path.split("/")[base:-1], part)
        for path, text in texts
        if (part := _part(PurePosixPath(path), text, is_plain=is_plain))
    ]
    levels = zip(*(folders for folders, _ in read), strict=False)
    shared = len(list(takewhile(lambda names: len(set(names)) == 1, levels)))
    placed = [(tuple(folders[shared:]), part) for folders, part in read]
    author = None
    if placed and placed[0][0] == () and placed[0][1].title == title:  # the book's own page
        own = placed.pop(0)[1]
        author, text = split_byline(own.text)
        if text.strip():
            placed.insert(0, ((), replace(own, title="", text=text, kind="chapter")))
    parts = tuple(_with_volumes(placed))
    sample = " ".join(f"{part.title} {part.text[:_LANGUAGE_CHARS]}" for part in parts[:20])
    return Book(title=title, parts=parts, author=author, language=detect_language(sample) or "zh")


def _with_volumes(placed: Sequence[tuple[tuple[str, ...], Part]]) -> Iterator[Part]:
    """The parts with a volume before those of each folder, which is its first file if that is named like
    the folder."""
    from .documents import Part

    told: set[tuple[str, ...]] = {()}
    for folder, part in placed:
        if folder in told:
            yield part
            continue
        told.add(folder)
        name = _without_number(folder[-1])
        if part.title == name:
            yield replace(part, kind="part")
        else:
            yield Part(title=name, text="", kind="part")
            yield part


def _part(path: PurePosixPath, text: str, *, is_plain: bool) -> Part | None:
    """A file as a part of the book, None if it is blank."""
    from wenfang.lang import read_heading

    from .documents import Part, escape, split_heading

    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        return None
    title = ""
    if path.suffix.lower() == ".md":
        title, text = split_heading(text)
    elif not is_plain:
        text = escape(text)
    title = title.strip() or _title_of(path)
    heading = read_heading(title)
    kind = "part" if heading and heading.kind == "part" else "chapter"
    return Part(title=title, text=text, kind=kind)


def _title_of(path: PurePosixPath) -> str:
    return _without_number(path.stem if path.suffix.lower() in _TEXTS else path.name)


def _without_number(name: str) -> str:
    return _NUMBER_PREFIX.sub("", name)
