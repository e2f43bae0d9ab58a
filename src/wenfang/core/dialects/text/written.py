"""A JSON value inside a reply: found by its brackets, then decoded."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...messages import JSON
from .balance import MAX_DEPTH, balanced
from .names import NAME_KEYS, Item, Named, Refusal, clean, with_arguments
from .source import Steps, line, peek, skip, starts
from .turn import Turn
from .values import ReadError, read_json

_NAMED = re.compile(rf'"(?:{"|".join(NAME_KEYS)})"\s*:\s*"([^"\n]{{1,100}})"')

_MAX_JSON_WORD = 12
_JSON_WORD = re.compile(r"json\s*(?=[{\[])", re.IGNORECASE)
_TICKS = re.compile(r"`{1,2}(?=\{)")
_MAX_TICKS = 3
_MAX_BEHIND = 40


class Written(NamedTuple):
    value: JSON
    repairs: tuple[str, ...]


def read_written(turn: Turn, tool: str | None = None) -> Steps[Written | Refusal]:
    """Decode the value at the unread text. `tool` is the tool it is meant for, if that is known."""
    scan = yield from balanced(turn.src)
    named = turn.tools.find(tool) if tool is not None else None
    tool = tool if named is None else named.spec.name
    if tool is None and scan.state != "complete":
        match = _NAMED.search(scan.text[:1000])
        tool = clean(match[1]) if match else None
    if scan.state == "open":
        return Refusal("truncated", "The reply ended inside the action, so nothing was run.", tool)
    if scan.state == "deep":
        return Refusal("too_deep", f"It is nested more than {MAX_DEPTH} levels deep.", tool)
    turn.unclosed = turn.unclosed or scan.state == "stopped"
    if scan.text[-1] in "}]" and (yield from _goes_on(turn)):
        detail = 'They are not valid JSON: a quote inside a string is not written as \\".'
        return Refusal("bad_json", detail, tool)
    try:
        return Written(*read_json(scan.text, scan.missing, may_guess=True))
    except ReadError as error:
        return Refusal(error.reason, error.detail, tool)


def _goes_on(turn: Turn) -> Steps[bool]:
    """Whether a string goes on behind the bracket that seemed to be the last: a quote before it, which ended
    the string too early, was meant as a part of it."""
    if (yield from peek(turn.src)) != '"':
        return False
    rest = yield from line(turn.src, _MAX_BEHIND)
    return rest is None or rest.strip() != '"'


def read_arguments(turn: Turn, named: Named) -> Steps[Item]:
    """The call of a known tool whose arguments come next."""
    written = yield from read_written(turn, named.spec.name)
    if isinstance(written, Refusal):
        return written
    if (yield from peek(turn.src)) == "{":
        return Refusal("bad_json", "They have to be one JSON object.", named.spec.name)
    return with_arguments(named, written.value, turn.tools, written.repairs)


def skip_fence(turn: Turn) -> Steps[str]:
    """Read blanks, and what may stand before JSON: the line that opens a fence, the `json` that is left of
    one, or the backticks of inline code. The next character, or ""."""
    src = turn.src
    char = yield from skip(src)
    if char == "`" and (yield from starts(src, "```")):
        rest = yield from line(src, 60)
        shown = src.text[src.at : src.at + 60] if rest is None else rest
        ends = [at for at in (shown.find("{"), shown.find("[")) if at >= 0]
        src.take(src.at + min(ends, default=len(shown)))
        char = yield from skip(src)
    elif char == "`":
        while len(src.text) - src.at < _MAX_TICKS and not src.final:
            yield
        ticks = _TICKS.match(src.text, src.at)
        if ticks:
            src.take(ticks.end())
            char = "{"
    if char in ("j", "J"):
        while len(src.text) - src.at < _MAX_JSON_WORD and not src.final:
            yield
        match = _JSON_WORD.match(src.text, src.at, src.at + _MAX_JSON_WORD)
        if match:
            src.take(match.end())
            char = src.text[src.at]
    return char
