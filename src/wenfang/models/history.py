"""Mending a transcript for one request (engine A3), so that every provider accepts it.

The transcript itself is never changed: what a person sees stays. The messages that remain are the same
objects, so that they are encoded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wenfang.core import Assistant, Message, Text, ToolCall, ToolResult

_INTERRUPTED = (
    "This call was interrupted before its result was recorded. It may or may not have run."
)


def repair_history(messages: Sequence[Message]) -> list[Message]:
    """The messages as a provider may see them.

    Replies that failed, were stopped or are empty are left out. Every call is followed by exactly one
    result, in call order: a missing one says that the call was interrupted, also after the last
    message; results without a call, second results and second calls of one id are left out.
    """
    mended: list[Message] = []
    results = _results_by_reply(messages)
    for at, message in enumerate(messages):
        if isinstance(message, ToolResult) or is_left_out(message):
            continue
        if isinstance(message, Assistant):
            message = _without_twins(message)
            found = results.get(at, {})
            mended += [message, *(found.get(call.id) or _missing(call) for call in message.calls)]
        else:
            mended.append(message)
    return mended


def is_left_out(message: Message) -> bool:
    """A reply that no request shows: it failed, was stopped, or says and does nothing."""
    if not isinstance(message, Assistant):
        return False
    return message.stop in ("error", "aborted") or not (message.calls or message.text)


def _results_by_reply(messages: Sequence[Message]) -> dict[int, dict[str, ToolResult]]:
    """For the position of each reply, the first result of each of its calls. Ids that come again in a
    later reply belong to that reply."""
    owner: dict[str, int] = {}
    found: dict[int, dict[str, ToolResult]] = {}
    for at, message in enumerate(messages):
        if isinstance(message, Assistant) and not is_left_out(message):
            owner.update({call.id: at for call in message.calls})
        elif isinstance(message, ToolResult) and message.call_id in owner:
            found.setdefault(owner[message.call_id], {}).setdefault(message.call_id, message)
    return found


def _without_twins(message: Assistant) -> Assistant:
    """The message with at most one call for each id."""
    last = {call.id: call for call in message.calls}
    if len(last) == len(message.calls):
        return message
    kept = (b for b in message.content if not isinstance(b, ToolCall) or last[b.id] is b)
    return replace(message, content=tuple(kept))


def _missing(call: ToolCall) -> ToolResult:
    return ToolResult(
        call_id=call.id,
        name=call.name,
        content=(Text(text=_INTERRUPTED),),
        is_error=True,
        error_type="interrupted",
    )
