"""Which paths a project has: pure rules about their text, before any file is touched.

A path is relative to the project, with forward slashes. Rules that keep a path inside hold always;
rules that keep names readable on every system hold for new names only, so that files which exist
already can be opened.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from pathlib import PurePosixPath

from .errors import WorkspaceError

_MAX_NAME_BYTES = 255
_MAX_PATH_BYTES = 1024
_MAX_PARTS = 32
_DRIVE = re.compile(r"[A-Za-z]:")
_DEVICE = re.compile(
    r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?", re.IGNORECASE
)
_NOT_PORTABLE = frozenset('<>:"|?*')
_REFUSED = frozenset((*_NOT_PORTABLE, *"/\\"))
_LONGEST_NEW_NAME_BYTES = 200
"""Leaves room for a number, and for the suffixes of other programs."""
_NUMBER = re.compile(r"(\d+)")


def parse_path(path: str) -> tuple[str, ...]:
    """The names along `path`; () is the project itself ("" or "."). Raises `WorkspaceError`."""
    if not path.isprintable() and any(unicodedata.category(char) in ("Cc", "Cs") for char in path):
        raise _invalid(path, "it has a control character in it")
    if "\\" in path:
        raise _invalid(path, "write '/' between folders, not a backslash")
    if path.startswith(("/", "~")) or _DRIVE.match(path):
        raise _invalid(path, "it must be relative to the project, like 'docs/plan.md'")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise _invalid(path, "it may not contain '..'")
    if len(path.encode()) > _MAX_PATH_BYTES or len(parts) > _MAX_PARTS:
        raise _invalid(path[:80] + "...", "it is too long")
    for part in parts:
        if len(part.encode()) > _MAX_NAME_BYTES:
            raise _invalid(
                path[:80] + "...", f"a name in it is longer than {_MAX_NAME_BYTES} bytes"
            )
        if is_reserved(part):
            raise _invalid(path, f"{part!r} is reserved")
    return parts


def parse_file(path: str) -> tuple[str, ...]:
    """Like `parse_path`, for a path that must name something inside the project."""
    parts = parse_path(path)
    if not parts:
        raise _invalid(path, "it names no file")
    return parts


def is_reserved(name: str) -> bool:
    """Version control and our own folder: no tool and no person reads or writes them through us."""
    key = name_key(name)
    return key == ".git" or key.startswith(".wenfang")


def name_key(name: str) -> str:
    """Equal for names that look alike: differing in case, or in how accents are encoded."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def is_device(name: str) -> bool:
    """Whether some system takes the name for a device."""
    return _DEVICE.fullmatch(name) is not None


def new_name(name: str, path: str) -> str:
    """The form in which a name that does not exist yet is stored. Raises `WorkspaceError`."""
    if name != name.strip() or name.endswith("."):
        raise _invalid(
            path, f"the name {name!r} may not begin or end with a space or end with a dot"
        )
    if is_device(name):
        raise _invalid(path, f"{name!r} is the name of a device on some systems")
    odd = next((char for char in name if char in _REFUSED or not char.isprintable()), None)
    if odd is not None:
        raise _invalid(path, f"the name {name!r} may not contain {odd!r}")
    return unicodedata.normalize("NFC", name)


def new_child(name: str, path: str) -> str:
    """Like `new_name`, for a name that was never part of a path that `parse_path` took."""
    if not name or is_reserved(name):
        raise _invalid(path, f"the name {name!r} cannot be given")
    return new_name(name, path)


def usable_name(name: str) -> str:
    """The form in which a single name is stored, of a file that does not exist yet. Raises
    `WorkspaceError` for what is no name, or one that some system refuses."""
    if parse_file(name) != (name,):
        raise _invalid(name, "it is no single name")
    return new_name(name, name)


def portable_name(name: str) -> str:
    """A name made of any text that `new_name` takes as it is; "" if the text holds nothing to name a file
    by. Invisible characters are left out, what some system refuses becomes `_`."""
    name = "".join(_portable(char) for char in name.encode(errors="replace").decode())
    name = unicodedata.normalize("NFC", name).strip(" ").rstrip(". ")
    if is_device(name) or is_reserved(name):
        name = f"_{name}"
    if len(name.encode()) > _LONGEST_NEW_NAME_BYTES:
        suffix = PurePosixPath(name).suffix
        suffix = suffix if len(suffix.encode()) < 20 else ""
        stem = name.encode()[: _LONGEST_NEW_NAME_BYTES - len(suffix.encode())]
        name = f"{stem.decode(errors='ignore').rstrip('. ')}{suffix}"
    return name


def _portable(char: str) -> str:
    if char in _NOT_PORTABLE or char in "/\\" or unicodedata.category(char) == "Cc":
        return "_"
    if char.isprintable():
        return char
    if char.isspace():
        return " "
    return "" if unicodedata.category(char) == "Cf" else "_"


def free_name(stem: str, suffix: str, taken: Container[str]) -> str:
    """`stem` and `suffix` as a name, numbered if one that looks like it is taken (its `name_key`)."""
    count, free = 1, f"{stem}{suffix}"
    while name_key(free) in taken:
        count += 1
        free = f"{stem} ({count}){suffix}"
    return free


def natural_key(path: str) -> list[tuple[int, int, str]]:
    """The order of people: 第2章 before 第10章, and numbers first."""
    return [
        (0, int(part), "") if part.isdecimal() and len(part) < 19 else (1, 0, part.casefold())
        for part in _NUMBER.split(path)
        if part
    ]


def _invalid(path: str, problem: str) -> WorkspaceError:
    return WorkspaceError("path_invalid", path=path, problem=problem)
