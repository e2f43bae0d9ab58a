"""Providers that fail at a point one chooses: in process as a client, and over HTTP as a scripted reply.

    model = ChaosModel(call("add", a=2, b=3), Fault(at="arguments", kind="network"), None, name="a")

The first request breaks off within the arguments of the call, the second one is answered. A scripted
server breaks in the same way with `broken(reply, fault)` in its script.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from wenfang.core import Delta, ErrorKind, ModelError, ModelEvent, ModelRequest, Usage

from .encode import deltas, encode
from .model import ScriptedModel
from .script import RawItem, Reply, ScriptError

FaultPoint: TypeAlias = Literal["connect", "headers", "thinking", "text", "arguments", "finish"]
"""Before the first byte; when the reply has begun, without a word of it; after the first piece of its
thinking, of its text, of a call's arguments; after its last word, before the end is told."""

FaultKind: TypeAlias = ErrorKind | Literal["silent"]
"""How it fails: as the provider says, or "silent", which sends nothing more and does not end."""

FAULT_POINTS: tuple[FaultPoint, ...] = get_args(FaultPoint)
FAULT_KINDS: tuple[FaultKind, ...] = (*get_args(ErrorKind), "silent")

_DELTA_OF: Mapping[FaultPoint, str] = MappingProxyType(
    {"thinking": "thinking", "text": "text", "arguments": "call"}
)
_FIELD_OF: Mapping[FaultPoint, str] = MappingProxyType(
    {"thinking": "reasoning_content", "text": "content", "arguments": "tool_calls"}
)
# What a provider says, for each kind that comes in words.
_SAID: Mapping[FaultKind, tuple[int, str]] = MappingProxyType(
    {
        "rate": (429, "Rate limit reached"),
        "overload": (503, "The server is overloaded"),
        "overflow": (400, "This model's maximum context length is 8 tokens"),
        "auth": (401, "Incorrect API key provided"),
        "quota": (402, "You exceeded your current quota"),
        "refused": (400, "Flagged by the content policy"),
        "fatal": (404, "The model does not exist"),
    }
)
_FOREVER_MS = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One failure. `usage` is what the provider had reported of the request by then."""

    at: FaultPoint
    kind: FaultKind = "network"
    retry_after_s: float | None = None
    usage: Usage | None = None


class ChaosModel:
    """A `ModelClient` that says `reply` to every request; request n fails by fault n, None is none, and
    after the last fault all is well. `requests` holds what was asked. Raises ValueError for a fault at a
    point that the reply does not have."""

    def __init__(self, reply: Reply, *faults: Fault | None, name: str = "chaos") -> None:
        self.name = name
        self._model = ScriptedModel(msgspec.structs.replace(reply, repeat=0), name=name)
        self._faults = faults
        self.silent = asyncio.Event()  # set while it is being silent
        for fault in faults:
            if fault is not None and not _has(reply, fault.at):
                raise ValueError(f"the reply has no {fault.at!r} to fail at")

    @property
    def requests(self) -> list[ModelRequest]:
        return self._model.requests

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ModelClient`. A request that is not streamed fails before its reply."""
        number = len(self.requests)
        fault = self._faults[number] if number < len(self._faults) else None
        point = fault.at if fault is not None else None
        if fault is not None and point in ("connect", "headers"):
            self.requests.append(replace(request, messages=tuple(request.messages)))
            await self._fail(fault)
        async for event in self._model.stream(request):
            if fault is None:
                yield event
            elif not isinstance(event, Delta):
                await self._fail(fault)
            elif event.kind == _DELTA_OF.get(fault.at):
                half = event.text[: max(1, len(event.text) // 2)]
                yield Delta(kind=event.kind, text=half, index=event.index, name=event.name)
                await self._fail(fault)
            else:
                yield event

    async def _fail(self, fault: Fault) -> None:
        if fault.kind == "silent":
            self.silent.set()
            await asyncio.Event().wait()
        else:
            _, said = _SAID.get(fault.kind, (0, "The connection broke"))
            asked = fault.retry_after_s
            raise ModelError(fault.kind, said, retry_after_s=asked, usage=fault.usage)


def broken(reply: Reply, fault: Fault) -> Reply:
    """`reply` as a scripted server sends it to a request for a stream, failing by `fault`. Raises
    `ScriptError` for a point that the reply does not have."""
    if not _has(reply, fault.at):
        raise ScriptError(f"the reply has no {fault.at!r} to fail at")
    headers = dict(reply.headers)
    if fault.retry_after_s is not None:
        headers["retry-after"] = f"{fault.retry_after_s:g}"
    fields: dict[str, Any] = {"model": reply.model, "repeat": reply.repeat, "headers": headers}
    if fault.at == "connect":
        return Reply(**fields, **_refused(fault.kind))
    raw: list[str | RawItem] = [_event({"choices": [each]}) for each in _until(reply, fault.at)]
    if fault.kind in _SAID:
        status, said = _SAID[fault.kind]
        raw.append(_event({"error": {"message": said, "code": status}}))
    elif fault.kind == "silent":
        raw.append(RawItem(sleep_ms=_FOREVER_MS))
    return Reply(raw=raw or [""], end=_END_OF.get(fault.kind, "done"), **fields)


_END_OF: Mapping[FaultKind, Literal["cut", "reset"]] = MappingProxyType(
    {"network": "reset", "stream_incomplete": "cut"}
)


def _refused(kind: FaultKind) -> dict[str, Any]:
    """The fields of a reply that never begins."""
    if kind in _SAID:
        status, said = _SAID[kind]
        return {"http": status, "body": {"error": {"message": said}}}
    if kind == "silent":
        return {"http": 0, "latency_ms": _FOREVER_MS}
    return {"http": 0, "end": _END_OF[kind]}


def _until(reply: Reply, point: FaultPoint) -> Iterator[dict[str, Any]]:
    """The choices of a stream before it fails."""
    if point == "headers":
        return
    name = _FIELD_OF.get(point, "")
    seen = 0
    for delta in deltas(reply, 0):
        yield {"index": 0, "delta": delta, "finish_reason": None}
        # The first piece of a call is its name alone: its arguments begin with the second one.
        seen += bool(delta.get(name))
        if seen == (2 if point == "arguments" else 1):
            return


def _event(value: dict[str, Any]) -> str:
    return f"data: {encode(value).decode()}\n\n"


def _has(reply: Reply, point: FaultPoint) -> bool:
    there = {"thinking": reply.thinking, "text": reply.text, "arguments": reply.tools}
    return bool(there.get(point, True))
