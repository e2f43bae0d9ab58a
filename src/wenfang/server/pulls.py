"""The download of the embedded model, in the background: one at a time, with progress."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from wenfang.models.local import LocalModelError, default_store, pull_model
from wenfang.problems import Problem

Pull: TypeAlias = Callable[[Callable[[float], None]], Awaitable[object]]
"""Downloads; reports how much is done (0..1). Raises `Problem`."""


async def pull_default(report: Callable[[float], None]) -> None:
    """Download the default model into the default store."""
    try:
        await pull_model(default_store(), on_progress=lambda p: report(p.fraction))
    except LocalModelError as error:
        raise Problem(error.code, **error.params) from error


class Pulls:
    """`progress` is set while a download runs; `error` says why the last one failed."""

    def __init__(self, pull: Pull) -> None:
        self.progress: float | None = None
        self.error: str | None = None
        self._pull = pull
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin a download. Raises Problem `pull_active`."""
        if self._task is not None and not self._task.done():
            raise Problem("pull_active")
        self.progress, self.error = 0.0, None
        self._task = asyncio.create_task(self._run())

    async def cancel(self) -> None:
        """Give up the download, if there is one, and wait until it has cleaned up."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def _run(self) -> None:
        try:
            await self._pull(self._report)
        except Problem as problem:
            self.error = problem.text("en")
        finally:
            self.progress = None

    def _report(self, done: float) -> None:
        self.progress = min(1.0, max(0.0, done))
