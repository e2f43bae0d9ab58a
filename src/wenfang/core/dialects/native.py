"""Native tool calling: calls travel in the provider's own field, so there is nothing to decode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..limits import Limit
from ..messages import Assistant, Message, ToolCall
from ..models import Delta, ModelRequest, ToolChoice, ToolSpec


class _Passing:
    is_complete = False

    def feed(self, delta: Delta) -> Iterable[Delta]:
        return (delta,)

    def end(self, *, cut: bool) -> Iterable[Delta]:  # noqa: ARG002 - nothing is held back
        return ()

    def close(self, reply: Assistant) -> Assistant:
        return reply


_PASSING = _Passing()


@dataclass(frozen=True, slots=True)
class _Conversation:
    tools: tuple[ToolSpec, ...]

    def request(
        self, messages: Sequence[Message], *, tool_choice: ToolChoice, stream: bool
    ) -> ModelRequest:
        return ModelRequest(
            messages=messages, tools=self.tools, tool_choice=tool_choice, stream=stream
        )

    def decoder(self) -> _Passing:
        return _PASSING

    def repair(self, call: ToolCall) -> str:
        return (
            f"The arguments of this call to {call.name!r} could not be read: {call.error} "
            "Nothing was run. Send the call again with one complete JSON object as its arguments."
        )


@dataclass(frozen=True, slots=True)
class Native:
    name: str = "native"

    def open(self, tools: tuple[ToolSpec, ...], new_id: Callable[[], str]) -> _Conversation:  # noqa: ARG002 - ids come from the client
        return _Conversation(tools)

    def limits(self) -> Sequence[Limit]:
        return ()


native = Native()
