"""The server's time, without asking for it: all processes of a database go by one clock (durable.md C1)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_DRIFT = 0.001  # how much two clocks may part in a second


@dataclass(slots=True)
class ServerClock:
    """Unix seconds of the server: `monotonic` of this process and the difference to what the server told.

    The clock of this machine may be wrong or jump, that changes nothing. What the server told is as
    uncertain as its answer was late, and more so from second to second; the surest counts.
    """

    monotonic: Callable[[], float] = time.monotonic
    _ahead: float = 0.0
    _unsure: float = float("inf")
    _heard_at: float = 0.0

    def __call__(self) -> float:
        return self.monotonic() + self._ahead

    def hear(self, told: float, asked_at: float) -> None:
        """The server told its time as answer to a question asked at `asked_at`."""
        now = self.monotonic()
        unsure = (now - asked_at) / 2
        if unsure <= self._unsure + (now - self._heard_at) * _DRIFT:
            self._ahead = told - (asked_at + now) / 2
            self._unsure, self._heard_at = unsure, now
