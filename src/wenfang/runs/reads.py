"""Cold reads: a run as it stands, positions in streams, what a submit needs to know."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from wenfang.core import Usage
from wenfang.problems import Problem
from wenfang.storage import SqliteTx

from . import sql
from .catalog import find_project, find_session
from .records import RunContext, RunInfo
from .shelf import Shelf

USAGE = TypeAdapter(Usage)
_INFO = (
    "SELECT id, session_id, project_id, status, reason, created_at, finished_at, usage FROM runs"
)


def _info_of(row: Sequence[Any]) -> RunInfo:
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


def run_info(raw: sqlite3.Connection, run_id: str) -> RunInfo:
    """Raises Problem `run_not_found`."""
    row = sql.one(raw, f"{_INFO} WHERE id = ?", (run_id,))
    if row is None:
        raise Problem("run_not_found", id=run_id)
    return _info_of(row)


def run_of_request(
    raw: sqlite3.Connection, session_id: str, request_id: str | None
) -> RunInfo | None:
    """The run that a request of a session started before."""
    if request_id is None:
        return None
    row = sql.one(raw, f"{_INFO} WHERE session_id = ? AND request_id = ?", (session_id, request_id))
    return _info_of(row) if row is not None else None


def context_of(
    shelf: Shelf, run_id: str, session_id: str, text: str, request_id: str | None, tx: SqliteTx
) -> RunContext | RunInfo:
    """For whom to make an agent, or the run that this request started before.

    Raises Problem `session_not_found`, `project_not_found` or `run_active`.
    """
    session = find_session(tx, session_id)
    known = run_of_request(tx.raw, session_id, request_id)
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


def reserved(tx: SqliteTx, run_id: str) -> int:
    """The run's reservation in tokens. Raises Problem `run_not_found`."""
    statement = "SELECT amount FROM quota WHERE run_id = ? AND kind = 'reserve'"
    row = sql.one(tx.raw, statement, (run_id,))
    if row is None:
        raise Problem("run_not_found", id=run_id)
    return row[0]


def check_position(tx: SqliteTx, project_id: str, after: int) -> None:
    """Raises Problem `project_not_found`, or `invalid_request` for a fact that is not there yet."""
    statement = "SELECT seq FROM projects WHERE id = ? AND deleted_at IS NULL"
    row = sql.one(tx.raw, statement, (project_id,))
    if row is None:
        raise Problem("project_not_found", id=project_id)
    if not 0 <= after <= row[0]:
        problem = f"must be between 0 and {row[0]}, the newest event"
        raise Problem("invalid_request", field="after", problem=problem)


def run_at(tx: SqliteTx, run_id: str, after: int) -> RunInfo:
    """The run, for a reader with the fact `after`; raises what `run_info` and `check_position` raise."""
    run = run_info(tx.raw, run_id)
    check_position(tx, run.project_id, after)
    return run


def has_more(tx: SqliteTx, run_id: str, after: int) -> bool:
    """Whether a reader with the fact `after` misses anything of a run, now or later."""
    run_info(tx.raw, run_id)
    statement = "SELECT pseq FROM events WHERE run_id = ? AND kind = 'run.finished'"
    row = sql.one(tx.raw, statement, (run_id,))
    return row is None or row[0] > after


def heads(tx: SqliteTx, project_ids: Sequence[str]) -> dict[str, int]:
    """The number of the newest fact of each project."""
    marks = ", ".join("?" * len(project_ids))
    rows = tx.raw.execute(f"SELECT id, seq FROM projects WHERE id IN ({marks})", project_ids)  # noqa: S608
    return dict(rows.fetchall())
