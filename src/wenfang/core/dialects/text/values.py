"""Reading JSON that a model wrote into text (docs/rooms/core.md rule 4).

First it is decided whether a text may be mended at all, then how. Valid JSON is never changed; what
has two readings is refused. In addition to `wenfang.core.repair`: unknown escapes stay as written, and
`\\n` as two characters between tokens is a blank.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from ...arguments import canonical
from ...messages import JSON
from ...repair import RepairError, rejoin
from .balance import MAX_DEPTH
from .events import Reason

_MAX_MENDED = 64 * 1024  # characters
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|“[^“”]*”|\\[nrt]', re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_KNOWN = frozenset("\"\\/bfnrt'")
GUESSED = "inner_quotes"  # the one repair that is a guess, so that only calls which change nothing may use it
_STRING_END = re.compile(r'"(?=\s*(?:[,:}\]]|\Z))')
_STRING_PART = re.compile(r'(?:[^"\\]|\\.)*', re.DOTALL)
_KEPT = frozenset('"\\/')


class ReadError(ValueError):
    """What was written is no usable value. `detail` is one sentence for the model."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason: Reason = reason
        self.detail = detail


def read_json(
    text: str, missing: str = "", *, may_guess: bool = False
) -> tuple[JSON, tuple[str, ...]]:
    """The value, and the names of what was mended. `missing` are closers to add. With `may_guess`, `GUESSED`
    may be one of the repairs. Raises `ReadError`."""
    try:
        value, repairs = _read(text.strip(), missing, may_guess)
        if not text.isascii() or "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ReadError("bad_json", "They contain half of a surrogate pair.") from None
    except RepairError as error:
        raise ReadError("bad_json", f"They are not valid JSON: {error}") from None
    except RecursionError:
        raise ReadError("too_deep", f"They are nested more than {MAX_DEPTH} levels deep.") from None
    except json.JSONDecodeError as error:
        near = text[max(error.pos - 20, 0) : error.pos + 20]
        raise ReadError(
            "bad_json",
            f"They are not valid JSON at character {error.pos + 1}, near {near!r}: {error.msg}.",
        ) from None
    except ReadError:
        raise
    except ValueError:
        raise ReadError("bad_json", "A number has too many digits.") from None
    return value, repairs


def _read(text: str, missing: str, may_guess: bool) -> tuple[JSON, tuple[str, ...]]:
    repairs: tuple[str, ...] = ()
    if missing:
        if text.endswith((",", ":", "，", "：")):
            raise ReadError("truncated", "They end in the middle of the object.")
        text += missing
        repairs = ("closers",)
    try:
        return _STRICT.decode(text), repairs
    except json.JSONDecodeError as error:
        try:
            return _RAW.decode(text), (*repairs, "control_characters")
        except json.JSONDecodeError:
            if len(text) > _MAX_MENDED:
                raise error from None
    try:
        value, steps = _read_mended(text)
    except (RepairError, json.JSONDecodeError) as error:
        quoted = _with_inner_quotes(text) if may_guess and not missing else text
        if quoted == text:
            raise
        try:
            value, steps = _read(quoted, "", False)
        except (RepairError, json.JSONDecodeError):
            raise error from None
        steps = (*steps, GUESSED)
    return value, (*repairs, *steps)


def _read_mended(text: str) -> tuple[JSON, tuple[str, ...]]:
    mended, steps = _mend(text)
    joined, more = rejoin(mended)
    if "missing_comma" in more:
        raise RepairError('a comma is missing, or a quote inside a string is not written as \\".')
    return _STRICT.decode(joined), (*steps, *more)


def _with_inner_quotes(text: str) -> str:
    """`text` with an escape before each quote that ends no string: behind one that does, a key, a value
    or the whole is over. The same text if they are no quotations, each of words between two of them."""
    parts: list[str] = []
    at, is_string, is_quotation = 0, False, False
    while at < len(text):
        part = _STRING_PART.match(text, at)
        end = part.end() if part else at
        parts.append(text[at:end])
        at = end + 1
        if end == len(text) or text[end] != '"':
            parts.append(text[end:at])
        elif not is_string or (not is_quotation and _STRING_END.match(text, end)):
            parts.append('"')
            is_string = not is_string
        else:
            beside = text[end - 1] if is_quotation else text[at : at + 1]
            if beside.isspace() or beside in '"\\':
                return text
            parts.append('\\"')
            is_quotation = not is_quotation
    return text if is_string else "".join(parts)


def _mend(text: str) -> tuple[str, tuple[str, ...]]:
    steps: dict[str, None] = {}

    def mended(match: re.Match[str]) -> str:
        piece = match.group()
        if piece[0] == "\\":
            steps["literal_newline"] = None
            return " "
        if "\\" not in piece:
            return piece
        fixed = _with_known_escapes(piece)
        if fixed != piece:
            steps["escapes"] = None
        return fixed

    return _PIECE.sub(mended, text), tuple(steps)


