"""Reading an answer. It is the last thing in a reply: nothing in it is an action."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from .events import Cut
from .labels import is_residue, label
from .source import Steps, line, peek, skip
from .tags import MAYBE_TAG, Tag, is_cut_tag, tag
from .turn import Turn

Ending: TypeAlias = Literal["tag", "label", "channel"]

_MARKS = re.compile(rf"\n|`+|{MAYBE_TAG}", re.IGNORECASE)
_LINE_ENDS = re.compile(r"\n+")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*")
_MAX_QUESTION = 1000  # characters of a question that is held back
_CLOSE = "</finalanswer>"
BEFORE_EXAMPLE = frozenset("\"'`“‘「『《（([{")


class _Answer:
    def __init__(self, turn: Turn, ending: Ending) -> None:
        self._turn = turn
        self._src = turn.src
        self._ending = ending
        self._code = 0
        self._at_line_start = False

    def read(self) -> Steps[None]:
        yield from self._begin()
        src, live = self._src, self._turn.live
        turn = self._turn
        while turn.verdict is None and not (src.empty and src.final):
            if src.empty:
                turn.plain = None if self._at_line_start or self._code else live.say
                yield
                turn.plain = None
                continue
            if self._at_line_start:
                self._at_line_start = False
                yield from self._line_start()
                continue
            match = _MARKS.search(src.text, src.at)
            if match is None or match.group() == "<":
                live.say(src.take(match.start() if match else len(src.text)))
            if match is not None:
                yield from self._mark(match)
        if turn.verdict is None:
            turn.answered()

    def _begin(self) -> Steps[None]:
        first = yield from skip(self._src)
        self._at_line_start = self._ending == "label"
        if first == "<" and self._ending == "label":
            found = yield from tag(self._src)
            if found is not None and found.kind == "final_answer":
                self._src.take(found.end)
                self._ending = "tag"
                self._at_line_start = False

    def _mark(self, match: re.Match[str]) -> Steps[None]:
        if match.group() == "<":
            yield from self._tag()
            return
        self._turn.live.say(self._src.take(match.end()))
        if match.group() == "\n":
            self._code = 0
            self._at_line_start = self._ending == "label"
        else:
            self._code = (self._code + len(match.group())) % 2

    def _tag(self) -> Steps[None]:
        src, turn = self._src, self._turn
        is_example = src.before in BEFORE_EXAMPLE or self._code
        found = yield from tag(src)
        if found is None:
            if self._ending == "tag" and src.final and is_cut_tag(src.text[src.at :], _CLOSE):
                src.take(len(src.text))
                return
            turn.live.say(src.take(src.at + 1))
        elif self._ending == "tag" and found.kind == "/final_answer" and not is_example:
            src.take(found.end)
            turn.answered(is_closed=True)
            turn.live.events.append(Cut())
        elif found.kind == "end" and not is_example:
            piece = yield from after_end(turn, found)
            if self._ending == "channel" or not piece:
                turn.answered(is_closed=True)
            else:
                turn.live.say(piece)
        else:
            turn.live.say(src.take(found.end))

    def _line_start(self) -> Steps[None]:
        src, turn = self._src, self._turn
        blank = _LINE_ENDS.match(src.text, src.at)
        if blank:
            self._at_line_start = True
            turn.live.say(src.take(blank.end()))
            return
        found = yield from label(src)
        if found is not None and found.role == "question":
            yield from self._question(found.end)
        elif found is not None and found.role == "observation":
            turn.live.hold(src.take(found.end))
        elif found is not None:
            turn.live.say(src.take(found.end))
        elif src.final and "\n" not in src.text[src.at :] and is_residue(src.text[src.at :]):
            src.take(len(src.text))
        elif turn.wrapper and src.text[src.at : src.at + 1] in "`~ \t":
            yield from self._maybe_wrapper()

    def _question(self, end: int) -> Steps[None]:
        """A question and a thought behind an answer are an invented next turn."""
        src, turn = self._src, self._turn
        held = [src.take(end)]
        rest = yield from line(src, _MAX_QUESTION)
        if rest is not None:
            held.append(src.take(src.at + len(rest)))
            if (yield from peek(src)):
                held.append(src.take(src.at + 1))
                while (yield from peek(src)) == "\n":
                    held.append(src.take(src.at + 1))
                following = yield from label(src)
                if following is not None and following.role == "thought":
                    turn.answered(is_closed=True)
                    return
                self._at_line_start = not src.empty
        turn.live.say("".join(held))

    def _maybe_wrapper(self) -> Steps[None]:
        """The fence around the whole turn is no part of the answer."""
        src = self._src
        rest = yield from line(src, 40)
        match = _FENCE.fullmatch(rest) if rest is not None else None
        if match and match[1].startswith(self._turn.wrapper):
            self._turn.live.hold(src.take(src.at + len(match.group())))


def after_end(turn: Turn, found: Tag) -> Steps[str | None]:
    """Read a token that ends a message. If nothing or another such token follows, the reply is over
    (None); before a token that begins a message it says nothing (""); else it is text."""
    src = turn.src
    src.record()
    src.take(found.end)
    following = yield from skip(src)
    next_tag = (yield from tag(src)) if following == "<" else None
    piece = src.recorded()
    if not following or (next_tag is not None and next_tag.kind == "end"):
        return None
    return "" if next_tag is not None and next_tag.kind in ("start", "channel") else piece


def read_answer(turn: Turn, ending: Ending) -> Steps[None]:
    """Read to the end of the answer: its closing tag, the end of its channel, or that of the output."""
    turn.live.take_back()
    yield from _Answer(turn, ending).read()
