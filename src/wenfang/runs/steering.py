"""Steering messages of one run: read from the journal, handed to the loop once, written down once."""

from __future__ import annotations

from collections.abc import Sequence

from wenfang.core import User, user

from .journal import Claim, Journal, Signal


class Steering:
    """`newest` is the highest number anyone has told us of; what lies above `known` is not here yet."""

    def __init__(self, journal: Journal, claim: Claim) -> None:
        self._journal = journal
        self._run_id = claim.run_id
        self.newest = claim.newest_signal
        self._known = claim.next_signal - 1
        self._waiting: list[Signal] = []
        self._given: dict[int, tuple[User, Signal]] = {}

    def look(self, newest: int) -> None:
        """There are signals up to `newest`."""
        self.newest = max(self.newest, newest)

    async def load(self) -> None:
        """Read what is not here yet."""
        if self.newest > self._known:
            found = await self._journal.signals(self._run_id, self._known)
            self._waiting += found
            self._known = max([self._known, *(signal.n for signal in found)])

    def take(self) -> Sequence[User]:
        """All messages that wait, each handed out once."""
        taken = [(user(signal.text, source="steer"), signal) for signal in self._waiting]
        self._waiting = []
        self._given.update((id(message), (message, signal)) for message, signal in taken)
        return [message for message, _ in taken]

    def signal_of(self, message: User) -> Signal | None:
        """The signal behind a message that was handed out, asked when it is written down."""
        given = self._given.pop(id(message), None)
        return given[1] if given is not None else None
