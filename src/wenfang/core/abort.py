"""Stopping a run from outside without cancelling its task (docs/notes/abort-scope.md, engine D1)."""

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
        self._tell: Callable[[], None] | None = None

    def request(self) -> None:
        """Stop now. May be called any number of times, from the event loop's thread."""
        if not self.requested:
            self.requested = True
            if self._tell is not None:
                self._tell()

    def listen(self, tell: Callable[[], None] | None) -> None:
        """Call `tell` once when the request comes; None ends it. One listener at a time."""
        self._tell = tell

    async def guard(self, work: Callable[[asyncio.Timeout], Awaitable[T]]) -> T:
        """Await `work(scope)`, at most until the abort. `work` may end the scope for a reason of its
        own with `expire`, which leaves here as TimeoutError."""
        if self.requested:
            raise Aborted
        scope = asyncio.timeout(None)
        self._tell = lambda: expire(scope)
        try:
            async with scope:
                return await work(scope)
        except TimeoutError:
            if self.requested and scope.expired():
                raise Aborted from None
            raise
        finally:
            self._tell = None


def expire(scope: asyncio.Timeout) -> None:
    """End a scope now. One that ends already is left alone: two reasons may come in the same turn of the
    loop."""
    if not scope.expired():
        scope.reschedule(asyncio.get_running_loop().time())
