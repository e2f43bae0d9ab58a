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
    never are. `is_complete` tells that nothing which may still come matters: the request is ended."""

    @property
    def is_complete(self) -> bool: ...

    def feed(self, delta: Delta) -> Iterable[Delta]:
        """Take a raw piece, give the pieces of thought, answer or call that it makes certain."""
        ...

    def end(self, *, cut: bool) -> Iterable[Delta]:
        """The stream is over, `cut` if the output limit ended it: the pieces that only this makes
        certain. Comes at most once, before `close`."""
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
        model can only answer."""
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

    def open(self, tools: tuple[ToolSpec, ...], new_id: Callable[[], str]) -> Conversation:
        """Begin a run. `new_id` mints ids for calls that have none of their own."""
        ...

    def limits(self) -> Sequence[Limit]:
        """Fresh limits that this dialect adds to a run's own."""
        ...
