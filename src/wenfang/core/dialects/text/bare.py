"""A call written as a JSON object with nothing around it. It counts as the first thing of a reply, if it
names a registered tool."""

from __future__ import annotations

import re

from .names import CALL_KEYS, Item, Refusal, calls_from, is_call_shaped, written_name
from .native import settle
from .pythonic import read_list
from .source import Steps, skip
from .tags import tag
from .turn import Turn
from .written import Written, read_written

_FIRST_KEY = re.compile(r"[\[\s]*\{\s*[\"'“]?(?P<key>\w*)(?P<end>\W?)")
_NAMED = re.compile(r'[\["“]?\s*\{\s*"(?:name|tool|action|tool_name)"\s*:\s*"([^"]*)"')
_MAX_START = 80
_GAP = re.compile(r"[\s}]*")


def may_be_call(turn: Turn, char: str) -> bool:
    """Whether a call without anything around it may stand here."""
    return turn.at_head or (turn.shape.loose_close and char == "{" and turn.fence is None)


def read_bare_call(turn: Turn) -> Steps[bool]:
    """Read a call if the unread bracket begins one; else what was read has been told as text."""
    src = turn.src
    is_head = turn.at_head
    is_block = turn.at_line_start
    is_object = yield from _begins_like_call(turn)
    if not is_object and not (is_head and turn.shape.pythonic):
        return False
    src.record()
    items = (yield from _object(turn, is_head)) if is_object else (yield from read_list(turn))
    if items is not None and not is_head:
        items = yield from _if_closed(turn, items)
    if items is None:
        _leave(turn)
        return True
    yield from settle(turn, items, "bare", is_block=is_block, is_certain=is_head)
    return True


def _leave(turn: Turn) -> None:
    turn.at_line_start = False
    turn.unclosed = False
    turn.emit(turn.src.recorded())
    if turn.wrapper:
        turn.fence, turn.wrapper = (turn.wrapper[0], len(turn.wrapper)), ""


def _begins_like_call(turn: Turn) -> Steps[bool]:
    """Whether the first key is one that calls have, which a few characters tell."""
    src = turn.src
    while True:
        start = src.text[src.at : src.at + _MAX_START]
        match = _FIRST_KEY.match(start)
        if match is not None and match["end"]:
            return match["key"] in CALL_KEYS
        if src.final or len(start) >= _MAX_START:
            return False
        if match is None and start.strip(" \t\n[{\"'“"):
            return False
        yield


def _object(turn: Turn, is_head: bool) -> Steps[list[Item] | None]:
    written = yield from read_written(turn)
    if isinstance(written, Refusal):
        return [written] if is_head and _names_tool(turn, written) else None
    if is_call_shaped(written.value, turn.tools) or _is_call_of_unknown(turn, written):
        return calls_from(written.value, turn.tools, written.repairs)
    return None


def _names_tool(turn: Turn, problem: Refusal) -> bool:
    return problem.tool is not None and turn.tools.find(problem.tool) is not None


def _is_call_of_unknown(turn: Turn, written: Written) -> bool:
    """In a dialect that calls this way, a name with arguments is a call whether it is known or not."""
    value = written.value
    if not (turn.shape.bare_calls and isinstance(value, dict)):
        return False
    keys = [key for key in ("parameters", "arguments") if isinstance(value.get(key), dict)]
    return bool(keys) and written_name(value) is not None


def _if_closed(turn: Turn, items: list[Item]) -> Steps[list[Item] | None]:
    """Behind text, an object is a call only if the closing tag of one follows."""
    char = yield from skip(turn.src, _GAP)
    found = (yield from tag(turn.src)) if char == "<" else None
    return items if found is not None and found.kind == "/tool_call" else None
