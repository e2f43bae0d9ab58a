"""A session as it stands: what a tab that opens it needs before it follows the stream."""

from __future__ import annotations

import sqlalchemy as sa

from wenfang.problems import Problem
from wenfang.storage import Store, Tx, events, partials, projects, runs

from .catalog import find_project, find_session
from .hub import Hub, without_message
from .recording import frame_of
from .records import Frame, Snapshot

RUNS = 50

_RUNS = (
    sa.select(runs.c.id, runs.c.status)
    .where(runs.c.session_id == sa.bindparam("session"))
    .order_by(runs.c.begin_pseq.desc())
    .limit(RUNS + 1)
)
_RUNS_BEFORE = _RUNS.where(runs.c.begin_pseq < sa.bindparam("before"))
_FRAMES = (
    sa.select(
        events.c.pseq,
        events.c.ts,
        events.c.run_id,
        events.c.session_id,
        events.c.kind,
        events.c.body,
    )
    .where(events.c.run_id == sa.bindparam("run"))
    .order_by(events.c.seq)
)
_SEQ = sa.select(projects.c.seq).where(projects.c.id == sa.bindparam("project"))
_PARTIAL = sa.select(partials.c.frames).where(partials.c.run_id == sa.bindparam("run"))


async def read_snapshot(
    database: Store, hub: Hub, project_id: str, session_id: str, before: int | None
) -> Snapshot:
    """See `Runs.snapshot`. The message being written comes from this process if it is written here,
    otherwise from what the writing one has kept."""

    def read(tx: Tx) -> tuple[int, list[Frame], bool, str | None, bytes]:
        find_project(tx, project_id)
        if find_session(tx, session_id).project_id != project_id:
            raise Problem("session_not_found", id=session_id)
        seq = tx.sa.execute(_SEQ, {"project": project_id}).scalar_one()
        wanted = {"session": session_id} | ({} if before is None else {"before": before})
        rows = tx.sa.execute(_RUNS if before is None else _RUNS_BEFORE, wanted).all()
        active = next((run_id for run_id, status in rows if status in ("queued", "running")), None)
        frames = [frame for run_id, _ in reversed(rows[:RUNS]) for frame in _frames(tx, run_id)]
        return seq, frames, len(rows) > RUNS, active, _partial(tx, active)

    seq, frames, more, active, kept = await database.read(read)
    partials: tuple[bytes, ...] = ()
    if active is not None and active not in without_message(frames):
        live = hub.live(project_id, active)
        partials = tuple(f.data for f in live.frames()) if live else tuple(kept.splitlines())
    return Snapshot(
        seq=seq, frames=tuple(frame.data for frame in frames), partials=partials, more=more
    )


def _frames(tx: Tx, run_id: str) -> list[Frame]:
    return [frame_of(*row) for row in tx.sa.execute(_FRAMES, {"run": run_id})]


def _partial(tx: Tx, run_id: str | None) -> bytes:
    return tx.sa.execute(_PARTIAL, {"run": run_id}).scalar() or b""
