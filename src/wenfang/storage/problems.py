"""What a failing database means to a person: SQLite's result codes as problems."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from wenfang.problems import Problem

_UNWRITABLE = {
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "it may not be written",
}
_BROKEN = {
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_NOTADB: "it is no database",
    sqlite3.SQLITE_IOERR: "the disk reports an error",
}
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PRIMARY = 0xFF  # the low byte of an extended result code


def problem_of(error: Exception, path: Path) -> Problem | None:
    """The problem behind a driver's error; None if it is no failure of the machine."""
    if isinstance(error, DBAPIError) and isinstance(error.orig, Exception):
        error = error.orig
    if not isinstance(error, sqlite3.DatabaseError):
        return None
    code = _code_of(error)
    if code == sqlite3.SQLITE_FULL:
        return Problem("disk_full")
    if code in _BUSY:
        return Problem("database_locked", path=str(path))
    if code in _UNWRITABLE:
        return Problem("data_unwritable", path=str(path), problem=_UNWRITABLE[code])
    if code in _BROKEN:
        return Problem("database_broken", path=str(path), problem=_BROKEN[code])
    return None


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds the lock that was needed."""
    return _code_of(error) in _BUSY


def _code_of(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY
