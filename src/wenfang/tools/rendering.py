"""A value of untrusted code as text of bounded length. Shared parts can make a small value endless in
print, so the text is produced piece by piece and cut, never made whole."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

_DEPTH = 20
_MAX_BITS = 14_000  # Python refuses to write longer integers
_BRACKETS = {"list": ("[", "]"), "tuple": ("(", ")"), "set": ("{", "}")}


def render(value: Any, limit: int) -> str:
    """Like `repr(value)`, at most about `limit` characters."""
    pieces: list[str] = []
    length = 0
    for piece in _pieces(value, limit, _DEPTH):
        pieces.append(piece)
        length += len(piece)
        if length > limit:
            return f"{''.join(pieces)[:limit]}... (the value goes on)"
    return "".join(pieces)


def _pieces(value: Any, limit: int, depth: int) -> Iterator[str]:
    if isinstance(value, str | bytes):
        yield repr(value[: limit + 1])
    elif type(value) is int and value.bit_length() > _MAX_BITS:
        yield f"<integer of {value.bit_length()} bits>"
    elif depth == 0:
        yield "..."
    elif isinstance(value, Mapping):
        yield from _mapping(cast("Mapping[Any, Any]", value), limit, depth - 1)
    elif isinstance(value, list | tuple | set | frozenset):
        yield from _sequence(cast("Collection[Any]", value), limit, depth - 1)
    else:
        members: Any = getattr(value, "attributes", None)  # of an object of a class of the code
        if members is None:
            yield repr(value)
        else:
            yield str(cast("Any", value).name)
            yield from _mapping(members, limit, depth - 1)


def _mapping(value: Mapping[Any, Any], limit: int, depth: int) -> Iterator[str]:
    yield "{"
    for number, (key, each) in enumerate(value.items()):
        if number:
            yield ", "
        yield from _pieces(key, limit, depth)
        yield ": "
        yield from _pieces(each, limit, depth)
    yield "}"


def _sequence(value: Collection[Any], limit: int, depth: int) -> Iterator[str]:
    kind = type(value).__name__
    start, end = _BRACKETS.get(kind, (f"{kind}(", ")"))
    yield start if value or kind != "set" else "set("
    for number, each in enumerate(value):
        if number:
            yield ", "
        yield from _pieces(each, limit, depth)
    if len(value) == 1 and kind == "tuple":
        yield ","
    yield end if value or kind != "set" else ")"
