"""The journal on SQLite: what every run and every reader asks for, in statements by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial

from wenfang.problems import Problem
from wenfang.storage import Database, SqliteTx

from . import sql
from .catalog import folder_of
from .entries import entry_of, with_steers
from .journal import (
    Ack,
    Busy,
    Claim,
    Claimed,
    Ending,
    Entry,
    Finished,
    NewRun,
    Page,
    Probe,
    Signal,
    Waiting,
)
from .reads import USAGE
from .records import Frame, RunInfo
from .statements import ACTIVE
from .store_journal import StoreJournal


class SqliteJournal(StoreJournal):
    """A transaction that writes is the only one, so nothing needs to be held."""

    def __init__(
        self, database: Database, *, clock: Callable[[], float], user_runs: int, probe: Probe
    ) -> None:
        super().__init__(database, clock=clock, user_runs=user_runs, probe=probe)
        self._sqlite = database

    async def submit(self, run: NewRun) -> tuple[RunInfo, tuple[Frame, ...]]:
        try:
            return await self._sqlite.write(partial(self._submit_raw, run))
        except sqlite3.IntegrityError as error:  # the index `runs_active`
            raise Problem("run_active", session_id=run.session_id) from error

    def _submit_raw(self, run: NewRun, tx: SqliteTx) -> tuple[RunInfo, tuple[Frame, ...]]:
        raw, now = tx.raw, self._clock()
        known = sql.run_of_request(raw, run.session_id, run.request_id)
        if known is not None:
            return known, ()
        row = sql.one(raw, _SESSION, (run.session_id,))
        if row is None:
            raise Problem("session_not_found", id=run.session_id)
        project_id, seq, title = row
        entries = [entry_of(fact) for fact in run.facts]
        raw.execute(
            _INSERT,
            {
                "id": run.id,
                "session": run.session_id,
                "project": project_id,
                "user": run.user_id,
                "request": run.request_id,
                "begin": seq + 1,
                "owner": run.owner,
                "seq": len(entries),
                "deadline": run.deadline_at,
                "now": now,
            },
        )
        sql.reserve(raw, run.id, run.reserve)
        raw.execute(_TOUCH_SESSION, (title or run.title, now, run.session_id))
        raw.execute("UPDATE projects SET updated_at = ? WHERE id = ?", (now, project_id))
        frames = sql.record(
            raw,
            project_id=project_id,
            session_id=run.session_id,
            run_id=run.id,
            last_seq=len(entries),
            entries=entries,
            now=now,
        )
        self._probe("submit.before_commit")
        return sql.run_info(raw, run.id), frames

    async def claim(self, run_id: str, worker: str) -> Claimed:
        return await self._sqlite.write(partial(self._claim_raw, run_id, worker))

    def _claim_raw(self, run_id: str, worker: str, tx: SqliteTx) -> Claimed:
        now = self._clock()
        row = sql.one(tx.raw, _CLAIMABLE, {"run": run_id, "now": now})
        if row is None or row[0] not in ACTIVE:
            return Finished()
        _, owner, user_id, owner_lives = row
        if owner_lives and owner != worker:
            return Busy(why="owned")
        values = {"user": user_id, "run": run_id, "now": now}
        if sql.one(tx.raw, _USER_RUNS, values)[0] >= self._user_runs:
            return Busy(why="user")
        claimed = sql.one(tx.raw, _CLAIM, {"worker": worker, "run": run_id})
        managed, path, template, reserved = sql.one(tx.raw, _CLAIM_MORE, (run_id,))
        return Claim(
            run_id=run_id,
            session_id=claimed[0],
            project_id=claimed[1],
            folder=folder_of(managed, path),
            template=template,
            user_id=user_id,
            worker=worker,
            epoch=claimed[2],
            attempts=claimed[3],
            deadline_at=claimed[4],
            stop_requested=claimed[5] is not None,
            next_signal=claimed[6],
            newest_signal=claimed[7],
            reserved=reserved,
        )

    async def append(self, claim: Claim, entries: Sequence[Entry]) -> Ack:
        return await self._sqlite.write(partial(self._append_raw, claim, entries))

    def _append_raw(self, claim: Claim, entries: Sequence[Entry], tx: SqliteTx) -> Ack:
        ack = sql.append(tx.raw, claim, entries, self._clock())
        if any(entry.ends_message for entry in entries):
            tx.raw.execute("DELETE FROM partials WHERE run_id = ?", (claim.run_id,))
        for entry in entries:
            self._probe(f"append.before_commit:{entry.kind}")
        return ack

    async def finish(self, claim: Claim, ending: Ending) -> Ack | Waiting:
        return await self._sqlite.write(partial(self._finish_raw, claim, ending))

    def _finish_raw(self, claim: Claim, ending: Ending, tx: SqliteTx) -> Ack | Waiting:
        steers = _unapplied(tx.raw, claim.run_id)
        if steers and ending.status == "done":
            return Waiting(newest_signal=steers[-1].n)
        ack = sql.append(tx.raw, claim, with_steers(steers, ending), self._clock())
        self._close_raw(tx.raw, claim.run_id, ending)
        self._probe("finish.before_commit")
        return ack

    def _close_raw(self, raw: sqlite3.Connection, run_id: str, ending: Ending) -> None:
        """The rest of the closing transaction: the row and the settlement."""
        usage = USAGE.dump_json(ending.usage).decode()
        values = (ending.status, ending.reason, usage, self._clock(), run_id)
        raw.execute(_END, values)
        raw.execute("DELETE FROM partials WHERE run_id = ?", (run_id,))
        sums = ending.settlement
        sql.settle(raw, run_id, sums.charge, sums.refund, sums.estimated)

    async def page(self, project_id: str, after: int, run_id: str | None = None) -> Page:
        return await self._sqlite.read(lambda tx: _page(tx.raw, project_id, after, run_id))


_SESSION = """
SELECT p.id, p.seq, s.title FROM sessions s JOIN projects p ON p.id = s.project_id
WHERE s.id = ? AND s.deleted_at IS NULL AND p.deleted_at IS NULL
"""
_INSERT = """
INSERT INTO runs (id, session_id, project_id, user_id, request_id, begin_pseq, status, owner, seq,
    deadline_at, created_at)
