"""What a family of models can do and how it wants to be asked: rows of data, no branches.

`profile_for` finds the row by the model's name and the address; a client takes any `Profile`, so an
application can pass its own. A value that a family does not need is the default of the field.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from wenfang.core import DialectName

# What a finish reason means: a way to end, or a failure.
Meaning: TypeAlias = Literal["stop", "length", "refused", "overload"]
SchemaField: TypeAlias = Literal["json_schema", "json_object"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`context_window` and `max_output` are tokens, None if unknown. `max_tokens_field` is the name of
    the output limit in the body. `temperature` is sent when a request names none; `fixed_temperature`
    models take none at all. `tool_choices` are the values besides "auto" that are honoured ("named": the
    name of a tool, for which "required" has to do otherwise); without "none" the tools are left out
    instead. `echo_reasoning` sends the reasoning of assistant messages
    with calls back (FBx1). `stream_usage` asks for usage in a stream. `schema` says how a response
    schema is passed. `think_tags` marks models whose servers may leave the reasoning in the text between
    `<think>` tags. `dialect` "lenient" marks families whose calls are known to leak into the text
    (dialects 5.13). `finish` adds meanings of finish reasons to the common ones."""

    family: str = "unknown"
    context_window: int | None = None
    max_output: int | None = None
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: float | None = None
    fixed_temperature: bool = False
    tool_choices: frozenset[str] = frozenset({"none", "required"})
    system_role: Literal["system", "developer"] = "system"
    echo_reasoning: bool = False
    think_tags: bool = False
    stream_usage: bool = True
    vision: bool = False
    dialect: DialectName = "native"
    schema: SchemaField = "json_schema"
    finish: Mapping[str, Meaning] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """`model` and `address` are patterns that must be found in the name and the base URL."""

    model: str = ""
    address: str = ""
    profile: Profile


_EVERY = frozenset({"none", "required", "named"})
_LIMITED = frozenset[str]()
_NO_REQUIRED = frozenset({"none"})

# First the models, the most specific name first; then servers, which change single fields.
_MODELS: tuple[_Row, ...] = (
    _Row(model=r"^(o[1-9]|gpt-[5-9])", profile=Profile(
        family="gpt-reasoning", context_window=400_000, max_output=128_000, vision=True,
        max_tokens_field="max_completion_tokens", fixed_temperature=True, system_role="developer",
        tool_choices=_EVERY)),
    _Row(model=r"^(gpt-4\.1)", profile=Profile(
        family="gpt", context_window=1_047_576, max_output=32_768, vision=True, tool_choices=_EVERY)),
    _Row(model=r"^(gpt-4o|chatgpt)", profile=Profile(
        family="gpt", context_window=128_000, max_output=16_384, vision=True, tool_choices=_EVERY)),
    _Row(model=r"gpt-oss", profile=Profile(
        family="gpt-oss", context_window=131_072, max_output=32_768, echo_reasoning=True,
        dialect="lenient")),
    _Row(model=r"deepseek.*(reasoner|r1)", profile=Profile(
        family="deepseek-reasoning", context_window=128_000, max_output=64_000, think_tags=True,
        fixed_temperature=True, tool_choices=_LIMITED, dialect="lenient")),
    _Row(model=r"deepseek", profile=Profile(
        family="deepseek", context_window=128_000, max_output=8_192, echo_reasoning=True,
        schema="json_object", dialect="lenient")),
    _Row(model=r"qwen2\.5-coder-(0\.5|1\.5|3)b", profile=Profile(
        family="qwen-small", context_window=32_768, max_output=4_096, temperature=0.0,
        dialect="schema")),
    _Row(model=r"qwen.*(vl|omni)", profile=Profile(
        family="qwen-vision", context_window=128_000, max_output=8_192, vision=True,
        tool_choices=_NO_REQUIRED, dialect="lenient")),
    _Row(model=r"(qwen|qwq)", profile=Profile(
        family="qwen", context_window=128_000, max_output=8_192, think_tags=True,
        tool_choices=_NO_REQUIRED, dialect="lenient")),
    _Row(model=r"(kimi|moonshot)", profile=Profile(
        family="kimi", context_window=256_000, max_output=32_768, echo_reasoning=True,
        tool_choices=_NO_REQUIRED, dialect="lenient")),
    _Row(model=r"glm-[4-9](\.\d+)?v", profile=Profile(
        family="glm-vision", context_window=64_000, max_output=16_384, vision=True,
        tool_choices=_LIMITED, dialect="lenient")),
    _Row(model=r"glm", profile=Profile(
        family="glm", context_window=128_000, max_output=32_768, tool_choices=_LIMITED,
        schema="json_object", dialect="lenient")),
    _Row(model=r"minimax", profile=Profile(
        family="minimax", context_window=200_000, max_output=32_768, think_tags=True,
        dialect="lenient")),
    _Row(model=r"(doubao|seed-)", profile=Profile(
        family="doubao", context_window=256_000, max_output=16_384, vision=True)),
    _Row(model=r"gemini", profile=Profile(
        family="gemini", context_window=1_048_576, max_output=65_536, vision=True)),
    _Row(model=r"claude", profile=Profile(
        family="claude", context_window=200_000, max_output=32_000, vision=True)),
    _Row(model=r"grok", profile=Profile(
        family="grok", context_window=256_000, max_output=32_768, vision=True)),
    _Row(model=r"(pixtral|mistral|ministral|magistral|devstral)", profile=Profile(
        family="mistral", context_window=128_000, max_output=16_384, dialect="lenient")),
    _Row(model=r"llama", profile=Profile(
        family="llama", context_window=128_000, max_output=8_192, tool_choices=_NO_REQUIRED,
        dialect="lenient")),
    _Row(model=r"gemma", profile=Profile(
        family="gemma", context_window=128_000, max_output=8_192, dialect="schema")),
)  # fmt: skip

_SERVERS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    (r"api\.mistral\.ai", {"stream_usage": False}),
    (r"dashscope", {"schema": "json_object"}),
    (r"openrouter\.ai", {"system_role": "system"}),
    (r":11434(/|$)", {"tool_choices": frozenset[str](), "max_output": None}),  # Ollama
)


def profile_for(model: str, base_url: str = "") -> Profile:
    """The profile of a model at an address; the defaults for one that no row knows.

    The name is compared without the publisher in front ("Qwen/Qwen3-32B") and without case.
    """
    name = model.lower().rsplit("/", 1)[-1]
    found = next((row.profile for row in _MODELS if re.search(row.model, name)), Profile())
    for address, changes in _SERVERS:
        if re.search(address, base_url.lower()):
            found = replace(found, **changes)
    return found
