"""Putting tool calls together from their pieces, in all the shapes servers send them (FB05, FB13).

A piece may carry an index, an id, a name and some text of the arguments, each of them or none:

- a known id is that call; a new id is a new call, also if its index is taken;
- without an id the index decides, without an index too the piece belongs to the call touched last;
- a name that comes again with a call whose arguments are complete begins another call;
- a name is never put together from pieces; what is ambiguous is a protocol error, and nothing runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from wenfang.core import ToolCall, canonical, parse_arguments

from .chunks import CallPart, protocol_error


@dataclass(slots=True, eq=False)
class Piece:
    """A part of a reply that grows: `fresh` arrived since the deltas were taken last, `taken` before.
    `high` is the first half of a surrogate pair that waits for the second."""

    kind: str
    index: int
    taken: list[str] = field(default_factory=list[str])
    fresh: list[str] = field(default_factory=list[str])
    high: str = ""

    @property
    def text(self) -> str:
        return "".join((*self.taken, *self.fresh))


@dataclass(slots=True, eq=False)
class Call(Piece):
    provider_id: str = ""
    position: int | None = None
    name: str = ""
    announced: bool = False


class CallTable:
    """The calls of one reply. `open_call` makes the block of a new one."""

    def __init__(self, open_call: Callable[[], Call]) -> None:
        self._open_call = open_call
        self._by_id: dict[str, Call] = {}
        self._by_index: dict[int, Call] = {}
        self._last: Call | None = None

    def add(self, part: CallPart) -> tuple[Call, str] | None:
        """The call a piece belongs to and its text, or None if it says nothing."""
        function = part.function
        name = (function.name or "") if function else ""
        text = _text(function.arguments if function else None)
        given_id = "" if part.id is None else str(part.id)
        if not (given_id or name or text):
            return None
        call = self._find(given_id, part.index, name)
        if call is None or (name and not self._continues(call, part.index, name, text)):
            call = self._open(given_id, part.index, name)
        call.name = call.name or name
        if part.index is not None:
            self._by_index.setdefault(part.index, call)
        self._last = call
        return call, text

    def whole(self, part: CallPart) -> tuple[Call, str] | None:
        """Like `add`, for a call that is complete in itself."""
        self._by_id.clear()
        self._by_index.clear()
        self._last = None
        return self.add(part)

    def _find(self, given_id: str, index: int | None, name: str) -> Call | None:
        if given_id:
            return self._by_id.get(given_id)
        call = self._last if index is None else self._by_index.get(index)
        if call is None and not name:
            raise protocol_error("arguments of a tool call that was never begun")
        return call

    def _continues(self, call: Call, index: int | None, name: str, text: str) -> bool:
        """Whether a piece with a name belongs to `call`, or begins another one."""
        if not call.name:
            return True
        elsewhere = None not in (index, call.position) and index not in self._by_index
        if name == call.name and not elsewhere and not text.lstrip().startswith("{"):
            return True  # the name comes with every piece
        complete = _is_object(call.text)
        if name != call.name and not complete:
            raise protocol_error(f"two names for one tool call ({call.name!r} and {name!r})")
        return not complete

    def _open(self, given_id: str, index: int | None, name: str) -> Call:
        call = self._open_call()
        call.provider_id, call.position, call.name = given_id, index, name
        if given_id:
            self._by_id[given_id] = call
        if index is not None:
            self._by_index[index] = call
        return call


def finish_calls(
    calls: Iterable[Call], *, complete: bool, new_id: Callable[[str], str]
) -> dict[int, ToolCall]:
    """The finished calls by block, each with an id of ours: providers repeat theirs (FB13). A call that
    came twice under one id with the same arguments is one call."""
    made: dict[int, ToolCall] = {}
    by_id: dict[str, list[ToolCall]] = {}
    for call in calls:
        if not call.name:
            raise protocol_error("a tool call without a name")
        text = call.text
        parsed = parse_arguments(text, complete=complete)
        finished = ToolCall(
            id=new_id("call"),
            name=call.name,
            arguments=parsed.arguments,
            error=parsed.error,
            raw=None if parsed.error is None else text,
            repaired=parsed.repaired,
        )
        twins = by_id.setdefault(call.provider_id, []) if call.provider_id else []
        if not any(_is_same(finished, twin) for twin in twins):
            twins.append(finished)
            made[call.index] = finished
    return made


def _is_same(one: ToolCall, two: ToolCall) -> bool:
    if one.error is not None or two.error is not None:
        return (one.name, one.raw) == (two.name, two.raw)
    return canonical(one.name, one.arguments) == canonical(two.name, two.arguments)


def _text(arguments: object) -> str:
    """Arguments as text; some servers send the object itself."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else msgspec.json.encode(arguments).decode()


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
