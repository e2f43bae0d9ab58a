"""The hot statements of the journal, by hand for SQLite (design §7).

Functions of a transaction; the fence is in the UPDATE that gives the numbers, so that a fact and the
right to write it are one statement.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import starmap
from typing import Any

from wenfang.problems import Problem

from .journal import Ack, Claim, Entry, Fenced
from .paging import fill
from .reads import info_of
from .recording import frame_of
from .records import Frame, RunInfo

LIVE = "EXISTS (SELECT 1 FROM workers w WHERE w.id = runs.owner AND w.expires_at > :now)"

_APPEND = """
UPDATE runs SET seq = seq + :count,
    attempts = CASE WHEN :steps THEN 0 ELSE attempts END,
    next_signal = MAX(next_signal, :next_signal)
WHERE id = :run AND epoch = :epoch AND status = 'running'
RETURNING seq, stop_at, newest_signal
"""
_NUMBER = "UPDATE projects SET seq = seq + ? WHERE id = ? RETURNING seq"
_EVENT = """
INSERT INTO events (project_id, pseq, session_id, run_id, seq, ts, kind, body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_SETTLE = "INSERT INTO quota (run_id, kind, amount, estimated) VALUES (?, ?, ?, ?)"
_FRAME_COLUMNS = "pseq, ts, run_id, session_id, kind, body"
_INFO = (
    "SELECT id, session_id, project_id, status, reason, created_at, finished_at, usage FROM runs"
)


# SQLite 3.40 answers `RETURNING x IS NOT NULL` wrongly for some tables, so columns are returned as they
# are and judged in Python.


def one(raw: sqlite3.Connection, statement: str, values: Any = ()) -> Any:
    """The only row of a statement, or None; reads it to its end, as RETURNING needs."""
    rows = raw.execute(statement, values).fetchall()
    return rows[0] if rows else None


def run_info(raw: sqlite3.Connection, run_id: str) -> RunInfo:
    """Raises Problem `run_not_found`."""
    row = one(raw, f"{_INFO} WHERE id = ?", (run_id,))
    if row is None:
        raise Problem("run_not_found", id=run_id)
    return info_of(row)


def run_of_request(
    raw: sqlite3.Connection, session_id: str, request_id: str | None
) -> RunInfo | None:
    """The run that a request of a session started before."""
    if request_id is None:
        return None
    row = one(raw, f"{_INFO} WHERE session_id = ? AND request_id = ?", (session_id, request_id))
    return info_of(row) if row is not None else None


def record(
    raw: sqlite3.Connection,
    *,
    project_id: str,
    session_id: str,
    run_id: str | None,
    last_seq: int | None,
    entries: Sequence[Entry],
    now: float,
) -> tuple[Frame, ...]:
    """Number and insert facts. `last_seq` is the run's number of the last of them."""
    row = one(raw, _NUMBER, (len(entries), project_id))
    first = row[0] - len(entries) + 1
    start = None if last_seq is None else last_seq - len(entries) + 1
    raw.executemany(
        _EVENT,
        [
            (
                project_id,
                first + at,
                session_id,
                run_id,
                None if start is None else start + at,
                now,
                entry.kind,
                entry.body,
            )
            for at, entry in enumerate(entries)
        ],
    )
    return tuple(
        frame_of(first + at, now, run_id, session_id, entry.kind, entry.body)
        for at, entry in enumerate(entries)
    )


def append(raw: sqlite3.Connection, claim: Claim, entries: Sequence[Entry], now: float) -> Ack:
    """The fenced append. Raises `Fenced`."""
    signals = [entry.signal for entry in entries if entry.signal is not None]
    row = one(
        raw,
        _APPEND,
        {
            "count": len(entries),
            "steps": any(entry.is_step for entry in entries),
            "next_signal": max(signals, default=0) + 1,
            "run": claim.run_id,
            "epoch": claim.epoch,
        },
    )
    if row is None:
        raise Fenced
    frames = record(
        raw,
        project_id=claim.project_id,
        session_id=claim.session_id,
        run_id=claim.run_id,
        last_seq=row[0],
        entries=entries,
        now=now,
    )
    return Ack(frames=frames, stop_requested=row[1] is not None, newest_signal=row[2])


def settle(raw: sqlite3.Connection, run_id: str, charge: int, refund: int, estimated: bool) -> None:
    """The closing rows; the primary key makes a second settlement impossible."""
    rows = [(run_id, "settle", -charge, estimated), (run_id, "refund", -refund, False)]
    raw.executemany(_SETTLE, rows)


def reserve(raw: sqlite3.Connection, run_id: str, amount: int) -> None:
    raw.execute(_SETTLE, (run_id, "reserve", amount, False))


def read_frames(raw: sqlite3.Connection, where: str, values: Sequence[Any]) -> Iterable[Frame]:
    cursor = raw.execute(f"SELECT {_FRAME_COLUMNS} FROM events WHERE {where}", values)  # noqa: S608
    return starmap(frame_of, cursor)


def page_frames(
    raw: sqlite3.Connection, project_id: str, after: int, run_id: str | None
) -> tuple[tuple[Frame, ...], bool]:
    """Frames after a number, and whether these are all there are."""
    where = "project_id = ? AND pseq > ? ORDER BY pseq"
    values: tuple[Any, ...] = (project_id, after)
    if run_id is not None:
        where, values = "run_id = ? AND pseq > ? ORDER BY seq", (run_id, after)
    return fill(read_frames(raw, where, values))
