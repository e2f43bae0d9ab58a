"""Calls whose arguments stand between tags, where nothing ends itself.

A closing tag inside a value looks like one behind it; only position tells them apart: it closes the
value if what follows, after blanks, belongs to the call again.
"""

from __future__ import annotations

import re

from ...messages import JSON
from .balance import balanced
from .names import Item, Named, Refusal, make_call
from .source import Source, Steps, peek, skip
from .tags import Tag, next_tag, tag
from .turn import Turn
from .values import from_text
from .written import read_arguments

_BLANKS = re.compile(r"(?:[\s\u200b\ufeff]|\\n)*")
_KEY = re.compile(r"[^<]+")

# What may follow a value that is closed by a tag of the first kind.
_AFTER: dict[str, frozenset[str]] = {
    "/parameter": frozenset(("parameter", "/function", "function", "/tool_call", "/calls")),
    "/arg_value": frozenset(("arg_key", "/tool_call", "tool_call", "/calls", "result")),
}
_STRAY = frozenset(("/arg_value", "/arg_key", "/parameter"))
_ENDS = frozenset(("/function", "/tool_call", "/calls"))


class _Arguments:
    """What was read between tags so far."""

    def __init__(self, named: Named) -> None:
        self.named = named
        self.values: dict[str, JSON] = {}
        self.problem: Refusal | None = None
        properties = named.spec.parameters.get("properties")
        self.properties: dict[str, JSON] = {}
        if isinstance(properties, dict):
            aliases = named.spec.aliases
            self.properties = {alias: properties.get(name) for alias, name in aliases.items()}
            self.properties |= properties

    def add(self, key: str, text: str, is_text: bool | None) -> None:
        value = from_text(_unframed(text), self.properties.get(key), is_text)
        if key in self.values and self.values[key] != value:
            self.fail(
                "duplicate_keys", f"The key {key[:80]!r} appears twice with different values."
            )
        self.values[key] = value

    def fail(self, reason: str, detail: str) -> None:
        if self.problem is None:
            kind = "duplicate_keys" if reason == "duplicate_keys" else "bad_json"
            self.problem = Refusal(kind, detail, self.named.spec.name)

    def cut(self) -> Refusal:
        detail = "The reply ended inside the arguments, so nothing was run."
        return Refusal("truncated", detail, self.named.spec.name)

    def item(self) -> Item:
        return self.problem or make_call(self.named, self.values)


def _unframed(text: str) -> str:
    return text.removeprefix("\n").removesuffix("\n")


def skip_blanks(src: Source) -> Steps[str]:
    """Read blanks, also a line break written as two characters. The next character, or ""."""
    while True:
        char = yield from skip(src, _BLANKS)
        if char != "\\":
            return char
        while len(src.text) - src.at < 2 and not src.final:
            yield
        if not src.text.startswith("\\n", src.at):
            return char


def _value(arguments: _Arguments, src: Source, close: str) -> Steps[str | None]:
    """Read to the tag of kind `close` that ends the value; None if the output ended before."""
    parts: list[str] = []
    while (yield from peek(src)):
        end = next_tag(src.text, src.at)
        if end > src.at:
            parts.append(src.take(end))
            continue
        found = yield from tag(src)
        if found is None or found.kind != close:
            if found is not None and found.kind == "parameter" and _is_new(arguments, found, parts):
                arguments.fail("bad_json", "A value is not closed before the next one begins.")
            parts.append(src.take(found.end if found else src.at + 1))
            continue
        pending = [src.take(found.end)]
        if (yield from _is_end(src, close, pending)):
            return "".join(parts)
        parts += pending
    return None


def _is_new(arguments: _Arguments, found: Tag, parts: list[str]) -> bool:
    """Whether the tag inside a value looks like the next parameter instead."""
    at_line_start = bool(parts) and parts[-1].endswith("\n")
    return (
        at_line_start
        and found.value in arguments.properties
        and found.value not in arguments.values
    )


def _is_end(src: Source, close: str, pending: list[str]) -> Steps[bool]:
    """Whether what follows a closing tag belongs to the call. Blanks are read into `pending`."""
    while True:
        match = _BLANKS.match(src.text, src.at)
        if match and match.end() > src.at:
            pending.append(src.take(match.end()))
        is_open = src.empty or src.text[src.at :] == "\\"
        if is_open and not src.final:
            yield
        elif src.empty:
            return True
        else:
            break
    found = yield from tag(src)
    return found is not None and (found.kind in _AFTER[close] or found.kind == "end")


