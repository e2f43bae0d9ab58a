"""The direct face: `Agent` over the real client against the scripted server, in one process."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from wenfang.core import (
    Agent,
    AgentBusy,
    AgentEvent,
    AttemptReset,
    Limits,
    MessageDelta,
    ModelClient,
    RunEnd,
    ToolStart,
    Usage,
)
from wenfang.models import ChatClient, Resilient
from wenfang.testing import ScriptedServer

from .bench import Workbench
from .corpus import Case
from .outcome import Outcome, kind_of


class Sleeps(list[float]):
    """Waits that take no time but are remembered."""

    async def sleep(self, seconds: float) -> None:
        self.append(seconds)


def make_client(case: Case, url: str, sleeps: Sleeps) -> ModelClient:
    clients = [ChatClient(base_url=url, model=name, api_key="sk-test-key") for name in case.clients]
    return Resilient(clients, sleep=sleeps.sleep, random=lambda: 0.0)


def make_limits(case: Case) -> Limits:
    return Limits(**case.limits)


@dataclass
class Viewer:
    """Folds events to what a viewer sees: the text of each message, void after a reset."""

    texts: dict[str, str] = field(default_factory=dict)
    resets: int = 0
    ends: list[RunEnd] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def see(self, event: AgentEvent) -> None:
        self.seen.append(kind_of(event))
        if isinstance(event, MessageDelta) and event.kind == "text":
            text = self.texts.get(event.message_id, "")
            assert event.off == len(text.encode("utf-16-le", "surrogatepass")) // 2
            self.texts[event.message_id] = text + event.text
        elif isinstance(event, AttemptReset):
            self.resets += 1
            self.texts.pop(event.message_id, None)
        elif isinstance(event, RunEnd):
            self.ends.append(event)


class Direct:
    def __init__(self, *, streaming: bool = True) -> None:
        self.names = ("direct" if streaming else "whole",)
        self._streaming = streaming

    async def start(self, case: Case) -> dict[str, Outcome]:
        bench, sleeps, viewer = Workbench(), Sleeps(), Viewer()
        async with ScriptedServer(case.script) as server:
            agent = Agent(
                make_client(case, server.url, sleeps),
                bench.tools(case.tools, case.schemas),
                instructions="You are under test.",
                limits=make_limits(case),
                dialect=case.spoken,
                tool_choice=case.tool_choice,  # type: ignore[arg-type]
                streaming=self._streaming,
            )
            refused: list[str] = []
            for action in case.drive:
                viewer.ends.clear()
                watcher = asyncio.ensure_future(_stop_at_tool(agent, bench, action, case))
                await self._act(agent, action, viewer, refused)
                watcher.cancel()
            end = viewer.ends[-1]
        outcome = Outcome(
            status=end.status,
            reason=end.reason,
            answer=end.answer,
            usage=end.usage,
            kind=end.failure.kind if end.failure else None,
            messages=agent.transcript,
            shown=list(viewer.texts.values()) if self._streaming else None,
            resets=viewer.resets,
            closings=len(viewer.ends),
            executed=bench.executed,
            cancelled=bench.cancelled,
            requests=server.requests,
            problems=server.problems(),
            sleeps=list(sleeps),
            refused=refused,
            seen=viewer.seen,
        )
        return {self.names[0]: outcome}

    async def _act(
        self, agent: Agent, action: dict[str, Any], viewer: Viewer, refused: list[str]
    ) -> None:
        async def emit(event: AgentEvent) -> None:
            viewer.see(event)
            if isinstance(event, MessageDelta) and _is_reached(viewer, action.get("stop_at")):
                agent.abort()
            elif isinstance(event, MessageDelta | ToolStart) and action.get("also") and not refused:
                try:
                    await agent.run(action["also"])
                except AgentBusy:
                    refused.append("run_active")

        if "leave_at" not in action:
            await agent.run(action["say"], emit=emit)
            return
        async with agent.stream(action["say"]) as events:
            async for event in events:
                viewer.see(event)
                if _is_reached(viewer, action["leave_at"]):
                    break
        if not viewer.ends:  # leaving ended the run; its closing event had no reader
            viewer.ends.append(_unread_end())


async def _stop_at_tool(agent: Agent, bench: Workbench, action: dict[str, Any], case: Case) -> None:
    if action.get("stop_at") in case.tools:
        await bench.entered.wait()
        agent.abort()


def _is_reached(viewer: Viewer, text: str | None) -> bool:
    return bool(text) and any(text in shown for shown in viewer.texts.values())


def _unread_end() -> RunEnd:
    return RunEnd(
        status="stopped",
        reason="cancelled_by_user",
        answer="",
        usage=Usage(),
        steps=0,
        tool_calls=0,
    )
