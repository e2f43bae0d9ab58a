"""Writing a tool's result into the conversation, so that nothing in it can be taken for the protocol.

Only what is a protocol word is changed, so that code stays as it is, and each change can be undone. This
limits what the parser can be made to do; it does not make a text trustworthy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from ...messages import JSON
from .labels import LABELS, Label
from .shapes import Shape
from .tags import MAX_TAG, squeezed

_WIDE = "＜"
# Beginnings in canonical form. A tag counts here even if it is not complete.
_ANYWHERE = (
    *("<|", "<think", "<toolcall", "<functioncall", "<minimax:toolcall", "<invoke", "<function="),
    *("<functionname=", "<toolresult", "<toolresponse"),
)
_TAGGED = ("<toolname", "<arguments", "<finalanswer")
_NAMES = (*_ANYWHERE, *_TAGGED)
_ANGLE = re.compile(f"{_WIDE}+<?|<")
_WIDE_RUN = re.compile(f"{_WIDE}+")
_MISTRAL = re.compile(r"［*\[?(?=TOOL_CALLS)", re.IGNORECASE)
_WIDE_MISTRAL = re.compile(r"［+(?=TOOL_CALLS)", re.IGNORECASE)
_LINE_END = re.compile(r"(\r\n|\r|\n)")
_QUOTES = re.compile(r"(?:> )*")


def render_observation(text: str, shape: Shape) -> str:
    """`text` with its protocol words made harmless: `＜` for `<` in front of them, `> ` before a line that
    a label begins. JSON stays JSON of the same value. The caller cuts a long text before, and wraps it
    after."""
    names = _NAMES if shape.tags else _ANYWHERE
    if _is_json(text):
        return _in_json(text, names)
    text = _ANGLE.sub(lambda match: _widened(match, text, names), text)
    text = _MISTRAL.sub(lambda match: _doubled(match.group(), "［", "["), text)
    return _by_line(text, _quoted) if shape.labels else text


def restore_observation(text: str, shape: Shape) -> str:
    """What `render_observation` was given; for JSON, a text of the same value."""
    if _is_json(text):
        return text
    text = _restored(text, _NAMES if shape.tags else _ANYWHERE)
    return _by_line(text, _unquoted) if shape.labels else text


def restored(arguments: Mapping[str, JSON]) -> dict[str, JSON]:
    """Arguments in which protocol words that were copied from a result are written as they were there.
    Lines are left alone: `> ` before one may be a quotation that was meant."""
    return {name: _restored_value(value) for name, value in arguments.items()}


def _restored_value(value: JSON) -> JSON:
    if isinstance(value, str):
        return _restored(value, _NAMES)
    if isinstance(value, list):
        return [_restored_value(each) for each in value]
    if isinstance(value, dict):
        return restored(value)
    return value


def _restored(text: str, names: tuple[str, ...]) -> str:
    if _WIDE in text:
        text = _WIDE_RUN.sub(lambda match: _narrowed(match, text, names), text)
    if "［" in text:
        text = _WIDE_MISTRAL.sub(lambda match: _halved(match.group(), "［", "["), text)
    return text


def _doubled(run: str, wide: str, narrow: str) -> str:
    """Wide characters that were there before are doubled, so that the one that is added can be told."""
    return wide * (2 * run.count(wide) + run.count(narrow))


def _halved(run: str, wide: str, narrow: str) -> str:
    return wide * (len(run) // 2) + narrow * (len(run) % 2)


def _widened(match: re.Match[str], text: str, names: tuple[str, ...]) -> str:
    if not _begins_name(text, match.end(), names):
        return match.group()
    return _doubled(match.group(), _WIDE, "<")


def _narrowed(match: re.Match[str], text: str, names: tuple[str, ...]) -> str:
    if not _begins_name(text, match.end(), names):
        return match.group()
    return _halved(match.group(), _WIDE, "<")


def _begins_name(text: str, at: int, names: tuple[str, ...]) -> bool:
    """Whether a protocol word stands at `text[at]`, behind an angle."""
    plain = squeezed("<" + text[at : at + MAX_TAG])
    return plain.replace("</", "<", 1).startswith(names)


def _by_line(text: str, change: Callable[[str], str]) -> str:
    parts = _LINE_END.split(text)
    parts[::2] = [change(line) for line in parts[::2]]
    return "".join(parts)


def _quoted(line: str) -> str:
    return "> " + line if _is_label(line) else line


def _unquoted(line: str) -> str:
    return line[2:] if line.startswith("> ") and _is_label(line) else line


def _is_label(line: str) -> bool:
    """Whether a label begins the line, behind any number of quotation marks."""
    quotes = _QUOTES.match(line)
    return isinstance(LABELS.look(line, quotes.end() if quotes else 0, True), Label)


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _in_json(text: str, names: tuple[str, ...]) -> str:
    """In valid JSON these characters stand in strings only, where an escape means the same."""
    text = re.sub(
        "<", lambda match: "\\u003c" if _begins_name(text, match.end(), names) else "<", text
    )
    return re.sub(r"\[(?=TOOL_CALLS)", r"\\u005b", text, flags=re.IGNORECASE)
