"""The journal on SQLite: each call is one operation of the writer or the reader thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial

from wenfang.problems import Problem
from wenfang.storage import Database, SqliteTx

from . import sql
from .catalog import folder_of
from .codec import decode
from .entries import entry_of, steer_fact
from .fold import Fold, fold
from .journal import (
    Ack,
    Busy,
    Claim,
    Claimed,
    Ending,
    Entry,
    Fenced,
    Finished,
    NewRun,
    Orphan,
    Page,
    Probe,
    Signal,
    Stopped,
    Waiting,
)
from .reads import USAGE
from .records import Frame, RunInfo

_ACTIVE = ("queued", "running")
_HISTORY_KINDS = (
    "('run.started', 'user.message', 'message.finished', 'tool.finished', 'run.finished')"
)


class SqliteJournal:
    """See `Journal`. `clock` gives Unix seconds; `user_runs` is how many runs of one user are claimed
    at once; `probe` is told the names of the places where the fault suite kills the process."""

    def __init__(
        self, database: Database, *, clock: Callable[[], float], user_runs: int, probe: Probe
    ) -> None:
        self._db = database
        self._clock = clock
        self._user_runs = user_runs
        self._probe = probe

    async def submit(self, run: NewRun) -> tuple[RunInfo, tuple[Frame, ...]]:
        try:
            return await self._db.write(partial(self._submit, run))
        except sqlite3.IntegrityError as error:  # the index `runs_active`
            raise Problem("run_active", session_id=run.session_id) from error

    def _submit(self, run: NewRun, tx: SqliteTx) -> tuple[RunInfo, tuple[Frame, ...]]:
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
        return await self._db.write(partial(self._claim, run_id, worker))

    def _claim(self, run_id: str, worker: str, tx: SqliteTx) -> Claimed:
        now = self._clock()
        row = sql.one(tx.raw, _CLAIMABLE, {"run": run_id, "now": now})
        if row is None or row[0] not in _ACTIVE:
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
        return await self._db.write(partial(self._append, claim, entries))

    def _append(self, claim: Claim, entries: Sequence[Entry], tx: SqliteTx) -> Ack:
        ack = sql.append(tx.raw, claim, entries, self._clock())
        if any(entry.ends_message for entry in entries):
            tx.raw.execute("DELETE FROM partials WHERE run_id = ?", (claim.run_id,))
        for entry in entries:
            self._probe(f"append.before_commit:{entry.kind}")
        return ack

    async def finish(self, claim: Claim, ending: Ending) -> Ack | Waiting:
        return await self._db.write(partial(self._finish, claim, ending))

    def _finish(self, claim: Claim, ending: Ending, tx: SqliteTx) -> Ack | Waiting:
        steers = _unapplied(tx.raw, claim.run_id)
        if steers and ending.status == "done":
            return Waiting(newest_signal=steers[-1].n)
        ack = sql.append(tx.raw, claim, _with_steers(steers, ending), self._clock())
        self._close(tx.raw, claim.run_id, ending)
        self._probe("finish.before_commit")
        return ack

    def _close(self, raw: sqlite3.Connection, run_id: str, ending: Ending) -> None:
        """The rest of the closing transaction: the row and the settlement."""
        usage = USAGE.dump_json(ending.usage).decode()
        values = (ending.status, ending.reason, usage, self._clock(), run_id)
        raw.execute(_END, values)
        raw.execute("DELETE FROM partials WHERE run_id = ?", (run_id,))
        sums = ending.settlement
        sql.settle(raw, run_id, sums.charge, sums.refund, sums.estimated)

    async def release(self, claim: Claim) -> None:
        await self._db.write(partial(self._release, claim))

    def _release(self, claim: Claim, tx: SqliteTx) -> None:
        if tx.raw.execute(_RELEASE, (claim.run_id, claim.epoch)).rowcount == 0:
            raise Fenced

    async def history(self, claim: Claim) -> Fold:
        return await self._db.read(partial(_history, claim))

    async def stop(self, run_id: str, unstarted: Ending) -> Stopped:
        return await self._db.write(partial(self._stop, run_id, unstarted))

    def _stop(self, run_id: str, unstarted: Ending, tx: SqliteTx) -> Stopped:
        info = sql.run_info(tx.raw, run_id)
        if info.is_finished:
            return Stopped(info=info)
        now = self._clock()
        if info.status == "running":
            tx.raw.execute(_ASK_STOP, (now, run_id))
            return Stopped(info=info)
        entries = _with_steers(_unapplied(tx.raw, run_id), unstarted)
        seq = sql.one(tx.raw, _BUMP, (len(entries), run_id))[0]
        frames = sql.record(
            tx.raw,
            project_id=info.project_id,
            session_id=info.session_id,
            run_id=run_id,
            last_seq=seq,
            entries=entries,
            now=now,
        )
        self._close(tx.raw, run_id, unstarted)
        return Stopped(info=sql.run_info(tx.raw, run_id), frames=frames)

    async def steer(self, run_id: str, text: str) -> Signal:
        signal = await self._db.write(partial(self._steer, run_id, text))
        self._probe("steer.before_poke")
        return signal

    def _steer(self, run_id: str, text: str, tx: SqliteTx) -> Signal:
        if sql.run_info(tx.raw, run_id).is_finished:
            raise Problem("run_finished", id=run_id)
        n = sql.one(tx.raw, _NEXT_SIGNAL, (run_id,))[0]
        tx.raw.execute(
            "INSERT INTO signals (run_id, n, kind, body, created_at) VALUES (?, ?, 'steer', ?, ?)",
            (run_id, n, text, self._clock()),
        )
        return Signal(n=n, text=text)

    async def signals(self, run_id: str, after: int) -> list[Signal]:
        return await self._db.read(lambda tx: _signals(tx.raw, run_id, after))

    async def save_partial(self, claim: Claim, frames: bytes | None) -> None:
        values = {
            "run": claim.run_id,
            "epoch": claim.epoch,
            "frames": frames,
            "now": self._clock(),
        }
        await self._db.write(lambda tx: tx.raw.execute(_PARTIAL, values) and None)

    async def partial(self, run_id: str) -> bytes:
        statement = "SELECT frames FROM partials WHERE run_id = ?"
        row = await self._db.read(lambda tx: sql.one(tx.raw, statement, (run_id,)))
        return row[0] if row else b""

    async def orphans(self, worker: str) -> list[Orphan]:
        values = {"worker": worker, "now": self._clock()}
        rows = await self._db.read(lambda tx: tx.raw.execute(_ORPHANS, values).fetchall())
        return [
            Orphan(
                run_id=row[0],
                expired=bool(row[1]),
                stop_requested=row[2] is not None,
                newest_signal=row[3],
            )
            for row in rows
        ]

    async def page(self, project_id: str, after: int, run_id: str | None = None) -> Page:
        return await self._db.read(lambda tx: _page(tx.raw, project_id, after, run_id))


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
_RELEASE = """
UPDATE runs SET owner = NULL, attempts = MAX(0, attempts - 1)
WHERE id = ? AND epoch = ? AND status = 'running'
"""
_ASK_STOP = "UPDATE runs SET stop_at = COALESCE(stop_at, ?) WHERE id = ?"
_BUMP = "UPDATE runs SET seq = seq + ? WHERE id = ? RETURNING seq"
_NEXT_SIGNAL = (
    "UPDATE runs SET newest_signal = newest_signal + 1 WHERE id = ? RETURNING newest_signal"
)
_PARTIAL = """
INSERT OR REPLACE INTO partials (run_id, frames, updated_at)
SELECT id, :frames, :now FROM runs WHERE id = :run AND epoch = :epoch AND status = 'running'
"""
_ORPHANS = f"""
SELECT id, COALESCE(deadline_at <= :now, 0), stop_at, newest_signal FROM runs
WHERE status IN ('queued', 'running') AND (owner IS NULL OR owner = :worker OR NOT {sql.LIVE})
ORDER BY created_at
"""  # noqa: S608
_SESSION_EVENTS = f"""
SELECT e.body FROM runs r JOIN events e ON e.run_id = r.id
WHERE r.session_id = ? AND (r.id = ? OR e.kind IN {_HISTORY_KINDS})
ORDER BY r.begin_pseq, e.seq
"""  # noqa: S608


def _unapplied(raw: sqlite3.Connection, run_id: str) -> list[Signal]:
    row = sql.one(raw, "SELECT newest_signal, next_signal FROM runs WHERE id = ?", (run_id,))
    return _signals(raw, run_id, row[1] - 1) if row and row[0] >= row[1] else []


def _with_steers(steers: Sequence[Signal], ending: Ending) -> list[Entry]:
    """The closing facts, with the words that came too late to be answered before the last."""
    late = [entry_of(steer_fact(ending.run_id, signal)) for signal in steers]
    return [*ending.entries[:-1], *late, ending.entries[-1]]


def _signals(raw: sqlite3.Connection, run_id: str, after: int) -> list[Signal]:
    statement = "SELECT n, body FROM signals WHERE run_id = ? AND n > ? ORDER BY n"
    return [Signal(n=n, text=text) for n, text in raw.execute(statement, (run_id, after))]


def _history(claim: Claim, tx: SqliteTx) -> Fold:
    rows = tx.raw.execute(_SESSION_EVENTS, (claim.session_id, claim.run_id))
    return fold(decode(body) for (body,) in rows)  # pyright: ignore[reportArgumentType]


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
