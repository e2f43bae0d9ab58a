"""Limits: one interface for everything that ends or bends a run (design M4).

A limit watches what happens and answers with a verdict. `Limits` holds the numbers (FB §G6) and makes
fresh limits for each run; `Guard` asks them all and keeps the first stop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from .arguments import canonical
from .messages import JSON, Assistant, Message, ToolCall, ToolErrorType, ToolResult
from .reasons import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDue:
    """A request is about to be sent. `seconds` is the time since the run began."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDone:
    reply: Assistant


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDue:
    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDone:
    call: ToolCall
    result: ToolResult


LimitEvent: TypeAlias = ModelDue | ModelDone | CallDue | CallDone


@dataclass(frozen=True, slots=True, kw_only=True)
class Ok:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """Words for the model, added to the result of the call."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """The call is not run; its result is this text, with `details` for people and programs. After
    "repeated" the next reply is an answer."""

    error_type: ToolErrorType
    text: str
    details: JSON = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The run ends for this reason: with one answer turn without tools (introduced to the model by
    `text`), or at once."""

    reason: Reason
    text: str
    answer_turn: bool = True


Verdict: TypeAlias = Ok | Hint | Deny | Stop
OK = Ok()


class Limit(Protocol):
    def observe(self, event: LimitEvent) -> Verdict: ...


_ANSWER_NOW = "Do not call any more tools. Answer now with what you have, and say what is missing."


@dataclass(slots=True, kw_only=True)
class ModelCalls:
    limit: int
    used: int = 0

    def observe(self, event: LimitEvent) -> Verdict:
        if not isinstance(event, ModelDue):
            return OK
        if self.used >= self.limit:
            return Stop(
                reason="max_steps",
                text=f"The limit of {self.limit} steps is reached. {_ANSWER_NOW}",
            )
        self.used += 1
        return OK


@dataclass(slots=True, kw_only=True)
class ToolCalls:
    limit: int
    used: int = 0

    def observe(self, event: LimitEvent) -> Verdict:
        if not isinstance(event, CallDue):
            return OK
        if self.used >= self.limit:
            return Stop(
                reason="max_tool_calls",
                text=f"The limit of {self.limit} tool calls is reached. {_ANSWER_NOW}",
            )
        self.used += 1
        return OK


@dataclass(slots=True, kw_only=True)
class Tokens:
    limit: int
    used: int = 0

    def observe(self, event: LimitEvent) -> Verdict:
        if isinstance(event, ModelDone):
            reply = event.reply
            for usage in (reply.usage, *(a.usage for a in reply.attempts)):
                self.used += usage.input + usage.output
        elif isinstance(event, ModelDue) and self.used >= self.limit:
            text = f"The budget of {self.limit} tokens is used up."
            return Stop(reason="budget", text=text, answer_turn=False)
        return OK


@dataclass(slots=True, kw_only=True)
class WallClock:
    limit_s: float

    def observe(self, event: LimitEvent) -> Verdict:
        if isinstance(event, ModelDue) and event.seconds >= self.limit_s:
            text = f"The time allowed, {self.limit_s:g} s, is over."
            return Stop(reason="deadline", text=text, answer_turn=False)
        return OK


@dataclass(slots=True, kw_only=True)
class InventedNames:
    """One shared budget for all names of tools that do not exist (FB08)."""

    limit: int
    used: int = 0

    def observe(self, event: LimitEvent) -> Verdict:
        if isinstance(event, CallDone) and event.result.error_type == "unknown_tool":
            self.used += 1
            if self.used >= self.limit:
                return Stop(
                    reason="invalid_model_output",
                    text=f"You called tools that do not exist {self.used} times. {_ANSWER_NOW}",
                )
        return OK


_INVALID: frozenset[ToolErrorType | None] = frozenset(
    {"malformed", "truncated", "invalid_arguments"}
)
NO_CALL = _INVALID | {"unknown_tool"}  # results of what could not be taken for a call


@dataclass(slots=True, kw_only=True)
class InvalidOutput:
    """Replies in a row whose calls could all not be used; `limit` repairs are allowed (FB06, FB07)."""

    limit: int
    bad: bool = False
    good: bool = False
    row: int = 0

    def observe(self, event: LimitEvent) -> Verdict:
        if isinstance(event, CallDone):
            if event.result.error_type in _INVALID:
                self.bad = True
            else:
                self.good = True
        elif isinstance(event, ModelDue):
            self.row = self.row + 1 if self.bad and not self.good else 0
            self.bad = self.good = False
            if self.row > self.limit:
                text = f"Your last {self.row} calls could not be used. {_ANSWER_NOW}"
                return Stop(reason="invalid_model_output", text=text)
        return OK


@dataclass(slots=True, kw_only=True)
class SameText:
    """A text that could not be read, again, as far as the call keeps it: one more repair would bring it
    a third time (dialects 5.11). For dialects in which calls are text."""

    last: str | None = None

    def observe(self, event: LimitEvent) -> Verdict:
        if not isinstance(event, CallDone):
            return OK
        written = event.call.raw if event.call.error is not None else None
        is_same = written is not None and written == self.last
        self.last = written
        if is_same:
            text = f"Your last two replies were the same text, which cannot be read. {_ANSWER_NOW}"
            return Stop(reason="invalid_model_output", text=text)
        return OK


