"""Native tool calling: calls travel in the provider's own field, so there is nothing to decode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..limits import Limit, SameText
from ..messages import Assistant, Message, ToolCall
from ..models import Delta, ModelRequest, ToolChoice, ToolSpec
from .base import Conversation, Decoder


class _Passing:
    is_complete = False
    late = ()

    def feed(self, delta: Delta) -> Iterable[Delta]:
        return (delta,)

    def close(self, reply: Assistant) -> Assistant:
        return reply


_PASSING = _Passing()


class NativeConversation:
    def __init__(self, tools: tuple[ToolSpec, ...]) -> None:
        self.tools = tools

    def request(
        self, messages: Sequence[Message], *, tool_choice: ToolChoice, stream: bool
    ) -> ModelRequest:
        return ModelRequest(
            messages=messages, tools=self.tools, tool_choice=tool_choice, stream=stream
        )

    def decoder(self) -> Decoder:
        return _PASSING

    def repair(self, call: ToolCall) -> str:
        return (
            f"The arguments of this call to {call.name!r} could not be read: {call.error} "
            "Nothing was run. Send the call again with one complete JSON object as its arguments."
        )


@dataclass(frozen=True, slots=True)
class Native:
    name: str = "native"

    def open(
        self,
        tools: tuple[ToolSpec, ...],
        new_id: Callable[[], str],  # noqa: ARG002 - ids come from the client
        tool_choice: ToolChoice = "auto",  # noqa: ARG002 - each request says it
    ) -> Conversation:
        return NativeConversation(tools)

    def limits(self) -> Sequence[Limit]:
        return ()


@dataclass(frozen=True, slots=True)
class Lenient:
    """Native calling for servers that leave some calls in the text: those are read there."""

    name: str = "lenient"

    def open(
        self,
        tools: tuple[ToolSpec, ...],
        new_id: Callable[[], str],
        tool_choice: ToolChoice = "auto",  # noqa: ARG002 - each request says it
    ) -> Conversation:
        from .text.leaked import LenientConversation

        return LenientConversation(tools, new_id) if tools else NativeConversation(tools)

    def limits(self) -> Sequence[Limit]:
        return (SameText(),)


native = Native()
lenient = Lenient()
