"""Who drives which run, on one host (durable.md §3): asyncio tasks, no server, no polling threads.

Level-triggered: whatever was missed, `reconcile` finds again, as often as one likes. It looks for
unfinished runs that are this process's own, nobody's, or of a process that is gone, and that are not
being driven here.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress

from wenfang.problems import Problem

from .driver import Desk, Driver
from .journal import Busy, Claim
from .lease import LeaseKeeper
from .records import AgentSpec

_log = logging.getLogger("wenfang.runs")


class LocalEngine:
    """Drives up to `options.slots` runs at once in this process."""

    def __init__(self, desk: Desk, keeper: LeaseKeeper) -> None:
        self._desk = desk
        self._keeper = keeper
        self._waiting: deque[str] = deque()
        self._held: dict[str, None] = {}  # wait for another run of their user to end
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._drivers: dict[str, Driver] = {}
        self._specs: dict[str, AgentSpec] = {}
        self._ticker: asyncio.Task[None] | None = None
        self._poked = asyncio.Event()
        self._closing = False

    async def start(self) -> None:
        """Take over what dead processes left, then look again every few seconds."""
        await self.reconcile()
        self._ticker = asyncio.get_running_loop().create_task(self._tick())

    def enqueue(self, run_id: str, spec: AgentSpec | None = None) -> None:
        """Drive a run as soon as there is room. Harmless for one that is waiting, driven or over."""
        if self._closing or run_id in self._tasks or run_id in self._waiting:
            return
        if spec is not None:
            self._specs[run_id] = spec
        self._held.pop(run_id, None)
        self._waiting.append(run_id)
        self._fill()

    def find(self, run_id: str) -> Driver | None:
        """The driver of a run that is being driven here."""
        return self._drivers.get(run_id)

    def poke(self, run_id: str) -> None:
        """Another process has something for a run: look now if it is driven here."""
        if run_id in self._drivers:
            self._poked.set()

    async def reconcile(self) -> None:
        """Queue every run that should be driven here and is not, and pass on to those that are what
        another process asked of them."""
        await self._keeper.bury()
        orphans = await self._desk.journal.orphans(self._keeper.me.id)
        self._desk.probe("reconcile.listed")
        for orphan in orphans:
            driver = self._drivers.get(orphan.run_id)
            if driver is not None:
                driver.look(orphan.newest_signal, stop_requested=orphan.stop_requested)
            elif orphan.stop_requested or orphan.expired:
                self._begin(orphan.run_id)  # only to be closed: needs no slot
            else:
                self.enqueue(orphan.run_id)

    def fence(self) -> None:
        """This process's lease has lapsed: stop working on its runs, write nothing more."""
        for task in self._tasks.values():
            task.cancel()

    async def drain(self, grace_s: float) -> None:
        """Claim nothing more; hand runs over at their next step boundary, or cut them after
        `grace_s`. Afterwards nothing is driven here."""
        self._closing = True
        if self._ticker is not None:
            self._ticker.cancel()
        for driver in self._drivers.values():
            driver.leave()
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=grace_s)
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _tick(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._desk.options.reconcile_s):
                    await self._poked.wait()
            self._poked.clear()
            try:
                await self.reconcile()
            except Problem as problem:
                _log.warning("the database could not be read: %s", problem.code)

    def _fill(self) -> None:
        for _ in range(len(self._waiting)):
            if len(self._tasks) >= self._desk.options.slots:
                break
            run_id = self._waiting.popleft()
            if run_id in self._tasks:
                self._waiting.append(run_id)  # a claim that was refused is ending just now
            else:
                self._begin(run_id)

    def _begin(self, run_id: str) -> None:
        if self._closing or run_id in self._tasks:
            return
        task = asyncio.get_running_loop().create_task(self._drive(run_id), name=f"run {run_id}")
        self._tasks[run_id] = task
        task.add_done_callback(lambda _: self._ended(run_id))

    def _ended(self, run_id: str) -> None:
        del self._tasks[run_id]
        self._drivers.pop(run_id, None)
        if self._closing:
            return
        if run_id not in self._held:
            self._waiting.extend(self._held)
            self._held.clear()
        self._fill()

    async def _drive(self, run_id: str) -> None:
        try:
            claim = await self._desk.journal.claim(run_id, self._keeper.me.id)
            if isinstance(claim, Claim):
                driver = Driver(self._desk, claim, self._specs.pop(run_id, None))
                self._drivers[run_id] = driver
                if self._closing:
                    driver.leave()
                await driver.drive()
            elif isinstance(claim, Busy) and claim.why == "user":
                self._held[run_id] = None
            else:
                self._specs.pop(run_id, None)
        except Exception:  # noqa: BLE001 - the driver boundary; the run stays claimable
            _log.exception("run %s could not be driven and will be tried again", run_id)
