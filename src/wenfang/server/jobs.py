"""Work that takes minutes, in the background: one of a kind at a time, with progress."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from wenfang.crews import Models, Trying
from wenfang.models.local import LocalModelError, default_store, pull_model
from wenfang.problems import Problem
from wenfang.settings import SettingsStore

Report: TypeAlias = Callable[[float], None]
Work: TypeAlias = Callable[[Report], Awaitable[object]]
"""Does it; reports how much is done (0..1). Raises `Problem`."""


async def pull_default(report: Report) -> None:
    """Download the default model into the default store."""
    try:
        await pull_model(default_store(), on_progress=lambda p: report(p.fraction))
    except LocalModelError as error:
        raise Problem(error.code, **error.params) from error


async def probe_current(store: SettingsStore, models: Models, report: Report) -> None:
    """Find the best dialect for the model of the settings and keep it. Raises Problem `probe_failed`,
    `no_dialect` and those of `Models.find_dialect` and `keep`."""

    def watch(step: object) -> None:
        if isinstance(step, Trying):
            report((step.number - 1) / step.total)

    settings = store.current()
    language = "zh" if settings.language == "zh" else "en"
    search = await models.find_dialect(settings, language=language, watch=watch)
    if search.gone is not None:
        raise Problem("probe_failed", problem=search.gone.message)
    if search.best is None:
        raise Problem("no_dialect", model=models.status(settings).model)
    models.keep(settings, search)


class Job:
    """`progress` is set while the work runs; `problem` says why the last time failed. `busy` is the code
    of the Problem that a second start is."""

    def __init__(self, work: Work, *, busy: str) -> None:
        self.progress: float | None = None
        self.problem: Problem | None = None
        self._work = work
        self._busy = busy
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin. Raises Problem `busy` if it runs already."""
        if self._task is not None and not self._task.done():
            raise Problem(self._busy)
        self.progress, self.problem = 0.0, None
        self._task = asyncio.create_task(self._run())

    async def cancel(self) -> None:
        """Give up, if there is anything to give up, and wait until it has cleaned up."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def _run(self) -> None:
        try:
            await self._work(self._report)
        except Problem as problem:
            self.problem = problem
        finally:
            self.progress = None

    def _report(self, done: float) -> None:
        self.progress = min(1.0, max(0.0, done))
