"""Reading the product's event stream as a strict client does, and folding it to what a viewer sees."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from pydantic import TypeAdapter

from wenfang.core import Assistant, Message, ToolResult, User, user
from wenfang.runs import (
    BlockDelta,
    Envelope,
    Event,
    MessageFinished,
    RunFinished,
    StepReset,
    ToolFinished,
    UserMessage,
)

from .outcome import kind_of

_EVENT: TypeAdapter[Any] = TypeAdapter(Event)


async def read_events(
    session: aiohttp.ClientSession, url: str, after: int
) -> AsyncGenerator[tuple[int | None, Envelope]]:
    """Frames with their ids. Only LF ends a line; anything else is part of the data."""
    headers = {"last-event-id": str(after)} if after else {}
    async with session.get(url, headers=headers) as response:
        if response.status == 204:
            return
        assert response.status == 200, await response.text()
        rest = b""
        async for data in response.content.iter_any():
            *events, rest = (rest + data).split(b"\n\n")
            for event in events:
                lines = [line for line in event.split(b"\n") if not line.startswith(b":")]
                fields = dict(line.split(b": ", 1) for line in lines)
                if fields:
                    assert set(fields) <= {b"id", b"data"}
                    seq = int(fields[b"id"]) if b"id" in fields else None
                    yield seq, _EVENT.validate_json(fields[b"data"])
        assert rest == b""


@dataclass
class Watch:
    """A viewer of a project: a fold over frames, with the faults it noticed."""

    seq: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    facts: list[Envelope] = field(default_factory=list)
    resets: int = 0
    faults: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def see(self, seq: int | None, event: Envelope) -> None:
        if seq is not None:
            if seq != self.seq + 1 and self.seq:
                self.faults.append(f"frame {seq} after {self.seq}")
            self.seq = seq
            self.facts.append(event)
        self.seen.append(kind_of(event))
        if isinstance(event, BlockDelta) and event.kind == "text":
            self._delta(event)
        elif isinstance(event, StepReset):
            self.resets += 1
            self.texts.pop(event.message_id, None)
        elif isinstance(event, MessageFinished):
            self.texts[event.message_id] = event.message.text
        self.changed.set()

    def _delta(self, event: BlockDelta) -> None:
        text = self.texts.get(event.message_id, "")
        if event.off > len(text.encode("utf-16-le")) // 2:
            self.faults.append(f"a gap before {event.text!r}")
        cut = text.encode("utf-16-le")[: event.off * 2].decode("utf-16-le")
        self.texts[event.message_id] = cut + event.text

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until what was seen fulfils a condition."""
        while not condition():
            self.changed.clear()
            await self.changed.wait()

    def is_shown(self, text: str) -> bool:
        return any(text in shown for shown in self.texts.values())

    def ends(self, run_id: str) -> list[RunFinished]:
        return [f for f in self.facts if isinstance(f, RunFinished) and f.run_id == run_id]

    @property
    def messages(self) -> list[Message]:
        """The transcript that the facts tell; results in the order of their calls."""
        found: list[Message] = []
        results: dict[str, ToolResult] = {}
        for fact in self.facts:
            if isinstance(fact, ToolFinished):
                results[fact.call_id] = fact.result
        for fact in self.facts:
            if isinstance(fact, UserMessage):
                found.append(_user(fact))
            elif isinstance(fact, MessageFinished):
                message: Assistant = fact.message
                found.append(message)
                found += [results[call.id] for call in message.calls if call.id in results]
        return found


def _user(fact: UserMessage) -> User:
    return user(fact.text, source=fact.source)
