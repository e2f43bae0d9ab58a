"""Facts of a project are numbered and kept, in statements that every database understands.

Who numbers facts, or starts, stops or ends a run, holds the row of its project, and takes it before any
row of a run; of several projects in the order of their ids. So two transactions never wait for each
other, and a project's numbers are given in the order of the commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from wenfang.storage import Tx, events, projects

from .codec import wrap
from .journal import Entry
from .records import Frame

_HOLD = (
    sa.select(projects.c.id)
    .where(projects.c.id == sa.bindparam("key"))
    .with_for_update(key_share=True)
)
_NUMBER = (
    projects.update()
    .where(projects.c.id == sa.bindparam("key"))
    .values(seq=projects.c.seq + sa.bindparam("count", type_=sa.Integer))
    .returning(projects.c.seq)
)
_EVENT = events.insert()


def hold(tx: Tx, project_id: str) -> None:
    """Let nobody else change the project, its sessions or its facts until the end of the transaction."""
    tx.sa.execute(_HOLD, {"key": project_id})


def record(
    tx: Tx,
    *,
    project_id: str,
    session_id: str,
    run_id: str | None,
    last_seq: int | None,
    entries: Sequence[Entry],
    now: float,
) -> tuple[Frame, ...]:
    """Number and insert facts. `last_seq` is the run's number of the last of them."""
    count = len(entries)
    if not count:
        return ()
    first = tx.sa.execute(_NUMBER, {"key": project_id, "count": count}).scalar_one() - count + 1
    start = None if last_seq is None else last_seq - count + 1
    rows: list[dict[str, Any]] = [
        {
            "project_id": project_id,
            "pseq": first + at,
            "session_id": session_id,
            "run_id": run_id,
            "seq": None if start is None else start + at,
            "ts": now,
            "kind": entry.kind,
            "body": entry.body,
        }
        for at, entry in enumerate(entries)
    ]
    tx.sa.execute(_EVENT, rows)
    return tuple(
        frame_of(first + at, now, run_id, session_id, entry.kind, entry.body)
        for at, entry in enumerate(entries)
    )


def frame_of(
    pseq: int, ts: float, run_id: str | None, session_id: str, kind: str, body: bytes
) -> Frame:
    """The frame of a row of `events`."""
    run_id = run_id or ""
    data = wrap(body, seq=pseq, ts=ts, run_id=run_id, session_id=session_id)
    return Frame(pseq, data, run_id, kind)