@dataclass(slots=True, kw_only=True)
class EmptyReplies:
    """A reply with neither text nor call is asked for again, `limit` times in a row (FBx2)."""

    limit: int
    row: int = 0

    def observe(self, event: LimitEvent) -> Verdict:
        if isinstance(event, ModelDone):
            self.row = self.row + 1 if is_empty(event.reply) else 0
        elif isinstance(event, ModelDue) and self.row > self.limit:
            text = "The replies were empty."
            return Stop(reason="invalid_model_output", text=text, answer_turn=False)
        return OK


def is_empty(reply: Assistant) -> bool:
    """A finished reply that says nothing at all."""
    return reply.stop in ("stop", "tool_use") and not reply.calls and not reply.text.strip()


@dataclass(slots=True)
class _Seen:
    key: str
    result: int | None = None  # a hash; None while the call runs

    def same(self, other: _Seen) -> bool:
        return self.key == other.key and (
            self.result == other.result or self.result is None or other.result is None
        )


_LONGEST_CYCLE = 3


@dataclass(slots=True, kw_only=True)
class RepeatGuard:
    """The same call with the same result, or a cycle of up to three calls, again and again (FB10).

    Repeats are counted as calls that add nothing over one round of the cycle: with `hint` 3 the third
    identical call gets a hint, with `block` 5 the fifth is not run and the run ends. Polling, where the
    result changes, is no repeat.
    """

    hint: int
    block: int
    seen: list[_Seen] = field(default_factory=list[_Seen])
    open: dict[str, _Seen] = field(default_factory=dict[str, _Seen])

    def observe(self, event: LimitEvent) -> Verdict:
        if isinstance(event, CallDue):
            mark = _Seen(canonical(event.call.name, event.call.arguments))
            self.seen.append(mark)
            if self._repeats() >= self.block - 1:
                return Stop(
                    reason="no_progress",
                    text=f"The same call was made {self.block} times without a new result. {_ANSWER_NOW}",
                )
            self.open[event.call.id] = mark
        elif isinstance(event, CallDone):
            mark = self.open.pop(event.call.id, None)
            if mark is not None:
                mark.result = hash((event.result.is_error, event.result.text))
                if self._repeats() >= self.hint - 1:
                    return Hint(
                        text="You made this call before and the result is the same again. "
                        "Use what you know: try something else or answer."
                    )
        return OK

    def _repeats(self) -> int:
        return max(self._repeats_with(period) for period in range(1, _LONGEST_CYCLE + 1))

    def _repeats_with(self, period: int) -> int:
        seen, count = self.seen, 0
        for at in range(len(seen) - 1, period - 1, -1):
            if not seen[at].same(seen[at - period]):
                break
            count += 1
        return count


class Guard:
    """All limits of a run. The first stop stays: whatever comes after it gets the same verdict."""

    def __init__(self, limits: Iterable[Limit]) -> None:
        self._limits = tuple(limits)
        self.stopped: Stop | None = None

    def observe(self, event: LimitEvent) -> Verdict:
        """The strictest verdict: Stop, then Deny, then all hints together."""
        denied: Deny | None = None
        hints: list[str] = []
        for limit in self._limits:
            verdict = limit.observe(event)
            if isinstance(verdict, Stop):
                self.stopped = self.stopped or verdict
            elif isinstance(verdict, Deny):
                denied = denied or verdict
            elif isinstance(verdict, Hint):
                hints.append(verdict.text)
        if self.stopped is not None:
            return self.stopped
        return denied or (Hint(text="\n".join(hints)) if hints else OK)

    def replay(self, messages: Sequence[Message]) -> None:
        """Count what a run did before it was interrupted; verdicts that were acted on then are
        forgotten, the counts are not."""
        calls: dict[str, ToolCall] = {}
        for message in messages:
            if isinstance(message, Assistant):
                self.observe(ModelDue(seconds=0.0))
                self.observe(ModelDone(reply=message))
                for call in message.calls:
                    calls[call.id] = call
            elif isinstance(message, ToolResult) and message.call_id in calls:
                self.observe(CallDue(call=calls[message.call_id]))
                self.observe(CallDone(call=calls[message.call_id], result=message))
        self.stopped = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The numbers of a run (FB §G6). Times are in seconds; None switches a limit off.

    `first_s` is the wait for the first event of a reply (a local model reads the prompt meanwhile),
    `idle_s` between later ones, `whole_s` for a reply that is not streamed. `cleanup_s` is how long a
    cancelled tool may take to stop before it is left alone.
    """

    model_calls: int = 25
    tool_calls: int = 60
    repeat_hint: int = 3
    repeat_block: int = 5
    invented_names: int = 3
    invalid_output: int = 2
    empty_replies: int = 1
    tokens: int | None = None
    wall_s: float | None = None
    tool_timeout_s: float = 120.0
    first_s: float = 120.0
    idle_s: float = 60.0
    whole_s: float = 600.0
    cleanup_s: float = 10.0

    def start(self, extra: Iterable[Limit] = ()) -> Guard:
        """Fresh counters for one run."""
        limits: list[Limit] = [
            ModelCalls(limit=self.model_calls),
            ToolCalls(limit=self.tool_calls),
            RepeatGuard(hint=self.repeat_hint, block=self.repeat_block),
            InventedNames(limit=self.invented_names),
            InvalidOutput(limit=self.invalid_output),
            EmptyReplies(limit=self.empty_replies),
        ]
        if self.tokens is not None:
            limits.append(Tokens(limit=self.tokens))
        if self.wall_s is not None:
            limits.append(WallClock(limit_s=self.wall_s))
        return Guard((*limits, *extra))
