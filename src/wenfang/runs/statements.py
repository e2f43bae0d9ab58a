"""The statements of `StoreJournal`, made once: one that is made anew costs as much as its answer."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from wenfang.storage import events, partials, projects, quota, runs, sessions, signals, workers

ACTIVE = ("queued", "running")
HISTORY_KINDS = ("run.started", "user.message", "message.finished", "tool.finished", "run.finished")


def _bind(name: str, type_: Any = None) -> Any:
    return sa.bindparam(name, type_=type_)


_RUN = runs.c.id == _bind("run")
_KEY = runs.c.id == _bind("key")  # where the statement sets columns, whose names are taken
_HELD = (runs.c.epoch == _bind("held"), runs.c.status == "running")
_IS_ACTIVE = runs.c.status.in_(ACTIVE)
_OWNER_LIVES = sa.exists().where(
    workers.c.id == runs.c.owner, workers.c.expires_at > _bind("now", sa.Float)
)
PROJECT_OF_SESSION = sa.select(sessions.c.project_id).where(sessions.c.id == _bind("session"))
SESSION = (
    sa.select(projects.c.seq, sessions.c.title)
    .join_from(sessions, projects)
    .where(
        sessions.c.id == _bind("session"),
        sessions.c.deleted_at.is_(None),
        projects.c.deleted_at.is_(None),
    )
)
ACTIVE_RUN = sa.select(runs.c.id).where(runs.c.session_id == _bind("session"), _IS_ACTIVE)
USER_OF_RUN = sa.select(runs.c.user_id).where(_RUN)
CLAIMABLE = (
    sa.select(runs.c.status, runs.c.owner, _OWNER_LIVES.label("owner_lives"))
    .where(_RUN)
    .with_for_update(key_share=True, of=runs)
)
USER_RUNS = sa.select(sa.func.count()).where(
    runs.c.user_id == _bind("user"),
    runs.c.status == "running",
    runs.c.id != _bind("run"),
    _OWNER_LIVES,
)
CLAIM = (
    runs.update()
    .where(_KEY)
    .values(
        status="running",
        owner=_bind("worker", sa.Text),
        epoch=runs.c.epoch + 1,
        attempts=runs.c.attempts + 1,
    )
    .returning(
        runs.c.session_id,
        runs.c.project_id,
        runs.c.epoch,
        runs.c.attempts,
        runs.c.deadline_at,
        runs.c.stop_at,
        runs.c.next_signal,
        runs.c.newest_signal,
    )
)
CLAIM_MORE = (
    sa.select(projects.c.managed, projects.c.path, projects.c.template, quota.c.amount)
    .select_from(runs)
    .join(projects, projects.c.id == runs.c.project_id)
    .join(quota, sa.and_(quota.c.run_id == runs.c.id, quota.c.kind == "reserve"))
    .where(_RUN)
)
_NEXT = _bind("next", sa.Integer)
APPEND = (
    runs.update()
    .where(_KEY, *_HELD)
    .values(
        seq=runs.c.seq + _bind("count", sa.Integer),
        next_signal=sa.case((runs.c.next_signal < _NEXT, _NEXT), else_=runs.c.next_signal),
    )
    .returning(runs.c.seq, runs.c.stop_at, runs.c.newest_signal)
)
APPEND_STEP = APPEND.values(attempts=0)
RELEASE = (
    runs.update()
    .where(_KEY, *_HELD)
    .values(owner=None, attempts=sa.case((runs.c.attempts > 0, runs.c.attempts - 1), else_=0))
)
HOLD_RUN = sa.select(runs.c.id).where(_RUN).with_for_update(key_share=True)
HOLD_MINE = HOLD_RUN.where(*_HELD)
ASK_STOP = (
    runs.update()
    .where(_KEY)
    .values(stop_at=sa.func.coalesce(runs.c.stop_at, _bind("now", sa.Float)))
)
BUMP = (
    runs.update()
    .where(_KEY)
    .values(seq=runs.c.seq + _bind("count", sa.Integer))
    .returning(runs.c.seq)
)
NEXT_SIGNAL = (
    runs.update()
    .where(_KEY, _IS_ACTIVE)
    .values(newest_signal=runs.c.newest_signal + 1)
    .returning(runs.c.newest_signal)
)
DROP_PARTIAL = partials.delete().where(partials.c.run_id == _bind("run"))
PARTIAL = sa.select(partials.c.frames).where(partials.c.run_id == _bind("run"))
ORPHANS = (
    sa.select(runs.c.id, runs.c.deadline_at, runs.c.stop_at, runs.c.newest_signal)
    .where(
        _IS_ACTIVE,
        sa.or_(runs.c.owner.is_(None), runs.c.owner == _bind("worker"), ~_OWNER_LIVES),
    )
    .order_by(runs.c.created_at)
)
SESSION_EVENTS = (
    sa.select(events.c.body)
    .join_from(runs, events, events.c.run_id == runs.c.id)
    .where(
        runs.c.session_id == _bind("session"),
        sa.or_(runs.c.id == _bind("run"), events.c.kind.in_(HISTORY_KINDS)),
    )
    .order_by(runs.c.begin_pseq, events.c.seq)
)
SIGNALS = (
    sa.select(signals.c.n, signals.c.body)
    .where(signals.c.run_id == _bind("run"), signals.c.n > _bind("after"))
    .order_by(signals.c.n)
)
COUNTS = (
    sa.select(runs.c.newest_signal, runs.c.next_signal).where(_RUN).with_for_update(key_share=True)
)
