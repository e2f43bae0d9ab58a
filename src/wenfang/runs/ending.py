"""The closing of a run: its last fact and its settlement, from what the journal says it used."""

from __future__ import annotations

from wenfang.core import RunEnd

from .entries import entry_of
from .facts import RunFinished
from .fold import Fold
from .journal import Ending


def ending_of(run_id: str, end: RunEnd, past: Fold, reserved: int) -> Ending:
    """The closing of a run, with what the journal says it used."""
    last = RunFinished(
        status=end.status,
        reason=end.reason,
        answer=end.answer,
        usage=past.ledger.total,
        steps=end.steps,
        tool_calls=end.tool_calls,
        failure=end.failure,
    )
    return Ending(
        run_id=run_id,
        status=end.status,
        reason=end.reason,
        usage=past.ledger.total,
        entries=[entry_of(last)],
        settlement=past.ledger.settle(reserved),
    )
