"""The state of reading one reply, and what was told of it so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .events import (
    AnswerDelta,
    Call,
    Cut,
    Event,
    Reason,
    Reclassify,
    TextDelta,
    ThoughtDelta,
    ToolReady,
    ToolStart,
)
from .names import Item, Refusal, Tools
from .shapes import Shape
from .source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the reply comes to. A call that is `unclosed` counts only if the output was not cut."""

    calls: tuple[Call, ...] = ()
    unclosed: bool = False
    problem: Refusal | None = None
    is_answer: bool = False
    is_closed: bool = False  # the answer ended itself


class Live:
    """Collects text by role and tells of it as soon as its role is certain."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.thought: list[str] = []
        self.open: list[str] = []
        self.answer: list[str] = []
        self._held: list[str] = []  # the end of the answer, if it is blank so far
        self._blanks: list[str] = []  # the same of the open text

    def think(self, text: str) -> None:
        if text:
            self.thought.append(text)
            self.events.append(ThoughtDelta(text=text))

    def write(self, text: str) -> None:
        """Text that is the answer unless a call follows. Blanks at its start are dropped, those at its
        end held back."""
        end = len(text.rstrip())
        if end:
            shown = text[:end]
            if self._blanks:
                shown = "".join(self._blanks) + shown
                self._blanks.clear()
            elif not self.open:
                shown = shown.lstrip()
            self.open.append(shown)
            self.events.append(TextDelta(text=shown))
        if end < len(text) and self.open:
            self._blanks.append(text[end:])

    def say(self, text: str) -> None:
        """A part of the answer. Blanks at its start are dropped, those at its end held back."""
        end = len(text.rstrip())
        if end == 0:
            self.hold(text)
            return
        shown = text[:end]
        if self._held:
            shown = "".join(self._held) + shown
            self._held.clear()
        if not self.answer:
            shown = shown.lstrip()
        if end < len(text):
            self._held.append(text[end:])
        self.answer.append(shown)
        self.events.append(AnswerDelta(text=shown))

    def hold(self, text: str) -> None:
        """A part of the answer that is dropped if the answer ends with it."""
        if text and (self.answer or self._held or not text.isspace()):
            self._held.append(text)

    def take_back(self) -> None:
        """The open text turned out to be thought."""
        if self.open:
            self.events.append(Reclassify(source="text", target="thought"))
            self.thought += self.open + self._blanks
            self.open.clear()
            self._blanks.clear()


class Turn:
    """One reply while it is read. Readers change it; the first that sets `verdict` ends the reading."""

    def __init__(self, shape: Shape, tools: Tools, src: Source) -> None:
        self.shape = shape
        self.tools = tools
        self.src = src
        self.live = Live()
        self.verdict: Verdict | None = None
        self.mode = "open" if shape.is_open else "thought"
        self.at_head = True  # nothing was read yet but blanks and closed thoughts
        self.at_line_start = True
        self.has_prose = False  # running text was read
        self.code = 0  # length of the backtick run that opened inline code; 0 outside
        self.is_quoted = False  # in a line that starts with ">"
        self.fence: tuple[str, int] | None = None
        self.wrapper = ""  # the fence around the whole turn
        self.started: str | None = None
        self.is_announced = False
        self.unclosed = False  # closers were added to what a tag or fence ended
        self.unended = ""  # a thought whose end was not written
        self.saw_think = False
        self.prefix = ""  # was read, and is text only if more text follows
        self.plain: Callable[[str], None] | None = None  # takes text without any mark
        self.is_over = False  # a token ended the reply

    def emit(self, text: str) -> None:
        """Running text, whose role is that of the present mode."""
        text, self.prefix = self.prefix + text, ""
        if text and not text.isspace():
            self.at_head = False
            self.has_prose = True
        if self.mode == "open":
            self.live.write(text)
        elif self.mode == "thought":
            self.live.think(text)

    def start(self, name: str) -> None:
        """The name of the call is certain."""
        self.live.take_back()
        if self.started is None:
            self.started = name
            self.live.events.append(ToolStart(name=name))

    def announce(self, item: Item) -> None:
        """Tell of the call that will be run, before it is known whether others follow."""
        if not self.is_announced and isinstance(item, Call) and not self.unclosed:
            self.is_announced = True
            self.start(item.name)
            self.live.events.append(
                ToolReady(name=item.name, arguments=item.arguments, repairs=item.repairs)
            )

    def accept(self, items: Sequence[Item]) -> None:
        """Decide for the first of `items`; those behind it count as far as they are sound."""
        first = items[0]
        if isinstance(first, Refusal):
            self.reject(first)
            return
        self.announce(first)
        self.start(first.name)
        if self.is_announced:
            self.live.events.append(Cut())
        calls = tuple(_sound(items))
        self.verdict = Verdict(calls=calls, unclosed=not self.is_announced)

    def reject(self, problem: Refusal) -> None:
        self.verdict = Verdict(problem=problem)

    def fail(self, reason: Reason, detail: str, tool: str | None = None) -> None:
        self.reject(Refusal(reason, detail, tool))

    def unfinished(self, tool: str | None = None) -> None:
        """The output ended inside a call."""
        self.fail("truncated", "The reply ended inside the action, so nothing was run.", tool)

    def answered(self, is_closed: bool = False) -> None:
        """The answer is over."""
        if self.live.answer:
            self.verdict = Verdict(is_answer=True, is_closed=is_closed)
        else:
            self.fail("empty", "The answer is empty.")


def _sound(items: Iterable[Item]) -> Iterable[Call]:
    for item in items:
        if isinstance(item, Refusal):
            return
        yield item
