"""Calls in the formats models were trained on, told apart by what opens them (dialects 5.13).

A call at the head of a reply, or behind an action label, is one. Behind running text it is one if
nothing but structure follows; with text on both sides it is an example.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from .labels import label
from .markup import named_json, read_function, read_pairs, skip_blanks
from .names import Item, Refusal, calls_from, with_arguments
from .pythonic import read_list
from .shapes import OPENERS
from .source import Source, Steps, peek, skip, starts
from .tags import Tag, tag
from .turn import Turn
from .written import Written, read_written, skip_fence

_MISTRAL = "[TOOL_CALLS]"
_GAP = re.compile(r"(?:[\s;,}\])\u200b\ufeff]|\\n)+")
_NAME = re.compile(r"[\w.\-:/]{0,100}")
_HEADER = re.compile(r"[^<{\[`\n]*")
_MAX_HEADER = 200
_ID = re.compile(r"(.*?)(?::\d+)?")
_BEHIND = frozenset(
    ("/tool_call", "/calls", "/function", "/parameter", "/arg_value", "/arguments", "end")
)

Following: TypeAlias = Literal["end", "call", "structure", "text"]
Grammar: TypeAlias = Callable[[Turn, Tag], Steps["list[Item] | None"]]


def read_native(
    turn: Turn, opener: Tag | Literal["mistral"], *, is_certain: bool = False
) -> Steps[None]:
    """Read the calls that begin with `opener`. Without a verdict, it was text, and has been told as such.
    `is_certain`: nothing but a call can stand here."""
    src = turn.src
    is_block = src.before in ("\n", "")
    kind = opener if isinstance(opener, str) else opener.kind
    found = opener if isinstance(opener, Tag) else Tag("mistral", src.at + len(_MISTRAL))
    src.record()
    items = yield from _GRAMMARS[kind](turn, found)
    yield from settle(turn, items, kind, is_block=is_block, is_certain=is_certain)


def settle(
    turn: Turn, items: list[Item] | None, kind: str, *, is_block: bool, is_certain: bool = False
) -> Steps[None]:
    """Decide about the calls that were read since the source began to record."""
    src = turn.src
    if items is None:
        written = src.recorded()
        if is_certain:
            turn.fail("bad_json", "The action cannot be read.")
        else:
            turn.emit(written)
        return
    is_head = is_certain or not turn.has_prose
    if is_head and not turn.shape.parallel:
        turn.accept(items)
        return
    if is_head:
        turn.announce(items[0])
    is_unclosed = turn.unclosed
    following = yield from _more(turn, items)
    turn.unclosed = is_unclosed
    is_block = is_block and src.before == "\n"
    written = src.recorded()
    if is_head or following != "text":
        turn.accept(items)
    elif is_block and kind in turn.shape.own and not isinstance(items[0], Refusal):
        turn.fail(
            "ambiguous_call",
            "There is text before and behind the call, so it may be an example. Send only the call, "
            "or put an example in a code block.",
            items[0].name,
        )
    else:
        turn.unclosed = False
        turn.emit(written)


def _more(turn: Turn, items: list[Item]) -> Steps[Following]:
    """Read further calls into `items`. What stands behind the last."""
    src = turn.src
    while True:
        following = yield from _behind(turn)
        if following != "call":
            return following
        turn.unclosed = False
        char = src.text[src.at]
        if char == "{":
            more = yield from _json(turn)
        elif char == "[":
            more = yield from _mistral(turn, Tag("mistral", src.at + len(_MISTRAL)))
        else:
            found = yield from tag(src)
            more = (yield from _GRAMMARS[found.kind](turn, found)) if found else None
        if more is None:
            return "text"
        items += [_cut_short(more[0])] if turn.unclosed else more


def _cut_short(item: Item) -> Refusal:
    tool = item.tool if isinstance(item, Refusal) else item.name
    return Refusal("truncated", "A further call is not complete.", tool)


def _behind(turn: Turn) -> Steps[Following]:
    """Read closers and blanks behind a call. What comes then."""
    src = turn.src
    while True:
        char = yield from _gap(src)
        if not char:
            return "end"
        if char == "{":
            return "call"
        if char == "[":
            return "call" if (yield from starts(src, _MISTRAL)) else "text"
        if char == "`" and (yield from starts(src, "```")):
            src.take(src.at + 3)
        elif char == "<":
            found = yield from tag(src)
            if found is None or found.kind not in _BEHIND:
                return _kind_of(found)
            src.take(found.end)
        elif turn.shape.labels and src.before == "\n" and (yield from label(src)) is not None:
            return "structure"
        else:
            return "text"


def _gap(src: Source) -> Steps[str]:
    while True:
        char = yield from skip(src, _GAP)
        if char != "\\":
            return char
        while len(src.text) - src.at < 2 and not src.final:
            yield
        if not src.text.startswith("\\n", src.at):
            return char


def _kind_of(found: Tag | None) -> Following:
    if found is None:
        return "text"
    if found.kind in OPENERS:
        return "call"
    return "structure" if found.kind in ("result", "start", "channel") else "text"


# One grammar for each kind of opener. None: it opens no call.


def _json(turn: Turn) -> Steps[list[Item]]:
    written = yield from read_written(turn)
    if isinstance(written, Refusal):
        return [written]
    return calls_from(written.value, turn.tools, written.repairs)


def _truncated() -> list[Item]:
    return [Refusal("truncated", "The reply ended inside the action, so nothing was run.")]


def _wrapped(turn: Turn, opener: Tag) -> Steps[list[Item] | None]:
    """`<tool_call>` and its like around any of the notations, and around one another."""
    src = turn.src
    found: Tag | None = opener
    while found is not None and found.kind in ("tool_call", "calls"):
        src.take(found.end)
        yield from skip_blanks(src)
        char = yield from skip_fence(turn)
        if not char:
            return _truncated()
        if char in "{[":
            return (yield from _json(turn))
        if char != "<":
            return (yield from _pairs(turn))
        found = yield from tag(src)
    if found is None:
        return None
    if found.kind == "function":
        return _one((yield from read_function(turn, found)))
    if found.kind == "function_name":
        return (yield from _function_name(turn, found))
    is_empty = found.kind in ("/tool_call", "/calls")
    return [Refusal("bad_json", "The call is empty.")] if is_empty else None


def _one(item: Item | None) -> list[Item] | None:
    return None if item is None else [item]


def _pairs(turn: Turn) -> Steps[list[Item] | None]:
    src = turn.src
    while True:
        match = _NAME.match(src.text, src.at)
        end = match.end() if match else src.at
        if end < len(src.text) or src.final:
            break
        yield
    name = src.text[src.at : end]
    if not name:
        return None
    src.take(end)
    char = yield from skip_blanks(src)
    found = (yield from tag(src)) if char == "<" else None
    kinds = ("arg_key", "arg_value", "/arg_value", "/tool_call")
    if char == "{" and turn.tools.find(name) is not None:
        return [(yield from named_json(turn, name))]
    if not char and turn.tools.find(name) is None:
        return _truncated() if src.cut else None
    if char and (found is None or found.kind not in kinds):
        return None
    return [(yield from read_pairs(turn, name))]


def _function_name(turn: Turn, opener: Tag) -> Steps[list[Item] | None]:
    """`<function>NAME</function>{...}`"""
    src = turn.src
    src.take(opener.end)
    name = yield from _header(turn)
    found = yield from tag(src)
    if found is not None and found.kind == "/function":
        src.take(found.end)
    char = yield from skip_fence(turn)
    if char != "{":
        return None if char else _truncated()
    return [(yield from named_json(turn, name))]


def _header(turn: Turn) -> Steps[str]:
    """Read up to a tag, an object, a fence or the end of the line."""
    src = turn.src
    begin = src.position
    parts: list[str] = []
    while (yield from peek(src)):
        match = _HEADER.match(src.text, src.at, src.at + begin + _MAX_HEADER - src.position)
        if match is None or match.end() == src.at:
            break
        parts.append(src.take(match.end()))
    return "".join(parts)


def _function(turn: Turn, opener: Tag) -> Steps[list[Item] | None]:
    return _one((yield from read_function(turn, opener)))


def _section(turn: Turn, opener: Tag) -> Steps[list[Item] | None]:
    src = turn.src
    src.take(opener.end)
    char = yield from skip(src)
    if not char:
        return _truncated()
    found = yield from tag(src)
    if found is None or found.kind != "token_call":
        return None
    return (yield from _token_call(turn, found))


def _token_call(turn: Turn, opener: Tag) -> Steps[list[Item] | None]:
    """A call in special tokens: DeepSeek's `type<sep>NAME` and `NAME<sep>`, Kimi's `functions.NAME:0`."""
    src = turn.src
    src.take(opener.end)
    name = yield from _header(turn)
    found = yield from tag(src)
    if found is not None and found.kind in ("token_sep", "token_arguments"):
        src.take(found.end)
        if found.kind == "token_sep" and name.strip() == "function":
            name = yield from _header(turn)
    match = _ID.fullmatch(name.strip())
    name = match[1] if match else name
    char = yield from skip_fence(turn)
    if not char:
        return _truncated() if found is not None or src.cut else None
    if char not in '{["':
        return None if found is None else [Refusal("bad_json", "The arguments are not JSON.", name)]
    written = yield from read_written(turn, name)
    return [written if isinstance(written, Refusal) else _named(turn, name, written)]


def _named(turn: Turn, name: str, written: Written) -> Item:
    """A call whose name stands before its arguments, or inside them if that name is a foreign id."""
    named = turn.tools.find(name)
    if named is not None:
        return with_arguments(named, written.value, turn.tools, written.repairs)
    if isinstance(written.value, dict):
        item = calls_from(written.value, turn.tools, written.repairs)[0]
        if not isinstance(item, Refusal):
            return item
    return turn.tools.unknown(name)


def _python_tag(turn: Turn, opener: Tag) -> Steps[list[Item] | None]:
    src = turn.src
    src.take(opener.end)
    char = yield from skip_fence(turn)
    if not char:
        return _truncated()
    if char == "{":
        return (yield from _json(turn))
    items = yield from read_list(turn)
    return items or [Refusal("bad_json", "The call cannot be read.")]


def _mistral(turn: Turn, opener: Tag) -> Steps[list[Item] | None]:
    """`[TOOL_CALLS][{...}]`, or `[TOOL_CALLS]name[ARGS]{...}`."""
    src = turn.src
    src.take(opener.end)
    char = yield from skip_fence(turn)
    if not char:
        return _truncated()
    if char in "{[":
        return (yield from _json(turn))
    name = yield from _header(turn)
    for mark in ("[CALL_ID]", "[ARGS]"):
        if (yield from starts(src, mark)):
            src.take(src.at + len(mark))
            if mark == "[CALL_ID]":
                yield from _header(turn)
    char = yield from skip(src)
    if char == "{":
        return [(yield from named_json(turn, name))]
    is_cut = not char and (src.cut or turn.tools.find(name) is not None)
    return _truncated() if is_cut else None


_GRAMMARS: dict[str, Grammar] = {
    "tool_call": _wrapped,
    "calls": _wrapped,
    "function": _function,
    "section": _section,
    "token_call": _token_call,
    "python_tag": _python_tag,
    "mistral": _mistral,
}
