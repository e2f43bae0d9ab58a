"""Appends that wait for the database together: what queues up while a transaction is under way goes into
the next one (durable.md §3)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from .journal import Ack, Claim, Entry, Fenced

_LARGEST_BATCH = 256
_WRITERS = 2  # one composes while the other waits for the server


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """Facts of one claim. `after` is the number of the run's last fact, as far as its owner knows."""

    claim: Claim
    entries: Sequence[Entry]
    after: int | None


WriteBatch = Callable[[Sequence[Append]], Awaitable[Sequence[Ack | None]]]
"""Writes appends of different runs in one transaction; None for one whose claim holds no longer."""


class AppendQueue:
    """Hands appends to `write`, many at once, of each run one at a time."""

    def __init__(self, write: WriteBatch) -> None:
        self._write = write
        self._waiting: deque[tuple[Append, asyncio.Future[Ack]]] = deque()
        self._under_way: set[str] = set()
        self._writers: set[asyncio.Task[None]] = set()

    async def append(self, append: Append) -> Ack:
        """Done when it is committed, also if the caller is cancelled. Raises `Fenced`, or what `write`
        raised."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Ack] = loop.create_future()
        self._waiting.append((append, future))
        if len(self._writers) < _WRITERS:
            self._writers.add(loop.create_task(self._drain()))
        return await future

    async def _drain(self) -> None:
        try:
            while batch := self._next():
                mine = {append.claim.run_id for append, _ in batch}
                self._under_way |= mine
                try:
                    await self._settle(batch)
                finally:
                    self._under_way -= mine
        finally:  # in the same breath as the last look: an append that comes now begins a new writer
            self._writers.discard(asyncio.current_task())

    def _next(self) -> list[tuple[Append, asyncio.Future[Ack]]]:
        """What waits, of each run the first, unless another of that run is under way."""
        batch: list[tuple[Append, asyncio.Future[Ack]]] = []
        left: deque[tuple[Append, asyncio.Future[Ack]]] = deque()
        seen = set(self._under_way)
        while self._waiting and len(batch) < _LARGEST_BATCH:
            job = self._waiting.popleft()
            run_id = job[0].claim.run_id
            (left if run_id in seen else batch).append(job)
            seen.add(run_id)
        self._waiting.extendleft(reversed(left))
        return batch

    async def _settle(self, batch: Sequence[tuple[Append, asyncio.Future[Ack]]]) -> None:
        writing = self._write([append for append, _ in batch])
        (done,) = await asyncio.gather(writing, return_exceptions=True)
        if isinstance(done, SQLAlchemyError) and len(batch) > 1:
            for job in batch:  # something in one of them; the others need not fail for it
                await self._settle([job])
            return
        acks = [done] * len(batch) if isinstance(done, BaseException) else done
        for (_, future), ack in zip(batch, acks, strict=True):
            if future.done():
                continue
            if ack is None:
                future.set_exception(Fenced())
            elif isinstance(ack, BaseException):
                future.set_exception(ack)
            else:
                future.set_result(ack)
