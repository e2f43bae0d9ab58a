"""Tools as lines of text, for models that are told about them in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from ..messages import JSON
from ..models import ToolSpec


def list_tools(tools: Sequence[ToolSpec]) -> str:
    """Each tool as a signature with its summary, and what its required arguments mean unless it was
    said before. A question mark follows the name of an argument that may be left out."""
    return "".join(_lines(tools))


def _lines(tools: Sequence[ToolSpec]) -> Iterator[str]:
    said: set[str] = set()
    for spec in tools:
        properties = cast("Mapping[str, Mapping[str, JSON]]", spec.parameters.get("properties", {}))
        required = cast("Sequence[str]", spec.parameters.get("required", ()))
        arguments = ", ".join(
            name + ("" if name in required else "?") + _type(schema)
            for name, schema in properties.items()
        )
        summary = " ".join(spec.description.split("\n\n")[0].split())
        yield f"- {spec.name}({arguments}): {summary}\n"
        for name in required:
            note = " ".join(str(properties[name].get("description", "")).split())
            if note and note not in said:
                said.add(note)
                yield f"    {name}: {note}\n"


def _type(schema: Mapping[str, JSON]) -> str:
    """Nothing for a string, the JSON type for others, the values of an enumeration."""
    if "enum" in schema:
        values = cast("list[JSON]", schema["enum"])
        return ": " + "|".join(json.dumps(each, ensure_ascii=False) for each in values)
    kind = schema.get("type")
    return f": {kind}" if isinstance(kind, str) and kind != "string" else ""
