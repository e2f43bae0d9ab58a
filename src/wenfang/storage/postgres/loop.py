"""An event loop in a thread of its own, so that what an operation computes holds up nobody else's loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for callers of other loops."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, which goes on if the caller is cancelled."""
        begun = asyncio.run_coroutine_threadsafe(self._track(work), self._loop)
        return await asyncio.shield(asyncio.wrap_future(begun))

    async def drain(self) -> None:
        """Wait for what was begun."""
        await self.run(self._wait())

    async def close(self) -> None:
        """Finish what was begun and end the thread."""
        await self.drain()
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)

    def _serve(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    async def _track(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            return await work
        finally:
            self._tasks.discard(task)

    async def _wait(self) -> None:
        others = self._tasks - {asyncio.current_task()}
        if others:
            await asyncio.wait(others)
