"""What belongs to one event loop and must be closed with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One `T` for each running loop. It is closed when the loop shuts down its asynchronous generators,
    which `asyncio.run` and every other runner do; then the loop is forgotten too."""

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[None]]) -> None:
        self._make = make
        self._close = close
        self._held: dict[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[None, None]]] = {}

    async def get(self) -> T:
        """The running loop's, made at the first call."""
        loop = asyncio.get_running_loop()
        held = self._held.get(loop)
        if held is not None:
            return held[0]
        made = self._make()
        keeper = self._keep(loop, made)
        self._held[loop] = (made, keeper)
        await anext(keeper)
        return made

    async def _keep(self, loop: asyncio.AbstractEventLoop, made: T) -> AsyncGenerator[None, None]:
        """Suspended until the loop closes its generators."""
        try:
            yield
        finally:
            self._held.pop(loop, None)
            await self._close(made)
