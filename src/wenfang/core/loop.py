"""The loop: ask the model, run its calls, record, again (design §5, engine A5, A6, D1).

Free functions over one explicit state. A transcript only ever grows by whole messages, and every call
in it is followed by exactly one result, in call order, whatever ends the run: results are recorded
synchronously, listeners are told afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from .abort import Abort, Aborted
from .attempt import attempt
from .batch import run_batch, unanswered
from .collect import Draft, collect
from .dialects.base import Conversation, Dialect
from .events import (
    AgentEvent,
    AttemptReset,
    MessageDelta,
    MessageEnd,
    ModelStart,
    Notice,
    RunEnd,
    RunStart,
    UserAdded,
)
from .hooks import Hooks, Turn
from .ids import new_id as mint
from .limits import NO_CALL, Guard, Limits, ModelDone, ModelDue, Stop, is_empty
from .messages import Assistant, Failure, Message, ToolResult, Usage, User, user
from .models import Delta, ModelClient, Reset, ToolChoice
from .reasons import REASONS, Reason
from .tools import Toolbox

Emit = Callable[[AgentEvent], Awaitable[None]]


class ListenerFailed(Exception):  # noqa: N818 - carries a listener's failure to the end of the run
    """A listener raised. The run ends; its transcript is intact."""


@dataclass(slots=True, kw_only=True)
class Run:
    """The state of one run. `answer_next` asks for an answer without tools in the next request."""

    transcript: list[Message]
    client: ModelClient
    tools: Toolbox
    conversation: Conversation
    hooks: Hooks
    limits: Limits
    guard: Guard
    abort: Abort
    emit: Emit
    new_id: Callable[[str], str]
    clock: Callable[[], float]
    streaming: bool
    tool_choice: ToolChoice
    began: float
    steps: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    answer: str = ""
    answer_next: bool = False

    async def tell(self, event: AgentEvent) -> None:
        """Hand an event to the listener; its failure ends the run."""
        failure = await attempt(self.emit(event))
        if isinstance(failure, Exception):
            raise ListenerFailed from failure


async def run_loop(
    transcript: list[Message],
    client: ModelClient,
    tools: Toolbox,
    *,
    dialect: Dialect,
    emit: Emit,
    hooks: Hooks | None = None,
    limits: Limits | None = None,
    abort: Abort | None = None,
    prompts: Sequence[User] = (),
    start: int | None = None,
    streaming: bool = True,
    tool_choice: ToolChoice = "auto",
    new_id: Callable[[str], str] = mint,
    clock: Callable[[], float] = time.monotonic,
) -> RunEnd:
    """Run until there is an answer or a reason to stop; `transcript` grows in place.

    `prompts` are appended first. `start` is where this run's part of the transcript begins when it is
    resumed: what it did before counts against the limits, and calls at its tail that have no result
    yet are run first. `tool_choice` holds until the first call that is one. `emit` is awaited for every event, in
    transcript order. Raises nothing but `asyncio.CancelledError`.
    """
    limits = limits or Limits()
    run = Run(
        transcript=transcript,
        client=client,
        tools=tools,
        conversation=dialect.open(tools.specs, partial(new_id, "call"), tool_choice),
        hooks=hooks or Hooks(),
        limits=limits,
        guard=limits.start(dialect.limits()),
        abort=abort or Abort(),
        emit=emit,
        new_id=new_id,
        clock=clock,
        streaming=streaming,
        tool_choice=tool_choice,
        began=clock(),
    )
    try:
        begin = len(transcript) if start is None else start
        outcome = await attempt(_drive(run, prompts, begin))
    finally:
        transcript.extend(unanswered(transcript))
    if isinstance(outcome, RunEnd):
        end = outcome
    elif isinstance(outcome, Aborted):
        end = _end(run, "cancelled_by_user")
    elif isinstance(outcome, ListenerFailed):
        end = _end(run, "listener_failed")
    else:
        end = _end(run, "internal_error")
    await attempt(emit(end))
    return end


async def _drive(run: Run, prompts: Sequence[User], start: int) -> RunEnd:
    await run.tell(RunStart())
    known = _rewind(run, start)
    await _add(run, prompts)
    tail = run.transcript[-1] if run.transcript else None
    if isinstance(tail, Assistant) and len(run.transcript) > start:
        if tail.calls:
            reason = await _act(run, tail, known)
            if reason is not None:
                return _end(run, reason)
        elif tail.stop == "stop" and tail.text.strip():
            return _end(run, "completed")
    while True:
        await _add(run, run.hooks.steering())
        stop = run.guard.observe(ModelDue(seconds=run.clock() - run.began))
        if isinstance(stop, Stop):
            return await _last_turn(run, stop)
        reason = await _turn(run)
        if reason is not None:
            return _end(run, reason)


async def _turn(run: Run) -> Reason | None:
    """One reply and its calls. Returns why the run is over, or None to go on."""
    choice: ToolChoice = "none" if run.answer_next else run.tool_choice
    run.answer_next = False
    reply = await _ask(run, choice)
    if reply.stop == "aborted":
        return "cancelled_by_user"
    if reply.error is not None:
        return failure_reason(reply)
    if reply.calls:
        return await _act(run, reply, {})
    if reply.stop == "length":
        return "output_truncated"
    if is_empty(reply):
        await _add(run, (user(_EMPTY, source="repair"),))
        return None
    if run.hooks.after_turn is not None:
        reason = await run.hooks.after_turn(Turn(reply=reply, results=()))
        if reason is not None:
            return reason
    more = run.hooks.steering() or run.hooks.follow_up()
    if not more:
        return "completed"
    await _add(run, more)
    return None


_EMPTY = "Your reply was empty. Call a tool or give the answer."


async def _act(run: Run, reply: Assistant, known: dict[str, ToolResult]) -> Reason | None:
    """Run the calls of a reply; results that are `known` already are kept."""
    results = await run_batch(run, reply, known)
    _relax(run, results)
    run.answer_next = run.answer_next or any(r.error_type == "repeated" for r in results)
    if run.abort.requested:
        return "cancelled_by_user"
    if run.hooks.after_turn is not None:
        reason = await run.hooks.after_turn(Turn(reply=reply, results=results))
        if reason is not None:
            return reason
    if results and all(result.terminate for result in results):
        run.answer = run.answer or results[-1].text
        return "completed"
    return None


def _relax(run: Run, results: Sequence[Message]) -> None:
    """A call that could be one has been made: none is required any more."""
    if any(isinstance(r, ToolResult) and r.error_type not in NO_CALL for r in results):
        run.tool_choice = "auto"


async def _last_turn(run: Run, stop: Stop) -> RunEnd:
    """A limit was reached: one reply without tools, then the end with the limit's reason."""
    await run.tell(Notice(code="limit_reached", params={"reason": stop.reason}))
    if not stop.answer_turn:
        return _end(run, stop.reason)
    await _add(run, (user(stop.text, source="limit"),))
    reply = await _ask(run, "none")
    if reply.stop == "aborted":
        return _end(run, "cancelled_by_user")
    if reply.calls:
        await run_batch(run, reply, {})
    return _end(run, failure_reason(reply) if reply.error is not None else stop.reason)


