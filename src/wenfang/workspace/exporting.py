"""A project, a folder of it or one file becomes a book in one file, or a zip of the files as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from wenfang.problems import Problem

from .errors import WorkspaceError
from .paths import parse_path, portable_name
from .values import Entry
from .workspace import Workspace

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
    pieces: Iterable[bytes]


def export_project(
    files: Workspace,
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
    found, base = _found(files, "/".join(names))
    title = _title_of(PurePosixPath(names[-1])) if names else title
    if to == "zip":
        pieces: Iterable[bytes] = _zip(files, found, base)
        is_empty = not found
    else:
        book = _book(files, found, base, title, is_plain=to == "txt")
        is_empty = not book.parts
        pieces = () if is_empty else (_writer(to)(book),)
    if is_empty:
        raise Problem("nothing_to_export", name=path or title)
    name = portable_name(f"{portable_name(title) or '_'}.{to}")
    return Export(name=name, media_type=MEDIA_TYPES[to], pieces=pieces)


def _found(files: Workspace, path: str) -> tuple[list[Entry], int]:
    """The files to export in the order of people, and how many names of their paths are not told."""
    from .documents import natural_key

    if path and (entry := files.entry(path)).kind == "file":
        return [entry], path.count("/")
    listing = files.list(path, recursive=True, limit=_MOST_ENTRIES)
    if listing.truncated:
        raise Problem("export_too_large", limit=_MOST_ENTRIES)
    found = [each for each in listing.entries if each.kind == "file"]
    found.sort(key=lambda each: ([natural_key(name) for name in each.path.split("/")], each.path))
    return found, len(parse_path(path))


def _zip(files: Workspace, found: Sequence[Entry], base: int) -> Iterator[bytes]:
    from .documents import to_zip

    def contents() -> Iterator[tuple[str, bytes]]:
        for each in found:
            try:
                with files.open(each.path) as file:
                    data = file.stream.read()
            except WorkspaceError as error:
                if error.code != "file_not_found":  # deleted since it was listed
                    raise
            else:
                yield "/".join(each.path.split("/")[base:]), data

    return to_zip(contents())


def _writer(to: BookFormat) -> Callable[[Book], bytes]:
    from .documents import to_docx, to_epub, to_markdown, to_txt

    writers: dict[BookFormat, Callable[[Book], bytes]] = {
        "txt": to_txt,
        "md": to_markdown,
        "docx": to_docx,
        "epub": to_epub,
    }
    return writers[to]


def _book(
    files: Workspace, found: Sequence[Entry], base: int, title: str, *, is_plain: bool
) -> Book:
    from wenfang.lang import detect_language

    from .documents import Book, split_byline

    read = [
        (each.path.split("/")[base:-1], part)
        for each in found
        if PurePosixPath(each.path).suffix.lower() in _TEXTS
        and (part := _part(files, each, is_plain=is_plain))
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


def _part(files: Workspace, entry: Entry, *, is_plain: bool) -> Part | None:
    """A file as a part of the book, None if it is blank."""
    from wenfang.lang import read_heading

    from .documents import Part, escape, split_heading

    path = PurePosixPath(entry.path)
    text = files.read_text(entry.path).text.removeprefix("\ufeff")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
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
