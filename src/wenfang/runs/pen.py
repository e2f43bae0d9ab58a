"""The writing hand of a driver: facts go into the journal in order, intents before their effects.

A fact that only reports is written together with the next intent, and by itself if that does not come
within the fact's patience: a step costs one commit, or two. An intent is awaited. A failing
database is asked again, so that the write is repeated and not the work; after that the run is given up
here and claimed anew later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from wenfang.problems import Problem

from .entries import entry_of
from .facts import Fact
from .journal import Ack, Claim, Entry, Fenced, Journal

T = TypeVar("T")


async def persist(write: Callable[[], Awaitable[T]], pauses_s: Sequence[float]) -> T:
    """Do a write of the journal, again after each pause while the database fails."""
    for pause_s in pauses_s:
        try:
            return await write()
        except Problem:
            await asyncio.sleep(pause_s)
    return await write()


class Pen:
    """Appends under one claim. `heard` is called with each acknowledgement, in order."""

    def __init__(
        self,
        journal: Journal,
        claim: Claim,
        heard: Callable[[Ack], None],
        *,
        retry_s: Sequence[float],
    ) -> None:
        self._journal = journal
        self._claim = claim
        self._retry_s = retry_s
        self._heard = heard
        self._loop = asyncio.get_running_loop()
        self._entries: list[Entry] = []
        self._lock = asyncio.Lock()
        self._soon: asyncio.Handle | None = None
        self._due = 0.0  # when it comes, by the loop's clock
        self._task: asyncio.Task[None] | None = None
        self.failure: Exception | None = None

    def add(self, facts: Sequence[Fact], patience_s: float = 0.0) -> None:
        """Write facts, with all that waits, in `patience_s` seconds at the latest. Raises what an
        earlier write failed with."""
        if self.failure is not None:
            raise self.failure
        self._entries.extend(entry_of(fact) for fact in facts)
        at = self._loop.time() + patience_s
        if self._soon is None or at < self._due:
            self.put_down()
            self._soon, self._due = self._loop.call_at(at, self._start), at

    async def flush(self) -> None:
        """Wait until everything added is in the journal. Raises `Fenced`, or the `Problem` that
        stayed after all retries."""
        self.put_down()
        async with self._lock:
            if self.failure is not None:
                raise self.failure
            entries, self._entries = self._entries, []
            if entries:
                await self._write(entries)

    async def _write(self, entries: list[Entry]) -> None:
        """Whatever goes wrong, no later fact is written without these."""
        try:
            ack = await persist(lambda: self._journal.append(self._claim, entries), self._retry_s)
        except Exception as error:
            self.failure = error
            raise
        self._heard(ack)

    def put_down(self) -> None:
        """Write nothing more unasked. What waits is left for whoever goes on to find out again."""
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None

    def _start(self) -> None:
        self._soon = None
        self._task = self._loop.create_task(self._quietly())

    async def _quietly(self) -> None:
        with suppress(Fenced, Problem):  # kept in `failure`; the next fact raises it
            await self.flush()
