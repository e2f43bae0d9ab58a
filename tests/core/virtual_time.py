"""An event loop whose clock jumps to the next timer: waits of minutes are exact and take no time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if not timeout or timeout < 0:
            return super().select(timeout)
        self.now += timeout
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.selector = _Selector()
        super().__init__(self.selector)

    def time(self) -> float:
        return self.selector.now


def seconds_of(work: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """What `work` gives, and how long it took by the loop's clock."""
    loop = _Loop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        before = loop.time()
        done = runner.run(work)
        return done, loop.time() - before
