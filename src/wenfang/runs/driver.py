"""Driving one run: claim, fold, loop, finish (durable.md §3, §8).

The driver is the listener of `run_loop`: it writes the loop's events into the journal as facts, before
the effect where there is one. Nothing is replayed; a run that is taken over goes on from the message
list that its facts fold to.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wenfang.core import (
    JSON,
    REASONS,
    Abort,
    AgentEvent,
    AttemptReset,
    FileCreated,
    FileWritten,
    Message,
    MessageDelta,
    MessageEnd,
    ModelStart,
    Notice,
    Reason,
    RunEnd,
    RunStart,
    System,
    Text,
    Tool,
    Toolbox,
    ToolContext,
    ToolEnd,
    ToolOutput,
    ToolStart,
    ToolUpdate,
    Usage,
    User,
    UserAdded,
    estimate_tokens,
    run_loop,
    user,
)
from wenfang.problems import Problem

from .codec import decode
from .entries import entry_of, steer_fact
from .facts import (
    BlockDelta,
    Fact,
    FileChanged,
    MessageFinished,
    NoticeGiven,
    RunFinished,
    StepReset,
    StepStarted,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from .fold import Fold, interrupted
from .hub import Hub
from .journal import Ack, Claim, Ending, Fenced, Journal, Probe, Signal, Waiting
from .pen import Pen, persist
from .records import AgentSpec, MakeAgent, Options, RunContext
from .voice import Voice

if TYPE_CHECKING:
    from pydantic import BaseModel


class HandOff(Exception):  # noqa: N818 - raised into the loop to end it at a step boundary
    """This process is leaving; another one goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every driver of a process works with."""

    journal: Journal
    hub: Hub
    make_agent: MakeAgent
    clock: Callable[[], float]
    new_id: Callable[[str], str]
    options: Options
    probe: Probe


class KeyedToolbox(Toolbox):
    """The same tools, told a key per call that is unique in the database and the same when a takeover
    runs the call again (`run_id:call_id`)."""

    def __init__(self, tools: Toolbox, run_id: str) -> None:
        super().__init__()
        self.specs = tools.specs
        self._given = tools
        self._run_id = run_id

    def __getitem__(self, name: str) -> Tool:
        tool = self._given[name]

        async def handler(context: ToolContext, args: BaseModel) -> ToolOutput | str | JSON:
            key = f"{self._run_id}:{context.call_id}"
            return await tool.handler(replace(context, key=key), args)

        return replace(tool, handler=handler)

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


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
        self._newest_signal = claim.newest_signal
        self._known_signal = claim.next_signal - 1
        self._steers: deque[Signal] = deque()
        self._given: dict[int, tuple[User, Signal]] = {}

    def stop(self) -> None:
        """End the run as stopped by its user."""
        self._abort.request()

    def leave(self) -> None:
        """Hand the run over at its next step boundary."""
        self._leaving = True

    def look(self, newest_signal: int, *, stop_requested: bool) -> None:
        """There may be new signals."""
        self._newest_signal = max(self._newest_signal, newest_signal)
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
            await self._voice.close()

    async def _drive(self) -> None:
        claim, desk = self._claim, self._desk
        desk.probe("claim.after")
        self._past = past = await desk.journal.history(claim)
        reason = self._closing_reason()
        if reason is not None:
            await self._close(reason)
            return
        try:
            spec = self._spec or desk.make_agent(self._context())
        except Problem as problem:
            self._pen.add(
                (NoticeGiven(level="error", code=problem.code, params={**problem.params}),)
            )
            await self._close("provider_error")
            return
        self._tools = spec.tools
        await self._resolve()
        head: list[Message] = [System(content=spec.instructions)] if spec.instructions else []
        transcript = [*head, *past.transcript()]
        timer = self._deadline()
        try:
            await self._work(spec, transcript, len(head) + past.start)
        finally:
            if timer is not None:
                timer.cancel()

    def _closing_reason(self) -> Reason | None:
        """Why this run is only to be closed, if it is."""
        claim = self._claim
        if claim.stop_requested:
            return "cancelled_by_user"
        if claim.deadline_at is not None and claim.deadline_at <= self._desk.clock():
            return "deadline"
        return "interrupted" if claim.attempts > self._desk.options.attempts else None

    def _context(self) -> RunContext:
        claim = self._claim
        messages = self._past.messages[self._past.start :]
        text = next((m.text for m in messages if isinstance(m, User)), "")
        return RunContext(
            run_id=claim.run_id,
            session_id=claim.session_id,
            project_id=claim.project_id,
            project_path=Path(claim.project_path),
            text=text,
            user_id=claim.user_id,
        )

    def _deadline(self) -> asyncio.TimerHandle | None:
        if self._claim.deadline_at is None:
            return None
        left_s = max(0.0, self._claim.deadline_at - self._desk.clock())
        return asyncio.get_running_loop().call_later(left_s, self._expire)

    async def _resolve(self) -> None:
        """Settle what the last owner left open: a request without a reply is void, an unsafe call
        with an intent is never run again."""
        await self._reset_step()
        for call_id, intent in list(self._past.open_calls.items()):
            if intent.replay == "unsafe":
                self._finish_call(intent.call_id, intent.name, intent.args, started=True)
            else:
                self._open.add(call_id)
        await self._pen.flush()

    async def _reset_step(self) -> None:
        step = self._past.open_step
        if step is None:
            return
        self._note(
            StepReset(
                step=step.step,
                message_id=step.message_id,
                attempt=self._past.attempt + 1,
                reason="takeover",
                usage=await self._cut_usage(),
            )
        )

    async def _cut_usage(self) -> Usage:
        """An estimate of what the request that was cut short has cost (durable.md §8)."""
        lines = (await self._desk.journal.partial(self._claim.run_id)).splitlines()
        deltas = [delta for delta in map(decode, lines) if isinstance(delta, BlockDelta)]
        written = sum(estimate_tokens(delta.text) for delta in deltas)
        texts = [b.text for m in self._past.messages for b in _blocks(m) if isinstance(b, Text)]
        return Usage(input=sum(map(estimate_tokens, texts)), output=written, estimated=True)

    def _note(self, fact: Fact) -> None:
        """Write a fact soon and fold it."""
        self._pen.add((fact,))
        self._past.add(fact)

    def _finish_call(
        self, call_id: str, name: str, args: Mapping[str, object], *, started: bool
    ) -> None:
        result = interrupted(call_id, name, started=started)
        self._note(ToolFinished(call_id=call_id, name=name, args=dict(args), result=result))  # pyright: ignore[reportArgumentType]

    async def _work(self, spec: AgentSpec, transcript: list[Message], start: int) -> None:
        """Run the loop, again if words came in while it ended."""
        tools = KeyedToolbox(spec.tools, self._claim.run_id)
        prompts: Sequence[User] = ()
        while True:
            await self._load_signals()
            hooks = replace(
                spec.hooks, steering=lambda: (*spec.hooks.steering(), *self._take_steers())
            )
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
                new_id=self._desk.new_id,
            )
            if self._pen.failure is not None:
                raise self._pen.failure
            if end.reason == "listener_failed" and self._leaving:
                await self._hand_over()
                return
            if not await self._finish(end):
                return
            await self._load_signals()
            prompts = self._take_steers()

    async def _hand_over(self) -> None:
        await self._voice.close()
        await self._pen.flush()
        await self._desk.journal.release(self._claim)

    async def _close(self, reason: Reason) -> None:
        """End a run without working on it."""
        await self._reset_step()
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
        for call in past.unanswered():
            started = call.id in past.open_calls
            self._finish_call(call.id, call.name, call.arguments, started=started)
        self._voice.flush()
        await self._pen.flush()
        self._desk.probe("finish.before")
        ending = ending_of(self._claim.run_id, end, past, self._claim.reserved)
        done = await persist(
            lambda: self._desk.journal.finish(self._claim, ending), self._desk.options.retry_s
        )
        self._desk.probe("finish.after")
        if isinstance(done, Waiting):
            return True
        self._heard(done)
        return False

    async def _emit(self, event: AgentEvent) -> None:
        """Write down what the loop does; returns when it may go on."""
        match event:
            case MessageDelta():
                self._voice.delta(event)
            case ModelStart():
                await self._step(event)
            case MessageEnd():
                self._voice.flush()
                self._desk.probe("message.before_append")
                self._message(event)
                await self._load_signals()
            case ToolStart():
                await self._intend(event)
            case ToolEnd():
                self._desk.probe("tool.before_append")
                self._finished(event)
                await self._load_signals()
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
        await self._load_signals()

    def _message(self, event: MessageEnd) -> None:
        self._note(
            MessageFinished(step=event.step, message_id=event.message_id, message=event.message)
        )

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
            )
        )
        await self._pen.flush()
        self._desk.probe("tool.after_intent")

    def _finished(self, event: ToolEnd) -> None:
        call, result = event.call, event.result
        self._open.discard(call.id)
        self._note(
            ToolFinished(call_id=call.id, name=call.name, args=dict(call.arguments), result=result)
        )
        for effect in result.effects:
            if isinstance(effect, FileCreated | FileWritten):
                change = "created" if isinstance(effect, FileCreated) else "written"
                self._note(
                    FileChanged(path=effect.path, change=change, by="ai", revision=effect.revision)
                )

    def _reset(self, event: AttemptReset) -> None:
        self._voice.discard()
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
        given = self._given.pop(id(message), None)
        if given is not None:
            self._note(steer_fact(self._claim.run_id, given[1]))
            return
        message_id = self._desk.new_id("msg")
        self._note(UserMessage(message_id=message_id, text=message.text, source=message.source))

    def _heard(self, ack: Ack) -> None:
        self._desk.hub.publish(self._claim.project_id, ack.frames)
        self.look(ack.newest_signal, stop_requested=ack.stop_requested)

    async def _load_signals(self) -> None:
        """Read steering messages that are not here yet."""
        if self._newest_signal > self._known_signal:
            found = await self._desk.journal.signals(self._claim.run_id, self._known_signal)
            self._steers.extend(found)
            self._known_signal = max([self._known_signal, *(signal.n for signal in found)])

    def _take_steers(self) -> Sequence[User]:
        """All steering messages that wait, each handed out once."""
        taken = [(user(signal.text, source="steer"), signal) for signal in self._steers]
        self._steers.clear()
        self._given.update((id(message), (message, signal)) for message, signal in taken)
        return [message for message, _ in taken]

    async def _save_partial(self, frames: bytes) -> None:
        await self._desk.journal.save_partial(self._claim, frames)


def _blocks(message: Message) -> Sequence[object]:
    return () if isinstance(message, System) else message.content


def ending_of(run_id: str, end: RunEnd, past: Fold, reserved: int) -> Ending:
    """The closing of a run, with what the journal says it used."""
    last = RunFinished(
        status=end.status,
        reason=end.reason,
        answer=end.answer,
        usage=past.ledger.total,
        steps=end.steps,
        tool_calls=end.tool_calls,
        failure=end.failure,
    )
    return Ending(
        run_id=run_id,
        status=end.status,
        reason=end.reason,
        usage=past.ledger.total,
        entries=[entry_of(last)],
        settlement=past.ledger.settle(reserved),
    )
