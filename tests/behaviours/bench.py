"""The tools of the corpus. They remember what really ran."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from wenfang.core import Tool, ToolContext, tool

_TYPES: dict[str, type[Any]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
}


def _type_of(schema: dict[str, Any]) -> type[Any]:
    return _TYPES[schema["type"]]


class Workbench:
    """`executed` lists every call whose body was entered, `cancelled` those that were cut short. `log`
    is a file that gets the same as `executed`, for a process that will be killed. With `hold` the tools
    `send` and `save` do not return."""

    def __init__(self, *, log: Path | None = None, hold: bool = False) -> None:
        self.executed: list[list[Any]] = []
        self.cancelled: list[str] = []
        self.entered = asyncio.Event()
        self._log = log
        self._hold = hold

    def tools(
        self, names: list[str], schemas: dict[str, tuple[dict[str, Any], str]] | None = None
    ) -> list[Tool]:
        numbers = count(1)

        @tool
        async def add(a: int, b: int) -> int:
            """Add two integers."""
            self._note("add", {"a": a, "b": b})
            return a + b

        @tool
        async def ping() -> str:
            """Says pong."""
            self._note("ping", {})
            return "pong"

        @tool
        async def poll(job: str) -> str:
            """Shows how far a job is."""
            self._note("poll", {"job": job})
            return f"{job}: step {next(numbers)}"

        @tool
        async def echo(text: str) -> str:
            """Say it back."""
            self._note("echo", {"text": text})
            return text

        @tool
        async def boom() -> str:
            """Fails."""
            self._note("boom", {})
            raise RuntimeError("the disk at /srv/private/data is gone")

        @tool(access="write")
        async def write_file(path: str, text: str) -> str:
            """Write a file."""
            self._note("write_file", {"path": path, "text": text})
            return "written"

        @tool
        async def slow() -> str:
            """Takes very long."""
            return await self._wait("slow", {})

        @tool(access="exec")
        async def send(text: str) -> str:
            """Send a message; cannot be undone."""
            return await self._act("send", {"text": text})

        @tool(access="write", replay="idempotent")
        async def save(text: str, context: ToolContext) -> str:
            """Save a text under the key of the call; doing it twice changes nothing."""
            return await self._act("save", {"text": text})

        known = {t.name: t for t in (add, ping, poll, echo, boom, write_file, slow, send, save)}
        made = [self._made(name, *each) for name, each in (schemas or {}).items()]
        return [known[name] for name in names] + made

    def _made(self, name: str, spec: dict[str, Any], text: str) -> Tool:
        """A tool that takes what its schema says and returns a text."""
        schema = spec["parameters"]

        async def handler(context: ToolContext, args: BaseModel) -> str:
            self._note(name, args.model_dump(exclude_unset=True))
            return text

        required = schema.get("required", ())
        fields: dict[str, Any] = {
            key: (_type_of(each), ... if key in required else _type_of(each)())
            for key, each in schema["properties"].items()
        }
        params = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
        return Tool(
            name=name,
            description=spec.get("description", ""),
            params=params,
            handler=handler,
            access=spec["access"],
            aliases=spec.get("aliases", {}),
        )

    def _note(self, name: str, args: dict[str, Any]) -> None:
        self.executed.append([name, args])
        if self._log is not None:
            with self._log.open("a") as log:
                log.write(json.dumps([name, args]) + "\n")

    async def _act(self, name: str, args: dict[str, Any]) -> str:
        if self._hold:
            return await self._wait(name, args)
        self._note(name, args)
        return "done"

    async def _wait(self, name: str, args: dict[str, Any]) -> str:
        self._note(name, args)
        self.entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise
        return "never"
