"""New files that appear all at once: written where nobody looks, then renamed to where they belong."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final

from .folders import open_folder

STAGED: Final = "item"
_PLACE: Final = (".wenfang", "incoming")


@contextmanager
def staged(root: int, content: bytes | Mapping[str, bytes]) -> Generator[int]:
    """The folder in which a file, or a folder of files, stands on disk under the name `STAGED`. What is
    still there afterwards is removed, and before that what a process that was killed has left: whoever
    calls holds the lock of the project."""
    with open_folder(root, _PLACE, "", create=True) as (place, _):
        _clear(place)
        try:
            if isinstance(content, bytes):
                _write(place, {STAGED: content})
            else:
                os.mkdir(STAGED, dir_fd=place)
                with open_folder(place, (STAGED,), "") as (folder, _):
                    _write(folder, content)
            yield place
        finally:
            _clear(place)


def _write(folder: int, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        fd = os.open(
            name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder
        )
        with open(fd, "wb") as file:
            file.write(data)
    # All are written before the first is waited for: the disk takes a thousand chapters in few turns.
    for name in files:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
    os.fsync(folder)


def _clear(place: int) -> None:
    for name in os.listdir(place):
        if stat.S_ISDIR(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode):
            shutil.rmtree(name, dir_fd=place)
        else:
            os.unlink(name, dir_fd=place)
