"""Channels (gpt-oss): `<|channel|>analysis<|message|>…`, also when the tokens were stripped from them.

What is addressed to a tool is a call, `final` is the answer, all else is thought. A commentary to nobody
is no answer.
"""

from __future__ import annotations

import re

from .answer import read_answer
from .markup import named_json
from .names import make_call
from .source import Steps, peek
from .tags import Tag, next_tag, tag
from .turn import Turn
from .written import skip_fence

_MAX_HEADER = 300
_RECIPIENT = re.compile(r"to\s*=\s*([^\s<]+)")
_BETWEEN = frozenset(("start", "channel", "constrain"))
_ENDING = frozenset(("end", "start", "channel"))
_BARE = re.compile(
    r"(?P<channel>analysis|commentary|final)(?P<to> to=(?P<name>[\w.\-]+)\s*(?:code|json)?\s*(?=\{))?"
)
_BARE_HEAD = re.compile(r"(?:assistant)?(?:analysis|commentary|final)(?: to=|[^\sa-z.,:;!?_\-)\]])")
_BARE_NEXT = re.compile(r"assistant(?=analysis|commentary|final)")
_LONGEST = len("assistantcommentary")


def read_channel(turn: Turn) -> Steps[None]:
    """Read a message from its `<|start|>` or `<|channel|>`."""
    src = turn.src
    src.record()
    header = yield from _header(turn)
    written = src.recorded()
    if header is None:
        turn.emit(written)
        return
    turn.live.take_back()
    recipient = _RECIPIENT.search(header)
    if recipient is not None and not recipient[1].startswith("assistant"):
        yield from _call(turn, recipient[1])
    elif "final" in header:
        yield from read_answer(turn, "channel")
    else:
        yield from _thought(turn)


def _header(turn: Turn) -> Steps[str | None]:
    """Read to behind `<|message|>`; None if there is none. Control tokens in it are kept as "<>"."""
    src = turn.src
    begin = src.position
    parts: list[str] = []
    while (yield from peek(src)) and (rest := begin + _MAX_HEADER - src.position) > 0:
        end = min(next_tag(src.text, src.at), src.at + rest)
        if end > src.at:
            parts.append(src.take(end))
            continue
        found = yield from tag(src)
        if found is None:
            parts.append(src.take(src.at + 1))
            continue
        if found.kind not in (*_BETWEEN, "message"):
            return None
        src.take(found.end)
        if found.kind == "message":
            return "".join(parts)
        parts.append("<>")
    return None


def _call(turn: Turn, name: str) -> Steps[None]:
    char = yield from skip_fence(turn)
    named = turn.tools.find(name)
    if char == "{":
        turn.accept([(yield from named_json(turn, name))])
    elif named is None:
        turn.reject(turn.tools.unknown(name))
    elif not char and turn.src.cut:
        turn.unfinished(named.spec.name)
    elif not char or char == "<":
        turn.accept([make_call(named, {})])
    else:
        turn.fail("bad_json", "The arguments are not a JSON object.", named.spec.name)


def _thought(turn: Turn) -> Steps[None]:
    src = turn.src
    while (yield from peek(src)):
        end = next_tag(src.text, src.at)
        if end > src.at:
            turn.live.think(src.take(end))
            continue
        found: Tag | None = yield from tag(src)
        if found is not None and found.kind in _ENDING:
            if found.kind == "end":
                src.take(found.end)
            turn.live.think("\n")
            return
        turn.live.think(src.take(found.end if found else src.at + 1))


def begins_bare(turn: Turn) -> Steps[bool]:
    """Whether the reply begins with the name of a channel whose tokens were stripped."""
    src = turn.src
    while len(src.text) - src.at < _LONGEST + 4 and not src.final:
        yield
    return _BARE_HEAD.match(src.text, src.at) is not None


def read_bare(turn: Turn) -> Steps[None]:
    """Read messages whose tokens were stripped: `analysis…assistantfinal…`."""
    src = turn.src
    if src.text.startswith("assistant", src.at):
        src.take(src.at + len("assistant"))
    while turn.verdict is None and (yield from peek(src)):
        while len(src.text) - src.at < 100 and not src.final:
            yield
        match = _BARE.match(src.text, src.at)
        if match is None:
            return
        src.take(match.end())
        if match["name"]:
            yield from _call(turn, match["name"])
        elif match["channel"] == "final":
            yield from read_answer(turn, "channel")
        else:
            yield from _bare_thought(turn)


def _bare_thought(turn: Turn) -> Steps[None]:
    src = turn.src
    while (yield from peek(src)):
        match = _BARE_NEXT.search(src.text, src.at)
        if match:
            turn.live.think(src.take(match.start()))
            turn.live.think("\n")
            src.take(match.end())
            return
        kept = 0 if src.final else _LONGEST
        end = max(src.at, len(src.text) - kept)
        turn.live.think(src.take(end))
        if not src.final:
            yield
