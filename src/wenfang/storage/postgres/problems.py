"""What a failing server means to a person: SQLSTATEs as problems, and what a second try can mend."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from wenfang.problems import Problem

# Codes and classes of codes (their first two characters) of PostgreSQL's appendix A.
_UNREACHABLE = {
    "08": "the connection broke",
    "25006": "it may only be read (a standby?)",
    "28": "it refuses the user or the password",
    "3D000": "it has no such database",
    "42501": "the user lacks a right there",
    "53300": "it has no connection left",
    "57P": "it is shutting down or starting",
    "25P03": "the connection broke",
}
_BROKEN = {"58030": "the disk reports an error", "XX001": "it is damaged", "XX002": "it is damaged"}
_FULL = "53100"
_LOCKED = "55P03"  # lock_timeout
_CLASHES = ("40001", "40P01")  # another transaction came in between; deadlock
_GONE = "the connection broke"


def is_clash(error: Exception) -> bool:
    """Whether the transaction was undone because of another, so that a second try can succeed."""
    return _state_of(error) in _CLASHES


def is_cut(error: Exception) -> bool:
    """Whether the connection broke while it was used."""
    return isinstance(error, DBAPIError) and error.connection_invalidated


def problem_of(error: Exception, server: str) -> Problem | None:
    """The problem behind an error; None if it is no failure of the server or of the way to it."""
    if isinstance(error, NoConnectionFree):
        return Problem("database_locked", path=server)
    if isinstance(error, OSError):  # also what took too long
        why = error.strerror or ("it does not answer" if isinstance(error, TimeoutError) else _GONE)
        return Problem("database_unreachable", path=server, problem=why)
    if not isinstance(error, DBAPIError):
        return None
    state = _state_of(error)
    if state == _FULL:
        return Problem("disk_full")
    if state == _LOCKED or state in _CLASHES:
        return Problem("database_locked", path=server)
    for codes, code in ((_BROKEN, "database_broken"), (_UNREACHABLE, "database_unreachable")):
        why = next((words for start, words in codes.items() if state.startswith(start)), None)
        if why is not None:
            return Problem(code, path=server, problem=why)
    if is_cut(error):
        return Problem("database_unreachable", path=server, problem=_GONE)
    return None


def _state_of(error: Exception) -> str:
    driver = error.orig if isinstance(error, DBAPIError) else error
    return getattr(driver, "sqlstate", None) or ""
