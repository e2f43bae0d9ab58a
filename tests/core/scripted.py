"""A model in process for the core's own tests: each reply is a list of pieces or a function."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import count

from wenfang.core import (
    Assistant,
    Delta,
    ModelError,
    ModelEvent,
    ModelRequest,
    Text,
    ToolCall,
    Usage,
)

_ids = count(1)


def says(text: str, *, stop: str = "stop") -> Assistant:
    return Assistant(content=(Text(text=text),), stop=stop, usage=Usage(input=10, output=2))  # type: ignore[arg-type]


def calls(
    *made: tuple[str, dict], text: str = "", stop: str = "tool_use", error: str | None = None
):
    blocks = [Text(text=text)] if text else []
    blocks += [
        ToolCall(id=f"c{next(_ids)}", name=name, arguments=args, error=error) for name, args in made
    ]
    return Assistant(content=tuple(blocks), stop=stop, usage=Usage(input=10, output=5))  # type: ignore[arg-type]


class Hang:
    """Stay silent until cancelled."""


class FakeModel:
    name = "fake"

    def __init__(self, *replies: object, forever: Callable[[], Assistant] | None = None) -> None:
        self.replies = list(replies)
        self.forever = forever
        self.requests: list[ModelRequest] = []
        self.snapshots: list[tuple] = []
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        self.snapshots.append(tuple(request.messages))
        assert self.replies or self.forever, "the script has no reply for this request"
        reply = self.replies.pop(0) if self.replies else self.forever()
        try:
            for piece in reply if isinstance(reply, list) else [reply]:
                if isinstance(piece, Hang):
                    await asyncio.Event().wait()
                elif isinstance(piece, ModelError):
                    raise piece
                elif isinstance(piece, Assistant):
                    if request.stream and not isinstance(reply, list):
                        for index, block in enumerate(piece.content):
                            if isinstance(block, Text):
                                yield Delta(kind="text", text=block.text, index=index)
                    yield piece
                else:
                    yield piece
        finally:
            self.closed += 1


def pairs_ok(messages: Sequence[object]) -> bool:
    """Invariant 1: each call is followed by exactly one result, in call order, before anything else."""
    expected: list[str] = []
    for message in messages:
        role = message.role
        if role == "tool_result":
            if not expected or expected.pop(0) != message.call_id:
                return False
        elif expected:
            return False
        elif role == "assistant":
            expected = [call.id for call in message.calls]
    return not expected
