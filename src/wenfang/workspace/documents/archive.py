"""Many files at once: a zip, or a folder's files. One that cannot be read does not stop the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from wenfang.problems import Problem

from ..paths import natural_key
from .limits import DEFAULT_LIMITS, Budget, ImportLimits
from .packages import open_package
from .reading import read_within
from .sniffing import sniff
from .values import Document

_OURS_NOT = frozenset({"__MACOSX", "Thumbs.db", "desktop.ini"})


def read_archive(
    data: bytes, limits: ImportLimits = DEFAULT_LIMITS, name: str = "archive.zip"
) -> Iterator[tuple[str, Document | Problem]]:
    """Each file of a zip with its path, in the order of people (2 before 10). A file that cannot be read
    gives its `Problem`. Hidden files are passed over.

    Raises `Problem` before the first file if the zip itself is hostile or damaged, and in between when
    all files together pass the limits.
    """
    budget = Budget(name, limits)
    budget.check_bytes(len(data))
    if sniff(data) != "zip":
        raise Problem("document_not_archive", name=name)
    package = open_package(data, budget)
    paths = sorted((path for path in package.names if _is_wanted(path)), key=natural_key)
    return ((path, _read(path, package.read(path), budget)) for path in paths)


def read_files(
    files: Iterable[tuple[str, bytes]], limits: ImportLimits = DEFAULT_LIMITS
) -> Iterator[tuple[str, Document | Problem]]:
    """The same for the files of a folder, in the given order. `limits` hold for all together."""
    budget = Budget("", limits)
    total = 0
    for count, (path, data) in enumerate(files, 1):
        budget = budget.renamed(path)
        total += len(data)
        budget.check_entries(count)
        budget.check_bytes(total)
        if _is_wanted(path):
            yield path, _read(path, data, budget)


def _is_wanted(path: str) -> bool:
    return not any(part.startswith(".") or part in _OURS_NOT for part in PurePosixPath(path).parts)


_OF_ALL = frozenset(
    {"document_unpacked", "document_too_long", "document_lines", "document_elements"}
)


def _read(path: str, data: bytes, budget: Budget) -> Document | Problem:
    try:
        return read_within(path, data, budget.renamed(path))
    except Problem as problem:
        if problem.code in _OF_ALL:
            raise
        if problem.code == "document_is_archive":
            return Problem("document_nested", name=path)
        return problem
