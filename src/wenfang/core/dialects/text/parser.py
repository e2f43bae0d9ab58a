"""The parser of the text dialects: incremental, string-aware, linear in time (dialects 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from ...models import ToolSpec
from .events import Cut, Event, Outcome, Reclassify, ToolReady, ToolStart
from .labels import WORDS
from .names import Refusal, Tools
from .running import read_running
from .shapes import RESCUE, Shape
from .source import Source
from .turn import Turn, Verdict

_MARKS = re.compile(r"[\n\r<`\[\]]")
_ANSWER = re.compile(
    rf"(?:^|\n)[ \t#*_\-]{{0,8}}(?:{'|'.join(WORDS['answer'])})[ \t*_]{{0,8}}[:：]|<\s*final_answer\s*>",
    re.IGNORECASE,
)
_ORPHAN = re.compile(r"</think(?:ing)?>", re.IGNORECASE)

_CALL_EVENTS = (ToolStart, ToolReady, Cut)


class Parser:
    """Reads one reply of a model.

    `shape` is the dialect the model was asked to use; the formats models were trained on are understood
    in all of them. The outcome and the joined live text do not depend on how the reply is cut into
    pieces. Nothing that a model can write makes this raise.
    """

    def __init__(self, shape: Shape, tools: Iterable[ToolSpec]) -> None:
        self._src = Source()
        self._tools = Tools(tools)
        self._turn = Turn(shape, self._tools, self._src)
        self._reading = read_running(self._turn)
        self._raw: list[str] = []
        self._is_done = False
        self._has_begun = False
        self._has_return = False  # a carriage return is held back: a line feed may follow

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of the reply, of any length. What it makes certain."""
        turn = self._turn
        plain = turn.plain
        if plain is not None and text and not self._has_return and not _MARKS.search(text):
            self._raw.append(text)
            self._src.skip(text)
            plain(text)
        else:
            text = self._uniform(text)
            if text:
                self._raw.append(text)
                if not self._is_done:
                    self._src.add(text)
                    self._step()
        events, turn.live.events = turn.live.events, []
        return events

    def _uniform(self, text: str) -> str:
        """`text` with line feeds for all line ends and without a byte order mark at the start."""
        if text and not self._has_begun:
            self._has_begun = True
            text = text.removeprefix("\ufeff")
        if self._has_return:
            text = "\r" + text
            self._has_return = False
        if "\r" not in text:
            return text
        if text.endswith("\r"):
            text = text[:-1]
            self._has_return = True
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _step(self) -> None:
        try:
            next(self._reading)
        except StopIteration:
            self._is_done = True

    def close(self, finish_reason: str = "stop") -> Outcome:
        """The reply is over; "length" tells that the output limit ended it. Call it once."""
        if self._has_return:
            self._has_return = False
            self._raw.append("\n")
            self._src.add("\n")
        self._src.final = True
        self._src.cut = finish_reason == "length"
        if not self._is_done:
            self._step()
        raw = "".join(self._raw)
        turn = self._turn
        verdict = turn.verdict or _at_end(turn)
        if verdict.problem is not None:
            after_thought = self._after_orphan(raw)
            if after_thought is not None:
                return after_thought
        return _outcome(turn, verdict, raw)

    def _after_orphan(self, raw: str) -> Outcome | None:
        """What follows the end of a thought whose beginning was not written: all before it was thought,
        also what could not be read as an action."""
        ends = [match.end() for match in _ORPHAN.finditer(raw, self._src.position)]
        if not ends or self._turn.saw_think:
            return None
        turn = _read_whole(self._turn.shape, self._tools, raw[ends[-1] :], cut=self._src.cut)
        outcome = _outcome(turn, turn.verdict or _at_end(turn), raw)
        events: tuple[Event, ...] = (*self._turn.live.events, *outcome.events)
        if self._turn.live.open:
            events = (Reclassify(source="text", target="thought"), *events)
        before = _ORPHAN.sub("", raw[: ends[-1]]).strip()
        return replace(outcome, thought=f"{before}\n{outcome.thought}".strip(), events=events)


def parse(
    text: str, shape: Shape, tools: Iterable[ToolSpec], finish_reason: str = "stop"
) -> Outcome:
    """Read a whole reply: one `feed` and one `close`. `events` are all of them."""
    parser = Parser(shape, tools)
    events = parser.feed(text)
    outcome = parser.close(finish_reason)
    return replace(outcome, events=(*events, *outcome.events))


def _read_whole(shape: Shape, tools: Tools, text: str, *, cut: bool) -> Turn:
    src = Source()
    src.add(text)
    src.final, src.cut = True, cut
    turn = Turn(shape, tools, src)
    next(read_running(turn), None)  # it never waits, because all is there
    return turn


def _at_end(turn: Turn) -> Verdict:
    """The verdict on a reply in which no construct decided."""
    live, cut = turn.live, turn.src.cut
    if turn.unended:
        rescued = _rescued(turn)
        if rescued is not None:
            return rescued
    elif turn.shape.is_open and "".join(live.open).strip():
        return Verdict(is_answer=True)
    if cut and (turn.has_prose or turn.unended):
        return Verdict(
            problem=Refusal("truncated", "The reply ended before an action or an answer.")
        )
    if turn.has_prose or turn.unended or ("".join(live.thought).strip() and not turn.saw_think):
        return Verdict(problem=Refusal("no_action", "There is neither an action nor an answer."))
    return Verdict(problem=Refusal("empty", "The reply is empty."))


def _rescued(turn: Turn) -> Verdict | None:
    """The one complete native call at the end of a thought that was never ended."""
    inner = Turn(RESCUE, turn.tools, Source())
    inner.src.add(turn.unended)
    inner.src.final, inner.src.cut = True, turn.src.cut
    inner.at_head, inner.has_prose = False, True
    next(read_running(inner), None)
    found = inner.verdict
    if found is None or len(found.calls) != 1 or found.unclosed:
        return None
    thought = "".join(turn.live.thought).removesuffix(turn.unended)
    turn.live.thought = [thought, *inner.live.thought]
    turn.live.events += (event for event in inner.live.events if isinstance(event, _CALL_EVENTS))
    return found


def _outcome(turn: Turn, verdict: Verdict, raw: str) -> Outcome:
    live = turn.live
    events = tuple(live.events)
    live.events = []
    thought, text = "".join(live.thought).strip(), "".join(live.open).strip()
    if verdict.is_answer:
        answer = "".join(live.answer) or text
        is_cut = turn.src.cut and not verdict.is_closed
        return Outcome(
            kind="final", raw=raw, thought=thought, answer=answer, truncated=is_cut, events=events
        )
    thought = f"{thought}\n{text}".strip()
    problem = verdict.problem
    if verdict.unclosed and turn.src.cut:
        problem = Refusal("truncated", "The arguments are not closed.", verdict.calls[0].name)
    if problem is not None:
        return Outcome(
            kind="repair",
            raw=raw,
            thought=thought,
            reason=problem.reason,
            detail=problem.detail,
            tool=problem.tool,
            position=turn.src.position,
            events=events,
        )
    if verdict.unclosed:
        first = verdict.calls[0]
        ready = ToolReady(name=first.name, arguments=first.arguments, repairs=first.repairs)
        events = (*events, ready)
    is_mixed = _ANSWER.search(raw, max(turn.src.position - 1, 0)) is not None
    return Outcome(
        kind="tool", raw=raw, thought=thought, calls=verdict.calls, mixed=is_mixed, events=events
    )
