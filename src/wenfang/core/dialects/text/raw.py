"""Arguments without JSON: the input of a tool with one text argument, as it is or in a fence."""

from __future__ import annotations

import re

from .labels import is_residue, label
from .names import (
    NO_TOOL,
    Item,
    Named,
    Refusal,
    clean,
    make_call,
    plain_text,
    properties_of,
    with_arguments,
)
from .pythonic import arguments_in
from .source import Steps, line, peek
from .turn import Turn
from .values import ReadError, read_json

_OPENING = re.compile(r"\s*(`{3,})[ \t]*[\w+#.\-]*[ \t]*\n")
_CLOSING = re.compile(r"[ \t]*(`{3,})[ \t]*")
_KEYWORD = re.compile(r"(\w+)\s*=\s*[\"'“]")
_CODE = re.compile(r"`([^`\n]+)`")
_MAX_CLOSING = 60  # characters of a line that may close a fence


def decoded(turn: Turn, named: Named, text: str) -> Item:
    try:
        value, repairs = read_json(text)
    except ReadError as error:
        return Refusal(error.reason, error.detail, named.spec.name)
    return with_arguments(named, value, turn.tools, repairs)


def read_lines(turn: Turn) -> Steps[str]:
    """Read to the next label at the start of a line, or to the end, without what a stop word left."""
    src = turn.src
    parts: list[str] = []
    while (yield from peek(src)):
        if src.before == "\n" and parts:
            if (yield from label(src)) is not None:
                break
            rest = src.text[src.at :]
            if src.final and "\n" not in rest and is_residue(rest):
                src.take(len(src.text))
                break
        end = src.text.find("\n", src.at)
        parts.append(src.take(end + 1 if end >= 0 else len(src.text)))
    return "".join(parts)


def read_raw(turn: Turn, named: Named) -> Steps[None]:
    """Read an input to the next label; one text in quotes is what is between them."""
    text = (yield from read_lines(turn)).strip()
    if turn.src.empty and turn.src.cut:
        turn.unfinished(named.spec.name)
    elif clean(text).lower() in NO_TOOL:
        turn.accept([make_call(named, {})])
    else:
        turn.accept([raw_item(turn, named, _without_fence(turn, text))])


def _without_fence(turn: Turn, text: str) -> str:
    """Raw input does not include the end of the fence that it stands in."""
    return text[:-3].rstrip() if turn.wrapper and text.endswith("\n```") else text


def read_fenced(turn: Turn, named: Named, opening: str) -> Steps[None]:
    """Read an input in a fence, of which `opening` was read. Nothing in it ends itself, so a fence closes it
    only if the turn goes on behind it, or is over."""
    match = _OPENING.match(opening)
    is_closed = match is None and not turn.src.cut
    parts = [opening[match.end() :]] if match else []
    while match and (yield from peek(turn.src)):
        pending = yield from _closing(turn, len(match[1]), parts)
        if pending is None:
            continue
        is_closed = not turn.src.cut
        if (yield from _is_over(turn, pending)):
            text = "".join(parts).removesuffix("\n")
            turn.accept([raw_item(turn, named, text)])
            return
        parts += pending
    if is_closed:
        detail = (
            "The input has to stand alone on the lines between its fences, or be a JSON object."
        )
        turn.fail("bad_json", detail, named.spec.name)
    else:
        turn.unfinished(named.spec.name)


def _closing(turn: Turn, size: int, parts: list[str]) -> Steps[list[str] | None]:
    """Read a line into `parts`; or, if it may close the fence, return it."""
    src = turn.src
    rest = (yield from line(src, _MAX_CLOSING)) if src.before == "\n" else None
    match = _CLOSING.fullmatch(rest) if rest is not None else None
    if match is not None and len(match[1]) >= size:
        return [src.take(src.at + len(match.group()))]
    end = src.text.find("\n", src.at)
    parts.append(src.take(end + 1 if end >= 0 else len(src.text)))
    return None


def _is_over(turn: Turn, pending: list[str]) -> Steps[bool]:
    """Whether a label follows, or nothing. What is read until that is known goes into `pending`."""
    src = turn.src
    while (yield from peek(src)):
        if src.before == "\n" and (yield from label(src)) is not None:
            return True
        rest = yield from line(src, _MAX_CLOSING)
        if rest is None:
            return False
        end = src.at + len(rest)
        is_last = src.final and end == len(src.text)
        if is_last and (is_residue(rest) or rest.strip() == turn.wrapper != ""):
            return True
        if rest.strip():
            return False
        pending.append(src.take(end if is_last else end + 1))
    return not src.cut


def raw_item(turn: Turn, named: Named, text: str) -> Item:
    """The call for an input without JSON; one text in quotes or as inline code is what is between them, and
    arguments may be named as in a program."""
    if text[:1] in ("{", "[", "｛"):
        return decoded(turn, named, text)
    if len(text) > 1 and text[0] == '"':
        try:
            value, _ = read_json(text)
        except ReadError:
            value = None
        if isinstance(value, str):
            if value.lstrip().startswith("{"):
                return with_arguments(named, value, turn.tools)
            text = value
    elif (keyword := _KEYWORD.match(text)) and keyword[1] in properties_of(named.spec):
        item = arguments_in(turn, named, text)
        if not isinstance(item, Refusal):
            return item
    elif code := _CODE.fullmatch(text):
        text = code[1]
    if not text.strip():
        return make_call(named, {})
    return plain_text(named, text)
