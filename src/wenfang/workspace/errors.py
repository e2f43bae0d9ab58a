"""The one tree of what can go wrong with files. Each error has a stable code (docs/wire.md).

No error holds a path of the host: `path` is what was asked for, relative to the project.
"""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager
from types import MappingProxyType
from typing import Literal, TypeAlias

Code: TypeAlias = Literal[
    "path_invalid",
    "path_exists",
    "file_not_found",
    "file_not_text",
    "file_too_large",
    "revision_conflict",
    "trash_not_found",
    "folder_not_found",
    "revision_not_found",
    "file_busy",
    "order_fixed",
    "content_damaged",
    "disk_full",
    "read_only",
]

_WORDS: dict[Code, str] = {
    "path_invalid": "The path {path!r} cannot be used: {problem}.",
    "path_exists": "{path!r} exists already; choose another name.",
    "file_not_found": "There is no {path!r} in the project.",
    "file_not_text": "{path!r} is not a UTF-8 text file ({problem}); it was left as it is.",
    "file_too_large": "{path!r} is too large: the limit is {limit} bytes.",
    "revision_conflict": "{path!r} was changed by someone else in the meantime; read it again first.",
    "trash_not_found": "The trash holds no {id!r}.",
    "folder_not_found": "The folder that {path!r} was in is in the trash; bring it back first.",
    "revision_not_found": "{path!r} has no version {revision}.",
    "file_busy": "{path!r} is being changed by someone else all the time; try again in a moment.",
    "order_fixed": "Files in a folder of the disk have the order of their names; rename them.",
    "content_damaged": "The text {id!r} in the database is damaged; restore it from a backup.",
    "disk_full": "The disk is full; nothing was changed.",
    "read_only": "{path!r} cannot be changed: the project may not be written to.",
}


class WorkspaceError(Exception):
    """`params` hold what the code's words need: `path`, `problem`, `limit` (bytes), `id`, and for a
    conflict `revision`, the file's current one (empty if it does not exist)."""

    def __init__(self, code: Code, **params: str | int) -> None:
        self.code: Code = code
        self.params = MappingProxyType(params)
        super().__init__(_WORDS[code].format_map(params))


class EditError(Exception):
    """Edits that were refused. The words are for the model."""


_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_PROBLEMS = {
    errno.ELOOP: "it is a link, and links are not followed",
    errno.ENOTDIR: "it, or a part of it, is a file or a link, not a folder",
    errno.EISDIR: "it is a folder",
    errno.ENAMETOOLONG: "it is too long",
    errno.EINVAL: "a folder cannot be moved into itself",
    errno.ENXIO: "it is no regular file",
    errno.EXDEV: "it is on another disk than the rest of the project",
    errno.ENOTEMPTY: "the folder is not empty",
}


@contextmanager
def translated(path: str, *, writes: bool) -> Generator[None]:
    """Turn what the operating system says about `path` into a `WorkspaceError`. What has no code (a
    broken disk) stays an `OSError`."""
    try:
        yield
    except OSError as error:
        known = _translate(error, path, writes)
        if known is None:
            raise
        raise known from error


def _translate(error: OSError, path: str, writes: bool) -> WorkspaceError | None:
    if error.errno in _FULL:
        return WorkspaceError("disk_full")
    if error.errno in _FORBIDDEN:
        if writes:
            return WorkspaceError("read_only", path=path)
        return WorkspaceError("path_invalid", path=path, problem="it may not be read")
    if error.errno == errno.ENOENT:
        return WorkspaceError("file_not_found", path=path)
    if error.errno == errno.EEXIST:
        return WorkspaceError("path_exists", path=path)
    if error.errno in _PROBLEMS:
        return WorkspaceError("path_invalid", path=path, problem=_PROBLEMS[error.errno])
    return None
