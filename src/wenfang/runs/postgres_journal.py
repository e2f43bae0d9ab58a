"""The journal on PostgreSQL: appends of many runs in one statement, and none of them twice.

Who wrote something and never heard the answer asks again with the same facts (`Pen`). The number of the
run's last fact tells whether they are there: while a claim holds, nobody else numbers facts of its run
(durable.md D2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from wenfang.storage import Store, Tx, events, runs

from .appends import Append, AppendQueue
from .journal import Ack, Claim, Claimed, Ending, Entry, Fenced, Probe, Waiting
from .recording import frame_of
from .records import Frame
from .statements import ACTIVE
from .store_journal import StoreJournal


class PostgresJournal(StoreJournal):
    """`_last` has each claim's epoch and the number of the last fact written under it."""

    def __init__(
        self, database: Store, *, clock: Callable[[], float], user_runs: int, probe: Probe
    ) -> None:
        super().__init__(database, clock=clock, user_runs=user_runs, probe=probe)
        self._last: dict[str, tuple[int, int]] = {}
        self._queue = AppendQueue(self._write_batch)

    async def claim(self, run_id: str, worker: str) -> Claimed:
        def claim(tx: Tx) -> tuple[Claimed, int]:
            claimed = self._claim(run_id, worker, tx)
            if not isinstance(claimed, Claim):
                return claimed, 0
            return claimed, tx.sa.execute(_SEQ, {"run": run_id}).scalar_one()

        claimed, seq = await self._db.write(claim)
        if isinstance(claimed, Claim):
            self._last[run_id] = claimed.epoch, seq
        return claimed

    async def append(self, claim: Claim, entries: Sequence[Entry]) -> Ack:
        after = self._after(claim)
        try:
            ack = await self._queue.append(Append(claim=claim, entries=entries, after=after))
        except Fenced:
            self._forget(claim)
            raise
        if after is not None:
            self._last[claim.run_id] = claim.epoch, after + len(entries)
        return ack

    async def finish(self, claim: Claim, ending: Ending) -> Ack | Waiting:
        done = await super().finish(claim, ending)
        if isinstance(done, Ack):
            self._forget(claim)
        return done

    def _finish(self, claim: Claim, ending: Ending, tx: Tx) -> Ack | Waiting:
        try:
            return super()._finish(claim, ending, tx)
        except Fenced:
            row = tx.sa.execute(_STATE, {"run": claim.run_id}).one()
            if row.epoch != claim.epoch or row.status in ACTIVE:
                raise
            after = self._after(claim)
            first = row.seq - len(ending.entries) if after is None else after
            return _ack_of(row, _frames(tx, claim.run_id, first))

    async def release(self, claim: Claim) -> None:
        await super().release(claim)
        self._forget(claim)

    def _after(self, claim: Claim) -> int | None:
        epoch, seq = self._last.get(claim.run_id, (claim.epoch, None))
        return seq if epoch == claim.epoch else None

    def _forget(self, claim: Claim) -> None:
        if self._after(claim) is not None:
            del self._last[claim.run_id]

    async def _write_batch(self, batch: Sequence[Append]) -> list[Ack | None]:
        return await self._db.write(partial(self._append_all, batch))

    def _append_all(self, batch: Sequence[Append], tx: Tx) -> list[Ack | None]:
        now = self._clock()
        rows = tx.sa.exec_driver_sql(_APPEND, _arrays(batch, now)).all()
        acks: list[Ack | None] = [None] * len(batch)
        for row in rows:
            append = batch[int(row.n)]
            acks[row.n] = _ack_of(row, _frames_of(append, row.pseq, now))
        for n, append in enumerate(batch):
            acks[n] = acks[n] or _written_before(append, tx)
        for append in batch:
            for entry in append.entries:
                self._probe(f"append.before_commit:{entry.kind}")
        return acks


