"""The arguments of a tool call: from the text a model wrote to validated values (tools.md §7, FB06, FB07).

`parse_arguments` reads the text, `bind` fits the result to a tool. Both refuse rather than guess: a
tool never runs with arguments that were cut off, salvaged or do not fit (design invariant 4).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from .messages import JSON, ToolCall
from .repair import RepairError, rejoin

if TYPE_CHECKING:
    from pydantic import BaseModel

    from .tools import Tool

_MAX_REPAIRED = 64 * 1024  # characters
_MAX_DEPTH = 100
_NOT_IN_PROSE = re.compile(r'["“{}\[\]｛｝［］]')
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class Parsed(NamedTuple):
    """`arguments` is empty if `error` is set. `repaired` names the silent repairs that were needed."""

    arguments: dict[str, JSON]
    error: str | None = None
    repaired: tuple[str, ...] = ()


class ArgumentError(Exception):
    """A call that cannot run as it is. `text` tells the model what to send instead."""

    def __init__(self, error_type: Literal["malformed", "invalid_arguments"], text: str) -> None:
        super().__init__(text)
        self.error_type: Literal["malformed", "invalid_arguments"] = error_type
        self.text = text


class _RefusedError(ValueError):
    """Readable and wrong, or more than one reading: no repair may follow."""


def parse_arguments(text: str, *, complete: bool) -> Parsed:
    """Read the arguments of one call. `complete` is False if the output limit ended the reply.

    The steps, ending at the first that succeeds: JSON (a string that holds an object counts as one);
    with raw control characters in strings; without byte order mark, fence and prose around one object;
    and, if the reply is complete and the text at most 64 Ki characters, with mended punctuation
    (`repair.rejoin`). An empty text means no arguments. A key with two values, several objects,
    anything but an object, NaN, infinite numbers and lone surrogates are errors. Never raises; `error`
    is one sentence or more for the model.
    """
    try:
        try:
            return _decode(_STRICT, text)
        except json.JSONDecodeError as error:
            return _repaired(text, complete, error)
    except (_RefusedError, RepairError) as error:
        return Parsed({}, str(error))
    except ValueError:
        return Parsed({}, "a number has too many digits.")
    except RecursionError:
        return Parsed({}, _TOO_DEEP)


def _repaired(text: str, complete: bool, error: json.JSONDecodeError) -> Parsed:
    stripped = text.strip()
    if not stripped:
        return Parsed({}) if complete else Parsed({}, _cut(text))
    inner, steps = _unwrapped(stripped)
    attempts = [(_RAW, stripped, ()), (_STRICT, inner, steps), (_RAW, inner, steps)]
    for decoder, each, done in attempts:
        found = _try(decoder, each)
        if found is not None:
            raw = ("control_characters",) if decoder is _RAW else ()
            return found._replace(repaired=(*done, *raw, *found.repaired))
    if not complete or error.pos >= len(text.rstrip()) or not inner.endswith(("}", "｝")):
        raise _RefusedError(_cut(text) if inner[:1] in '{｛["' else _not_json(text, error))
    if len(inner) > _MAX_REPAIRED:
        raise _RefusedError(_not_json(text, error))
    joined, mended = rejoin(inner)
    found = _try(_STRICT, joined)
    if found is None:
        raise _RefusedError(_not_json(text, error))
    return found._replace(repaired=(*steps, *mended, *found.repaired))


def _try(decoder: json.JSONDecoder, text: str) -> Parsed | None:
    try:
        return _decode(decoder, text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and text.lstrip().startswith("{"):
            raise _RefusedError(
                f"the object ends after {error.pos} characters, but more text follows; send exactly "
                "one JSON object."
            ) from None
        return None


def _unwrapped(text: str) -> tuple[str, tuple[str, ...]]:
    """`text` without what stands around its object, and what that was. Text with quotes or brackets is
    not taken for prose: it may be a part of the arguments."""
    start = min((at for at in (text.find("{"), text.find("｛")) if at >= 0), default=0)
    end = max(text.rfind("}"), text.rfind("｝")) + 1
    before, after = text[:start], text[end:]
    if end <= start or _NOT_IN_PROSE.search(before) or _NOT_IN_PROSE.search(after):
        return text, ()
    around = before + after
    steps = {"bom": "\ufeff" in around, "fence": "```" in around}
    steps["prose"] = bool(re.sub(r"```\w*|[\s\ufeff]", "", around))
    return text[start:end], tuple(name for name, present in steps.items() if present)


def _decode(decoder: json.JSONDecoder, text: str) -> Parsed:
    value: JSON = decoder.decode(text)
    repaired: tuple[str, ...] = ()
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            text, value, repaired = value, _RAW.decode(value), ("double_encoded",)
        except json.JSONDecodeError as error:
            raise _RefusedError(
                f"they are a string, and inside it, {_not_json(value, error)}"
            ) from None
    if not isinstance(value, dict):
        kind = next((text for kind, text in _KINDS if isinstance(value, kind)), "null")
        raise _RefusedError(f"they are {kind}, not a JSON object like {{...}}.")
    arguments = cast("dict[str, JSON]", value)
    if text.count("{") + text.count("[") > _MAX_DEPTH and _depth(arguments) > _MAX_DEPTH:
        raise _RefusedError(_TOO_DEEP)
    if not text.isascii() or _SURROGATE_ESCAPE.search(text):
        _check_encodable(arguments)
    return Parsed(arguments, None, repaired)


_KINDS = (
    (str, "a string"),
    (list, "an array"),
    (bool, "true or false"),
    ((int, float), "a number"),
)
_TOO_DEEP = f"they are nested more than {_MAX_DEPTH} levels deep."


def _depth(value: JSON) -> int:
    level: list[Any] = [value]
    depth = -1
    while level:
        depth += 1
        level = [child for each in level for child in _children(each)]
    return depth


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def _check_encodable(arguments: JSON) -> None:
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        raise _RefusedError(
            f"they contain half of a surrogate pair (\\u{code:04x}), which is no character."
        ) from None


def _members(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    members = dict(pairs)
    if len(members) < len(pairs):
        for key, value in pairs:
            if canonical(key, {"": value}) != canonical(key, {"": members[key]}):
                raise _RefusedError(f"the key {key[:80]!r} appears twice with different values.")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _RefusedError(f"the number {text[:40]} is too large.")
    return number


def _no_constant(text: str) -> None:
    raise _RefusedError(f"{text} is no JSON value.")


_HOOKS: dict[str, Any] = {
    "object_pairs_hook": _members,
    "parse_float": _finite,
    "parse_constant": _no_constant,
}
_STRICT = json.JSONDecoder(**_HOOKS)
_RAW = json.JSONDecoder(strict=False, **_HOOKS)


def read_json(text: str) -> JSON:
    """The value of a JSON text inside a value, or None if it is no JSON."""
    try:
        return _RAW.decode(text)
    except (ValueError, RecursionError):
        return None


def _cut(text: str) -> str:
    return (
        f"the text ends after {len(text)} characters before the object is closed, so it was cut off or "
        "a bracket is missing; send it again whole, and a long text in several smaller calls."
    )


def _not_json(text: str, error: json.JSONDecodeError) -> str:
    near = text[max(error.pos - 20, 0) : error.pos + 20]
    reason = error.msg[0].lower() + error.msg[1:]
    return f"not valid JSON at character {error.pos + 1}, near {near!r}: {reason}."


def bind(tool: Tool, call: ToolCall) -> BaseModel:
    """The validated arguments of `call`. Raises `ArgumentError`: "malformed" if they were not readable,
    or only after a repair and the tool does more than read; "invalid_arguments" if they do not fit.

    Fitted silently (tools.md §7.1): argument names in `tool.aliases`, JSON text where an object or array
    is wanted, null for an argument with a default, one value where an array is wanted, and numbers as
    text. Not fitted: true for a number, unknown arguments.
    """
    if call.error is not None:
        raise ArgumentError(
            "malformed", f"The arguments of {tool.name} could not be read: {call.error}"
        )
    if call.repaired and tool.access != "read":
        raise ArgumentError("malformed", _reissue(tool, call))
    arguments = call.arguments
    if tool.aliases:
        arguments = real_names(arguments, tool.aliases)
    if None not in arguments.values():
        try:  # without any conversion: nothing can be mistaken
            return tool.params.model_validate(arguments, strict=True)
        except ValueError:
            pass
    from .fitting import fit

    return fit(tool, arguments)


def real_names(arguments: Mapping[str, JSON], aliases: Mapping[str, str]) -> dict[str, JSON]:
    """`arguments` under the names of the tool's own; an alias beside its own name is left as it is."""
    out: dict[str, JSON] = {}
    for name, value in arguments.items():
        real = aliases.get(name, name)
        out[name if real in arguments else real] = value
    return out


def _reissue(tool: Tool, call: ToolCall) -> str:
    return (
        f"The arguments of {tool.name} were not valid JSON ({', '.join(call.repaired)}). Nothing was "
        "run, because this tool does more than read. Send the same call again with its arguments as "
        "one plain JSON object: double quotes, \\n for a line break in a string, no comments, nothing "
        "around it."
    )


def canonical(name: str, arguments: Mapping[str, JSON]) -> str:
    """The same text for the same call: keys sorted, 1 and 1.0 alike. For the repeat guard."""
    return f"{name} {json.dumps(_plain(arguments), sort_keys=True, ensure_ascii=False)}"


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[Any]", value)]
    return value
