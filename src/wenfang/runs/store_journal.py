"""The journal in statements that every database understands (durable.md §3, §8).

Each call is one transaction. On PostgreSQL transactions run side by side, so each takes what it is going
to change first: the row of the project (`recording.hold`), then the row of the run; a claim, which
numbers nothing, its user and then the run. What a database does often has a tuned form in a class below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from wenfang.problems import Problem
from wenfang.storage import Store, Tx, partials, projects, quota, runs, sessions, signals

from . import statements as of
from .catalog import folder_of
from .codec import decode
from .entries import entry_of, with_steers
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
from .paging import read_page
from .reads import USAGE, run_info, run_of_request
from .recording import hold, record
from .records import Frame, RunInfo


class StoreJournal:
    """See `Journal`. `clock` gives Unix seconds; `user_runs` is how many runs of one user are claimed
    at once; `probe` is told the names of the places where the fault suite kills the process."""

    def __init__(
        self, database: Store, *, clock: Callable[[], float], user_runs: int, probe: Probe
    ) -> None:
        self._db = database
        self._clock = clock
        self._user_runs = user_runs
        self._probe = probe

    async def submit(self, run: NewRun) -> tuple[RunInfo, tuple[Frame, ...]]:
        return await self._db.write(partial(self._submit, run))

    def _submit(self, run: NewRun, tx: Tx) -> tuple[RunInfo, tuple[Frame, ...]]:
        project_id = tx.sa.execute(of.PROJECT_OF_SESSION, {"session": run.session_id}).scalar()
        if project_id is None:
            raise Problem("session_not_found", id=run.session_id)
        hold(tx, project_id)
        known = run_of_request(tx, run.session_id, run.request_id)
        if known is not None:
            return known, ()
        session = tx.sa.execute(of.SESSION, {"session": run.session_id}).one_or_none()
        if session is None:
            raise Problem("session_not_found", id=run.session_id)
        if tx.sa.execute(of.ACTIVE_RUN, {"session": run.session_id}).first() is not None:
            raise Problem("run_active", session_id=run.session_id)
        now = self._clock()
        entries = [entry_of(fact) for fact in run.facts]
        tx.sa.execute(
            runs.insert(),
            {
                "id": run.id,
                "session_id": run.session_id,
                "project_id": project_id,
                "user_id": run.user_id,
                "request_id": run.request_id,
                "begin_pseq": session.seq + 1,
                "status": "queued",
                "owner": run.owner,
                "seq": len(entries),
                "deadline_at": run.deadline_at,
                "created_at": now,
            },
        )
        _book(tx, run.id, ("reserve", run.reserve, False))
        touched = {"title": session.title or run.title, "updated_at": now}
        tx.sa.execute(sessions.update().where(sessions.c.id == run.session_id).values(touched))
        tx.sa.execute(projects.update().where(projects.c.id == project_id).values(updated_at=now))
        frames = record(
            tx,
            project_id=project_id,
            session_id=run.session_id,
            run_id=run.id,
            last_seq=len(entries),
            entries=entries,
            now=now,
        )
        self._probe("submit.before_commit")
        return run_info(tx, run.id), frames

    async def claim(self, run_id: str, worker: str) -> Claimed:
        return await self._db.write(partial(self._claim, run_id, worker))

    def _claim(self, run_id: str, worker: str, tx: Tx) -> Claimed:
        user_id = tx.sa.execute(of.USER_OF_RUN, {"run": run_id}).scalar()
        if user_id is None:
            return Finished()
        tx.lock(f"wenfang: runs of {user_id}")  # whoever counts them is the only one who does
        values = {"run": run_id, "now": self._clock()}
        row = tx.sa.execute(of.CLAIMABLE, values).one()
        if row.status not in of.ACTIVE:
            return Finished()
        if row.owner_lives and row.owner != worker:
            return Busy(why="owned")
        if tx.sa.execute(of.USER_RUNS, values | {"user": user_id}).scalar_one() >= self._user_runs:
            return Busy(why="user")
        claimed = tx.sa.execute(of.CLAIM, {"key": run_id, "worker": worker}).one()
        more = tx.sa.execute(of.CLAIM_MORE, {"run": run_id}).one()
        return Claim(
            run_id=run_id,
            session_id=claimed.session_id,
            project_id=claimed.project_id,
            folder=folder_of(more.managed, more.path),
            template=more.template,
            user_id=user_id,
            worker=worker,
            epoch=claimed.epoch,
            attempts=claimed.attempts,
            deadline_at=claimed.deadline_at,
            stop_requested=claimed.stop_at is not None,
            next_signal=claimed.next_signal,
            newest_signal=claimed.newest_signal,
            reserved=more.amount,
        )

    async def append(self, claim: Claim, entries: Sequence[Entry]) -> Ack:
        return await self._db.write(partial(self._append, claim, entries))

    def _append(self, claim: Claim, entries: Sequence[Entry], tx: Tx) -> Ack:
        hold(tx, claim.project_id)
        ack = self._append_held(claim, entries, tx)
        for entry in entries:
            self._probe(f"append.before_commit:{entry.kind}")
        return ack

    def _append_held(self, claim: Claim, entries: Sequence[Entry], tx: Tx) -> Ack:
        """The fenced append, in a transaction that holds the project. Raises `Fenced`."""
        applied = [entry.signal for entry in entries if entry.signal is not None]
        values = {
            "key": claim.run_id,
            "held": claim.epoch,
            "count": len(entries),
            "next": max(applied, default=0) + 1,
        }
        is_step = any(entry.is_step for entry in entries)
        row = tx.sa.execute(of.APPEND_STEP if is_step else of.APPEND, values).one_or_none()
        if row is None:
            raise Fenced
        frames = record(
            tx,
            project_id=claim.project_id,
            session_id=claim.session_id,
            run_id=claim.run_id,
            last_seq=row.seq,
            entries=entries,
            now=self._clock(),
        )
        if any(entry.ends_message for entry in entries):
            tx.sa.execute(of.DROP_PARTIAL, {"run": claim.run_id})
        return Ack(
            frames=frames, stop_requested=row.stop_at is not None, newest_signal=row.newest_signal
        )

    async def finish(self, claim: Claim, ending: Ending) -> Ack | Waiting:
        return await self._db.write(partial(self._finish, claim, ending))

    def _finish(self, claim: Claim, ending: Ending, tx: Tx) -> Ack | Waiting:
        hold(tx, claim.project_id)
        late = _unapplied(tx, claim.run_id)
        if late and ending.status == "done":
            return Waiting(newest_signal=late[-1].n)
        ack = self._append_held(claim, with_steers(late, ending), tx)
        self._close(tx, claim.run_id, ending)
        self._probe("finish.before_commit")
        return ack

    def _close(self, tx: Tx, run_id: str, ending: Ending) -> None:
        """The rest of the closing transaction: the row and the settlement."""
        values = {
            "status": ending.status,
            "reason": ending.reason,
            "usage": USAGE.dump_json(ending.usage).decode(),
            "finished_at": self._clock(),
            "owner": None,
        }
        tx.sa.execute(runs.update().where(runs.c.id == run_id).values(values))
        tx.sa.execute(of.DROP_PARTIAL, {"run": run_id})
        sums = ending.settlement
        # The primary key makes a second settlement impossible.
        _book(tx, run_id, ("settle", -sums.charge, sums.estimated), ("refund", -sums.refund, False))

    async def release(self, claim: Claim) -> None:
        await self._db.write(partial(self._release, claim))

    def _release(self, claim: Claim, tx: Tx) -> None:
        if tx.sa.execute(of.RELEASE, {"key": claim.run_id, "held": claim.epoch}).rowcount == 0:
            raise Fenced

    async def history(self, claim: Claim) -> Fold:
        return await self._db.read(partial(_history, claim))

    async def stop(self, run_id: str, unstarted: Ending) -> Stopped:
        return await self._db.write(partial(self._stop, run_id, unstarted))

    def _stop(self, run_id: str, unstarted: Ending, tx: Tx) -> Stopped:
        info = run_info(tx, run_id)
        hold(tx, info.project_id)
        tx.sa.execute(of.HOLD_RUN, {"run": run_id})
        info = run_info(tx, run_id)
        if info.is_finished:
            return Stopped(info=info)
        if info.status == "running":
            tx.sa.execute(of.ASK_STOP, {"key": run_id, "now": self._clock()})
            return Stopped(info=info)
        entries = with_steers(_unapplied(tx, run_id), unstarted)
        frames = record(
            tx,
            project_id=info.project_id,
            session_id=info.session_id,
            run_id=run_id,
            last_seq=tx.sa.execute(of.BUMP, {"key": run_id, "count": len(entries)}).scalar_one(),
            entries=entries,
            now=self._clock(),
        )
        self._close(tx, run_id, unstarted)
        return Stopped(info=run_info(tx, run_id), frames=frames)

    async def steer(self, run_id: str, text: str) -> Signal:
        signal = await self._db.write(partial(self._steer, run_id, text))
        self._probe("steer.before_poke")
        return signal

    def _steer(self, run_id: str, text: str, tx: Tx) -> Signal:
        n = tx.sa.execute(of.NEXT_SIGNAL, {"key": run_id}).scalar()
        if n is None:
            raise Problem("run_finished", id=run_info(tx, run_id).id)
        row = {"run_id": run_id, "n": n, "kind": "steer", "body": text, "created_at": self._clock()}
        tx.sa.execute(signals.insert(), row)
        return Signal(n=n, text=text)

    async def signals(self, run_id: str, after: int) -> list[Signal]:
        return await self._db.read(lambda tx: _signals(tx, run_id, after))

    async def save_partial(self, claim: Claim, frames: bytes | None) -> None:
        await self._db.write(partial(self._save_partial, claim, frames))

    def _save_partial(self, claim: Claim, frames: bytes | None, tx: Tx) -> None:
        if tx.sa.execute(of.HOLD_MINE, {"run": claim.run_id, "held": claim.epoch}).first() is None:
            return
        tx.sa.execute(of.DROP_PARTIAL, {"run": claim.run_id})
        row = {"run_id": claim.run_id, "frames": frames, "updated_at": self._clock()}
        tx.sa.execute(partials.insert(), row)

    async def partial(self, run_id: str) -> bytes:
        return await self._db.read(
            lambda tx: tx.sa.execute(of.PARTIAL, {"run": run_id}).scalar() or b""
        )

    async def orphans(self, worker: str) -> list[Orphan]:
        values = {"worker": worker, "now": self._clock()}
        rows = await self._db.read(lambda tx: tx.sa.execute(of.ORPHANS, values).all())
        return [
            Orphan(
                run_id=row.id,
                expired=row.deadline_at is not None and row.deadline_at <= values["now"],
                stop_requested=row.stop_at is not None,
                newest_signal=row.newest_signal,
            )
            for row in rows
        ]

    async def page(self, project_id: str, after: int, run_id: str | None = None) -> Page:
        return await self._db.read(lambda tx: read_page(tx, project_id, after, run_id))


def _book(tx: Tx, run_id: str, *rows: tuple[str, int, bool]) -> None:
    tx.sa.execute(
        quota.insert(),
        [
            {"run_id": run_id, "kind": kind, "amount": amount, "estimated": int(estimated)}
            for kind, amount, estimated in rows
        ],
    )


def _unapplied(tx: Tx, run_id: str) -> list[Signal]:
    """Steering words that no fact has taken up; none come in until the end of the transaction."""
    row = tx.sa.execute(of.COUNTS, {"run": run_id}).one_or_none()
    if row is None or row.newest_signal < row.next_signal:
        return []
    return _signals(tx, run_id, row.next_signal - 1)


def _signals(tx: Tx, run_id: str, after: int) -> list[Signal]:
    rows = tx.sa.execute(of.SIGNALS, {"run": run_id, "after": after})
    return [Signal(n=n, text=text) for n, text in rows]


def _history(claim: Claim, tx: Tx) -> Fold:
    values = {"session": claim.session_id, "run": claim.run_id}
    bodies = tx.sa.execute(of.SESSION_EVENTS, values).scalars()
    return fold(decode(body) for body in bodies)  # pyright: ignore[reportArgumentType]
