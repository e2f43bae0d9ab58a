"""From facts to the message list: how a run goes on, and what a session remembers (M1, FB14).

A pure fold. Tool results come in the order they finished and stand in the transcript in call order;
a call of a past run that never got a result is paired with one that says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from wenfang.core import Assistant, Message, Text, ToolCall, ToolResult, user

from .facts import (
    Fact,
    FileChanged,
    MessageFinished,
    NoticeGiven,
    RunFinished,
    RunStarted,
    SessionChanged,
    StepReset,
    StepStarted,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from .settlement import Ledger

INTERRUPTED = (
    "This call was interrupted and its outcome is unknown: it may have taken effect or not. "
    "Check before you do it again."
)
NEVER_RUN = "The run was interrupted before this call was made."


def interrupted(call_id: str, name: str, *, started: bool) -> ToolResult:
    """The result of a call that a crash or a stop left without one."""
    return ToolResult(
        call_id=call_id,
        name=name,
        content=(Text(text=INTERRUPTED if started else NEVER_RUN),),
        is_error=True,
        error_type="interrupted",
    )


@dataclass(slots=True)
class Fold:
    """The state of a session's transcript after some of its facts.

    `start` is where the newest run begins in `messages`. Of that run: `open_step` is a request without
    a reply, `attempt` the number of its newest try, `open_calls` the intents without a result,
    `calls` the newest reply's calls, `results` those that are there.
    """

    messages: list[Message] = field(default_factory=list[Message])
    start: int = 0
    open_step: StepStarted | None = None
    attempt: int = 1
    open_calls: dict[str, ToolStarted] = field(default_factory=dict[str, ToolStarted])
    calls: tuple[ToolCall, ...] = ()
    results: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])
    steps: int = 0
    tool_calls: int = 0
    answer: str = ""
    ledger: Ledger = field(default_factory=Ledger)

    def add(self, fact: Fact) -> None:
        match fact:
            case RunStarted():
                self._begin()
            case UserMessage():
                self._settle()
                self.messages.append(user(fact.text, source=fact.source))
            case StepStarted():
                self._settle()
                self.open_step, self.attempt = fact, 1
            case StepReset():
                self._reset(fact)
            case MessageFinished():
                self._reply(fact.message)
            case ToolStarted():
                self.open_calls[fact.call_id] = fact
            case ToolFinished():
                self.open_calls.pop(fact.call_id, None)
                self.results[fact.call_id] = fact.result
                self.tool_calls += 1
            case RunFinished():
                self._settle()
                self.open_step = None
                self.open_calls.clear()
            case NoticeGiven() | FileChanged() | SessionChanged():
                pass
        self.ledger.add(fact)

    def unanswered(self) -> list[ToolCall]:
        """Calls of the newest reply that have no result yet, in call order."""
        return [call for call in self.calls if call.id not in self.results]

    def transcript(self) -> list[Message]:
        """The messages, and at their tail the results that are there of a batch still open."""
        done = [self.results[call.id] for call in self.calls if call.id in self.results]
        return [*self.messages, *done]

    def _begin(self) -> None:
        self._settle()
        self.start = len(self.messages)
        self.open_step = None
        self.open_calls = {}
        self.steps = self.tool_calls = 0
        self.answer = ""
        self.ledger = Ledger()

    def _reset(self, fact: StepReset) -> None:
        if fact.reason == "takeover":
            self.open_step = None
        self.attempt = fact.attempt

    def _reply(self, reply: Assistant) -> None:
        self._settle()
        self.open_step = None
        self.messages.append(reply)
        self.calls = reply.calls
        self.results = {}
        self.steps += 1
        if reply.text.strip():
            self.answer = reply.text

    def _settle(self) -> None:
        """Close the batch: one result for every call, in call order."""
        for call in self.calls:
            result = self.results.get(call.id)
            self.messages.append(result or interrupted(call.id, call.name, started=True))
        self.calls = ()
        self.results = {}


def fold(facts: Iterable[Fact]) -> Fold:
    """The state after `facts`, which are a session's, run by run, in order."""
    state = Fold()
    for fact in facts:
        state.add(fact)
    return state
