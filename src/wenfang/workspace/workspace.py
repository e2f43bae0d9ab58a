"""A project is a folder of files; this is the one way to them.

All methods block (they wait for the disk) and may be called from any thread; asynchronous code calls
them in a worker thread. Changes to one project happen one at a time, across threads and processes, so
that a comparison of revisions and the write after it are one step.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import BinaryIO, Literal

from wenfang.core import new_id

from .errors import WorkspaceError, translated
from .folders import find, open_folder, open_regular, open_root, replace_file
from .paths import (
    free_name,
    is_reserved,
    name_key,
    natural_key,
    new_child,
    new_name,
    parse_file,
    parse_path,
)
from .staging import STAGED, staged
from .texts import decode, encode
from .values import Entry, FileText, Listing, OpenFile, Written

_TEXT_LIMIT = 8 * 1024 * 1024
_SCAN_LIMIT = 20_000
_TRASH = (".wenfang", "trash")
_TRASH_ID = re.compile(r"trash_[0-9a-z]+")


class Workspace:
    """The files below the folder `root`. `new_id` mints ids for the trash and for temporary names."""

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        new_id: Callable[[str], str] = new_id,
        text_limit_bytes: int = _TEXT_LIMIT,
    ) -> None:
        self._root = root
        self._new_id = new_id
        self._text_limit = text_limit_bytes

    # Reading

    def list(self, path: str = "", *, recursive: bool = False, limit: int = 5000) -> Listing[Entry]:
        """What is in a folder, in the order of people. Links, special files and names that are no text are left out."""
        parts = parse_path(path)
        with open_root(self._root, lock=False) as root, translated(path, writes=False):
            with open_folder(root, parts, path) as (_, names):
                pass
            found: list[Entry] = []
            waiting = [tuple(names)]
            while waiting and len(found) < _SCAN_LIMIT:
                folder = waiting.pop(0)
                entries = list(_scan(root, folder, path))
                found += entries
                if recursive:
                    waiting += [tuple(e.path.split("/")) for e in entries if e.kind == "folder"]
        found.sort(
            key=lambda entry: ([natural_key(name) for name in entry.path.split("/")], entry.path)
        )
        files = [entry for entry in found if entry.kind == "file"]
        return Listing(
            path="/".join(names),
            entries=tuple(found[:limit]),
            files=len(files),
            folders=len(found) - len(files),
            size_bytes=sum(entry.size_bytes for entry in files),
            truncated=len(found) > limit or bool(waiting),
            complete=not waiting,
        )

    def entry(self, path: str) -> Entry:
        """What is at `path`. Raises `WorkspaceError` "file_not_found"."""
        parts = parse_file(path)
        with (
            translated(path, writes=False),
            open_root(self._root, lock=False) as root,
            open_folder(root, parts[:-1], path) as (folder, names),
        ):
            return _lookup(folder, _existing(folder, parts[-1], path), names)

    @contextmanager
    def open(self, path: str) -> Generator[OpenFile[Entry]]:
        """A file of any kind and size, for reading piece by piece."""
        parts = parse_file(path)
        with (
            translated(path, writes=False),
            open_root(self._root, lock=False) as root,
            open_folder(root, parts[:-1], path) as (folder, names),
        ):
            name = find(folder, parts[-1], path) or parts[-1]
            fd, status = open_regular(folder, name)
        entry = _entry("/".join((*names, name)), status)
        with os.fdopen(fd, "rb") as stream:
            yield OpenFile(stream=stream, entry=entry)

    def read_bytes(self, path: str) -> tuple[bytes, Entry]:
        """A whole file and its entry with the revision, up to the size limit."""
        with self.open(path) as file:
            data = self._bytes(file.stream, file.entry)
        return data, replace(file.entry, size_bytes=len(data), revision=revision_of(data))

    def read_text(self, path: str) -> FileText:
        """A whole text file. Bytes that are not UTF-8 text are refused, never replaced."""
        with self.open(path) as file:
            return self._text(file.stream, file.entry)

    # Changing

    def write_text(self, path: str, text: str, *, base: str | None) -> Written:
        """Put `text` at `path`, folders included. `base` is the revision the text was made from, None
        for a file that must not exist yet, "*" for whatever is there. Atomic: a reader sees the old
        text or the new. Raises `WorkspaceError` "revision_conflict" with the current revision."""

        def change(current: FileText | None) -> str:
            revision = current.revision if current else None
            if base not in ("*", revision):
                raise WorkspaceError("revision_conflict", path=path, revision=revision or "")
            return text

        is_new = base in (None, "*")
        try:
            return self._change(path, change, create=is_new)
        except WorkspaceError as error:
            if error.code == "file_not_found" and not is_new:
                raise WorkspaceError("revision_conflict", path=path, revision="") from None
            raise

    def change_text(self, path: str, change: Callable[[str], str]) -> Written:
        """Replace the text of an existing file by `change(text)`. Nobody else changes the project in
        between. What `change` raises leaves the file as it is."""

        def apply(current: FileText | None) -> str:
            if current is None:
                raise WorkspaceError("file_not_found", path=path)
            return change(current.text)

        return self._change(path, apply, create=False)

    def add(self, path: str, content: str | Mapping[str, str]) -> tuple[Entry, ...]:
        """A new file (its text), or a new folder of files (their texts by name): all of it is there at
        once, or nothing. Never touches what exists: a name that is taken gets ` (2)`, before the suffix
        of a file. Returns the files in the given order, with their revisions."""
        parts = parse_file(path)
        stem, suffix = (parts[-1], "")
        if isinstance(content, str):
            data = encode(content, path, self._text_limit)
            stem, suffix = os.path.splitext(parts[-1])
        else:
            data = {
                new_child(name, path): encode(text, f"{path}/{name}", self._text_limit)
                for name, text in content.items()
            }
        new_name(parts[-1], path)
        with (
            self._writing(path) as root,
            staged(root, data) as place,
            open_folder(root, parts[:-1], path, create=True) as (folder, names),
        ):
            name = free_name(stem, suffix, {name_key(each) for each in os.listdir(folder)})
            name = new_name(name, path)
            os.rename(STAGED, name, src_dir_fd=place, dst_dir_fd=folder)
            os.fsync(folder)
            if isinstance(data, bytes):
                return (replace(_lookup(folder, name, names), revision=revision_of(data)),)
            with open_folder(folder, (name,), path) as (added, _):
                return tuple(
                    replace(_lookup(added, each, [*names, name]), revision=revision_of(each_data))
                    for each, each_data in data.items()
                )

    def create_folder(self, path: str) -> Entry:
        """A new folder, with the folders above it."""
        parts = parse_file(path)
        with (
            self._writing(path) as root,
            open_folder(root, parts[:-1], path, create=True) as (folder, names),
        ):
            if find(folder, parts[-1], path) is not None:
                raise WorkspaceError("path_exists", path=path)
            name = new_name(parts[-1], path)
            os.mkdir(name, dir_fd=folder)
            return _lookup(folder, name, names)

    def move(self, path: str, to: str) -> Entry:
        """Rename a file or folder, also into another folder. Nothing is overwritten."""
        parts, target = parse_file(path), parse_file(to)
        if _is_below(target, parts):
            problem = "a folder cannot be moved into itself"
            raise WorkspaceError("path_invalid", path=to, problem=problem)
        with (
            self._writing(path) as root,
            open_folder(root, parts[:-1], path) as (source, names),
        ):
            name = _existing(source, parts[-1], path)
            with open_folder(root, target[:-1], to, create=True) as (folder, to_names):
                there = find(folder, target[-1], to)
                # A new spelling of the same name (plan.md to Plan.md) finds the file itself.
                if there is not None and (*to_names, there) != (*names, name):
                    raise WorkspaceError("path_exists", path=to)
                to_name = new_name(target[-1], to)
                os.rename(name, to_name, src_dir_fd=source, dst_dir_fd=folder)
                return _lookup(folder, to_name, to_names)

    def delete(self, path: str) -> str:
        """Move a file or folder to the project's trash. Returns the id that `restore` takes."""
        parts = parse_file(path)
        trash_id = self._new_id("trash")
        with (
            self._writing(path) as root,
            open_folder(root, parts[:-1], path) as (source, names),
        ):
            name = _existing(source, parts[-1], path)
            trash = (*_TRASH, trash_id)
            with open_folder(root, trash, path, create=True) as (folder, _):
                origin = "/".join((*names, name))
                replace_file(folder, "path", origin.encode(), "path.new")
                os.rename(name, "item", src_dir_fd=source, dst_dir_fd=folder)
        return trash_id

    def restore(self, trash_id: str) -> Entry:
        """Undo a delete."""
        if not _TRASH_ID.fullmatch(trash_id):
            raise WorkspaceError("trash_not_found", id=trash_id)
        with self._writing(trash_id) as root:
            path = _origin(root, trash_id)
            parts = parse_file(path)
            with (
                translated(path, writes=True),
                open_folder(root, parts[:-1], path, create=True) as (folder, names),
                open_folder(root, (*_TRASH, trash_id), path) as (trashed, _),
            ):
                if find(folder, parts[-1], path) is not None:
                    raise WorkspaceError("path_exists", path=path)
                os.rename("item", parts[-1], src_dir_fd=trashed, dst_dir_fd=folder)
                os.unlink("path", dir_fd=trashed)
                with open_folder(root, _TRASH, path) as (trash, _):
                    os.rmdir(trash_id, dir_fd=trash)
                return _lookup(folder, parts[-1], names)

    @contextmanager
    def _writing(self, path: str) -> Generator[int]:
        with translated(path, writes=True), open_root(self._root, lock=True) as root:
            yield root

    def _change(
        self, path: str, change: Callable[[FileText | None], str], *, create: bool
    ) -> Written:
        parts = parse_file(path)
        with (
            self._writing(path) as root,
            open_folder(root, parts[:-1], path, create=create) as (folder, names),
        ):
            name = find(folder, parts[-1], path)
            current = self._current(folder, name, names) if name else None
            data = encode(change(current), path, self._text_limit)
            name = name or new_name(parts[-1], path)
            status = replace_file(folder, name, data, f".wenfang-{self._new_id('tmp')}")
            revision = revision_of(data)
            entry = replace(_entry("/".join((*names, name)), status), revision=revision)
            return Written(
                entry=entry, revision=revision, previous=current.revision if current else None
            )

    def _current(self, folder: int, name: str, names: Sequence[str]) -> FileText:
        fd, status = open_regular(folder, name)
        with os.fdopen(fd, "rb") as stream:
            return self._text(stream, _entry("/".join((*names, name)), status))

    def _text(self, stream: BinaryIO, entry: Entry) -> FileText:
        data = self._bytes(stream, entry)
        text = decode(data, entry.path)
        return FileText(
            path=entry.path,
            text=text,
            revision=revision_of(data),
            size_bytes=len(data),
            modified_at=entry.modified_at,
            newline="\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n",
        )

    def _bytes(self, stream: BinaryIO, entry: Entry) -> bytes:
        data = stream.read(self._text_limit + 1)
        if len(data) > self._text_limit:
            raise WorkspaceError("file_too_large", path=entry.path, limit=self._text_limit)
        return data


