"""What a dialect is: the one place that knows how a tool call looks to a model (design M6).

A `Dialect` is a constant. For each run it opens a `Conversation`, which renders the transcript into
requests (the same message objects again and again, so that encoded bytes are reused and request n is
a prefix of request n+1) and decodes replies into the canonical blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from ..limits import Limit
from ..messages import Assistant, Message, ToolCall
from ..models import Delta, ModelRequest, ToolChoice, ToolSpec


class Decoder(Protocol):
    """Decodes one reply. Text that may be shown is handed out as soon as it is safe; protocol words
    never are. `is_complete` tells that nothing which may still come matters: the request is ended.
    `late` is what became certain only when the reply was closed; none if it was not fed."""

    @property
    def is_complete(self) -> bool: ...

    @property
    def late(self) -> Sequence[Delta]: ...

    def feed(self, delta: Delta) -> Iterable[Delta]:
        """Take a raw piece, give the pieces of thought, answer or call that it makes certain."""
        ...

    def close(self, reply: Assistant) -> Assistant:
        """Turn the finished raw reply into canonical blocks. What cannot be understood becomes a
        `ToolCall` with `error` set; this never raises for anything a model wrote."""
        ...


class Conversation(Protocol):
    """One run's use of a dialect."""

    def request(
        self, messages: Sequence[Message], *, tool_choice: ToolChoice, stream: bool
    ) -> ModelRequest:
        """Render messages (the first may be a `System`) and tools. With `tool_choice` "none" the
        model can only answer; with "required" or a tool's name it cannot: a reply without such a call
        is malformed where the dialect reads the calls itself."""
        ...

    def decoder(self) -> Decoder:
        """A fresh decoder for a reply to the last request."""
        ...

    def repair(self, call: ToolCall) -> str:
        """What the model reads after a malformed call: the exact reason and what to send instead."""
        ...


class Dialect(Protocol):
    @property
    def name(self) -> str: ...

    def open(
        self,
        tools: tuple[ToolSpec, ...],
        new_id: Callable[[], str],
        tool_choice: ToolChoice = "auto",
    ) -> Conversation:
        """Begin a run. `new_id` mints ids for calls that have none of their own. `tool_choice` is that
        of the run's first step, also when the run goes on after an interruption."""
        ...

    def limits(self) -> Sequence[Limit]:
        """Fresh limits that this dialect adds to a run's own."""
        ...
