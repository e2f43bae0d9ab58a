"""What the runs of the suite do: a plan is the text of the request, and the model follows it.

The model's reply depends on the conversation alone, so that any process can go on with it. Effects are
lines in a file outside of the database: that is where duplicates show.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from wenfang.core import (
    Assistant,
    Delta,
    FileWritten,
    Limits,
    ModelEvent,
    ModelRequest,
    Text,
    Toolbox,
    ToolCall,
    ToolContext,
    ToolOutput,
    Usage,
    User,
    native,
    tool,
)
from wenfang.runs import AgentSpec, RunContext

EFFECTS = "effects.log"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """`steps` names the tool of each step; an answer of `words` words follows. `pace_s` lies between
    words, `block_s` is how long `block` holds the event loop."""

    name: str
    steps: tuple[str, ...] = ("fire", "put", "look")
    words: int = 5
    pace_s: float = 0.0
    block_s: float = 0.0

    def text(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def of(text: str) -> Plan:
        values = json.loads(text)
        return Plan(**{**values, "steps": tuple(values["steps"])})


def answer(plan: Plan) -> str:
    return " ".join(f"{plan.name}-{n}" for n in range(plan.words))


class Planned:
    """The model."""

    name = "planned"

    def __init__(self, probe: Callable[[str], None]) -> None:
        self._probe = probe

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        plan, done = Plan(name="?"), 0
        for message in request.messages:
            if isinstance(message, User) and message.source == "user":
                plan, done = Plan.of(message.text), 0
            elif isinstance(message, Assistant):
                done += 1
        text = answer(plan)
        for at, word in enumerate(text.split(" ")):
            if at == plan.words // 2:
                self._probe("stream.middle")
            await asyncio.sleep(plan.pace_s)
            yield Delta(kind="text", text=word if at == 0 else f" {word}")
        content: tuple[Text | ToolCall, ...] = (Text(text=text),)
        stop = "stop"
        if done < len(plan.steps):
            call = ToolCall(id=f"c{done}", name=plan.steps[done], arguments={"note": f"{done}"})
            content, stop = (*content, call), "tool_use"
        usage = Usage(input=100, output=10)
        yield Assistant(content=content, stop=stop, usage=usage, model="planned")  # type: ignore[arg-type]


def make_tools(folder: Path, probe: Callable[[str], None], block_s: float = 0.0) -> Toolbox:
    """One tool per class of a takeover, one that writes a file, one that hangs, one that blocks."""

    def effect(name: str, context: ToolContext) -> str:
        probe("effect.before")
        handle = os.open(folder / EFFECTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{name} {context.key}\n".encode())
        os.close(handle)
        probe("effect.after")
        return f"{name} done"

    @tool(access="exec")
    async def fire(context: ToolContext, note: str) -> str:
        """Unsafe."""
        return effect("fire", context)

    @tool(access="write", replay="idempotent")
    async def put(context: ToolContext, note: str) -> str:
        """Idempotent."""
        return effect("put", context)

    @tool(access="read")
    async def look(context: ToolContext, note: str) -> str:
        """Read."""
        return effect("look", context)

    @tool(access="write", replay="idempotent")
    async def save(context: ToolContext, note: str) -> ToolOutput:
        """A whole file: temporary file, sync, rename."""
        body = f"{context.key}\n".encode() * 1000
        path = f"saved-{context.key.replace(':', '-')}.txt"
        handle, name = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        probe("save.before_rename")
        os.rename(name, folder / path)
        probe("save.after_rename")
        revision = hashlib.sha256(body).hexdigest()
        written = FileWritten(path=path, revision=revision, previous="", size_bytes=len(body))
        return ToolOutput(content="saved", effects=(written,))

    @tool(access="exec")
    async def hang(context: ToolContext, note: str) -> str:
        """Unsafe, with a child process that must not outlive the call."""
        effect("hang", context)
        process = await asyncio.create_subprocess_exec("sleep", "600")
        (folder / "child.pid").write_text(str(process.pid))
        try:
            await process.wait()
        finally:
            process.kill()
            await process.wait()
        return "never"

    @tool(access="exec")
    async def block(context: ToolContext, note: str) -> str:
        """Unsafe, and holds the event loop."""
        effect("block", context)
        time.sleep(block_s)  # noqa: ASYNC251 - that is the fault
        return "blocked"

    return Toolbox([fire, put, look, save, hang, block])


def make_agent(folder: Path, probe: Callable[[str], None]) -> Callable[[RunContext], AgentSpec]:
    def make(context: RunContext) -> AgentSpec:
        plan = Plan.of(context.text)
        return AgentSpec(
            client=Planned(probe),
            tools=make_tools(folder, probe, plan.block_s),
            dialect=native,
            limits=Limits(cleanup_s=2.0),
        )

    return make
