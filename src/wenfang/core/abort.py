"""Stopping a run from outside without cancelling its task (engine D1)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


class Aborted(Exception):  # noqa: N818 - a signal, not an error
    """The guarded work was cut short on request."""


class Abort:
    """A request to stop. Work that may take long runs inside `guard`, which ends with `Aborted` as
    soon as `request` was called; a cancellation or timeout from further out still passes through."""

    def __init__(self) -> None:
        self.requested = False
        self._scope: asyncio.Timeout | None = None

    def request(self) -> None:
        """Stop now. May be called any number of times, from the event loop's thread."""
        if not self.requested:
            self.requested = True
            if self._scope is not None:
                self._scope.reschedule(asyncio.get_running_loop().time())

    async def guard(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await `work()`, at most until the abort."""
        if self.requested:
            raise Aborted
        self._scope = scope = asyncio.timeout(None)
        try:
            async with scope:
                return await work()
        except TimeoutError:
            if scope.expired():
                raise Aborted from None
            raise
        finally:
            self._scope = None
