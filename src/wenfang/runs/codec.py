"""Facts to bytes and back: the one place that knows the stored form.

A body is an event's JSON without the envelope. It is encoded once; a frame is the envelope's bytes in
front of it, so that neither the journal nor a thousand readers encode anything again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, to_json

from .facts import Event

_ENVELOPE = {"seq", "ts", "run_id", "session_id"}


@cache
def _adapter() -> TypeAdapter[Event]:
    return TypeAdapter(Event)


def encode(event: Event) -> bytes:
    """The body of an event. Half characters (lone surrogates) become U+FFFD: JSON has no form for
    them."""
    try:
        return _adapter().dump_json(event, exclude=_ENVELOPE, fallback=_plain)
    except PydanticSerializationError:
        value = _adapter().dump_python(event, exclude=_ENVELOPE, fallback=_plain)
        return to_json(_clean(value))


def decode(body: bytes) -> Event:
    """The event of a body or a frame."""
    return _adapter().validate_json(body)


def wrap(body: bytes, *, seq: int, ts: float, run_id: str, session_id: str) -> bytes:
    """The frame of a body. Ids hold no character that JSON escapes."""
    head = f'{{"seq":{seq},"ts":{ts!r},"run_id":"{run_id}","session_id":"{session_id}",'
    return head.encode() + body[1:]


def _plain(value: object) -> object:
    """What pydantic has no rule for: mappings that are no dict; anything else by its text."""
    return dict(value) if isinstance(value, Mapping) else str(value)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {_clean(k): _clean(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list | tuple):
        return [_clean(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    return None if isinstance(value, float) and not math.isfinite(value) else value