async def _ask(run: Run, choice: ToolChoice) -> Assistant:
    """One request. Whatever happens, what was received is in the transcript afterwards."""
    if run.abort.requested:
        raise Aborted
    view: Sequence[Message] = run.transcript
    if run.hooks.prepare is not None:
        view = await run.hooks.prepare(run.transcript)
    request = run.conversation.request(view, tool_choice=choice, stream=run.streaming)
    run.steps += 1
    step, message_id = run.steps, run.new_id("msg")
    await run.tell(ModelStart(step=step, message_id=message_id, model=run.client.name))
    draft = Draft(run.client.name)

    work = partial(
        collect,
        run.client,
        request,
        partial(_show, run, draft, step, message_id),
        abort=run.abort,
        make_decoder=run.conversation.decoder,
        draft=draft,
        first_s=run.limits.first_s if run.streaming else run.limits.whole_s,
        idle_s=run.limits.idle_s,
    )
    reply = None
    try:
        outcome = await attempt(work())
        if isinstance(outcome, ListenerFailed):
            raise outcome
        if isinstance(outcome, Assistant):
            reply = outcome
        elif not isinstance(outcome, Aborted):
            reply = draft.failed(request, _crash(outcome), None)
    finally:
        reply = reply or draft.aborted(request)
        _record(run, reply)
    await run.tell(MessageEnd(step=step, message_id=message_id, message=reply))
    return reply


