"""Facts on their way into the journal."""

from __future__ import annotations

from collections.abc import Sequence

from .codec import encode
from .facts import Fact, MessageFinished, StepReset, UserMessage
from .journal import Ending, Entry, Signal


def entry_of(fact: Fact) -> Entry:
    return Entry(
        kind=fact.type,
        body=encode(fact),
        signal=fact.signal if isinstance(fact, UserMessage) else None,
        is_step=isinstance(fact, MessageFinished),
        ends_message=isinstance(fact, MessageFinished | StepReset),
    )


def steer_fact(run_id: str, signal: Signal) -> UserMessage:
    """The fact that applies a steering message; the same whoever writes it."""
    message_id = f"{run_id}_{signal.n}"
    return UserMessage(message_id=message_id, text=signal.text, source="steer", signal=signal.n)


def with_steers(steers: Sequence[Signal], ending: Ending) -> list[Entry]:
    """The closing facts, with the words that came too late to be answered before the last."""
    late = [entry_of(steer_fact(ending.run_id, signal)) for signal in steers]
    return [*ending.entries[:-1], *late, ending.entries[-1]]
