"""One thread that owns one connection and runs the operations of a queue on it (durable.md §3).

Whatever has queued up shares one transaction, so that a busy process pays one disk sync for many
operations. An operation is a plain function of the transaction; one that raises is undone alone, by
its savepoint, and the others commit. Their futures are resolved in one wake-up of the event loop.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Literal, TypeVar

import sqlalchemy as sa

from .problems import is_busy
from .store import LONGEST_WAIT_S

T = TypeVar("T")
_LARGEST_BATCH = 256


@dataclass(frozen=True, slots=True)
class SqliteTx:
    """A transaction: `raw` for hand-tuned statements, `sa` for SQLAlchemy's, on one connection."""

    raw: sqlite3.Connection
    sa: sa.Connection

    def lock(self, name: str) -> None:
        """Nothing to do: a transaction that writes is the only one of the whole database."""


@dataclass(slots=True)
class _Job:
    operation: Callable[[SqliteTx], Any]
    future: asyncio.Future[Any]
    deadline: float
    result: Any = None
    error: Exception | None = None


class DatabaseThread:
    """`begin` is "BEGIN IMMEDIATE" for the writer and "BEGIN" for a reader. `translate` turns a
    driver's error into the one callers see. `clock` gives seconds that only grow."""

    def __init__(
        self,
        name: str,
        connect: Callable[[], sa.Connection],
        *,
        begin: Literal["BEGIN IMMEDIATE", "BEGIN"],
        translate: Callable[[Exception], Exception],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._begin = begin
        self._clock = clock
        self._connect = connect
        self._translate = translate
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._ended = self._loop.create_future()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def run(self, operation: Callable[[SqliteTx], T], *, wait_s: float = LONGEST_WAIT_S) -> T:
        """Run `operation` in a transaction; its result is there when it has been committed.

        Once queued it is carried out, also if the caller is cancelled. Raises what it raised, or a
        `Problem` if the database failed or other processes kept it locked for `wait_s`.
        """
        if self._closed:
            raise RuntimeError("the database is closed")
        future: asyncio.Future[T] = self._loop.create_future()
        self._queue.put(_Job(operation, future, self._clock() + wait_s))
        return await future

    async def close(self) -> None:
        """Finish what is queued and end the thread."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.shield(self._ended)

    def _run(self) -> None:
        connection = self._connect()
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        tx = SqliteTx(raw, connection)
        try:
            while batch := self._next():
                self._transact(tx, batch)
                if not self._wake(self._resolve, batch):
                    return
        finally:
            connection.close()
            self._wake(self._end)

    def _next(self) -> list[_Job]:
        """Everything that waits, at least one; nothing at the end."""
        job = self._queue.get()
        if job is None:
            return []
        batch = [job]
        self._join(batch)
        return batch

    def _join(self, batch: list[_Job]) -> None:
        """Let what has queued up meanwhile come along."""
        while len(batch) < _LARGEST_BATCH:
            try:
                job = self._queue.get_nowait()
            except Empty:
                return
            if job is None:
                self._queue.put(None)
                return
            batch.append(job)

    def _wait_for_begin(self, tx: SqliteTx, batch: list[_Job]) -> None:
        """Begin the transaction. Operations whose time is over leave the batch; raises what the driver
        said to the last of them."""
        while True:
            try:
                tx.raw.execute(self._begin)
            except sqlite3.OperationalError as error:
                now = self._clock()
                patient = [job for job in batch if job.deadline > now]
                if not is_busy(error) or not patient:
                    raise
                late = [job for job in batch if job.deadline <= now]
                for job in late:
                    job.error = self._translate(error)
                self._wake(self._resolve, late)
                batch[:] = patient
                self._join(batch)
            else:
                return

    def _transact(self, tx: SqliteTx, batch: list[_Job]) -> None:
        try:
            self._wait_for_begin(tx, batch)
            if len(batch) == 1:
                batch[0].result = batch[0].operation(tx)  # nothing else would need saving
            else:
                for job in batch:
                    self._operate(tx, job)
            tx.raw.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - the boundary of the thread: it becomes data
            if tx.raw.in_transaction:
                tx.raw.execute("ROLLBACK")
            failure = self._translate(error)
            for job in batch:
                job.error = job.error or failure

    def _operate(self, tx: SqliteTx, job: _Job) -> None:
        tx.raw.execute("SAVEPOINT operation")
        try:
            job.result = job.operation(tx)
        except Exception as error:
            if not tx.raw.in_transaction:  # SQLite gave the whole transaction up
                raise
            tx.raw.execute("ROLLBACK TO operation")
            job.error = self._translate(error)
        tx.raw.execute("RELEASE operation")

    def _wake(self, callback: Callable[..., None], *args: object) -> bool:
        try:
            self._loop.call_soon_threadsafe(callback, *args)
        except RuntimeError:  # the loop is gone, and with it everyone who waits
            return False
        return True

    @staticmethod
    def _resolve(batch: list[_Job]) -> None:
        for job in batch:
            if job.future.done():
                continue
            if job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.result)

    def _end(self) -> None:
        self._ended.set_result(None)