def revision_of(data: bytes) -> str:
    """The revision of a file with these bytes."""
    return hashlib.sha256(data).hexdigest()


def _entry(path: str, status: os.stat_result) -> Entry:
    kind: Literal["file", "folder"] = "folder" if stat.S_ISDIR(status.st_mode) else "file"
    size = 0 if kind == "folder" else status.st_size
    return Entry(path=path, kind=kind, size_bytes=size, modified_at=status.st_mtime)


def _lookup(folder: int, name: str, names: Sequence[str]) -> Entry:
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return _entry("/".join((*names, name)), status)


def _existing(folder: int, name: str, path: str) -> str:
    found = find(folder, name, path)
    if found is None:
        raise WorkspaceError("file_not_found", path=path)
    return found


def _is_below(parts: Sequence[str], folder: Sequence[str]) -> bool:
    keys = [name_key(part) for part in parts[: len(folder)]]
    return len(parts) > len(folder) and keys == [name_key(part) for part in folder]


def _scan(root: int, parts: tuple[str, ...], path: str) -> Iterator[Entry]:
    """The entries of one folder that can be opened. A folder that vanished meanwhile has none."""
    try:
        with open_folder(root, parts, path) as (fd, names), os.scandir(fd) as entries:
            for each in entries:
                status = each.stat(follow_symlinks=False)
                if _is_shown(each.name, status.st_mode):
                    yield _entry("/".join((*names, each.name)), status)
    except (FileNotFoundError, NotADirectoryError, PermissionError, WorkspaceError):
        return


def _is_shown(name: str, mode: int) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) and not is_reserved(name)


def _origin(root: int, trash_id: str) -> str:
    """Where a deleted file or folder was."""
    missing = WorkspaceError("trash_not_found", id=trash_id)
    try:
        with open_folder(root, (*_TRASH, trash_id), trash_id) as (folder, _):
            fd, _ = open_regular(folder, "path")
            with os.fdopen(fd, "rb") as file:
                return file.read().decode()
    except (OSError, WorkspaceError):
        raise missing from None
