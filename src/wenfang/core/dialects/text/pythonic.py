"""Calls written as in a program: `search(query="x", top_k=3)`, `search({"query": "x"})`."""

from __future__ import annotations

import re

from .balance import balanced
from .names import Item, Named, Refusal, make_call, plain_text, with_arguments
from .source import Steps, skip
from .turn import Turn
from .values import ReadError, read_json

_KEYWORD = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|“[^“”]*”)|\b(?P<name>[^\W\d]\w*)\s*=(?!=)',
    re.DOTALL,
)
_NOT_PLAIN = re.compile(r"[\"'“”=]")
NAME = re.compile(r"[\w.\-]{1,64}")


def read_call(turn: Turn, named: Named) -> Steps[Item]:
    """The call of a known tool, whose arguments begin at the unread "("."""
    scan = yield from balanced(turn.src, has_marks=False)
    name = named.spec.name
    if scan.state == "deep":
        return Refusal("too_deep", "The arguments are nested too deeply.", name)
    if scan.state != "complete":
        return Refusal("truncated", "The reply ended inside the arguments.", name)
    return arguments_in(turn, named, scan.text[1:-1].strip())


def arguments_in(turn: Turn, named: Named, inner: str) -> Item:
    """The call whose arguments are written between two brackets."""
    if not inner:
        return make_call(named, {})
    if not _NOT_PLAIN.search(inner) and inner[0] not in "{[":
        return plain_text(named, inner)
    is_object = inner[0] == "{"
    try:
        if is_object or (_KEYWORD.sub("", inner).strip() == "" and "=" not in _outside(inner)):
            value, repairs = read_json(inner)
        else:
            value, repairs = read_json("{" + _KEYWORD.sub(_as_key, inner) + "}")
            repairs = tuple(step for step in repairs if step != "quotes")
    except ReadError as error:
        return Refusal(error.reason, error.detail, named.spec.name)
    if isinstance(value, str):
        return plain_text(named, value)
    return with_arguments(named, value, turn.tools, (*repairs, "call_syntax"))


def _outside(text: str) -> str:
    """`text` without its quoted parts."""
    return _KEYWORD.sub(lambda match: "" if match["text"] else match.group(), text)


def _as_key(match: re.Match[str]) -> str:
    return match["text"] or f'"{match["name"]}":'


def read_list(turn: Turn) -> Steps[list[Item] | None]:
    """`name(...)` at the unread text, or several of them in square brackets; None if it is no call of a
    registered tool."""
    src = turn.src
    items: list[Item] = []
    is_list = (yield from skip(src)) == "["
    if is_list:
        src.take(src.at + 1)
        yield from skip(src)
    while True:
        named = yield from _name(turn)
        if named is None:
            return items or None
        items.append((yield from read_call(turn, named)))
        following = yield from skip(src)
        if is_list and following == "]":
            src.take(src.at + 1)
            return items
        if following not in (",", ";"):
            return items
        src.take(src.at + 1)
        yield from skip(src)


def _name(turn: Turn) -> Steps[Named | None]:
    """The tool whose name and "(" come next; the name is read."""
    src = turn.src
    while len(src.text) - src.at < 66 and not src.final:
        match = NAME.match(src.text, src.at)
        if match is None or match.end() < len(src.text):
            break
        yield
    match = NAME.match(src.text, src.at)
    if match is None or src.text[match.end() : match.end() + 1] != "(":
        return None
    named = turn.tools.find(match.group().removesuffix(".call"))
    if named is not None:
        src.take(match.end())
    return named