def _with_known_escapes(piece: str) -> str:
    """If one escape of a string is none, its author wrote no escapes at all but those of quotes,
    backslashes and slashes: `C:\\Users\\new` is a path without a line break."""
    escapes = _ESCAPE.findall(piece)
    is_plain = any(len(each) == 1 and each not in _KNOWN for each in escapes)

    def fixed(match: re.Match[str]) -> str:
        what = match[1]
        if what == "'":
            return what if piece[0] != "'" else match.group()
        if what in _KEPT or not is_plain:
            return match.group()
        return "\\" + match.group()

    return _ESCAPE.sub(fixed, piece)


def as_object(
    value: JSON, repairs: tuple[str, ...] = ()
) -> tuple[dict[str, JSON], tuple[str, ...]]:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value, more = read_json(value)
        repairs = (*repairs, "double_encoded", *more)
    if not isinstance(value, dict):
        raise ReadError("args_not_object", "They are not a JSON object like {...}.")
    return value, repairs


def _members(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    members = dict(pairs)
    if len(members) < len(pairs):
        for key, value in pairs:
            if canonical(key, {"": value}) != canonical(key, {"": members[key]}):
                raise ReadError(
                    "duplicate_keys", f"The key {key[:80]!r} appears twice with different values."
                )
    return members


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ReadError("bad_json", f"The number {text[:40]} is too large.")
    return number


def _no_constant(text: str) -> None:
    raise ReadError("bad_json", f"{text} is no JSON value.")


_HOOKS: dict[str, Any] = {
    "object_pairs_hook": _members,
    "parse_float": _finite,
    "parse_constant": _no_constant,
}
_STRICT = json.JSONDecoder(**_HOOKS)
_RAW = json.JSONDecoder(strict=False, **_HOOKS)


# Values that stand between tags, and schemas.

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "string": (str,),
    "null": (type(None),),
}


def _is_of(value: JSON, kinds: frozenset[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in kinds
    return any(isinstance(value, _PYTHON_TYPES.get(kind, ())) for kind in kinds)


def types_of(schema: JSON) -> frozenset[str]:
    """The JSON types a schema names, through `anyOf`; empty if it leaves them open."""
    if not isinstance(schema, dict):
        return frozenset()
    kind = schema.get("type")
    if isinstance(kind, str):
        return frozenset((kind,))
    if isinstance(kind, list):
        return frozenset(each for each in kind if isinstance(each, str))
    options = schema.get("anyOf", schema.get("oneOf"))
    if not isinstance(options, list):
        return frozenset()
    kinds = [types_of(each) for each in options]
    return frozenset(kind for each in kinds for kind in each) if all(kinds) else frozenset()


def from_text(text: str, schema: JSON, is_text: bool | None) -> JSON:
    """The value that stands between two tags. A text where the schema allows one; else what the JSON
    says, and the text again if it says nothing of a fitting type."""
    kinds = types_of(schema)
    if is_text or (is_text is None and (not kinds or "string" in kinds)):
        return text
    word = text.strip()
    try:
        value, _ = read_json(word)
    except ReadError:
        return text
    if kinds and not _is_of(value, kinds):
        return text
    return value


def check(arguments: Mapping[str, JSON], parameters: Mapping[str, JSON]) -> ReadError | None:
    """What is plainly wrong with arguments: a required one is missing, or one is of a kind that no
    reading makes fit. What may be read generously (a number written as text) is left to `bind`."""
    required = parameters.get("required")
    names = (
        [each for each in required if isinstance(each, str)] if isinstance(required, list) else []
    )
    absent = [name for name in names if name not in arguments]
    if absent:
        return ReadError("missing_args", f"Required arguments are missing: {', '.join(absent)}.")
    properties = parameters.get("properties")
    if not isinstance(properties, dict):
        return None
    for name, value in arguments.items():
        kinds = types_of(properties.get(name))
        if kinds and not _may_fit(value, kinds) and not (value is None and name not in names):
            wanted = " or ".join(sorted(kinds))
            return ReadError("invalid_arguments", f"{name!r} has to be of type {wanted}.")
    return None


def _may_fit(value: JSON, kinds: frozenset[str]) -> bool:
    if _is_of(value, kinds) or "array" in kinds:
        return True
    if isinstance(value, float) and value.is_integer() and "integer" in kinds:
        return True
    return isinstance(value, str) and _is_written(value, kinds)


def _is_written(text: str, kinds: frozenset[str]) -> bool:
    """Whether a text writes out a value of one of `kinds`."""
    try:
        value, _ = read_json(text.strip().lower() if "boolean" in kinds else text)
    except ReadError:
        return False
    return _is_of(value, kinds)


def only_property(parameters: Mapping[str, JSON]) -> str | None:
    """The name of the one required parameter, if it is a text: it can be written without JSON."""
    required = parameters.get("required")
    properties = parameters.get("properties")
    if not (isinstance(required, list) and len(required) == 1 and isinstance(properties, dict)):
        return None
    name = cast("str", required[0])
    return name if types_of(properties.get(name)) == frozenset(("string",)) else None