VALUES (:id, :session, :project, :user, :request, :begin, 'queued', :owner, :seq, :deadline, :now)
"""
_TOUCH_SESSION = "UPDATE sessions SET title = ?, updated_at = ? WHERE id = ?"
_CLAIMABLE = f"SELECT status, owner, user_id, {sql.LIVE} FROM runs WHERE id = :run"  # noqa: S608
_USER_RUNS = f"""
SELECT COUNT(*) FROM runs
WHERE user_id = :user AND status = 'running' AND id <> :run AND {sql.LIVE}
"""  # noqa: S608
_CLAIM = """
UPDATE runs SET status = 'running', owner = :worker, epoch = epoch + 1, attempts = attempts + 1
WHERE id = :run
RETURNING session_id, project_id, epoch, attempts, deadline_at, stop_at, next_signal,
    newest_signal
"""
_CLAIM_MORE = """
SELECT p.managed, p.path, p.template, q.amount FROM runs r JOIN projects p ON p.id = r.project_id
JOIN quota q ON q.run_id = r.id AND q.kind = 'reserve' WHERE r.id = ?
"""
_END = (
    "UPDATE runs SET status = ?, reason = ?, usage = ?, finished_at = ?, owner = NULL WHERE id = ?"
)


def _unapplied(raw: sqlite3.Connection, run_id: str) -> list[Signal]:
    row = sql.one(raw, "SELECT newest_signal, next_signal FROM runs WHERE id = ?", (run_id,))
    return _signals(raw, run_id, row[1] - 1) if row and row[0] >= row[1] else []


def _signals(raw: sqlite3.Connection, run_id: str, after: int) -> list[Signal]:
    statement = "SELECT n, body FROM signals WHERE run_id = ? AND n > ? ORDER BY n"
    return [Signal(n=n, text=text) for n, text in raw.execute(statement, (run_id, after))]


def _page(raw: sqlite3.Connection, project_id: str, after: int, run_id: str | None) -> Page:
    frames, is_all = sql.page_frames(raw, project_id, after, run_id)
    if is_all:
        upto = sql.one(raw, "SELECT seq FROM projects WHERE id = ?", (project_id,))[0]
    else:
        upto = frames[-1].seq or after
    ended = False
    if run_id is not None and is_all:
        statement = "SELECT 1 FROM events WHERE run_id = ? AND kind = 'run.finished'"
        ended = sql.one(raw, statement, (run_id,)) is not None
    return Page(frames=frames, upto=upto, complete=is_all, ended=ended)
