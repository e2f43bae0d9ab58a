"""An agent: instructions, a message list, tools and the loop (design §5).

    agent = Agent(client, [add], instructions="Use the tools.")
    end = await agent.run("How much is 2 + 3?")

The class only holds state; the work is in `run_loop`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from .abort import Abort
from .dialects.base import Dialect
from .dialects.native import native
from .events import AgentEvent, RunEnd
from .hooks import Hooks
from .ids import new_id as mint
from .limits import Limits
from .loop import Emit, run_loop
from .messages import Message, System, User, user
from .models import ModelClient, ToolChoice
from .tools import Tool, Toolbox


class AgentBusy(RuntimeError):  # noqa: N818 - misuse, named for what it says
    """This agent is running already. Steer it, wait for it, or use a second agent."""


async def _ignore(event: AgentEvent) -> None:
    del event


class Stream:
    """Events of a run, in order; the last one is the `RunEnd`, also kept as `end`."""

    _ROOM = 256

    def __init__(self) -> None:
        self._events: deque[AgentEvent] = deque()
        self._arrived = asyncio.Event()
        self._taken = asyncio.Event()
        self._closed = False
        self.end: RunEnd | None = None

    async def put(self, event: AgentEvent) -> None:
        """Waits while the reader is far behind."""
        while len(self._events) >= self._ROOM and not self._closed:
            self._taken.clear()
            await self._taken.wait()
        self._events.append(event)
        self._arrived.set()

    def close(self) -> None:
        self._closed = True
        self._taken.set()

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> AgentEvent:
        while not self._events:
            if self.end is not None:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        event = self._events.popleft()
        self._taken.set()
        if isinstance(event, RunEnd):
            self.end = event
        return event


class Agent:
    """One conversation with a model and tools. `transcript` is its memory: it may be filled from
    stored messages before the first run, and is only appended to. One run at a time.

    `tool_choice` "required", or the name of a tool, holds until the first call of a run; a name that is
    none raises `ValueError`. `streaming` False asks for whole replies: fewer events, less work.
    """

    def __init__(
        self,
        client: ModelClient,
        tools: Iterable[Tool] = (),
        *,
        instructions: str = "",
        dialect: Dialect = native,
        hooks: Hooks | None = None,
        limits: Limits | None = None,
        tool_choice: ToolChoice = "auto",
        streaming: bool = True,
        new_id: Callable[[str], str] = mint,
    ) -> None:
        self.client = client
        self.tools = tools if isinstance(tools, Toolbox) else Toolbox(tools)
        self.tools.check_choice(tool_choice)
        self.dialect = dialect
        self.hooks = hooks or Hooks()
        self.limits = limits or Limits()
        self.tool_choice: ToolChoice = tool_choice
        self.streaming = streaming
        self.transcript: list[Message] = [System(content=instructions)] if instructions else []
        self._new_id = new_id
        self._steering: deque[User] = deque()
        self._follow_up: deque[User] = deque()
        self._abort: Abort | None = None

    async def run(self, prompt: str | User, *, emit: Emit = _ignore) -> RunEnd:
        """Work on `prompt` to the end. `emit` is awaited for every event.

        Raises only `AgentBusy` and cancellation: every other failure is in the returned `RunEnd`.
        """
        return await self._run((user(prompt) if isinstance(prompt, str) else prompt,), None, emit)

    async def resume(self, *, emit: Emit = _ignore) -> RunEnd:
        """Go on after an interruption: calls without a result run first, then the model is asked."""
        start = max(
            (
                at
                for at, m in enumerate(self.transcript)
                if isinstance(m, User) and m.source == "user"
            ),
            default=0,
        )
        return await self._run((), start, emit)

    @asynccontextmanager
    async def stream(self, prompt: str | User) -> AsyncGenerator[Stream]:
        """`async with agent.stream("...") as events: async for event in events: ...`

        The run has its own task. Leaving the block early stops it and waits until it is recorded.
        """
        stream = Stream()
        task = asyncio.get_running_loop().create_task(self.run(prompt, emit=stream.put))
        try:
            await asyncio.sleep(0)
            yield stream
        finally:
            stream.close()
            self.abort()
            await task

    def steer(self, text: str) -> None:
        """Add words to the running work; they are read after the current batch of calls."""
        self._steering.append(user(text, source="steer"))

    def follow_up(self, text: str) -> None:
        """Add the next task; it is read when the run would end."""
        self._follow_up.append(user(text, source="follow_up"))

    def abort(self) -> None:
        """Stop the current run, if there is one; it ends with status "stopped"."""
        if self._abort is not None:
            self._abort.request()

    async def _run(self, prompts: Sequence[User], start: int | None, emit: Emit) -> RunEnd:
        if self._abort is not None:
            raise AgentBusy("this agent is running already; steer it or use a second agent")
        abort = self._abort = Abort()
        hooks = self.hooks
        try:
            return await run_loop(
                self.transcript,
                self.client,
                self.tools,
                dialect=self.dialect,
                hooks=replace(
                    hooks,
                    steering=lambda: (*hooks.steering(), *_drain(self._steering)),
                    follow_up=lambda: (*hooks.follow_up(), *_drain(self._follow_up)),
                ),
                limits=self.limits,
                abort=abort,
                prompts=prompts,
                start=start,
                streaming=self.streaming,
                tool_choice=self.tool_choice,
                new_id=self._new_id,
                emit=emit,
            )
        finally:
            self._abort = None


def _drain(queue: deque[User]) -> Sequence[User]:
    """One message at a time, oldest first."""
    return (queue.popleft(),) if queue else ()
