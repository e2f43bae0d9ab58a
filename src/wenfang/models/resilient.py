"""Trying again and failing over: the one place that does either (FB02, engine A2, A7).

Before a reply began, a failure that may pass is tried again after a wait, then the next client is
asked. Once something of a reply was seen there is no second try with the same client: another one may
answer, after a `Reset` that takes back what was shown.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from wenfang.core import (
    Assistant,
    Attempt,
    Delta,
    ErrorKind,
    Failure,
    ModelClient,
    ModelError,
    ModelEvent,
    ModelRequest,
    Reset,
    Usage,
    estimate_request,
    estimate_tokens,
)

_PASSING: frozenset[ErrorKind] = frozenset({"rate", "overload", "network", "stream_incomplete"})
# Another model would do no better, or should not be asked to do what this one refused.
_FINAL: frozenset[ErrorKind] = frozenset({"overflow", "refused"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """`retries` further tries of one client, after `base_s`·2ⁿ seconds less up to a quarter, at most
    `cap_s`. A provider that asks to wait is obeyed up to `cap_s`; one that asks for longer is not
    waited for. While another client is left, one whose stream is silent for `silent_s` has failed; the
    last one has the time that the run's limits give it."""

    retries: int = 3
    base_s: float = 2.0
    cap_s: float = 60.0
    silent_s: float = 60.0

    def wait_s(self, failure: Failure, tried: int, random: Callable[[], float]) -> float | None:
        """Seconds until the next try after `tried` retries, or None for no further one."""
        if failure.kind not in _PASSING or tried >= self.retries:
            return None
        asked = failure.retry_after_s
        if asked is not None:
            return asked if asked <= self.cap_s else None
        return min(self.cap_s, self.base_s * 2**tried) * (1 - 0.25 * random())


class Resilient:
    """A client made of one or several, in order of preference. `sleep` and `random` are handed in by
    tests."""

    def __init__(
        self,
        clients: Sequence[ModelClient],
        *,
        policy: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        if not clients:
            raise ValueError("Resilient needs at least one client")
        self._clients = tuple(clients)
        self._policy = policy or RetryPolicy()
        self._sleep = sleep
        self._random = random

    @property
    def name(self) -> str:
        """The name of the preferred model."""
        return self._clients[0].name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ModelClient`. Every try that was given up is announced by a `Reset` and kept in the
        message's `attempts`. Raises the last `ModelError`."""
        attempts: list[Attempt] = []
        turn = _Turn(at=0, tried=0, wait_s=0.0)
        while True:
            client = self._clients[turn.at]
            seen: list[str] = []
            try:
                async with aclosing(self._events(turn.at, request)) as events:
                    async for event in events:
                        if isinstance(event, Assistant):
                            yield replace(event, attempts=tuple(attempts)) if attempts else event
                            return
                        if isinstance(event, Delta):
                            seen.append(event.text)
                        yield event
                raise ModelError("stream_incomplete", "The reply ended without a finish.")
            except ModelError as error:
                turn = self._next(turn, error.failure, seen=bool(seen))
                if turn is None:
                    raise
                usage = error.usage or _estimate(request, seen)
                attempts.append(Attempt(model=client.name, failure=error.failure, usage=usage))
            yield Reset(
                attempt=len(attempts) + 1,
                failure=attempts[-1].failure,
                usage=attempts[-1].usage,
                model=client.name,
            )
            if turn.wait_s:
                await self._sleep(turn.wait_s)

    def _events(self, at: int, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        client = self._clients[at]
        if at + 1 < len(self._clients) and request.stream:
            return _not_silent(client, request, self._policy.silent_s)
        return client.stream(request)

    def _next(self, turn: _Turn, failure: Failure, *, seen: bool) -> _Turn | None:
        """Who is asked next, and when; None if nobody is."""
        if not seen:
            wait_s = self._policy.wait_s(failure, turn.tried, self._random)
            if wait_s is not None:
                return _Turn(at=turn.at, tried=turn.tried + 1, wait_s=wait_s)
        if failure.kind in _FINAL or turn.at + 1 == len(self._clients):
            return None
        return _Turn(at=turn.at + 1, tried=0, wait_s=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """Client number `at` is asked after `wait_s`, for the time 1 + `tried`."""

    at: int
    tried: int
    wait_s: float


async def _not_silent(
    client: ModelClient, request: ModelRequest, limit_s: float
) -> AsyncGenerator[ModelEvent, None]:
    """The events of a try; a longer silence between them is a failure."""
    async with aclosing(client.stream(request)) as events:
        while True:
            try:
                async with asyncio.timeout(limit_s):
                    event = await anext(events, None)
            except TimeoutError:
                said = f"{client.name} sent nothing for {limit_s:g} s"
                raise ModelError("network", said) from None
            if event is None:
                return
            yield event


def _estimate(request: ModelRequest, seen: list[str]) -> Usage:
    """What a try cost that reported nothing: nothing before its first word."""
    if not seen:
        return Usage()
    return Usage(
        input=estimate_request(request), output=estimate_tokens("".join(seen)), estimated=True
    )
