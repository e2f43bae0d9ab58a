"""What a driver does before it works: is the run only to be closed, and what did the last owner leave
open (durable.md §8). Pure functions of the fold."""

from __future__ import annotations

from collections.abc import Sequence

from wenfang.core import Message, Reason, System, Text, ToolResult, Usage, User, estimate_tokens

from .codec import decode
from .facts import BlockDelta, Fact, StepReset, StepStarted, ToolFinished
from .fold import Fold, interrupted
from .journal import Claim
from .records import RunContext
from .shelf import Shelf


def closing_reason(claim: Claim, now: float, attempts: int) -> Reason | None:
    """Why this run is only to be closed, if it is: stopped, too late, or poison."""
    if claim.stop_requested:
        return "cancelled_by_user"
    if claim.deadline_at is not None and claim.deadline_at <= now:
        return "deadline"
    return "interrupted" if claim.attempts > attempts else None


def context_of_claim(claim: Claim, past: Fold, shelf: Shelf) -> RunContext:
    """For whom to make an agent."""
    mine = past.messages[past.start :]
    asked = (m.text for m in mine if isinstance(m, User))
    return RunContext(
        run_id=claim.run_id,
        session_id=claim.session_id,
        project_id=claim.project_id,
        files=shelf.files(claim.project_id, claim.folder, "ai", claim.run_id),
        text=next(asked, ""),
        user_id=claim.user_id,
        template=claim.template,
        effects=tuple(e for m in mine if isinstance(m, ToolResult) for e in m.effects),
    )


def void_request(step: StepStarted, past: Fold, partial: bytes) -> StepReset:
    """The fact that makes the request `step`, which has no reply, void. `partial` is what viewers saw
    of the reply."""
    return StepReset(
        step=step.step,
        message_id=step.message_id,
        attempt=past.attempt + 1,
        reason="takeover",
        usage=_cut_usage(past.messages, partial),
    )


def unknown_outcomes(past: Fold) -> list[Fact]:
    """The results of unsafe calls whose outcome nobody knows: such a call never runs again."""
    return [
        ToolFinished(
            call_id=intent.call_id,
            name=intent.name,
            args=intent.args,
            result=interrupted(intent.call_id, intent.name, started=True),
        )
        for intent in past.open_calls.values()
        if intent.replay == "unsafe"
    ]


def missing_results(past: Fold) -> list[Fact]:
    """Results for all calls that have none, so that the run can end."""
    return [
        ToolFinished(
            call_id=call.id,
            name=call.name,
            args=dict(call.arguments),
            result=interrupted(call.id, call.name, started=call.id in past.open_calls),
        )
        for call in past.unanswered()
    ]


def _cut_usage(messages: Sequence[Message], partial: bytes) -> Usage:
    """An estimate of what a request that was cut short has cost."""
    deltas = [decode(line) for line in partial.splitlines()]
    written = sum(estimate_tokens(delta.text) for delta in deltas if isinstance(delta, BlockDelta))
    texts = [
        block.text
        for message in messages
        if not isinstance(message, System)
        for block in message.content
        if isinstance(block, Text)
    ]
    return Usage(input=sum(map(estimate_tokens, texts)), output=written, estimated=True)
