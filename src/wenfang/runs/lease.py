"""Who lives: a lease row per process, renewed by a thread of its own (durable.md §3, §8, Z3, C2).

The thread beats also while the event loop is blocked by a tool. A process that could not renew its
lease for 0.8 of its life, by its own monotonic clock, must take itself for dead: it stops driving its
runs before another may have claimed them. The journal's fence holds in any case.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from wenfang.problems import Problem
from wenfang.storage import Store, Tx, workers

_SELF_FENCE = 0.8
_WORKERS = "wenfang: workers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A process: its host's name, its number, and when it was born, since numbers are used again."""

    id: str
    host: str
    pid: int
    born: str


_PROC = Path("/proc")


def identify(worker_id: str) -> Identity:
    """This process."""
    pid = os.getpid()
    return Identity(id=worker_id, host=socket.gethostname(), pid=pid, born=birth(pid) or "")


def birth(pid: int) -> str | None:
    """When a process of this host was born, in a form to compare; None if there is no such process.
    Where the system does not tell, a process that is there has the birth "" and counts as the same."""
    if not _PROC.exists():
        return "" if _is_there(pid) else None
    try:
        stat = (_PROC / str(pid) / "stat").read_text("ascii", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *_, start = stat.rpartition(")")[2].split()[:20]
    return None if state == "Z" else start


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


class LeaseKeeper:
    """Holds this process's lease. `fenced` is called in the beating thread when it lapses.

    `clock` gives Unix seconds, shared by all processes of the database; `monotonic` seconds of this
    process that a suspended machine does not count backwards.
    """

    def __init__(
        self,
        database: Store,
        me: Identity,
        *,
        ttl_s: float,
        beat_s: float,
        clock: Callable[[], float],
        monotonic: Callable[[], float],
        fenced: Callable[[], object],
    ) -> None:
        self._db = database
        self.me = me
        self._ttl_s = ttl_s
        self._beat_s = beat_s
        self._clock = clock
        self._monotonic = monotonic
        self._fenced = fenced
        self._renewed_at = monotonic()
        self._lapsed = False
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the lease was renewed lately enough to act on it."""
        return self._monotonic() - self._renewed_at < _SELF_FENCE * self._ttl_s

    async def start(self) -> None:
        """Take the lease and begin to beat.

        Raises Problem `database_busy` if a live process of another host uses this database.
        """
        at = self._monotonic()
        await self._db.write(self._enter)
        self._renewed_at = at
        self._thread = threading.Thread(target=self._beat, name="wenfang-lease", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        """Give the lease up, so that others may claim this process's runs at once."""
        self._stop.set()
        if self._thread is not None:  # its last beat must not come after the end
            await asyncio.to_thread(self._thread.join)
        with suppress(Problem):  # it lapses by itself
            await self._db.write(lambda tx: _remove(tx, [self.me.id]))

    async def renew(self) -> None:
        """Renew the lease now. Raises the `Problem` that any write would meet."""
        await self._db.write(self._renew)

    async def bury(self) -> None:
        """Remove the leases of processes of this host that are gone."""
        dead = await self._db.read(self._dead)
        if dead:
            await self._db.write(lambda tx: _remove(tx, dead))

    def _enter(self, tx: Tx) -> None:
        tx.lock(_WORKERS)  # of two hosts that start at once, the second finds the first
        _remove(tx, self._dead(tx))
        others = workers.c.host != self.me.host, workers.c.expires_at > self._clock()
        host = tx.sa.execute(sa.select(workers.c.host).where(*others).limit(1)).scalar()
        if host is not None:
            raise Problem("database_busy", host=host)
        self._renew(tx)

    def _dead(self, tx: Tx) -> list[str]:
        return [
            row.id
            for row in tx.sa.execute(sa.select(workers))
            if (
                birth(row.pid) != row.born
                if row.host == self.me.host
                else row.expires_at <= self._clock()
            )
        ]

    def _renew(self, tx: Tx) -> None:
        me = self.me
        until = {"expires_at": self._clock() + self._ttl_s}
        renewed = workers.update().where(workers.c.id == me.id).values(until)
        if tx.sa.execute(renewed).rowcount == 0:
            row = {"id": me.id, "host": me.host, "pid": me.pid, "born": me.born}
            tx.sa.execute(workers.insert().values(row | until))

    def _beat(self) -> None:
        wait_s = self._beat_s / 2  # a locked database must not hide a lapse
        with self._db.connect(wait_s=wait_s) as own:
            while not self._stop.wait(self._beat_s):
                if not self.is_alive and not self._lapsed:
                    self._lapsed = True
                    self._fenced()
                at = self._monotonic()
                try:
                    own.write(self._renew)
                except (Problem, SQLAlchemyError):
                    continue
                self._renewed_at, self._lapsed = at, False


def _remove(tx: Tx, worker_ids: Sequence[str]) -> None:
    tx.sa.execute(workers.delete().where(workers.c.id.in_(worker_ids)))
