"""Reading JSON that a model wrote almost right (tools.md §7.3, docs/notes/argument-repair.md).

A repair changes punctuation, never words: the text is split into strings, names, numbers and brackets,
and these are joined again as JSON. A text whose tokens do not join to one object was cut off, is
ambiguous or is something else, and is refused; nothing is closed, invented or dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

_LENIENT = json.JSONDecoder(strict=False)
_TOKEN = re.compile(
    r"""(?P<space>[\s\u3000]+)
    | (?P<comment>//[^\n]*|/\*.*?\*/|\#[^\n]*)
    | (?P<comma>[,，])
    | (?P<colon>[:：])
    | (?P<open>[{\[｛［])
    | (?P<close>[}\]｝］])
    | (?P<double>"(?:[^"\\]|\\.)*")
    | (?P<single>'(?:[^'\\]|\\.)*')
    | (?P<curly>“[^“”]*”|‘[^‘’]*’)
    | (?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w))
    | (?P<word>[^\W\d][\w-]*)
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACKETS = str.maketrans("｛｝［］", "{}[]")
_WORDS = {"true": "true", "false": "false", "null": "null"} | {
    "True": "true",
    "False": "false",
    "None": "null",
}
_STRINGS = ("double", "single", "curly")
_VALUES = (*_STRINGS, "number", "word")


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


class RepairError(ValueError):
    """The text says more than one thing, or nothing whole. The reason is for the model."""


def rejoin(text: str) -> tuple[str, tuple[str, ...]]:
    """JSON text with the same tokens as `text`, and the names of what was mended.

    The result still has to be decoded: this puts right each token and the commas between them, and
    leaves the judgement of the whole to the JSON decoder. Raises `RepairError`.
    """
    steps: dict[str, None] = {}
    out: list[str] = []
    before: _Token | None = None
    tokens = list(_tokens(text, steps))
    for token, after in zip(tokens, (*tokens[1:], None), strict=True):
        if _begins(token) and before is not None and _ends(before):
            _check_gap(before, token, after)
            steps["missing_comma"] = None
            out.append(",")
        if token.kind == "comma" and before and _ends(before) and after and after.kind == "close":
            steps["trailing_comma"] = None
        else:
            out.append(_written(token, after, steps))
        before = token
    return "".join(out), tuple(steps)


def _tokens(text: str, steps: dict[str, None]) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise RepairError(_unreadable(text, at))
        kind = match.lastgroup or ""
        if kind == "comment":
            steps["comment"] = None
        elif kind != "space":
            yield _Token(kind, match.group(), at)
        at = match.end()


def _unreadable(text: str, at: int) -> str:
    if text[at] in "\"'“‘":
        return (
            f"the string that begins at character {at + 1} of the object does not end; either the text "
            'was cut off, or a quote inside a string is not written as \\".'
        )
    return f"{text[at]!r} at character {at + 1} of the object is not JSON."


def _begins(token: _Token) -> bool:
    return token.kind in _VALUES or token.kind == "open"


def _ends(token: _Token) -> bool:
    return token.kind in _VALUES or token.kind == "close"


def _check_gap(before: _Token, token: _Token, after: _Token | None) -> None:
    """A comma may only be missing where nothing else can be meant: before the key of a member, or
    between two objects or arrays. Two values side by side are an unescaped quote more often."""
    is_key = token.kind in (*_STRINGS, "word") and after is not None and after.kind == "colon"
    spaced = token.at > before.at + len(before.text)
    if not ((is_key and spaced) or (before.kind == "close" and token.kind == "open")):
        raise RepairError(
            f"a comma is missing before character {token.at + 1} of the object, or a quote inside a "
            'string is not written as \\".'
        )


def _written(token: _Token, after: _Token | None, steps: dict[str, None]) -> str:
    """The token as JSON."""
    kind, text = token.kind, token.text
    if kind == "double":
        return _as_string(token, text, steps)
    if kind in ("single", "curly"):
        steps["quotes"] = None
        inner = text[1:-1].replace("\\'", "'") if kind == "single" else text[1:-1]
        return _as_string(token, '"' + re.sub(r'(\\.)|"', _escape_quote, inner) + '"', steps)
    if kind == "word":
        return _as_word(token, after, steps)
    if kind == "number":
        plain = re.sub(r"^(-?)\.", r"\g<1>0.", text.removeprefix("+"))
        plain = re.sub(r"\.(?=$|[eE])", ".0", plain)
    else:
        plain = {"comma": ",", "colon": ":"}.get(kind) or text.translate(_BRACKETS)
    if plain != text:
        steps["number" if kind == "number" else "punctuation"] = None
    return plain


def _escape_quote(match: re.Match[str]) -> str:
    return match.group(1) or '\\"'


def _as_string(token: _Token, text: str, steps: dict[str, None]) -> str:
    try:
        value = _LENIENT.decode(text)
    except ValueError:
        raise RepairError(
            f"the string that begins at character {token.at + 1} of the object has a backslash that is "
            "no JSON escape; write \\\\ for each backslash."
        ) from None
    if any(char < " " for char in text):
        steps["control_characters"] = None
    return json.dumps(value)


def _as_word(token: _Token, after: _Token | None, steps: dict[str, None]) -> str:
    if after is not None and after.kind == "colon":
        steps["quotes"] = None
        return json.dumps(token.text)
    try:
        literal = _WORDS[token.text]
    except KeyError:
        raise RepairError(
            f"{token.text[:40]!r} at character {token.at + 1} of the object is no JSON value; write it in "
            "double quotes if it is a text."
        ) from None
    if literal != token.text:
        steps["literal"] = None
    return literal
