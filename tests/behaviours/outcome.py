"""What a run came to, the same shape from every face, and the rules that make it right."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from wenfang.core import Assistant, Message, ToolResult, Usage
from wenfang.testing import RecordedRequest

_MESSAGES = b'"messages":['


@dataclass(slots=True, kw_only=True)
class Outcome:
    """`messages` is the whole session's transcript. `shown` are the texts of the replies as a viewer
    saw them in the end, None on faces that are read afterwards. `closings` counts closing events.
    `refused` are the codes of things that were asked and refused; `ledger` the sums of settlement."""

    status: str
    reason: str
    answer: str
    usage: Usage
    kind: str | None
    messages: list[Message]
    shown: list[str] | None
    resets: int
    closings: int
    executed: list[list[Any]]
    cancelled: list[str]
    requests: list[RecordedRequest]
    problems: list[str]
    sleeps: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)  # what the face itself saw going wrong
    ledger: dict[str, Any] | None = None
    seen: list[str] = field(default_factory=list)  # the kinds of the events, in order

    @property
    def replies(self) -> list[Assistant]:
        return [message for message in self.messages if isinstance(message, Assistant)]

    @property
    def results(self) -> list[ToolResult]:
        return [message for message in self.messages if isinstance(message, ToolResult)]


def kind_of(event: Any) -> str:
    """What an event is, without when and where: deltas by the kind of their block, calls by their tool."""
    call = getattr(event, "call", None) or getattr(event, "result", None)
    detail = getattr(event, "kind", None) or getattr(call, "name", "")
    return f"{event.type} {detail}".rstrip()


def wrongs(outcome: Outcome, expect: dict[str, Any]) -> list[str]:
    """Everything that is not as it should be; empty is right."""
    found = [*outcome.faults, *outcome.problems, *_invariants(outcome)]
    for key, value in expect.items():
        seen = _SEEN[key](outcome)
        if not _fits(key, seen, value):
            found.append(f"{key}: expected {value!r}, got {seen!r}")
    return found


def _fits(key: str, seen: Any, value: Any) -> bool:
    if key == "requests_max":
        return seen <= value
    if key == "answer_has":
        return value in seen
    if key == "usage" or key == "ledger":
        return seen is not None and {name: seen[name] for name in value} == value
    if key == "results":
        return len(seen) == len(value) and all(map(_result_fits, seen, value))
    return seen == value


def _result_fits(seen: list[str], value: list[str]) -> bool:
    name, state, *words = value
    return seen[:2] == [name, state] and all(word in seen[2] for word in words)


def _last_without_tools(outcome: Outcome) -> bool:
    body = outcome.requests[-1].body
    return not body.get("tools") or body.get("tool_choice") == "none"


_SEEN: dict[str, Any] = {
    "status": lambda o: o.status,
    "reason": lambda o: o.reason,
    "kind": lambda o: o.kind,
    "answer": lambda o: o.answer,
    "answer_has": lambda o: o.answer,
    "texts": lambda o: [reply.text for reply in o.replies],
    "stops": lambda o: [reply.stop for reply in o.replies],
    "executed": lambda o: o.executed,
    "ran": lambda o: {name: sum(c[0] == name for c in o.executed) for name, _ in o.executed},
    "cancelled": lambda o: o.cancelled,
    "results": lambda o: [[r.name, r.error_type or "ok", r.text] for r in o.results],
    "requests": lambda o: len(o.requests),
    "requests_max": lambda o: len(o.requests),
    "last_without_tools": _last_without_tools,
    "choices": lambda o: [r.body.get("tool_choice", "auto") for r in o.requests],
    "resets": lambda o: o.resets,
    "attempts": lambda o: [len(reply.attempts) for reply in o.replies],
    "attempt_usage": lambda o: [a.usage.input > 0 for r in o.replies for a in r.attempts],
    "sleeps": lambda o: o.sleeps,
    "refused": lambda o: o.refused,
    "dropped": lambda o: [r.ended == "dropped" for r in o.requests],
    "ledger": lambda o: o.ledger,
    "usage": lambda o: {
        "input": o.usage.input,
        "output": o.usage.output,
        "cache_read": o.usage.cache_read,
        "reasoning": o.usage.reasoning,
        "estimated": o.usage.estimated,
        "known": o.usage.input > 0,
    },
    "roles": lambda o: [m.role for m in o.messages if m.role != "system"],
    "history": lambda o: [
        _said(m) for m in o.requests[-1].body["messages"] if m["role"] != "system"
    ],
    "calls": lambda o: [[c.name, dict(c.arguments)] for r in o.replies for c in r.calls],
}


def _said(message: dict[str, Any]) -> str:
    content = message.get("content") or ",".join(
        call["function"]["name"] for call in message.get("tool_calls", ())
    )
    return f"{message['role']}: {content}"


def _invariants(outcome: Outcome) -> list[str]:
    found = []
    if outcome.closings != 1:
        found.append(f"{outcome.closings} closing events")
    if not _pairs(outcome.messages):
        found.append("a call without its one result, or out of order")
    if len({c.id for r in outcome.replies for c in r.calls}) != sum(
        len(r.calls) for r in outcome.replies
    ):
        found.append("two calls with one id")
    for at, request in enumerate(outcome.requests, 1):
        found += [f"request {at}: {what}" for what in _wire_faults(request.body["messages"])]
    for at, (one, two) in enumerate(zip(outcome.requests, outcome.requests[1:], strict=False), 1):
        if not _prefix(two).startswith(_prefix(one)):
            found.append(f"request {at} is no prefix of request {at + 1}")
    if outcome.shown is not None:
        final = [reply.text for reply in outcome.replies if reply.text]
        shown = [text for text in outcome.shown if text]
        if final[-len(shown) :] != shown and shown:
            found.append(f"shown {shown!r} but stored {final!r}")
    ledger = outcome.ledger
    if ledger is not None and (ledger["drift"], ledger["settlements"]) != (0, 1):
        found.append(f"the run's ledger does not close: {ledger}")
    for result in outcome.results:
        if "/srv/private" in result.text or "Traceback" in result.text:
            found.append("a host path or a trace reached the model")
    return found


def _pairs(messages: list[Message]) -> bool:
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolResult):
            if not waiting or waiting.pop(0) != message.call_id:
                return False
        elif waiting:
            return False
        elif isinstance(message, Assistant):
            waiting = [call.id for call in message.calls]
    return not waiting


def _wire_faults(messages: list[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    waiting: list[str] = []
    ids: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if not waiting or waiting.pop(0) != message["tool_call_id"]:
                found.append("a result without its call")
            continue
        if waiting:
            found.append("a call without a result")
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        if ids & set(waiting):
            found.append("an id used twice")
        ids |= set(waiting)
        found += [
            "arguments that are no object"
            for call in message.get("tool_calls", ())
            if not isinstance(json.loads(call["function"]["arguments"]), dict)
        ]
    return found + (["a call without a result"] if waiting else [])


def _prefix(request: RecordedRequest) -> bytes:
    """The messages of a request as sent, without the brackets that close them."""
    return request.raw[request.raw.index(_MESSAGES) : -2]