async def _show(run: Run, draft: Draft, step: int, message_id: str, item: Delta | Reset) -> None:
    """Tell of a piece of a reply, or that what was told of it is void."""
    if isinstance(item, Reset):
        event: AgentEvent = AttemptReset(
            step=step,
            message_id=message_id,
            attempt=item.attempt,
            failure=item.failure,
            usage=item.usage,
        )
    else:
        event = MessageDelta(
            step=step,
            message_id=message_id,
            attempt=draft.attempt,
            kind=item.kind,
            index=item.index,
            off=draft.add(item),
            text=item.text,
            name=item.name,
        )
    await run.tell(event)


def _crash(error: Exception) -> Failure:
    return Failure(kind="fatal", message=f"the model client crashed with {type(error).__name__}")


def _record(run: Run, reply: Assistant) -> None:
    run.transcript.append(reply)
    run.usage = sum((a.usage for a in reply.attempts), run.usage + reply.usage)
    run.guard.observe(ModelDone(reply=reply))
    if reply.text.strip():
        run.answer = reply.text


async def _add(run: Run, messages: Sequence[User]) -> None:
    for message in messages:
        run.transcript.append(message)
        await run.tell(UserAdded(message=message))


def _rewind(run: Run, start: int) -> dict[str, ToolResult]:
    """Prepare to go on: count what this run did before `start`'s end, and take back the results of a
    batch that was not complete, so that the batch can record all of them in order."""
    part = run.transcript[start:]
    known: dict[str, ToolResult] = {}
    while part and isinstance(part[-1], ToolResult):
        result = part.pop()
        assert isinstance(result, ToolResult)
        known[result.call_id] = result
    tail = part[-1] if part else None
    if not isinstance(tail, Assistant) or len(known) == len(tail.calls):
        part = run.transcript[start:]
        known = {}
    run.guard.replay(part)
    for message in part:
        if isinstance(message, Assistant):
            run.steps += 1
            run.usage = sum((a.usage for a in message.attempts), run.usage + message.usage)
            run.answer = message.text if message.text.strip() else run.answer
    run.calls += sum(isinstance(message, ToolResult) for message in part)
    _relax(run, part)
    del run.transcript[start + len(part) :]
    return known


def failure_reason(reply: Assistant) -> Reason:
    """Why a run ends when its last reply failed."""
    failure = reply.error
    assert failure is not None
    if reply.attempts and failure.kind in ("rate", "overload", "network"):
        return "failover_exhausted"
    reasons: dict[str, Reason] = {
        "overflow": "context_overflow",
        "refused": "refused",
        "stream_incomplete": "stream_incomplete",
    }
    return reasons.get(failure.kind, "provider_error")


def _end(run: Run, reason: Reason) -> RunEnd:
    status = REASONS[reason].status
    if status == "partial" and not run.answer:
        status = "failed"
    return RunEnd(
        status=status,
        reason=reason,
        answer=run.answer,
        usage=run.usage,
        steps=run.steps,
        tool_calls=run.calls,
        failure=_failure(run),
    )


def _failure(run: Run) -> Failure | None:
    last = next((m for m in reversed(run.transcript) if isinstance(m, Assistant)), None)
    return last.error if last is not None else None
