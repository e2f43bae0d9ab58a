"""What the tests of this room share: a model that is a function of the conversation, tools that count,
and an opened `Runs` with short intervals."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from wenfang.core import (
    Assistant,
    Delta,
    Limits,
    ModelEvent,
    ModelRequest,
    Text,
    Tool,
    Toolbox,
    ToolCall,
    Usage,
    User,
    native,
    tool,
)
from wenfang.runs import AgentSpec, Options, RunContext, RunInfo, Runs, Session, open_runs
from wenfang.storage import FILE
from wenfang.storage.database import prepare

USAGE = Usage(input=10, output=5)
QUICK = Options(
    reconcile_s=0.02, poll_s=0.02, beat_s=0.05, retry_s=(0.01, 0.01), partial_s=0.0, delta_s=0.0
)
# nothing is found by looking again: what happens, happens because someone was told
ALONE = replace(QUICK, poll_s=3600.0, reconcile_s=3600.0)


def say(text: str, **more: Any) -> Assistant:
    more.setdefault("usage", USAGE)
    return Assistant(content=(Text(text=text),), stop="stop", model="puppet", **more)


def call(name: str, call_id: str, text: str = "", **arguments: Any) -> Assistant:
    return calls((name, call_id, arguments), text=text)


def calls(*wanted: tuple[str, str, dict[str, Any]], text: str = "") -> Assistant:
    made = tuple(ToolCall(id=i, name=n, arguments=a) for n, i, a in wanted)
    content = ((Text(text=text),) if text else ()) + made
    return Assistant(content=content, stop="tool_use", usage=USAGE, model="puppet")


@dataclass
class Puppet:
    """`script[n]` is the reply to the request that follows n replies since the person's last words;
    after its end the last one is given. A callable gets the request; `gate` holds each reply after
    its first piece until it is set."""

    script: Sequence[Assistant | Callable[[ModelRequest], Any]]
    name: str = "puppet"
    gate: asyncio.Event | None = None
    requests: list[ModelRequest] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(replace(request, messages=tuple(request.messages)))
        replies = 0
        for message in request.messages:
            if isinstance(message, Assistant):
                replies += 1
            elif isinstance(message, User) and message.source == "user":
                replies = 0
        given = self.script[min(replies, len(self.script) - 1)]
        reply = given if isinstance(given, Assistant) else given(request)
        if not isinstance(reply, Assistant):
            reply = await reply
        for at, word in enumerate(reply.text.split(" ") if reply.text else ()):
            yield Delta(kind="text", text=word if at == 0 else f" {word}")
            self.reached.set()
            if self.gate is not None:
                await self.gate.wait()
        yield reply


@dataclass
class Counter:
    """Tools of each replay class that count how often they took effect."""

    keys: list[str] = field(default_factory=list)
    effects: list[str] = field(default_factory=list)
    hold: asyncio.Event | None = None
    entered: asyncio.Event = field(default_factory=asyncio.Event)

    def tools(self) -> Toolbox:
        async def act(name: str, note: str) -> str:
            self.effects.append(f"{name}:{note}")
            self.entered.set()
            if self.hold is not None:
                await self.hold.wait()
            return f"{name} did {note}"

        @tool(access="read")
        async def look(note: str = "") -> str:
            """Look."""
            return await act("look", note)

        @tool(access="write", replay="idempotent")
        async def put(note: str = "") -> str:
            """Put."""
            return await act("put", note)

        @tool(access="exec")
        async def fire(note: str = "") -> str:
            """Fire."""
            return await act("fire", note)

        return Toolbox([look, put, fire])


@dataclass
class Rig:
    runs: Runs
    session: Session

    @property
    def project_id(self) -> str:
        return self.session.project_id

    async def ask(self, text: str = "go", **more: Any) -> RunInfo:
        return await self.runs.submit(self.session.id, text, **more)

    async def do(self, text: str = "go", **more: Any) -> RunInfo:
        return await self.runs.wait((await self.ask(text, **more)).id)

    async def written(self, run_id: str, kind: str, count: int = 1) -> None:
        """Wait until the journal holds `count` facts of a kind."""
        while kinds(await self.facts(run_id)).count(kind) < count:
            await asyncio.sleep(0.002)

    async def facts(self, run_id: str = "") -> list[dict[str, Any]]:
        """All facts there are now, of the project or of one run."""
        found: list[dict[str, Any]] = []
        after = 0
        while True:
            page = await self.runs._journal.page(self.project_id, after)
            found += [json.loads(f.data) for f in page.frames if run_id in ("", f.run_id)]
            after = page.upto
            if page.complete:
                return found


def maker(
    client: Any, tools: Toolbox | None = None, **more: Any
) -> Callable[[RunContext], AgentSpec]:
    more.setdefault("limits", Limits(cleanup_s=0.5))
    return lambda _: AgentSpec(
        client=client, tools=tools or Toolbox(), dialect=native, instructions="Work.", **more
    )


@cache
def _template() -> bytes:
    """An empty database, migrated once for all tests."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        prepare(path)
        return path.read_bytes()


def migrated(data: Path) -> None:
    """Put an empty database there, if there is none."""
    path = data / FILE
    if not path.exists():
        data.mkdir(exist_ok=True)
        path.write_bytes(_template())


@asynccontextmanager
async def open_rig(
    data: Path,
    client: Any,
    tools: Toolbox | None = None,
    *,
    spec: dict[str, Any] | None = None,
    **more: Any,
) -> AsyncGenerator[Rig]:
    """Runs on `data`, with the first project and session of it, made if there are none."""
    more.setdefault("options", QUICK)
    migrated(data)
    make = client if callable(client) else maker(client, tools, **(spec or {}))
    async with open_runs(data, make_agent=make, **more) as runs:
        projects = await runs.projects()
        project = projects[0] if projects else await runs.create_project("Book")
        sessions = await runs.sessions(project.id)
        session = sessions[0] if sessions else await runs.create_session(project.id)
        yield Rig(runs, session)


def kinds(facts: Sequence[dict[str, Any]]) -> list[str]:
    return [fact["type"] for fact in facts]


__all__ = [
    "ALONE",
    "QUICK",
    "USAGE",
    "Counter",
    "Puppet",
    "Rig",
    "Tool",
    "call",
    "calls",
    "kinds",
    "maker",
    "migrated",
    "open_rig",
    "say",
]
