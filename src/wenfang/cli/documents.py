"""`wenfang import` and `wenfang export`: documents into a project folder, and a project out as one file."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from wenfang.problems import Problem
from wenfang.workspace import (
    ExportFormat,
    Files,
    Imported,
    Refused,
    WorkspaceError,
    export_project,
    import_document,
)
from wenfang.workspace.documents import DEFAULT_LIMITS

from .language import Say
from .main import EXIT_ERROR, EXIT_PARTIAL
from .project import named, open_project
from .render import plain


def import_files(
    say: Say,
    names: Sequence[Path],
    *,
    project: Path,
    folder: str,
    as_json: bool,
    data: Path | None,
) -> None:
    """Import each file, whatever becomes of the others. Raises SystemExit 3 if some were not imported, 5
    if none was."""
    where = named(project, data)

    async def work() -> tuple[int, int]:
        made, missed = 0, 0
        async with open_project(where) as opened:
            for name in names:
                imported = await _import_one(opened.files, name, folder)
                await opened.tell(imported.files)
                made += len(imported.files)
                missed += len(imported.refused)
                (_print_json if as_json else _print_lines)(say, str(name), imported)
        return made, missed

    made, missed = asyncio.run(work())
    if missed:
        sys.exit(EXIT_PARTIAL if made else EXIT_ERROR)


def export(
    say: Say,
    to: ExportFormat,
    *,
    project: Path,
    output: Path | None,
    path: str,
    is_forced: bool,
    as_json: bool,
    data: Path | None,
) -> None:
    """Write the file and print its name. Raises `Problem`; then nothing is written."""
    del say  # a path needs no words
    where = named(project, data)
    try:
        with asyncio.Runner() as runner, ExitStack() as stack:
            opening = open_project(where)
            opened = runner.run(opening.__aenter__())
            stack.callback(lambda: runner.run(opening.__aexit__(None, None, None)))
            title = opened.title or "wenfang"
            made = runner.run(export_project(opened.files, to, title=title, path=path))
            file = output if output is not None else opened.beside / made.name
            size = _write(file, _drawn(runner, made.pieces), is_forced=is_forced)
    except WorkspaceError as error:
        raise _problem(error) from error
    _tell(
        json.dumps({"path": str(file), "size_bytes": size}, ensure_ascii=False)
        if as_json
        else str(file)
    )


def _drawn(runner: asyncio.Runner, pieces: AsyncIterator[bytes]) -> Iterator[bytes]:
    """The pieces for code that waits for each."""

    async def draw() -> bytes | None:
        return await anext(pieces, None)

    while (piece := runner.run(draw())) is not None:
        yield piece


async def _import_one(files: Files, file: Path, folder: str) -> Imported:
    try:
        return await import_document(files, file.name, _read(file), folder=folder)
    except Problem as problem:
        return Imported(files=(), refused=(Refused(name=str(file), problem=problem),))
    except WorkspaceError as error:
        return Imported(files=(), refused=(Refused(name=str(file), problem=_problem(error)),))


def _read(file: Path) -> bytes:
    limit = DEFAULT_LIMITS.max_bytes
    try:
        with file.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            data = stream.read(limit + 1) if size <= limit else b""
    except FileNotFoundError:
        raise Problem("file_not_found", path=str(file)) from None
    except OSError as error:
        raise Problem("path_invalid", path=str(file), problem=error.strerror) from error
    size = max(size, len(data))
    if size > limit:
        raise Problem("document_too_large", name=file.name, value=size, limit=limit)
    return data


def _write(file: Path, pieces: Iterable[bytes], *, is_forced: bool) -> int:
    """Put the pieces at `file` at once; returns how many bytes they are."""
    if not is_forced and os.path.lexists(file):
        raise Problem("output_exists", path=str(file))
    if file.is_dir():
        raise Problem("output_unwritable", path=str(file), problem=os.strerror(errno.EISDIR))
    try:
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".wenfang-", delete=False) as half:
            try:
                size = sum(map(half.write, pieces))
                half.flush()
                os.fsync(half.fileno())
                os.fchmod(half.fileno(), 0o666 & ~_umask())
                if not is_forced:
                    file.open("xb").close()  # fails if something came there meanwhile
                Path(half.name).replace(file)
            finally:
                Path(half.name).unlink(missing_ok=True)
    except FileExistsError:
        raise Problem("output_exists", path=str(file)) from None
    except OSError as error:
        raise Problem("output_unwritable", path=str(file), problem=error.strerror) from error
    return size


def _umask() -> int:
    """Can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _problem(error: WorkspaceError) -> Problem:
    return Problem(error.code, **error.params)


def _print_json(say: Say, name: str, imported: Imported) -> None:
    value: dict[str, Any] = {
        "name": name,
        "files": [{"path": each.path, "size_bytes": each.size_bytes} for each in imported.files],
        "warnings": [
            {"code": each.code, "params": dict(each.params), "message": each.text(say.language)}
            for each in imported.warnings
        ],
        "problems": [
            {
                "name": each.name,
                "code": each.problem.code,
                "params": each.problem.params,
                "message": each.problem.text(say.language),
            }
            for each in imported.refused
        ],
    }
    _tell(json.dumps(value, ensure_ascii=False))


def _print_lines(say: Say, name: str, imported: Imported) -> None:
    for each in imported.files:
        _tell(plain(each.path))
    for each in imported.warnings:
        _note(say("import.warning", name=name, text=each.text(say.language)))
    for each in imported.refused:
        _note(say("error", text=each.problem.text(say.language)))
    if imported.files:
        _note(say("import.done", name=name, count=len(imported.files)))


def _tell(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def _note(text: str) -> None:
    print(plain(text), file=sys.stderr)  # noqa: T201
