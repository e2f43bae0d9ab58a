"""Which provider is asked: a circuit breaker for each, and sessions that stay where they are (FO-2 to FO-6).

One `Chooser` is shared by all runs of a process; every call asks it anew through the `Route` of its
session. All of it runs between two awaits of one loop, so nothing needs a lock.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal["answered", "failed", "left"]
"""How a try ended for its provider: it spoke (an error that is the request's own fault is speech, too),
it failed, or the caller went away before it was known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooserRules:
    """The breaker of a provider opens after `failures` in a row within `window_s`; for `open_s` it is
    passed over, then one call may try it. A session stays with the provider that answered it until it was
    idle for `pin_idle_s` or that breaker opens."""

    failures: float = 3
    window_s: float = 60.0
    open_s: float = 30.0
    pin_idle_s: float = 1800.0


NO_BREAKER = ChooserRules(failures=math.inf)
"""For clients that share nothing with other runs: each call begins with the first one."""


@dataclass(slots=True)
class _Breaker:
    rules: ChooserRules
    failed_at: list[float] = field(default_factory=list[float])
    opened_at: float | None = None
    is_probing: bool = False

    def is_open(self, now: float) -> bool:
        """Whether other calls than a probe have to pass it over."""
        if self.opened_at is None:
            return False
        return self.is_probing or now < self.opened_at + self.rules.open_s

    def begin(self) -> bool:
        """A try begins; returns whether it is the probe."""
        is_probe = self.opened_at is not None and not self.is_probing
        self.is_probing = self.is_probing or is_probe
        return is_probe

    def end(self, outcome: Outcome, *, is_probe: bool, now: float) -> None:
        if is_probe:
            self.is_probing = False
        elif self.opened_at is not None:
            return  # begun before it opened: neither proof of life nor news of a failure
        if outcome == "answered":
            self.failed_at.clear()
            self.opened_at = None
        elif outcome == "failed" and self.rules.failures < math.inf:
            since = now - self.rules.window_s
            self.failed_at = [*(at for at in self.failed_at if at > since), now]
            if is_probe or len(self.failed_at) >= self.rules.failures:
                self.opened_at = now
                self.failed_at.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pin:
    provider: str
    used_at: float


class Chooser:
    """The state of all providers and sessions of a process. `clock` gives seconds that never go back."""

    def __init__(
        self, rules: ChooserRules | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rules = rules or ChooserRules()
        self._clock = clock
        self._breakers: dict[str, _Breaker] = {}
        self._pins: OrderedDict[str, _Pin] = OrderedDict()  # the longest idle one first

    def route(self, providers: Sequence[str], session: str = "") -> Route:
        """The way of a session to `providers`, which are names of the caller's, the preferred one first.
        Without a session nothing is pinned."""
        return Route(self, tuple(providers), session)

    def is_open(self, provider: str) -> bool:
        """Whether calls pass the provider over."""
        return self._breaker(provider).is_open(self._clock())

    def pinned(self, session: str) -> str | None:
        """The provider that a session stays with."""
        pin = self._pins.get(session)
        if pin is None or self._clock() >= pin.used_at + self._rules.pin_idle_s:
            return None
        return pin.provider

    def opened_at(self, provider: str) -> float:
        """When the breaker of a provider opened; never is long ago."""
        opened = self._breaker(provider).opened_at
        return -math.inf if opened is None else opened

    def begin(self, provider: str, session: str) -> Asked:
        """A try begins. Its end has to be told."""
        return Asked(self, provider, session, is_probe=self._breaker(provider).begin())

    def end(self, asked: Asked, outcome: Outcome) -> None:
        """A try has ended; see `Asked.end`."""
        now = self._clock()
        breaker = self._breaker(asked.provider)
        breaker.end(outcome, is_probe=asked.is_probe, now=now)
        if breaker.opened_at == now:
            # The pin is over for good: a session does not jump back when the breaker closes again.
            for session in [s for s, pin in self._pins.items() if pin.provider == asked.provider]:
                del self._pins[session]
        if outcome == "answered" and asked.session:
            self._pin(asked.session, asked.provider, now)

    def _pin(self, session: str, provider: str, now: float) -> None:
        self._pins[session] = _Pin(provider=provider, used_at=now)
        self._pins.move_to_end(session)
        while next(iter(self._pins.values())).used_at + self._rules.pin_idle_s <= now:
            self._pins.popitem(last=False)

    def _breaker(self, provider: str) -> _Breaker:
        found = self._breakers.get(provider)
        if found is None:
            found = self._breakers[provider] = _Breaker(self._rules)
        return found


class Asked:
    """One try of a provider."""

    __slots__ = ("_chooser", "_is_over", "is_probe", "provider", "session")

    def __init__(self, chooser: Chooser, provider: str, session: str, *, is_probe: bool) -> None:
        self._chooser = chooser
        self._is_over = False
        self.provider = provider
        self.session = session
        self.is_probe = is_probe

    def end(self, outcome: Outcome) -> None:
        """Tell how it ended. Only the first word counts."""
        if not self._is_over:
            self._is_over = True
            self._chooser.end(self, outcome)


class Route:
    """How the calls of one session reach its providers, which are numbered by preference."""

    def __init__(self, chooser: Chooser, providers: tuple[str, ...], session: str) -> None:
        if not providers:
            raise ValueError("a route needs at least one provider")
        self._chooser = chooser
        self._session = session
        self.providers = providers

    def pick(self, given_up: Collection[int] = ()) -> int | None:
        """Who is asked next in a call that gave up on some: the session's own, else the first one whose
        breaker is not open. If all are open, a new call asks the one that has been for longest, and a
        call that has asked someone nobody."""
        providers, chooser = self.providers, self._chooser
        if len(providers) == 1:
            return None if given_up else 0
        left = [at for at in range(len(providers)) if at not in given_up]
        free = [at for at in left if not chooser.is_open(providers[at])]
        if free:
            pinned = chooser.pinned(self._session)
            return next((at for at in free if providers[at] == pinned), free[0])
        if given_up:
            return None
        return min(left, key=lambda at: chooser.opened_at(providers[at]))

    def is_open(self, at: int) -> bool:
        """Whether new calls pass number `at` over."""
        return self._chooser.is_open(self.providers[at])

    def begin(self, at: int) -> Asked:
        """A try of number `at` begins."""
        return self._chooser.begin(self.providers[at], self._session)
