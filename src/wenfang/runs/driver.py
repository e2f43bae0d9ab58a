"""Driving one run: claim, fold, loop, finish (durable.md §3, §8).

The driver is the listener of `run_loop`: it writes the loop's events into the journal as facts, before
the effect where there is one. Nothing is replayed; a run that is taken over goes on from the message
list that its facts fold to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from wenfang.core import (
    JSON,
    REASONS,
    Abort,
    AgentEvent,
    AttemptReset,
    Message,
    MessageDelta,
    MessageEnd,
    ModelStart,
    Notice,
    Reason,
    RunEnd,
    RunStart,
    System,
    Tool,
    ToolEnd,
    ToolStart,
    ToolUpdate,
    User,
    UserAdded,
    run_loop,
)
from wenfang.problems import Problem

from .bodies import Unfinished, keep_unfinished, unfinished_bodies
from .changes import change_of
from .ending import ending_of
from .entries import steer_fact
from .facts import (
    Fact,
    MessageFinished,
    NoticeGiven,
    StepReset,
    StepStarted,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from .fold import Fold
from .hub import Hub
from .journal import Ack, Claim, Fenced, Journal, Probe, Waiting
from .keyed import KeyedToolbox
from .pen import Pen, persist
from .records import AgentSpec, MakeAgent, Options
from .shelf import Shelf
from .steering import Steering
from .takeover import (
    closing_reason,
    context_of_claim,
    missing_results,
    unknown_outcomes,
    void_request,
)
from .voice import Voice


class HandOff(Exception):  # noqa: N818 - raised into the loop to end it at a step boundary
    """This process is leaving; another one goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every driver of a process works with."""

    journal: Journal
    hub: Hub
    make_agent: MakeAgent
    shelf: Shelf
    clock: Callable[[], float]
    new_id: Callable[[str], str]
    options: Options
    probe: Probe


class Driver:
    """One claim of one run. `stop`, `expire`, `leave` and `look` may be called at any time while
    `drive` runs, from the event loop's thread."""

    def __init__(self, desk: Desk, claim: Claim, spec: AgentSpec | None) -> None:
        self._desk = desk
        self._claim = claim
        self._spec = spec
        self._abort = Abort()
        self._expired = False
        self._leaving = False
        self._pen = Pen(desk.journal, claim, self._heard, retry_s=desk.options.retry_s)
        self._voice = Voice(
            desk.hub,
            project_id=claim.project_id,
            session_id=claim.session_id,
            run_id=claim.run_id,
            clock=desk.clock,
            options=desk.options,
            save=self._save_partial,
        )
        self._past = Fold()
        self._open: set[str] = set()  # calls whose intent is in the journal
        self._tools: Mapping[str, Tool] = {}
        self._steering = Steering(desk.journal, claim)

    def stop(self) -> None:
        """End the run as stopped by its user."""
        self._abort.request()

    def leave(self) -> None:
        """Hand the run over at its next step boundary."""
        self._leaving = True

    def look(self, newest_signal: int, *, stop_requested: bool) -> None:
        """There may be new signals."""
        self._steering.look(newest_signal)
        if stop_requested:
            self.stop()

    def _expire(self) -> None:
        self._expired = True
        self._abort.request()

    async def drive(self) -> None:
        """Work until the run has ended, was handed over, or is someone else's.

        Raises `Problem` if the journal failed for too long; the run stays claimable.
        """
        try:
            await self._drive()
        except Fenced:
            pass
        except asyncio.CancelledError:
            if self._leaving:
                with suppress(Fenced, Problem):
                    await self._hand_over()
            raise
        finally:
            self._pen.put_down()
            await self._voice.close()

    async def _drive(self) -> None:
        claim, desk = self._claim, self._desk
        desk.probe("claim.after")
        self._past = past = await desk.journal.history(claim)
        partial = b""
        if past.open_step is not None:
            partial = await desk.journal.partial(claim.run_id)
            self._note(void_request(past.open_step, past, partial))
        reason = closing_reason(claim, desk.clock(), desk.options.attempts)
        if reason is not None:
            await self._keep_bodies(unfinished_bodies(partial.splitlines()))
            await self._close(reason)
            return
        try:
            spec = self._spec or desk.make_agent(context_of_claim(claim, past, desk.shelf))
        except Problem as problem:
            params: dict[str, JSON] = {**problem.params}
            self._note(NoticeGiven(level="error", code=problem.code, params=params))
            await self._close("provider_error")
            return
        self._note(*unknown_outcomes(past))
        self._open = set(past.open_calls)
        await self._pen.flush()
        timer = self._deadline()
        try:
            await self._work(spec)
        finally:
            if timer is not None:
                timer.cancel()

    def _deadline(self) -> asyncio.TimerHandle | None:
        if self._claim.deadline_at is None:
            return None
        left_s = max(0.0, self._claim.deadline_at - self._desk.clock())
        return asyncio.get_running_loop().call_later(left_s, self._expire)

    def _note(self, *facts: Fact, patience_s: float = 0.0) -> None:
        """Write facts soon and fold them."""
        self._pen.add(facts, patience_s)
        for fact in facts:
            self._past.add(fact)

    async def _work(self, spec: AgentSpec) -> None:
        """Run the loop, again if words came in while it ended."""
        past, steering = self._past, self._steering
        self._tools = spec.tools
        tools = KeyedToolbox(spec.tools, self._claim.run_id)
        head: list[Message] = [System(content=spec.instructions)] if spec.instructions else []
        transcript, start = [*head, *past.transcript()], len(head) + past.start
        hooks = replace(spec.hooks, steering=lambda: (*spec.hooks.steering(), *steering.take()))
        prompts: Sequence[User] = ()
        while True:
            await steering.load()
            end = await run_loop(
                transcript,
                spec.client,
                tools,
                dialect=spec.dialect,
                hooks=hooks,
                limits=spec.limits,
                emit=self._emit,
                abort=self._abort,
                prompts=prompts,
                start=start,
                streaming=spec.streaming,
                tool_choice=spec.tool_choice,
                new_id=self._desk.new_id,
            )
            if end.reason == "listener_failed" and self._leaving:
                await self._hand_over()
                return
            if not await self._finish(end):
                return
            await steering.load()
            prompts = steering.take()

    async def _hand_over(self) -> None:
        await self._voice.close()
        await self._pen.flush()
        await self._desk.journal.release(self._claim)

    async def _close(self, reason: Reason) -> None:
        """End a run without working on it."""
        past = self._past
        row = REASONS[reason]
        await self._finish(
            RunEnd(
                status=row.status,
                reason=reason,
                answer=past.answer,
                usage=past.ledger.total,
                steps=past.steps,
                tool_calls=past.tool_calls,
            )
        )

    async def _finish(self, end: RunEnd) -> bool:
        """The last facts and the settlement, in one transaction. True: words came in, go on."""
        if self._expired and end.reason == "cancelled_by_user":
            end = replace(end, reason="deadline", status=REASONS["deadline"].status)
        past = self._past
        self._note(*missing_results(past))
        await self._pen.flush()
        self._desk.probe("finish.before")
        ending = ending_of(self._claim.run_id, end, past, self._claim.reserved)
        done = await persist(
            lambda: self._desk.journal.finish(self._claim, ending), self._desk.options.retry_s
        )
        self._desk.probe("finish.after")
        if isinstance(done, Waiting):
            self._steering.look(done.newest_signal)
            return True
        self._heard(done)
        return False

    async def _emit(self, event: AgentEvent) -> None:
        """Write down what the loop does; returns when it may go on."""
        match event:
            case MessageDelta():
                pause_s = self._voice.delta(event)
                if pause_s:
                    await asyncio.sleep(pause_s)
            case ModelStart():
                await self._step(event)
            case MessageEnd():
                cut = self._cut_bodies(event)
                self._voice.end()
                self._desk.probe("message.before_append")
                self._message(event)
                await self._keep_bodies(cut)
                await self._steering.load()
            case ToolStart():
                await self._intend(event)
            case ToolEnd():
                self._desk.probe("tool.before_append")
                self._finished(event)
                await self._steering.load()
            case ToolUpdate():
                self._voice.progress(event)
            case AttemptReset():
                self._reset(event)
                await self._pen.flush()  # readers hear of it before they see the next try
            case UserAdded():
                self._user(event.message)
            case Notice():
                self._note(NoticeGiven(level="info", code=event.code, params=event.params))
            case RunStart() | RunEnd():
                pass

    async def _step(self, event: ModelStart) -> None:
        """A step boundary: the intent of a request, or the end of this process's part."""
        if self._leaving:
            raise HandOff
        self._desk.probe("step.before_append")
        self._note(StepStarted(step=event.step, message_id=event.message_id, model=event.model))
        await self._pen.flush()
        self._desk.probe("step.after_append")

    def _message(self, event: MessageEnd) -> None:
        self._note(
            MessageFinished(step=event.step, message_id=event.message_id, message=event.message),
            patience_s=self._desk.options.patience_s,
        )

    def _cut_bodies(self, event: MessageEnd) -> list[Unfinished]:
        """Texts for files in a reply that was cut off: none of its calls will be made."""
        if event.message.stop not in ("aborted", "error"):
            return []
        self._voice.flush()
        live = self._desk.hub.live(self._claim.project_id, self._claim.run_id)
        return unfinished_bodies(frame.data for frame in live.frames()) if live else []

    async def _keep_bodies(self, bodies: Sequence[Unfinished]) -> None:
        if bodies:
            claim = self._claim
            files = self._desk.shelf.files(claim.project_id, claim.folder, "ai", claim.run_id)
            self._note(*await keep_unfinished(files, bodies))

    async def _intend(self, event: ToolStart) -> None:
        call = event.call
        if call.id in self._open:
            return  # the last owner wrote it down; the tool is declared safe to run again
        self._desk.probe("tool.before_intent")
        tool = self._tools[call.name]
        self._note(
            ToolStarted(
                call_id=call.id,
                name=call.name,
                args=dict(call.arguments),
                access=event.access,
                replay=tool.replay,
            ),
            patience_s=self._desk.options.patience_s,
        )
        if not _just_runs_again(tool):
            await self._pen.flush()
        self._desk.probe("tool.after_intent")

    def _finished(self, event: ToolEnd) -> None:
        call, result = event.call, event.result
        tool = self._tools.get(call.name)
        self._open.discard(call.id)
        self._note(
            ToolFinished(call_id=call.id, name=call.name, args=dict(call.arguments), result=result),
            patience_s=self._desk.options.patience_s if _just_runs_again(tool) else 0.0,
        )
        for effect in result.effects:
            if (change := change_of(effect)) is not None:
                self._note(change)

    def _reset(self, event: AttemptReset) -> None:
        self._voice.end()
        self._note(
            StepReset(
                step=event.step,
                message_id=event.message_id,
                attempt=event.attempt,
                reason=event.failure.kind,
                usage=event.usage,
            )
        )

    def _user(self, message: User) -> None:
        signal = self._steering.signal_of(message)
        if signal is not None:
            self._note(steer_fact(self._claim.run_id, signal))
            return
        message_id = self._desk.new_id("msg")
        self._note(UserMessage(message_id=message_id, text=message.text, source=message.source))

    def _heard(self, ack: Ack) -> None:
        self._desk.hub.publish(self._claim.project_id, ack.frames)
        self.look(ack.newest_signal, stop_requested=ack.stop_requested)

    async def _save_partial(self, frames: bytes) -> None:
        await self._desk.journal.save_partial(self._claim, frames)


def _just_runs_again(tool: Tool | None) -> bool:
    """Whether a call that the journal does not know of is no loss (None: no tool of that name)."""
    return tool is None or tool.replay == "read"
