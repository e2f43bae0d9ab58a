"""A whole project as a zip, made while it is sent."""

from __future__ import annotations

import io
import zipfile
from typing import Final, Self

from ..paths import free_name, name_key, portable_name

EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
"""The date of every entry, so that the same files give the same bytes."""


class Zip:
    """A zip that grows file by file, with one of them in memory at a time. Names are made safe for every
    system, and unlike each other; the same files give the same bytes."""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._package = zipfile.ZipFile(self._sink, "w")
        self._taken: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._package.close()

    def add(self, path: str, data: bytes) -> bytes:
        """The next piece, with the file at `path` (forward slashes) in it."""
        self._package.writestr(entry(_unlike(safe_path(path), self._taken)), data)
        return self._sink.take()

    def end(self) -> bytes:
        """The last piece."""
        self._package.close()
        return self._sink.take()


def entry(name: str, *, is_stored: bool = False) -> zipfile.ZipInfo:
    """An entry without a date and an owner."""
    info = zipfile.ZipInfo(name, EARLIEST)
    info.compress_type = zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
    info.create_system = 3
    info.external_attr = 0o100644 << 16
    return info


def safe_path(path: str) -> str:
    """A path that stays inside the folder where it is unpacked, and that every system can hold."""
    names = [portable_name(name) for name in path.replace("\\", "/").split("/")]
    return "/".join(name for name in names if name) or "_"


def _unlike(path: str, taken: set[str]) -> str:
    """`path`, numbered if one that looks like it is there already."""
    stem, dot, extension = path.rpartition(".")
    if not dot or "/" in extension:
        stem, dot, extension = path, "", ""
    free = free_name(stem, f"{dot}{extension}", taken)
    taken.add(name_key(free))
    return free


class _Sink(io.RawIOBase):
    """What is written and not yet taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        self._pieces.append(piece)
        return len(piece)

    def take(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken
