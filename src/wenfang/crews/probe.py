"""Asking a model whether it is there and what it can do; for the test button and `doctor`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from wenfang.core import (
    Assistant,
    Dialect,
    ModelClient,
    ModelError,
    ModelRequest,
    ToolSpec,
    new_id,
    user,
)
from wenfang.models import HttpRequest, HttpTransport, Transport, TransportError
from wenfang.settings import Settings

_LIST_BYTES = 4 * 1024 * 1024
_ECHO = ToolSpec(
    name="echo",
    description="Returns its text. Use it when asked to.",
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
    patterns={},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`code` is "ok" or the kind of failure (`core.ErrorKind`, or "timeout"); `message` is for
    developers. `latency_ms` is the time to the whole reply."""

    ok: bool
    code: str
    message: str
    latency_ms: int
    reply: Assistant | None = None


async def ask(client: ModelClient, request: ModelRequest, *, timeout_s: float) -> Answer:
    """Send one small request; every failure is in the answer."""
    began = time.monotonic()
    code, message, reply = "stream_incomplete", "the model gave no reply", None
    try:
        async with asyncio.timeout(timeout_s):
            async for event in client.stream(request):
                if isinstance(event, Assistant):
                    code, message, reply = "ok", "", event
    except ModelError as error:
        code, message = error.failure.kind, error.failure.message
    except TimeoutError:
        code, message = "timeout", f"no reply within {timeout_s:g} s"
    if reply is not None and reply.error is not None:
        code, message = reply.error.kind, reply.error.message
    latency_ms = round((time.monotonic() - began) * 1000)
    return Answer(ok=code == "ok", code=code, message=message, latency_ms=latency_ms, reply=reply)


async def greet(client: ModelClient, *, timeout_s: float = 30) -> Answer:
    """Does the model answer at all?"""
    request = ModelRequest(messages=(user("Reply with the word ok."),), max_tokens=16)
    return await ask(client, request, timeout_s=timeout_s)


async def can_call(client: ModelClient, dialect: Dialect, *, timeout_s: float = 60) -> bool:
    """Does the model call a tool in this dialect when asked to?"""
    conversation = dialect.open((_ECHO,), lambda: new_id("call"))
    said = (user('Call the tool echo with the text "ok".'),)
    request = conversation.request(said, tool_choice="auto", stream=True)
    answer = await ask(client, replace(request, max_tokens=200), timeout_s=timeout_s)
    if answer.reply is None:
        return False
    calls = conversation.decoder().close(answer.reply).calls
    return any(call.name == _ECHO.name and call.error is None for call in calls)


async def list_models(
    settings: Settings, *, transport: Transport | None = None, timeout_s: float = 15
) -> list[str]:
    """The names a provider offers; empty if it does not say (many do not)."""
    headers: dict[str, str] = {"accept": "application/json"}
    if key := settings.api_key.get_secret_value():
        headers["authorization"] = f"Bearer {key}"
    request = HttpRequest(method="GET", url=f"{settings.base_url}/models", headers=headers)
    body = b""
    try:
        async with (
            asyncio.timeout(timeout_s),
            (transport or HttpTransport()).send(request) as response,
        ):
            if response.status != 200:
                return []
            while (data := await response.read()) and len(body) < _LIST_BYTES:
                body += data
        return _names(json.loads(body))
    except (TransportError, TimeoutError, ValueError):
        return []


def _names(body: Any) -> list[str]:
    rows: Any = cast("Mapping[str, Any]", body).get("data") if isinstance(body, dict) else None
    if not isinstance(rows, list):
        return []
    named = (
        cast("Mapping[str, Any]", row) for row in cast("list[Any]", rows) if isinstance(row, dict)
    )
    return sorted(str(row["id"]) for row in named if isinstance(row.get("id"), str))
