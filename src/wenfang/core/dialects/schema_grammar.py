"""The JSON schema of one step: which tools may be called with what, or the final answer.

Every string is bounded, because a small model that may write for ever does. Keywords that constrained
decoders do not know are left out: arguments are validated by the tool's own model anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ..messages import JSON
from ..models import ToolChoice, ToolSpec, needed_tools

FINAL = "final"
THOUGHT_CHARS = 160
ANSWER_CHARS = 2000
ARGUMENT_CHARS = 4000  # of strings that the tool itself does not bound
ARGUMENT_ITEMS = 50
_MAX_INTEGER = 10**12
_DEPTH = 12  # of nested references; a schema that refers to itself ends there
_LONGEST = re.compile(r"\{\d+,(\d+)\}\$$")  # how long a text of a pattern may be

_KEPT = frozenset(
    [
        "type",
        "enum",
        "const",
        "required",
        "additionalProperties",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
    ]
)


def step_schema(tools: tuple[ToolSpec, ...], choice: ToolChoice) -> dict[str, JSON]:
    """What the next reply may be: a call of one of `tools` unless `choice` is "none", and an answer
    unless a call is needed."""
    needed = needed_tools(tools, choice)
    offered = needed or (() if choice == "none" else tools)
    options: list[JSON] = [_step(spec.name, "input", input_schema(spec)) for spec in offered]
    if not needed:
        options.append(_step(FINAL, "answer", {"type": "string", "maxLength": ANSWER_CHARS}))
    return {"anyOf": options} if len(options) > 1 else cast("dict[str, JSON]", options[0])


def _step(action: str, key: str, value: dict[str, JSON]) -> JSON:
    return {
        "type": "object",
        "properties": {
            "thought": {"type": "string", "maxLength": THOUGHT_CHARS},
            "action": {"const": action},
            key: value,
        },
        "required": ["thought", "action", key],
        "additionalProperties": False,
    }


def input_schema(spec: ToolSpec) -> dict[str, JSON]:
    """The arguments of a call: the tool's own schema, with bounds and patterns on its texts."""
    root = cast("dict[str, Any]", spec.parameters)
    schema = _narrow(root, root.get("$defs", {}), 0)
    schema.setdefault("properties", {})
    schema.setdefault("additionalProperties", False)
    properties = schema["properties"]
    for name, pattern in spec.patterns.items():
        for each in _strings(properties[name]):
            each["pattern"] = pattern
    return schema


def cut_in(value: JSON, schema: Mapping[str, Any] | None) -> str | None:
    """Why a value of `schema` cannot be whole, or None: what is as long as the schema lets it be was
    cut there. Without a schema the usual bounds hold."""
    schema = schema if isinstance(schema, Mapping) else _UNKNOWN
    options: Sequence[Mapping[str, Any]] = schema.get("anyOf") or (schema,)
    if isinstance(value, str):
        if any(value == each.get("const") or value in each.get("enum", ()) for each in options):
            return None
        is_cut = len(value) in [_longest(each) for each in options]
        return f"a text was cut at {len(value)} characters; {_LESS}" if is_cut else None
    for each in options:
        if isinstance(value, list):
            if len(value) == each.get("maxItems"):
                return f"a list was cut at {len(value)} items; {_LESS}"
            inner = [(item, each.get("items")) for item in value]
        elif isinstance(value, dict):
            known, other = each.get("properties", {}), each.get("additionalProperties")
            inner = [(item, known.get(name, other)) for name, item in value.items()]
        else:
            return None
        found = next(filter(None, (cut_in(item, its) for item, its in inner)), None)
        if found:
            return found
    return None


_LESS = "send less at a time."
_UNKNOWN: Mapping[str, Any] = {"maxLength": ARGUMENT_CHARS, "maxItems": ARGUMENT_ITEMS}


def _longest(schema: Mapping[str, Any]) -> int | None:
    """How many characters a text of this schema may have, at most."""
    end = _LONGEST.search(schema.get("pattern", ""))
    return int(end.group(1)) if end else schema.get("maxLength")


def _strings(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The string schemas of one argument: itself, its items, its alternatives."""
    if schema.get("type") == "string":
        yield schema
    for each in (schema.get("items"), *schema.get("anyOf", ())):
        if isinstance(each, dict):
            yield from _strings(cast("dict[str, Any]", each))


def _narrow(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int
) -> dict[str, Any]:
    """`schema` without references, with bounds on everything that can grow."""
    if "$ref" in schema:
        if depth >= _DEPTH:
            return {"type": "null"}
        target = definitions[schema["$ref"].rpartition("/")[-1]]
        return _narrow(target, definitions, depth + 1)
    out: dict[str, Any] = {key: value for key, value in schema.items() if key in _KEPT}
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        out["anyOf"] = [_narrow(each, definitions, depth + 1) for each in choices]
    if "properties" in schema:
        properties: dict[str, Any] = schema["properties"]
        out["properties"] = {
            name: _narrow(each, definitions, depth + 1) for name, each in properties.items()
        }
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            out[key] = _narrow(schema[key], definitions, depth + 1)
    return _bounded(out)


def _bounded(out: dict[str, Any]) -> dict[str, Any]:
    kind = out.get("type")
    if kind == "string" and not {"enum", "const"} & out.keys():
        out.setdefault("maxLength", ARGUMENT_CHARS)
    elif kind == "array":
        out.setdefault("maxItems", ARGUMENT_ITEMS)
    elif kind == "integer":
        if "exclusiveMinimum" not in out:
            out.setdefault("minimum", -_MAX_INTEGER)
        if "exclusiveMaximum" not in out:
            out.setdefault("maximum", _MAX_INTEGER)
    return out
