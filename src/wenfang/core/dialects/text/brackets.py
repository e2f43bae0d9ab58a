"""Calls in brackets: `Search[text]`, `Finish[text]`. The unread text is the opening bracket.

The bracket that closes is the last of its line, if those before it are paired, else the last before the next
label.
"""

from __future__ import annotations

from collections.abc import Callable

from .events import Cut
from .labels import label
from .names import Named
from .raw import raw_item
from .source import Steps
from .turn import Turn


class _Inside:
    """What was read behind the bracket. `tell` gets the text as soon as it is certain that no bracket before
    it closes."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell
        self._held: list[str] = []  # from the last bracket that may be the one that closes
        self._depth = 1

    def read(self, turn: Turn) -> Steps[bool]:
        """Read to the closing bracket, or to the next label or the end if there is none. Whether there was
        one; what stands behind it is dropped."""
        src = turn.src
        is_first = True
        while not (src.empty and src.final):
            if src.empty:
                turn.plain = None if self._held or src.before == "\n" else self.tell
                yield
                turn.plain = None
                continue
            if src.before == "\n" and not is_first and (yield from label(src)) is not None:
                break
            is_first = False
            end = src.text.find("\n", src.at) + 1
            self._add(src.take(end or len(src.text)))
            if end and self._depth <= 0:
                break
        if self._held and (self._depth <= 0 or "".join(self._held).strip() == "]"):
            return True
        self._release()
        return False

    def _add(self, piece: str) -> None:
        self._depth += piece.count("[") - piece.count("]")
        before, closer, behind = piece.rpartition("]")
        if closer:
            self._release()
            self.tell(before)
            self._held = [closer]
        elif not self._held:
            self.tell(piece)
            return
        self._held.append(behind)
        if self._depth > 0 and behind.strip():
            self._release()

    def _release(self) -> None:
        held, self._held = "".join(self._held), []
        self.tell(held)


def read_call_in_brackets(turn: Turn, named: Named) -> Steps[None]:
    parts: list[str] = []
    turn.src.take(turn.src.at + 1)
    if (yield from _Inside(parts.append).read(turn)):
        turn.accept([raw_item(turn, named, "".join(parts).strip())])
    else:
        turn.unfinished(named.spec.name)


def read_answer_in_brackets(turn: Turn) -> Steps[None]:
    turn.live.take_back()
    turn.src.take(turn.src.at + 1)
    is_closed = yield from _Inside(turn.live.say).read(turn)
    turn.answered(is_closed)
    turn.live.events.append(Cut())
