"""Chat completions as typed structs that name only what is used, decoded straight from bytes.

A typed decoder reads nearly everything. What it refuses is read once more leniently: halves of
surrogate pairs, invalid UTF-8 and raw control characters become text instead of an error.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from wenfang.core import ModelError


class Function(Struct, gc=False):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class CallPart(Struct, gc=False):
    index: int | None = None
    id: str | int | None = None
    function: Function | None = None


class Part(Struct, gc=False):
    """A delta of a stream or a whole message: they have the same fields."""

    content: str | list[Any] | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    thinking: Any = None
    refusal: str | None = None
    tool_calls: list[CallPart] | None = None


class CachedPart(Struct, gc=False):
    cached_tokens: int | None = None


class ReasoningPart(Struct, gc=False):
    reasoning_tokens: int | None = None


class UsagePart(Struct, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: CachedPart | None = None
    completion_tokens_details: ReasoningPart | None = None
    prompt_cache_hit_tokens: int | None = None


class Choice(Struct, gc=False):
    index: int | None = None
    delta: Part | None = None
    message: Part | None = None
    finish_reason: str | None = None
    usage: UsagePart | None = None


class Chunk(Struct, gc=False):
    choices: list[Choice] | UnsetType | None = UNSET
    usage: UsagePart | None = None
    object: str | None = None
    error: Any = None


# Not strict: "3" is taken for a number where only a number fits; texts stay what they are.
decode_chunk = msgspec.json.Decoder(Chunk, strict=False).decode


def decode_leniently(payload: bytes) -> Chunk:
    """A chunk that `decode_chunk` refused; its texts may hold halves of surrogate pairs.

    Raises `ModelError` (fatal) for what is no chunk at all.
    """
    try:
        value = json.loads(payload.decode("utf-8", "replace"), strict=False)
        return msgspec.convert(value, Chunk, strict=False)
    except (ValueError, RecursionError) as error:
        shown = payload[:80].decode("utf-8", "replace")
        raise protocol_error(f"a chunk that cannot be read ({shown!r})") from error


def protocol_error(what: str) -> ModelError:
    """The provider broke the protocol; `what` it sent."""
    return ModelError("fatal", f"The provider sent {what}.")
