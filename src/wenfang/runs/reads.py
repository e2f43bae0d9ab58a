"""Cold reads: a run as it stands, positions in streams, what a submit needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from wenfang.core import Usage
from wenfang.problems import Problem
from wenfang.storage import Tx, events, projects, quota, runs

from .catalog import find_project, find_session
from .records import RunContext, RunInfo
from .shelf import Shelf

USAGE = TypeAdapter(Usage)
_INFO = sa.select(
    runs.c.id,
    runs.c.session_id,
    runs.c.project_id,
    runs.c.status,
    runs.c.reason,
    runs.c.created_at,
    runs.c.finished_at,
    runs.c.usage,
)
# A statement that is made anew costs as much as the answer.
_RUN = _INFO.where(runs.c.id == sa.bindparam("run"))
_OF_REQUEST = _INFO.where(
    runs.c.session_id == sa.bindparam("session"), runs.c.request_id == sa.bindparam("request")
)
_RESERVED = sa.select(quota.c.amount).where(
    quota.c.run_id == sa.bindparam("run"), quota.c.kind == "reserve"
)
_HEAD = sa.select(projects.c.seq).where(
    projects.c.id == sa.bindparam("project"), projects.c.deleted_at.is_(None)
)
_LAST = sa.select(events.c.pseq).where(
    events.c.run_id == sa.bindparam("run"), events.c.kind == "run.finished"
)
_HEADS = sa.select(projects.c.id, projects.c.seq).where(
    projects.c.id.in_(sa.bindparam("ids", expanding=True))
)


def info_of(row: Sequence[Any]) -> RunInfo:
    """The run of a row with id, session, project, status, reason, beginning, end and usage."""
    return RunInfo(
        id=row[0],
        session_id=row[1],
        project_id=row[2],
        status=row[3],
        reason=row[4],
        created_at=row[5],
        finished_at=row[6],
        usage=USAGE.validate_json(row[7]) if row[7] else Usage(),
    )


def run_info(tx: Tx, run_id: str) -> RunInfo:
    """Raises Problem `run_not_found`."""
    row = tx.sa.execute(_RUN, {"run": run_id}).one_or_none()
    if row is None:
        raise Problem("run_not_found", id=run_id)
    return info_of(row)


def run_of_request(tx: Tx, session_id: str, request_id: str | None) -> RunInfo | None:
    """The run that a request of a session started before."""
    if request_id is None:
        return None
    row = tx.sa.execute(_OF_REQUEST, {"session": session_id, "request": request_id}).one_or_none()
    return info_of(row) if row is not None else None


def context_of(
    shelf: Shelf, run_id: str, session_id: str, text: str, request_id: str | None, tx: Tx
) -> RunContext | RunInfo:
    """For whom to make an agent, or the run that this request started before.

    Raises Problem `session_not_found`, `project_not_found` or `run_active`.
    """
    session = find_session(tx, session_id)
    known = run_of_request(tx, session_id, request_id)
    if known is not None:
        return known
    if session.active_run is not None:
        raise Problem("run_active", session_id=session_id)
    project = find_project(tx, session.project_id)
    return RunContext(
        run_id=run_id,
        session_id=session_id,
        project_id=project.id,
        files=shelf.files(project.id, project.folder, "ai", run_id),
        text=text,
        template=project.template,
    )


def reserved(tx: Tx, run_id: str) -> int:
    """The run's reservation in tokens. Raises Problem `run_not_found`."""
    amount = tx.sa.execute(_RESERVED, {"run": run_id}).scalar()
    if amount is None:
        raise Problem("run_not_found", id=run_id)
    return amount


def check_position(tx: Tx, project_id: str, after: int) -> None:
    """Raises Problem `project_not_found`, or `invalid_request` for a fact that is not there yet."""
    head = tx.sa.execute(_HEAD, {"project": project_id}).scalar()
    if head is None:
        raise Problem("project_not_found", id=project_id)
    if not 0 <= after <= head:
        problem = f"must be between 0 and {head}, the newest event"
        raise Problem("invalid_request", field="after", problem=problem)


def run_at(tx: Tx, run_id: str, after: int) -> RunInfo:
    """The run, for a reader with the fact `after`; raises what `run_info` and `check_position` raise."""
    run = run_info(tx, run_id)
    check_position(tx, run.project_id, after)
    return run


def has_more(tx: Tx, run_id: str, after: int) -> bool:
    """Whether a reader with the fact `after` misses anything of a run, now or later."""
    run_info(tx, run_id)
    last = tx.sa.execute(_LAST, {"run": run_id}).scalar()
    return last is None or last > after


def heads(tx: Tx, project_ids: Sequence[str]) -> dict[str, int]:
    """The number of the newest fact of each project."""
    rows = tx.sa.execute(_HEADS, {"ids": list(project_ids)})
    return {row.id: row.seq for row in rows}
