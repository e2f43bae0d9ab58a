"""A scripted reply as chat completions: the pieces of a stream, or one JSON body."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .script import Reply, ToolUse

_ARGUMENT_PIECE = 8  # characters


def stream_events(reply: Reply, *, step: int, model: str) -> Iterator[bytes]:
    """The events of a streamed reply, the last ones (finish, usage, [DONE]) as its `end` says."""
    usages = list(reply.usage) if isinstance(reply.usage, list) else []
    for delta in deltas(reply, step):
        extra = {"usage": usages.pop(0)} if len(usages) > 1 else {}
        yield _event(_chunk(model, {"index": 0, "delta": delta, "finish_reason": None}) | extra)
    finish = reply.finish_reason
    if finish is not None:
        yield _event(_chunk(model, {"index": 0, "delta": {}, "finish_reason": finish}))
    last = usages[-1] if usages else reply.usage
    if last and reply.end == "done":
        yield _event({**_chunk(model), "usage": last})
    if reply.end == "done":
        yield b"data: [DONE]\n\n"


def whole_body(reply: Reply, *, step: int, model: str) -> bytes:
    """The body of a reply that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.whole_text or None}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    if reply.tools:
        message["tool_calls"] = [
            _call(tool, step, at) | {"function": {"name": tool.name, "arguments": arguments(tool)}}
            for at, tool in enumerate(reply.tools)
        ]
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    body: dict[str, Any] = _chunk(model, choice) | {"object": "chat.completion"}
    usage = reply.usage[-1] if isinstance(reply.usage, list) else reply.usage
    if usage:
        body["usage"] = usage
    return encode(body)


def encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def arguments(tool: ToolUse) -> str:
    """The arguments as the model wrote them."""
    return tool.args if isinstance(tool.args, str) else json.dumps(tool.args, ensure_ascii=False)


def deltas(reply: Reply, step: int) -> Iterator[dict[str, Any]]:
    if reply.chunks:
        yield from reply.chunks
        return
    yield {"role": "assistant", "content": ""}
    if reply.thinking:
        yield {"reasoning_content": reply.thinking}
    for piece in reply.pieces:
        yield {"content": piece}
    for at, tool in enumerate(reply.tools):
        begin = _call(tool, step, at) | {"function": {"name": tool.name, "arguments": ""}}
        yield {"tool_calls": [begin]}
        text = arguments(tool)
        for start in range(0, len(text), _ARGUMENT_PIECE):
            piece = text[start : start + _ARGUMENT_PIECE]
            yield {"tool_calls": [{"index": at, "function": {"arguments": piece}}]}


def _call(tool: ToolUse, step: int, at: int) -> dict[str, Any]:
    return {"index": at, "id": tool.id or f"call_{step}_{at}", "type": "function"}


def _chunk(model: str, *choices: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": model,
        "choices": list(choices),
    }


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + encode(value) + b"\n\n"