# One statement, one way to the server. The projects are locked in the order of their ids and then the
# runs (`recording`); what the locks show is newer than the statement's own view, so all numbers come from
# the locked rows. A row of `runs` that does not fit its claim is left out, with its facts.
_APPEND = """
WITH job AS (
    SELECT * FROM unnest($1::int[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[],
        $7::bool[], $8::bool[], $9::int[])
        AS t(n, run_id, project_id, epoch, after, count, is_step, ends_message, next_signal)
), held AS MATERIALIZED (
    SELECT id, seq FROM projects WHERE id = ANY($3::text[]) ORDER BY id FOR NO KEY UPDATE
), fenced AS (
    UPDATE runs SET seq = runs.seq + job.count,
        attempts = CASE WHEN job.is_step THEN 0 ELSE runs.attempts END,
        next_signal = GREATEST(runs.next_signal, job.next_signal)
    FROM job JOIN held ON held.id = job.project_id
    WHERE runs.id = job.run_id AND runs.epoch = job.epoch AND runs.status = 'running'
        AND runs.seq = COALESCE(job.after, runs.seq)
    RETURNING job.n, job.project_id, job.count, job.ends_message, held.seq AS head, runs.id,
        runs.session_id, runs.seq, runs.stop_at, runs.newest_signal
), placed AS (
    SELECT *, (head + sum(count) OVER (PARTITION BY project_id ORDER BY n) - count)::int AS pseq
    FROM fenced
), grown AS (
    UPDATE projects SET seq = projects.seq + more.count
    FROM (SELECT project_id, sum(count)::int AS count FROM fenced GROUP BY project_id) AS more
    WHERE projects.id = more.project_id
), written AS (
    INSERT INTO events (project_id, pseq, session_id, run_id, seq, ts, kind, body)
    SELECT project_id, pseq + at, session_id, id, seq - count + at, $10::float8, kind, body
    FROM placed JOIN unnest($11::int[], $12::int[], $13::text[], $14::bytea[])
        AS fact(n, at, kind, body) USING (n)
), shown AS (
    DELETE FROM partials USING fenced WHERE fenced.ends_message AND partials.run_id = fenced.id
)
SELECT n, pseq, stop_at, newest_signal FROM placed
"""
_SEQ = sa.select(runs.c.seq).where(runs.c.id == sa.bindparam("run"))
_STATE = sa.select(
    runs.c.epoch, runs.c.status, runs.c.seq, runs.c.stop_at, runs.c.newest_signal
).where(runs.c.id == sa.bindparam("run"))
_FRAMES = (
    sa.select(
        events.c.pseq,
        events.c.ts,
        events.c.run_id,
        events.c.session_id,
        events.c.kind,
        events.c.body,
    )
    .where(events.c.run_id == sa.bindparam("run"), events.c.seq > sa.bindparam("after"))
    .order_by(events.c.seq)
)


def _arrays(batch: Sequence[Append], now: float) -> tuple[Any, ...]:
    """The parameters of `_APPEND`: a list for each column."""
    facts = [
        (n, at, entry)
        for n, append in enumerate(batch)
        for at, entry in enumerate(append.entries, start=1)
    ]
    return (
        list(range(len(batch))),
        [append.claim.run_id for append in batch],
        [append.claim.project_id for append in batch],
        [append.claim.epoch for append in batch],
        [append.after for append in batch],
        [len(append.entries) for append in batch],
        [any(entry.is_step for entry in append.entries) for append in batch],
        [any(entry.ends_message for entry in append.entries) for append in batch],
        [
            max((e.signal for e in append.entries if e.signal is not None), default=0) + 1
            for append in batch
        ],
        now,
        [n for n, _, _ in facts],
        [at for _, at, _ in facts],
        [entry.kind for _, _, entry in facts],
        [entry.body for _, _, entry in facts],
    )


def _frames_of(append: Append, head: int, now: float) -> tuple[Frame, ...]:
    claim = append.claim
    return tuple(
        frame_of(head + at, now, claim.run_id, claim.session_id, entry.kind, entry.body)
        for at, entry in enumerate(append.entries, start=1)
    )


def _written_before(append: Append, tx: Tx) -> Ack | None:
    """The acknowledgement that was lost, if that is why these facts do not fit."""
    claim, after = append.claim, append.after
    row = tx.sa.execute(_STATE, {"run": claim.run_id}).one_or_none()
    if row is None or after is None:
        return None
    is_mine = row.epoch == claim.epoch and row.status == "running"
    if not is_mine or row.seq != after + len(append.entries):
        return None
    return _ack_of(row, _frames(tx, claim.run_id, after))


def _ack_of(row: Any, frames: tuple[Frame, ...]) -> Ack:
    return Ack(
        frames=frames, stop_requested=row.stop_at is not None, newest_signal=row.newest_signal
    )


def _frames(tx: Tx, run_id: str, after: int) -> tuple[Frame, ...]:
    """The run's facts with a number above `after`, as they stand in the project's stream."""
    rows = tx.sa.execute(_FRAMES, {"run": run_id, "after": after})
    return tuple(frame_of(*row) for row in rows)
