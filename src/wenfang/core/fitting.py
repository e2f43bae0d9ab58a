"""Arguments that do not fit a tool at once: bring them to its schema, or say exactly what is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ValidationError

from .arguments import ArgumentError, read_json
from .messages import JSON
from .nearest import nearest
from .schema import json_schema, parameters_schema

if TYPE_CHECKING:
    from .tools import Tool

_SHOWN = 400  # characters of received arguments, and of the expected schema


def fit(tool: Tool, arguments: Mapping[str, JSON]) -> BaseModel:
    """The model of `arguments` after the conversions that `bind` promises. Raises `ArgumentError`."""
    fitter = _Fitter(_schema(tool.params))
    fitted = fitter.fit(dict(arguments), fitter.root, "")
    problems = fitter.problems
    try:
        model = tool.params.model_validate(fitted)
        if not problems:
            return model
    except ValidationError as error:
        problems = _problems(tool, error) | problems
    raise ArgumentError("invalid_arguments", _report(tool, arguments, problems))


_schema = lru_cache(maxsize=256)(json_schema)


class _Fitter:
    """Walks values and schema together. `problems` holds what pydantic would let pass."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        self.problems: dict[str, str] = {}

    def fit(self, value: Any, schema: Any, path: str) -> Any:
        options = self._options(schema)
        types = {each.get("type") for each in options}
        if None in types:
            return value  # anything goes, or a rule that pydantic knows better
        if isinstance(value, bool) and types & {"integer", "number"} and "boolean" not in types:
            self.problems[path] = f"expected a number, got {json.dumps(value)}"
        elif isinstance(value, str) and "string" not in types and types & {"object", "array"}:
            value = _read_structure(value)
        if types <= {"array", "null"} and value is not None and not isinstance(value, list):
            value = [value]
        return self._inside(value, options, path)

    def _inside(self, value: Any, options: list[dict[str, Any]], path: str) -> Any:
        if isinstance(value, list):
            items = _only(options, "array").get("items", {})
            elements = cast("list[Any]", value)
            return [self.fit(each, items, f"{path}[{at}]") for at, each in enumerate(elements)]
        if isinstance(value, dict):
            return self._members(cast("dict[str, Any]", value), _only(options, "object"), path)
        return value

    def _members(self, value: dict[str, Any], schema: dict[str, Any], path: str) -> dict[str, Any]:
        properties, required = schema.get("properties", {}), schema.get("required", ())
        rest = schema.get("additionalProperties", {})
        return {
            name: self.fit(each, properties.get(name, rest), f"{path}.{name}" if path else name)
            for name, each in value.items()
            if each is not None or name in required or name not in properties
        }

    def _options(self, schema: Any) -> list[dict[str, Any]]:
        """The alternatives a schema allows, without references."""
        if not isinstance(schema, dict):
            return [{}]
        node = cast("dict[str, Any]", schema)
        if "$ref" in node:
            return self._options(self.root["$defs"][node["$ref"].rpartition("/")[-1]])
        choices = node.get("anyOf") or node.get("oneOf")
        if choices:
            return [option for each in choices for option in self._options(each)]
        return [node]


def _only(options: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    """The one option of this kind; between several, pydantic chooses."""
    matching = [each for each in options if each["type"] == kind]
    return matching[0] if len(matching) == 1 else {}


def _read_structure(text: str) -> Any:
    value = read_json(text)
    return cast("Any", value) if isinstance(value, dict | list) else text


def _problems(tool: Tool, error: ValidationError) -> dict[str, str]:
    """One message per path."""
    known = list(_schema(tool.params).get("properties", {}))
    found: dict[str, str] = {}
    for each in error.errors():
        path = _path(each["loc"])
        if each["type"] == "missing":
            message = "missing"
        elif each["type"] == "extra_forbidden":
            message = "unknown argument" + (_hint(path, known) if len(each["loc"]) == 1 else "")
        else:
            message = each["msg"][0].lower() + each["msg"][1:]
        found[path] = f"{found[path]}; or {message}" if path in found else message
    return found


def _path(loc: tuple[int | str, ...]) -> str:
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in loc)[1:]


def _hint(name: str, known: list[str]) -> str:
    near = nearest(name, known)
    if near:
        return f", did you mean {near!r}?"
    return f"; the arguments are {', '.join(known)}" if known else "; there are no arguments"


def _report(tool: Tool, arguments: Mapping[str, JSON], problems: Mapping[str, str]) -> str:
    schema = parameters_schema(tool.params)
    properties = cast("dict[str, JSON]", schema.get("properties", {}))
    tops = {path.split(".")[0].split("[")[0] for path in problems}
    expected = {name: each for name, each in properties.items() if name in tops} or properties
    return "\n".join(
        (
            f"The arguments of {tool.name} do not fit:",
            *(f"{path}: {message}" for path, message in problems.items()),
            f"Expected: {_shown(expected)}",
            f"Received: {_shown(arguments)}",
        )
    )


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"
