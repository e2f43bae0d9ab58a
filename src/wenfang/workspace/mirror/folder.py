"""The folder's side: what stands in it, and the file that says which mirror it is."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wenfang.problems import Problem

from ..errors import WorkspaceError, translated
from ..folders import open_folder, open_regular, open_root
from ..paths import is_reserved, new_name, parse_file
from ..texts import decode
from .values import Left, Node, Reason, is_mirrored, key_of

_OURS: Final = ".wenfang"
_MARK: Final = "mirror"
_ID: Final = re.compile(rb"mir_[0-9a-z]{1,40}\n")
_MOST: Final = 20_000
_HEAD_BYTES: Final = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """`nodes` are mirrored; `kept` are the keys of everything else, and `left` says why, where a person
    should know."""

    nodes: dict[str, Node]
    kept: frozenset[str]
    left: tuple[Left, ...]


def scan(root: Path, limit_bytes: int) -> Scan:
    """Read everything. A text is at most `limit_bytes` long. Raises Problem "mirror_too_large" above 20,000
    files and folders, `WorkspaceError` if the folder itself cannot be read."""
    scanner = _Scanner(limit_bytes)
    with open_root(root, lock=False) as fd:
        scanner.enter(fd, ())
    return Scan(
        nodes=scanner.nodes,
        kept=frozenset(scanner.kept),
        left=tuple(sorted(scanner.left, key=lambda left: left.path)),
    )


class _Scanner:
    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self.nodes: dict[str, Node] = {}
        self.kept: set[str] = set()
        self.left: list[Left] = []

    def enter(self, folder: int, names: tuple[str, ...]) -> None:
        """Look at each name in an open folder."""
        for name in sorted(os.listdir(folder)):
            path = "/".join((*names, name.encode(errors="replace").decode()))
            key = key_of(path)
            if is_reserved(name):
                continue
            if not is_mirrored(name):
                self.kept.add(key)
                continue
            reason = "alike" if key in self.nodes or key in self.kept else _name(name, path)
            if reason is None:
                try:
                    reason = self._look(folder, name, (*names, name), key)
                except FileNotFoundError:  # being replaced just now: the next sync will see
                    self.kept.add(key)
                except (OSError, WorkspaceError):
                    reason = "unreadable"
            if reason is not None:
                self.nodes.pop(key, None)
                self.kept.add(key)
                self.left.append(Left(path=path, reason=reason))
            if len(self.nodes) + len(self.kept) > _MOST:
                raise Problem("mirror_too_large", limit=_MOST)

    def _look(self, folder: int, name: str, names: tuple[str, ...], key: str) -> Reason | None:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        path = "/".join(names)
        if stat.S_ISLNK(mode):
            return "link"
        if stat.S_ISDIR(mode):
            with open_folder(folder, (name,), path) as (below, _):
                self.nodes[key] = Node(path=path, hash=None)
                self.enter(below, names)
            return None
        if not stat.S_ISREG(mode):
            return "special"
        found = _read(folder, name, self._limit)
        if not isinstance(found, bytes):
            return found
        self.nodes[key] = Node(path=path, hash=hashlib.sha256(found).hexdigest())
        return None


def _name(name: str, path: str) -> Reason | None:
    try:
        name.encode()
        new_name(name, path)
        parse_file(path)
    except (UnicodeEncodeError, WorkspaceError):
        return "name"
    return None


def _read(folder: int, name: str, limit_bytes: int) -> bytes | Reason:
    fd, _ = open_regular(folder, name)
    with os.fdopen(fd, "rb") as file:
        data = file.read(_HEAD_BYTES)
        if b"\0" in data:
            return "not_text"
        data += file.read(limit_bytes + 1 - len(data))
    if len(data) > limit_bytes:
        return "too_large"
    try:
        decode(data, name)
    except WorkspaceError:
        return "not_text"
    return data


class Mark:
    """The file `.wenfang/mirror` of a folder that is being synced."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def write(self, mirror_id: str) -> None:
        """From now on it is this one; what was cut off by a crash is no id."""
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{mirror_id}\n".encode(), 0)
        os.fsync(self._fd)


@contextmanager
def hold_mark(root: Path) -> Generator[Mark]:
    """The mark of a folder, for one sync at a time. Raises Problem "mirror_busy", `WorkspaceError`."""
    with (
        translated(_OURS, writes=True),
        open_root(root, lock=False) as fd,
        open_folder(fd, (_OURS,), _OURS, create=True) as (ours, _),
    ):
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        mark = os.open(_MARK, flags, 0o666, dir_fd=ours)
    try:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Problem("mirror_busy", path=str(root)) from None
        yield Mark(mark)
    finally:
        os.close(mark)


def read_mark(root: Path) -> str | None:
    """Which mirror a folder says it is, without touching it."""
    try:
        with (
            open_root(root, lock=False) as fd,
            open_folder(fd, (_OURS,), _OURS) as (ours, _),
        ):
            mark, _ = open_regular(ours, _MARK)
            with os.fdopen(mark, "rb") as file:
                return _id_in(file.read(64))
    except (OSError, WorkspaceError):
        return None


def _id_in(data: bytes) -> str | None:
    return data.decode().strip() if _ID.fullmatch(data) else None
