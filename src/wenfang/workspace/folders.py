"""Walking a project by folder descriptors, so that a link swapped in during the walk leads nowhere.

Each step opens one name inside an open folder and refuses links (`O_NOFOLLOW`). Names are looked up
exactly first, then by `name_key`: `Plan.MD` finds `plan.md`, and cannot be created next to it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

from .errors import WorkspaceError, translated
from .paths import name_key, new_name

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextmanager
def open_root(root: str | os.PathLike[str], *, lock: bool) -> Generator[int]:
    """The project's folder. With `lock`, only one holder at a time, across threads and processes: the
    lock is on the folder itself, so it holds under every name that leads there."""
    with translated(".", writes=lock):
        fd = os.open(root, _FOLDER)
    try:
        if lock:
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)


def find(folder: int, name: str, path: str) -> str | None:
    """The name under which `name` exists in `folder`, or None."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        key = name_key(name)
        alike = [each for each in os.listdir(folder) if name_key(each) == key]
        if len(alike) > 1:
            problem = f"it could mean {alike[0]!r} or {alike[1]!r}"
            raise WorkspaceError("path_invalid", path=path, problem=problem) from None
        return alike[0] if alike else None
    return name


@contextmanager
def open_folder(
    root: int, parts: Sequence[str], path: str, *, create: bool = False
) -> Generator[tuple[int, list[str]]]:
    """The folder at `parts` below `root`, and the names as they are on disk. With `create`, folders
    that are missing are made."""
    fd = os.dup(root)
    names: list[str] = []
    try:
        for part in parts:
            name = find(fd, part, path)
            if name is None:
                if not create:
                    raise WorkspaceError("file_not_found", path=path)
                name = new_name(part, path)
                with suppress(FileExistsError):  # made by another program just now
                    os.mkdir(name, dir_fd=fd)
            below = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=fd)
            os.close(fd)
            fd = below
            names.append(name)
        yield fd, names
    finally:
        os.close(fd)


def open_regular(folder: int, name: str) -> tuple[int, os.stat_result]:
    """A file opened for reading. Links, folders and devices are refused with their error numbers."""
    # Without O_NONBLOCK, opening a named pipe would wait for a writer.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(name, flags, dir_fd=folder)
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        number = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.ENXIO
        raise OSError(number, os.strerror(number))
    return fd, status


def replace_file(folder: int, name: str, data: bytes, temporary: str) -> os.stat_result:
    """Put `data` in place of `name` at once, on disk when this returns. An existing file keeps its mode
    and, as far as allowed, its owner; one marked read-only is left alone. `temporary` is the name used
    until then."""
    fd = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder
    )
    is_placed = False
    try:
        with open(fd, "wb") as file:
            _copy_owner(folder, name, fd)
            file.write(data)
            file.flush()
            os.fsync(fd)
            status = os.fstat(fd)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        is_placed = True
    finally:
        if not is_placed:
            os.unlink(temporary, dir_fd=folder)
    os.fsync(folder)
    return status


def _copy_owner(folder: int, name: str, fd: int) -> None:
    try:
        before = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not before.st_mode & stat.S_IWUSR:
        raise PermissionError(errno.EACCES, "the file is marked read-only")
    if os.geteuid() == 0:
        os.fchown(fd, before.st_uid, before.st_gid)
    os.fchmod(fd, stat.S_IMODE(before.st_mode))