def read_function(turn: Turn, opener: Tag) -> Steps[Item | None]:
    """A call that `<function=NAME>` or `<invoke name="NAME">` begins; None if it is none after all."""
    src = turn.src
    src.take(opener.end)
    named = turn.tools.find(opener.value)
    first = yield from skip_blanks(src)
    if first == "{":
        return (yield from named_json(turn, opener.value))
    found = (yield from tag(src)) if first == "<" else None
    if first and (found is None or found.kind not in (*_ENDS, *_STRAY, "parameter")):
        return None
    if named is None:
        yield from _pass_over(turn)
        return turn.tools.unknown(opener.value)
    return (yield from _parameters(turn, _Arguments(named)))


def _parameters(turn: Turn, arguments: _Arguments) -> Steps[Item]:
    src = turn.src
    while True:
        char = yield from skip_blanks(src)
        if not char:
            return arguments.cut() if src.cut else arguments.item()
        found = yield from tag(src)
        if found is not None and found.kind == "parameter":
            src.take(found.end)
            value = yield from _value(arguments, src, "/parameter")
            if value is None:
                return arguments.cut()
            arguments.add(found.value, value, found.is_text)
        elif found is not None and found.kind in _STRAY:
            src.take(found.end)
        elif found is not None and found.kind in _ENDS:
            src.take(found.end)
            return arguments.item()
        elif found is not None and found.kind in ("function", "tool_call", "calls", "end"):
            return arguments.item()
        else:
            arguments.fail("bad_json", "There is text between the arguments.")
            return arguments.item()


def _pass_over(turn: Turn) -> Steps[None]:
    """Read to the end of a call that cannot run."""
    src = turn.src
    while (yield from peek(src)):
        end = next_tag(src.text, src.at)
        if end > src.at:
            src.take(end)
            continue
        found = yield from tag(src)
        src.take(found.end if found else src.at + 1)
        if found is not None and found.kind in _ENDS:
            return


def read_pairs(turn: Turn, name: str) -> Steps[Item]:
    """A call written as a name and pairs of key and value (GLM). The name is read."""
    src = turn.src
    named = turn.tools.find(name)
    if named is None:
        yield from _pass_over(turn)
        return turn.tools.unknown(name)
    arguments = _Arguments(named)
    while True:
        char = yield from skip_blanks(src)
        if not char:
            return arguments.cut() if src.cut else arguments.item()
        found = yield from tag(src)
        if found is not None and found.kind == "arg_key":
            src.take(found.end)
            if not (yield from _pair(turn, arguments)):
                return arguments.cut()
        elif found is not None and found.kind in _STRAY:
            src.take(found.end)
        elif found is not None and found.kind in _ENDS:
            src.take(found.end)
            return arguments.item()
        elif found is not None and found.kind in ("tool_call", "result", "end"):
            return arguments.item()
        else:
            arguments.fail("bad_json", "There is text between the arguments.")
            return arguments.item()


def _pair(turn: Turn, arguments: _Arguments) -> Steps[bool]:
    """Read behind `<arg_key>`; whether the value was closed."""
    src = turn.src
    key: list[str] = []
    while (yield from peek(src)) not in ("<", ""):
        match = _KEY.match(src.text, src.at)
        key.append(src.take(match.end() if match else src.at + 1))
    found = yield from tag(src)
    if found is not None and found.kind == "/arg_key":
        src.take(found.end)
        yield from skip_blanks(src)
        found = yield from tag(src)
    if found is not None and found.kind == "arg_value":
        src.take(found.end)
    value = yield from _value(arguments, src, "/arg_value")
    if value is None:
        return False
    arguments.add("".join(key).strip(), value, None)
    return True


def named_json(turn: Turn, name: str) -> Steps[Item]:
    """The call of the tool `name` whose JSON arguments come next."""
    named = turn.tools.find(name)
    if named is not None:
        return (yield from read_arguments(turn, named))
    yield from balanced(turn.src)
    return turn.tools.unknown(name)
