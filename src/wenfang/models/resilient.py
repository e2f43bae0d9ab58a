"""Trying again and failing over: the one place that does either (FB02, engine A2, A7, FO-1 to FO-8).

Before a reply began, a failure that may pass is tried again after a wait, then another client is asked,
at most one in a call. Once something of a reply was seen there is no second try with the same client:
the other one may answer, after a `Reset` that takes back what was shown, if the policy lets it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Literal

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

from .chooser import NO_BREAKER, Chooser, Route

# What may pass by itself, or at another provider: rates, 5xx, timeouts, broken connections (FO-6). All else
# is about the request, the key or the account, and asking elsewhere would hide it.
_PASSING: frozenset[ErrorKind] = frozenset({"rate", "overload", "network", "stream_incomplete"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """`retries` further tries of one client, after `base_s`·2ⁿ seconds less up to a quarter, at most
    `cap_s`. A provider that asks to wait is obeyed up to `cap_s`; one that asks for longer is not
    waited for.

    While another client is left, nobody is waited for longer than `spare_s`, and one whose stream does not
    begin within `silent_s` or pauses for `idle_s` has failed; the last one has the time that the run's
    limits give it. `switches` of client are allowed in one call. `after_output` says what a failure after
    the first word means while another client is left: "switch" takes back what was shown and lets the
    other one answer, "surface" ends the call with it (FO-5)."""

    retries: int = 3
    base_s: float = 2.0
    cap_s: float = 60.0
    spare_s: float = 10.0
    silent_s: float = 60.0
    idle_s: float = (
        45.0  # shorter than a run's own limit, which would end the call before the switch
    )
    switches: int = 1
    after_output: Literal["switch", "surface"] = "switch"

    def wait_s(self, failure: Failure, tried: int, random: Callable[[], float]) -> float | None:
        """Seconds until the next try after `tried` retries, or None for no further one."""
        if failure.kind not in _PASSING or tried >= self.retries:
            return None
        asked = failure.retry_after_s
        if asked is not None:
            return asked if asked <= self.cap_s else None
        return min(self.cap_s, self.base_s * 2**tried) * (1 - 0.25 * random())


class Resilient:
    """A client made of one or several, in order of preference. `route` knows which of them are well and
    which one the session is with; without one, each call begins with the first. `sleep` and `random` are
    handed in by tests."""

    def __init__(
        self,
        clients: Sequence[ModelClient],
        *,
        policy: RetryPolicy | None = None,
        route: Route | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        if not clients:
            raise ValueError("Resilient needs at least one client")
        self._clients = tuple(clients)
        self._policy = policy or RetryPolicy()
        places = [str(at) for at in range(len(clients))]
        self._route = route or Chooser(NO_BREAKER).route(places)
        if len(self._route.providers) != len(self._clients):
            raise ValueError("Resilient needs a route with one provider for each client")
        self._sleep = sleep
        self._random = random

    @property
    def name(self) -> str:
        """The name of the model that would be asked first now."""
        return self._clients[self._route.pick() or 0].name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ModelClient`. Every try that was given up is announced by a `Reset` and kept in the
        message's `attempts`. Raises the last `ModelError`."""
        attempts: list[Attempt] = []
        turn = _Turn(at=self._route.pick() or 0)
        while True:
            client = self._clients[turn.at]
            asked = self._route.begin(turn.at)
            seen: list[str] = []
            try:
                async with aclosing(self._events(turn, request)) as events:
                    async for event in events:
                        if isinstance(event, Assistant):
                            asked.end("answered")
                            yield replace(event, attempts=tuple(attempts)) if attempts else event
                            return
                        if isinstance(event, Delta):
                            seen.append(event.text)
                        yield event
                raise ModelError("stream_incomplete", "The reply ended without a finish.")
            except ModelError as error:
                asked.end("failed" if error.failure.kind in _PASSING else "answered")
                turn = self._next(turn, error.failure, seen=bool(seen))
                if turn is None:
                    raise
                usage = error.usage or _estimate(request, seen)
                attempts.append(Attempt(model=client.name, failure=error.failure, usage=usage))
            except GeneratorExit:
                # Whoever reads has enough: some dialects know the end of a reply before its provider does.
                asked.end("answered" if seen else "left")
                raise
            finally:
                asked.end("left")
            yield Reset(
                attempt=len(attempts) + 1,
                failure=attempts[-1].failure,
                usage=attempts[-1].usage,
                model=client.name,
                next_model=self._clients[turn.at].name,
            )
            if turn.wait_s:
                await self._sleep(turn.wait_s)

    def _events(self, turn: _Turn, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        client = self._clients[turn.at]
        if request.stream and self._other(turn) is not None:
            return _not_silent(client, request, self._policy)
        return client.stream(request)

    def _other(self, turn: _Turn) -> int | None:
        """Who may answer in this call instead of the client of `turn`."""
        if len(turn.given_up) >= self._policy.switches:
            return None
        return self._route.pick((*turn.given_up, turn.at))

    def _next(self, turn: _Turn, failure: Failure, *, seen: bool) -> _Turn | None:
        """Who is asked next, and when; None if nobody is."""
        other = self._other(turn)
        if not seen:
            wait_s = self._policy.wait_s(failure, turn.tried, self._random)
            is_worth = other is None or (
                not self._route.is_open(turn.at) and (wait_s or 0.0) <= self._policy.spare_s
            )
            if wait_s is not None and is_worth:
                return replace(turn, tried=turn.tried + 1, wait_s=wait_s)
        elif self._policy.after_output == "surface":
            return None
        if other is None or failure.kind not in _PASSING:
            return None
        return _Turn(at=other, given_up=(*turn.given_up, turn.at))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """Client number `at` is asked after `wait_s`, for the time 1 + `tried`. The call is done with the
    clients `given_up`."""

    at: int
    tried: int = 0
    wait_s: float = 0.0
    given_up: tuple[int, ...] = ()


async def _not_silent(
    client: ModelClient, request: ModelRequest, policy: RetryPolicy
) -> AsyncGenerator[ModelEvent, None]:
    """The events of a try; too long a silence before or between them is a failure."""
    limit_s = policy.silent_s
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
            limit_s = policy.idle_s


def _estimate(request: ModelRequest, seen: list[str]) -> Usage:
    """What a try cost that reported nothing: nothing before its first word."""
    if not seen:
        return Usage()
    return Usage(
        input=estimate_request(request), output=estimate_tokens("".join(seen)), estimated=True
    )
