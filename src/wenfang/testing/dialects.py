"""The text dialects seen from outside, in plain dictionaries: for corpora of model outputs.

Tools are given as `{"name", "description", "parameters"}`, dialects by name. A tool may also have an
`access`, which is "read" if it changes nothing, and `aliases` of its arguments, as `Tool` has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import wenfang.core.dialects.text as dialects
from wenfang.core import ToolSpec

_EVENTS: dict[type[Any], str] = {
    dialects.ThoughtDelta: "thought_delta",
    dialects.TextDelta: "text_delta",
    dialects.AnswerDelta: "answer_delta",
    dialects.ToolStart: "tool_start",
    dialects.ToolReady: "tool_ready",
    dialects.Reclassify: "reclassify",
    dialects.Cut: "cut",
}


class DialectParser:
    """Reads one reply piece by piece."""

    def __init__(self, dialect: str, tools: Iterable[Mapping[str, Any]]) -> None:
        self._parser = dialects.Parser(_shape(dialect), _specs(tools))

    def feed(self, chunk: str) -> list[dict[str, Any]]:
        """What the piece makes certain: `{"type", ...}` for each event."""
        return [_event(event) for event in self._parser.feed(chunk)]

    def close(self, finish_reason: str = "stop") -> dict[str, Any]:
        """The outcome, as `parse` gives it, with the events that were not told yet in `events`."""
        return _outcome(self._parser.close(finish_reason))


def new_parser(dialect: str, tools: Iterable[Mapping[str, Any]]) -> DialectParser:
    """A parser for one reply in `dialect`. Raises `ValueError` for a dialect that does not exist."""
    return DialectParser(dialect, tools)


def parse(
    text: str, dialect: str, tools: Iterable[Mapping[str, Any]], finish_reason: str = "stop"
) -> dict[str, Any]:
    """What a whole reply comes to: `kind` is "tool", "mixed" (an action, and an answer behind it),
    "final" or "repair". Raises `ValueError` for a dialect that does not exist."""
    return _outcome(dialects.parse(text, _shape(dialect), _specs(tools), finish_reason))


def render_observation(text: str, dialect: str) -> str:
    """A tool's result as it is written into the conversation."""
    return dialects.render_observation(text, _shape(dialect))


def _shape(dialect: str) -> dialects.Shape:
    try:
        return dialects.SHAPES[dialect]
    except KeyError:
        names = ", ".join(dialects.SHAPES)
        raise ValueError(f"There is no dialect {dialect!r}; use one of: {names}.") from None


def _specs(tools: Iterable[Mapping[str, Any]]) -> list[ToolSpec]:
    return [
        ToolSpec(
            name=tool["name"],
            description=tool.get("description", ""),
            parameters=tool["parameters"],
            patterns={},
            read_only=tool.get("access") == "read",
            aliases=tool.get("aliases", {}),
        )
        for tool in tools
    ]


def _event(event: dialects.Event) -> dict[str, Any]:
    fields = {name: getattr(event, name) for name in type(event).__slots__}
    return {"type": _EVENTS[type(event)], **fields}


def _outcome(outcome: dialects.Outcome) -> dict[str, Any]:
    first = outcome.calls[0] if outcome.calls else None
    return {
        "kind": "mixed" if outcome.mixed else outcome.kind,
        "tool": first.name if first else outcome.tool,
        "arguments": dict(first.arguments) if first else None,
        "calls": [[call.name, dict(call.arguments)] for call in outcome.calls],
        "answer": outcome.answer,
        "thought": outcome.thought,
        "reason": outcome.reason,
        "detail": outcome.detail,
        "truncated": outcome.truncated,
        "repairs": list(first.repairs) if first else [],
        "events": [_event(event) for event in outcome.events],
    }
