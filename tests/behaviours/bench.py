"""The tools of the corpus. They remember what really ran."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

from wenfang.core import Tool, ToolContext, tool


class Workbench:
    """`executed` lists every call whose body was entered, `cancelled` those that were cut short."""

    def __init__(self) -> None:
        self.executed: list[list[Any]] = []
        self.cancelled: list[str] = []
        self.entered = asyncio.Event()
        self.hold = False  # `send` waits before it returns

    def tools(self, names: list[str]) -> list[Tool]:
        numbers = count(1)

        @tool
        async def add(a: int, b: int) -> int:
            """Add two integers."""
            self.executed.append(["add", {"a": a, "b": b}])
            return a + b

        @tool
        async def ping() -> str:
            """Says pong."""
            self.executed.append(["ping", {}])
            return "pong"

        @tool
        async def poll(job: str) -> str:
            """Shows how far a job is."""
            self.executed.append(["poll", {"job": job}])
            return f"{job}: step {next(numbers)}"

        @tool
        async def boom() -> str:
            """Fails."""
            self.executed.append(["boom", {}])
            raise RuntimeError("the disk at /srv/private/data is gone")

        @tool(access="write")
        async def write_file(path: str, text: str) -> str:
            """Write a file."""
            self.executed.append(["write_file", {"path": path, "text": text}])
            return "written"

        @tool
        async def slow() -> str:
            """Takes very long."""
            return await self._wait("slow", {})

        @tool(access="exec")
        async def send(text: str) -> str:
            """Send a message; cannot be undone."""
            return await self._wait("send", {"text": text}) if self.hold else self._note(text)

        @tool(access="write", replay="idempotent")
        async def save(text: str, context: ToolContext) -> str:
            """Save a text under the key of the call; doing it twice changes nothing."""
            return (
                await self._wait("save", {"text": text}) if self.hold else self._note(text, "save")
            )

        known = {t.name: t for t in (add, ping, poll, boom, write_file, slow, send, save)}
        return [known[name] for name in names]

    def _note(self, text: str, name: str = "send") -> str:
        self.executed.append([name, {"text": text}])
        return "sent"

    async def _wait(self, name: str, args: dict[str, Any]) -> str:
        self.executed.append([name, args])
        self.entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise
        return "never"
