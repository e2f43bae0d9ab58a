"""Showing a run as it happens: steps and thoughts on standard error, the answer on standard output.

On a terminal the answer streams; otherwise standard output holds the final answer and nothing else.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Literal

from pydantic import TypeAdapter
from rich.console import Console

from wenfang.core import JSON, REASONS, ToolResult
from wenfang.runs import (
    BlockDelta,
    Event,
    MessageFinished,
    NoticeGiven,
    RunFinished,
    StepReset,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)

from .language import Say

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)
_ARGS_CHARS = 160
_RESULT_CHARS = 200
# All control characters but tab and line feed: a model must not steer the terminal.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

Kind = Literal["text", "thinking", "call"]


def plain(text: str) -> str:
    """Text that cannot move the cursor, change colours or reorder a line."""
    return _CONTROLS.sub("", text)


def decode(data: bytes) -> Event:
    """A frame's JSON as an event."""
    return _EVENT.validate_json(data)


class Printer:
    """Shows the events of one run. `end` is the run's closing event, once it came."""

    def __init__(self, say: Say, *, where: str, model: str) -> None:
        self.end: RunFinished | None = None
        self._say = say
        self._where = where
        self._model = model
        self._out = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._steps = Console(
            stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True
        )
        self._is_live = sys.stdout.isatty()
        self._block: tuple[str, int] | None = None
        self._shown = ""
        self._is_begun = False  # something of the message was written, shown or not
        self._began = 0.0

    def show(self, event: Event) -> None:
        """Print what a person wants to see of an event."""
        self._began = self._began or event.ts
        match event:
            case BlockDelta():
                self._delta(event)
            case MessageFinished():
                self._message(event)
            case StepReset():
                self._reset(event)
            case ToolStarted():
                self._line(self._say("run.tool", name=event.name, args=_short_args(event.args)))
            case ToolProgress():
                self._line("  " + event.text)
            case ToolFinished():
                self._result(event.result)
            case NoticeGiven(code="body_kept"):
                self._line(self._say("run.body_kept", **event.params))
            case RunFinished():
                self._finish(event)
            case _:
                pass

    def _delta(self, event: BlockDelta) -> None:
        self._is_begun = True
        if event.kind == "call" or (event.kind == "text" and not self._is_live):
            return
        block = (event.message_id, event.index)
        if block != self._block:
            self._break()
            self._block = block
        if event.kind == "text":
            self._shown += event.text
            self._out.print(plain(event.text), end="")
        else:
            self._steps.print(plain(event.text), end="", style="dim")

    def _reset(self, event: StepReset) -> None:
        taken_over = event.reason == "takeover"
        why = self._say("run.takeover") if taken_over else self._why(event.reason)
        self._line(self._say("run.reset" if self._is_begun else "run.retry", why=why))
        self._is_begun = False
        self._shown = ""

    def _message(self, event: MessageFinished) -> None:
        self._break()
        self._is_begun = False
        if event.message.calls and not self._is_live and event.message.text.strip():
            self._line(event.message.text.strip())
        if event.message.calls:
            self._shown = ""

    def _result(self, result: ToolResult) -> None:
        text = " ".join(_words_of(result).split())[:_RESULT_CHARS]
        self._line(self._say("run.tool_failed" if result.is_error else "run.tool_ok", text=text))

    def _finish(self, event: RunFinished) -> None:
        self._break()
        self.end = event
        if event.answer.strip() and event.answer.strip() != self._shown.strip():
            self._out.print(plain(event.answer))
        self._line(self._summary(event))
        if event.status != "done":
            self._steps.print(self._say("error", text=self.outcome(event)), style="bold")

    def outcome(self, event: RunFinished) -> str:
        """Why a run is not simply done, in a person's words."""
        row = REASONS[event.reason]
        text = row.zh if self._say.language == "zh" else row.en
        if event.failure is None:
            return text
        return f"{text} ({self._why(event.failure.kind)})"

    def _why(self, kind: str) -> str:
        """Why a model request failed and what to do."""
        return self._say.failure(kind, base_url=self._where, model=self._model)

    def _summary(self, event: RunFinished) -> str:
        usage = event.usage
        return self._say(
            "run.usage",
            steps=event.steps,
            calls=event.tool_calls,
            input=usage.input,
            output=usage.output,
            estimated=self._say("run.estimated") if usage.estimated else "",
            seconds=round(event.ts - self._began, 1),
        )

    def _line(self, text: str) -> None:
        self._break()
        self._steps.print(plain(text), style="dim")

    def _break(self) -> None:
        """End the line of a streamed block."""
        if self._block is not None:
            self._block = None
            (self._out if self._is_live else self._steps).print()


def _words_of(result: ToolResult) -> str:
    """A result in a line: what a tool says to people, or the files it is about, or what the model reads."""
    details = result.details
    if isinstance(details, dict) and "status" in details:
        said = details.get("user_message")
        paths = dict.fromkeys(effect.path for effect in result.effects)
        return said if isinstance(said, str) else ", ".join(paths) or result.text
    return result.text


def _short_args(args: dict[str, JSON]) -> str:
    text = json.dumps(args, ensure_ascii=False)
    return text if len(text) <= _ARGS_CHARS else text[:_ARGS_CHARS] + "…"
