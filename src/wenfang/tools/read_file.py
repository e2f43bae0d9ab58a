"""read_file: a text file, or a range of its lines, without loading the rest."""

from __future__ import annotations

import asyncio
import codecs
import hashlib
import os
from dataclasses import dataclass
from typing import Annotated, BinaryIO

from pydantic import Field

from wenfang.core import FileRead, ToolContext, ToolError, ToolOutput, tool
from wenfang.workspace import Files, Item, OpenFile, WorkspaceError

from .files import PATH_ALIASES, PATH_PATTERN, FilePath, done, files_of
from .texts import MAX_BYTES, MAX_LINES, size

_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """Lines `first` to `last` (from 1) of a file, `last` < `first` if there are none. `cut_line`: the
    last line shown is not whole."""

    text: str
    first: int
    last: int
    total: int
    cut_line: bool
    path: str
    revision: str
    size_bytes: int


@tool(
    access="read",
    aliases=PATH_ALIASES | {"start": "offset", "start_line": "offset", "max_lines": "limit"},
    patterns={"path": PATH_PATTERN},
)
async def read_file(
    ctx: ToolContext,
    path: FilePath,
    offset: Annotated[int, Field(description="First line to read, from 1", ge=1)] = 1,
    limit: Annotated[int, Field(description="How many lines at most", ge=1)] = MAX_LINES,
) -> ToolOutput:
    """Read a text file of the project. A long file comes in parts: the answer says with which
    offset to go on."""
    window = await done(_read(files_of(ctx), path, offset, min(limit, MAX_LINES)))
    return _output(window)


async def _read(files: Files, path: str, offset: int, limit: int) -> _Window:
    async with files.open(path) as file:
        return await asyncio.to_thread(_window, file, offset, limit)


def _window(file: OpenFile[Item], offset: int, limit: int) -> _Window:
    lines = _Lines(file.stream)
    data, last, cut_line = _take(lines, offset, limit)
    lines.skip_all()
    total = lines.total
    entry = file.entry
    text = _decode(data, entry.path, cut=cut_line)
    if offset > max(total, 1):
        raise ToolError(f"{entry.path} has {total} lines; offset {offset} is past its end.")
    return _Window(
        text=text,
        first=offset,
        last=last,
        total=total,
        cut_line=cut_line,
        path=entry.path,
        revision=lines.revision,
        size_bytes=lines.size_bytes,
    )


class _Lines:
    """Reads a stream by lines of bounded length, counting and hashing all that passes."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()
        self._newlines = 0
        self._ends_open = False
        self.size_bytes = 0

    def read(self) -> bytes:
        """The next line with its end; of a line that is too long for an answer, the beginning."""
        return self._passed(self._stream.readline(MAX_BYTES + 1))

    def skip(self, count: int) -> None:
        """Pass over `count` lines, as far as there are so many."""
        while count and (data := self._stream.read(_CHUNK)):
            pieces = data.split(b"\n", count)
            count -= len(pieces) - 1
            if not count:
                self._stream.seek(-len(pieces[-1]), os.SEEK_CUR)
                data = data[: len(data) - len(pieces[-1])]
            self._passed(data)

    def skip_all(self) -> None:
        while self._passed(self._stream.read(_CHUNK)):
            pass

    def _passed(self, data: bytes) -> bytes:
        if data:
            self._hash.update(data)
            self._newlines += data.count(b"\n")
            self._ends_open = not data.endswith(b"\n")
            self.size_bytes += len(data)
        return data

    @property
    def total(self) -> int:
        """Lines that have passed; an unfinished one counts."""
        return self._newlines + self._ends_open

    @property
    def revision(self) -> str:
        return self._hash.hexdigest()


def _take(lines: _Lines, offset: int, limit: int) -> tuple[bytes, int, bool]:
    """The bytes of the wanted lines, the number of the last one, and whether that one was cut."""
    lines.skip(offset - 1)
    kept = bytearray()
    last = offset - 1
    while last < offset + limit - 1 and (data := lines.read()):
        if len(kept) + len(data) > MAX_BYTES:
            if last < offset:  # not even one line fits: its beginning is better than nothing
                return data[:MAX_BYTES], offset, True
            break
        kept += data
        last += 1
    return bytes(kept), last, False


def _decode(data: bytes, path: str, *, cut: bool) -> str:
    if b"\0" in data:
        raise WorkspaceError("file_not_text", path=path, problem="it is binary")
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data, final=not cut)
    except UnicodeDecodeError:
        problem = "it is in another encoding"
        raise WorkspaceError("file_not_text", path=path, problem=problem) from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _output(window: _Window) -> ToolOutput:
    notice = _notice(window)
    return ToolOutput(
        content=(window.text + notice) or "(The file is empty.)",
        details={
            "path": window.path,
            "first_line": window.first,
            "last_line": window.last,
            "total_lines": window.total,
            "size_bytes": window.size_bytes,
            "truncated": bool(notice),
        },
        effects=(FileRead(path=window.path, revision=window.revision),),
    )


def _notice(window: _Window) -> str:
    if window.cut_line:
        more = f" Go on with offset={window.last + 1}." if window.last < window.total else ""
        return (
            f"\n[Line {window.last} of {window.total} is too long: only its first "
            f"{size(MAX_BYTES)} are shown.{more}]"
        )
    if window.last >= window.total:
        return ""
    return (
        f"\n[Lines {window.first} to {window.last} of {window.total}. To read on, call read_file "
        f"with offset={window.last + 1}.]"
    )
