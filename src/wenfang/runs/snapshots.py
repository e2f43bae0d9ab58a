"""A session as it stands: what a tab that opens it needs before it follows the stream."""

from __future__ import annotations

import sqlite3

from wenfang.problems import Problem
from wenfang.storage import Database, SqliteTx

from . import sql
from .catalog import find_project, find_session
from .hub import Hub, without_message
from .records import Frame, Snapshot

RUNS = 50

_RUNS = """
SELECT id, status FROM runs WHERE session_id = ? AND begin_pseq < ?
ORDER BY begin_pseq DESC LIMIT ?
"""
_FROM_THE_END = 2**62


async def read_snapshot(
    database: Database, hub: Hub, project_id: str, session_id: str, before: int | None
) -> Snapshot:
    """See `Runs.snapshot`. The message being written comes from this process if it is written here,
    otherwise from what the writing one has kept."""

    def read(tx: SqliteTx) -> tuple[int, list[Frame], bool, str | None, bytes]:
        find_project(tx, project_id)
        if find_session(tx, session_id).project_id != project_id:
            raise Problem("session_not_found", id=session_id)
        seq = sql.one(tx.raw, "SELECT seq FROM projects WHERE id = ?", (project_id,))[0]
        values = (session_id, _FROM_THE_END if before is None else before, RUNS + 1)
        rows = tx.raw.execute(_RUNS, values).fetchall()
        active = next((run_id for run_id, status in rows if status in ("queued", "running")), None)
        frames = [frame for run_id, _ in reversed(rows[:RUNS]) for frame in _frames(tx.raw, run_id)]
        return seq, frames, len(rows) > RUNS, active, _partial(tx.raw, active)

    seq, frames, more, active, kept = await database.read(read)
    partials: tuple[bytes, ...] = ()
    if active is not None and active not in without_message(frames):
        live = hub.live(project_id, active)
        partials = tuple(f.data for f in live.frames()) if live else tuple(kept.splitlines())
    return Snapshot(
        seq=seq, frames=tuple(frame.data for frame in frames), partials=partials, more=more
    )


def _frames(raw: sqlite3.Connection, run_id: str) -> list[Frame]:
    return list(sql.read_frames(raw, "run_id = ? ORDER BY seq", (run_id,)))


def _partial(raw: sqlite3.Connection, run_id: str | None) -> bytes:
    row = sql.one(raw, "SELECT frames FROM partials WHERE run_id = ?", (run_id,))
    return row[0] if row else b""
