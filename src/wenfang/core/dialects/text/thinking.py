"""Thoughts between `<think>` tags: nothing in them is an action."""

from __future__ import annotations

from .source import Steps, peek
from .tags import next_tag, tag
from .turn import Turn


def read_think(turn: Turn) -> Steps[None]:
    """Read behind the opening tag to the closing one. A thought that never ends is kept in
    `unended`, because a call may have been written in it."""
    src = turn.src
    parts: list[str] = []
    turn.live.take_back()
    turn.saw_think = True
    while (yield from peek(src)):
        end = next_tag(src.text, src.at)
        if end > src.at:
            piece = src.take(end)
        else:
            found = yield from tag(src)
            if found is not None and found.kind == "/think":
                src.take(found.end)
                turn.live.think("\n")
                turn.at_line_start = True
                return
            piece = src.take(found.end if found else src.at + 1)
        parts.append(piece)
        turn.live.think(piece)
    turn.unended = "".join(parts)
