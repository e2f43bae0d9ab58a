"""From messages to the bytes of a request. Each message is encoded once and remembers its bytes.

`messages` stands last in the body and a message's bytes never change, so request n is a byte prefix of
request n+1 up to the closing brackets (design M10), and a request costs joining, not encoding.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from wenfang.core import (
    JSON,
    Assistant,
    Image,
    Message,
    ModelRequest,
    System,
    Text,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    User,
)

from .history import is_left_out, repair_history
from .profiles import Profile

_json = msgspec.json.Encoder().encode
_SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
_KEPT_TOOLSETS = 32
_MAX_DEFAULT_OUTPUT = 32_000
_NO_VISION = "[an image was left out: this model reads text only]"
_EMPTY_RESULT = "(no output)"


class _Wire(NamedTuple):
    """What a message remembers of itself. `data` is empty for one that is not sent. `calls` are the ids
    that the next messages must answer, `answers` the id that this one answers. `images` cannot stand in
    a tool message; they follow the batch."""

    key: str
    data: bytes
    calls: tuple[str, ...]
    answers: str | None
    images: bytes


class RequestEncoder:
    """Encodes for one model. Two encoders that would write the same bytes share what messages
    remember."""

    def __init__(self, model: str, profile: Profile) -> None:
        self._model = model
        self._profile = profile
        echo = model if profile.echo_reasoning else ""
        self._key = f"{profile.system_role} {profile.vision} {echo}"
        self._head = b'{"model":' + _json(model)
        self._tools: dict[int, tuple[tuple[ToolSpec, ...], bytes]] = {}

    def body(self, request: ModelRequest) -> bytes:
        """The whole body of a chat completions request. Messages are mended if they need it."""
        parts = self._parts(request.messages)
        if parts is None:
            parts = self._parts(repair_history(request.messages))
        assert parts is not None
        return b'%b,"messages":[%b]}' % (self._options(request), b",".join(parts))

    def _parts(self, messages: Sequence[Message]) -> list[bytes] | None:
        """The encoded messages; None if a call lacks its result, or anything else needs mending."""
        key = self._key
        parts: list[bytes] = []
        images: list[bytes] = []
        calls: tuple[str, ...] = ()
        answered = 0
        for message in messages:
            wire = cast("_Wire | None", getattr(message, "_wire", None))
            if wire is None or wire[0] != key:
                wire = self._remember(message)
            if answered < len(calls):
                if wire[3] != calls[answered]:
                    return None
                answered += 1
            elif wire[3] is not None or not wire[1]:
                return None
            parts.append(wire[1])
            if wire[4]:
                images.append(wire[4])
            if images and answered == len(calls):
                parts.append(b'{"role":"user","content":[%b]}' % b",".join(images))
                images.clear()
            if wire[2]:
                calls, answered = wire[2], 0
        return parts if answered == len(calls) else None

    def _options(self, request: ModelRequest) -> bytes:
        profile = self._profile
        fields: dict[str, Any] = {"stream": request.stream}
        if request.stream and profile.stream_usage:
            fields["stream_options"] = {"include_usage": True}
        limit = request.max_tokens or min(profile.max_output or 0, _MAX_DEFAULT_OUTPUT)
        if limit:
            fields[profile.max_tokens_field] = limit
        temperature = profile.temperature if request.temperature is None else request.temperature
        if temperature is not None and not profile.fixed_temperature:
            fields["temperature"] = temperature
        if request.stop:
            fields["stop"] = request.stop
        if request.response_schema is not None:
            fields["response_format"] = _response_format(profile, request.response_schema)
        head = b"%b,%b" % (self._head, _json(fields)[1:-1])
        return head + self._tool_fields(request)

    def _tool_fields(self, request: ModelRequest) -> bytes:
        """Tools and choice. A server without `tool_choice: none` is sent no tools instead."""
        choice = request.tool_choice
        if not request.tools or (choice == "none" and choice not in self._profile.tool_choices):
            return b""
        kept = self._tools.get(id(request.tools))
        if kept is None or kept[0] is not request.tools:
            if len(self._tools) >= _KEPT_TOOLSETS:
                self._tools.clear()
            kept = self._tools[id(request.tools)] = (request.tools, _tools(request.tools))
        sent = _tool_choice(choice, self._profile.tool_choices)
        return kept[1] if sent is None else b'%b,"tool_choice":%b' % (kept[1], _json(sent))

    def _remember(self, message: Message) -> _Wire:
        calls: tuple[str, ...] = ()
        answers: str | None = None
        images = b""
        if isinstance(message, Assistant):
            calls = tuple(call.id for call in message.calls)
        elif isinstance(message, ToolResult):
            answers = message.call_id
            if self._profile.vision:
                shown = (_image(block) for block in message.content if isinstance(block, Image))
                images = b",".join(map(_json, shown))
        data = b"" if is_left_out(message) else _encode(self._fields(message))
        wire = _Wire(self._key, data, calls, answers, images)
        object.__setattr__(message, "_wire", wire)
        return wire

    def _fields(self, message: Message) -> dict[str, Any]:
        if isinstance(message, System):
            return {"role": self._profile.system_role, "content": message.content}
        if isinstance(message, User):
            return {"role": "user", "content": self._content(message.content)}
        if isinstance(message, ToolResult):
            text = self._text(message.content) or _EMPTY_RESULT
            return {"role": "tool", "tool_call_id": safe_id(message.call_id), "content": text}
        return self._assistant(message)

    def _assistant(self, message: Assistant) -> dict[str, Any]:
        calls = message.calls
        fields: dict[str, Any] = {"role": "assistant", "content": message.text or None}
        if not calls:
            return fields
        if self._profile.echo_reasoning and message.model == self._model and message.thinking:
            fields["reasoning_content"] = message.thinking
        fields["tool_calls"] = [_call(call) for call in calls]
        return fields

    def _content(self, content: tuple[Text | Image, ...]) -> str | list[dict[str, Any]]:
        if not (self._profile.vision and any(isinstance(block, Image) for block in content)):
            return self._text(content)
        return [
            {"type": "text", "text": block.text} if isinstance(block, Text) else _image(block)
            for block in content
        ]

    def _text(self, content: tuple[Text | Image, ...]) -> str:
        """Text only; images are named where they cannot follow in a message of their own."""
        omitted = "[image below]" if self._profile.vision else _NO_VISION
        return "".join(b.text if isinstance(b, Text) else f"\n{omitted}\n" for b in content)


def safe_id(call_id: str) -> str:
    """The id as every provider accepts it; ids of foreign transcripts are replaced by a hash."""
    if _SAFE_ID.fullmatch(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"call_{digest[:20]}"


def _tool_choice(choice: ToolChoice, honoured: frozenset[str]) -> JSON:
    """The choice as it is sent; None if the server knows nothing that comes near it."""
    if choice not in ("auto", "none", "required"):
        if "named" in honoured:
            return {"type": "function", "function": {"name": choice}}
        choice = "required"
    return choice if choice in honoured else None


def _tools(specs: Sequence[ToolSpec]) -> bytes:
    tools = [
        {
            "type": "function",
            "function": {
                "name": spec.name,
                "description": spec.description,
                "parameters": _plain(spec.parameters),
            },
        }
        for spec in specs
    ]
    return b',"tools":' + _json(_without_surrogates(tools))


def _response_format(profile: Profile, schema: Mapping[str, JSON]) -> dict[str, Any]:
    if profile.schema == "json_object":
        return {"type": "json_object", "schema": _plain(schema)}
    inner = {"name": "reply", "strict": True, "schema": _plain(schema)}
    return {"type": "json_schema", "json_schema": inner}


def _call(call: ToolCall) -> dict[str, Any]:
    """A call as history. Arguments that could not be read are shown as an empty object, so that the
    history stays valid (FB06); its result quotes the reason."""
    arguments = _json(_without_surrogates(dict(call.arguments))).decode()
    function = {"name": call.name, "arguments": arguments}
    return {"id": safe_id(call.id), "type": "function", "function": function}


def _image(image: Image) -> dict[str, Any]:
    return {
        "type": "image_url",
        "image_url": {"url": f"data:{image.media_type};base64,{image.data}"},
    }


def _encode(fields: dict[str, Any]) -> bytes:
    try:
        return _json(fields)
    except UnicodeEncodeError:
        return _json(_without_surrogates(fields))


def _plain(value: Any) -> Any:
    """Mappings of any kind as dicts, which is what the encoder takes."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast("list[Any]", value)]
    return value


def _without_surrogates(value: Any) -> Any:
    """The same value with lone surrogates replaced; UTF-8 has no form for them."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {_without_surrogates(key): _without_surrogates(each) for key, each in items}
    if isinstance(value, list | tuple):
        return [_without_surrogates(each) for each in cast("list[Any]", value)]
    return value
