"""Reading an action that a label or `<tool_name>` begins: the name, then the arguments."""

from __future__ import annotations

import re

from ...messages import JSON
from .answer import read_answer
from .events import Cut
from .labels import INPUT_LABELS, Label, is_residue, label
from .markup import skip_blanks
from .names import (
    ARGUMENT_KEYS,
    NO_TOOL,
    Item,
    Named,
    Refusal,
    calls_from,
    clean,
    is_finish,
    make_call,
    plain_text,
    with_arguments,
    written_name,
)
from .native import read_native
from .pythonic import read_pythonic
from .shapes import OPENERS
from .source import Steps, peek, skip, starts
from .tags import tag
from .turn import Turn
from .values import ReadError, read_json
from .written import read_arguments, read_written, skip_fence

_MAX_NAME = 300
_NAME = re.compile(r"[^\n({\[<]*")
_TAG_NAME = re.compile(r"[^<{]*")
_BLANK = re.compile(r"[ \t\u3000\u200b]*")
_UNTIL_LINE_END = re.compile(r"[^\n]+")
_ARGUMENT_TAGS = frozenset(("arguments", "argument_tag"))


def read_action(turn: Turn) -> Steps[None]:
    """Read what follows an action label. Without a verdict, the action was none."""
    src = turn.src
    first = yield from skip_fence(turn)
    if not first:
        _no_name(turn)
    elif first == "{":
        yield from _whole_call(turn)
    elif first == "<":
        yield from _tagged_call(turn)
    elif src.before == "\n" and (yield from label(src)) is not None:
        turn.fail("no_action", "An action label is not followed by the name of a tool.")
    elif first == "[" and (yield from starts(src, "[TOOL_CALLS]")):
        yield from read_native(turn, "mistral", is_certain=True)
    elif first == "[":
        yield from _whole_call(turn)
    else:
        yield from _named_call(turn)


def _no_name(turn: Turn) -> None:
    if turn.src.cut:
        turn.unfinished()
    else:
        turn.fail("no_action", "An action label is not followed by the name of a tool.")


def _whole_call(turn: Turn) -> Steps[None]:
    written = yield from read_written(turn)
    if isinstance(written, Refusal):
        turn.reject(written)
    elif (answer := _final_text(turn, written.value)) is not None:
        _finish(turn, answer, True)
    else:
        turn.accept(calls_from(written.value, turn.tools, written.repairs))


def _final_text(turn: Turn, value: JSON) -> str | None:
    """The answer that an action object gives: `{"action": "Final Answer", "action_input": "..."}`."""
    if not isinstance(value, dict):
        return None
    name = written_name(value)
    if name is None or not is_finish(name) or turn.tools.find(name) is not None:
        return None
    inputs = [value[key] for key in ARGUMENT_KEYS if key in value]
    return inputs[0] if len(inputs) == 1 and isinstance(inputs[0], str) else None


def _finish(turn: Turn, answer: str, is_closed: bool) -> None:
    turn.live.take_back()
    turn.live.say(answer)
    turn.answered(is_closed)
    turn.live.events.append(Cut())


def _tagged_call(turn: Turn) -> Steps[None]:
    src = turn.src
    found = yield from tag(src)
    if found is not None and found.kind == "tool_name":
        src.take(found.end)
        yield from read_tool_name(turn)
    elif found is not None and found.kind in OPENERS:
        yield from read_native(turn, found, is_certain=True)
    elif found is not None and found.kind == "final_answer":
        src.take(found.end)
        yield from read_answer(turn, "tag")
    else:
        turn.fail("no_action", "An action label is not followed by the name of a tool.")


# The name


def _until(turn: Turn, stop: re.Pattern[str]) -> Steps[str]:
    """Read what `stop` matches, at most `_MAX_NAME` characters of it are kept."""
    src = turn.src
    kept: list[str] = []
    size = 0
    while True:
        match = stop.match(src.text, src.at)
        if match and match.end() > src.at:
            piece = src.take(match.end())
            if size < _MAX_NAME:
                kept.append(piece)
            size += len(piece)
        if not src.empty or src.final:
            return "".join(kept)[:_MAX_NAME]
        yield


def read_tool_name(turn: Turn) -> Steps[None]:
    """Read behind `<tool_name>`."""
    src = turn.src
    name = yield from _until(turn, _TAG_NAME)
    if src.empty and src.cut:
        turn.unfinished()
        return
    first_line = clean(name).partition("\n")[0]
    named = turn.tools.find(first_line)
    if named is None:
        turn.reject(turn.tools.unknown(first_line))
        return
    turn.start(named.spec.name)
    found = yield from tag(src)
    if found is not None and found.kind not in _ARGUMENT_TAGS:
        src.take(found.end)
    yield from _arguments(turn, named)


def _named_call(turn: Turn) -> Steps[None]:
    src = turn.src
    name = yield from _until(turn, _NAME)
    while True:
        char = src.text[src.at] if not src.empty else ""
        named = turn.tools.find(name)
        is_known = named is not None or is_finish(name)
        if is_known or char not in ("(", "[", "{") or len(name) >= _MAX_NAME:
            break
        name += src.take(src.at + 1)
        name += yield from _until(turn, _NAME)
    if named is None and clean(name.partition("(")[0]).lower() in NO_TOOL:
        yield from skip(src, _UNTIL_LINE_END)
        return
    if named is None and is_finish(name):
        yield from _finish_call(turn, char)
    elif named is None:
        _unknown(turn, name)
    else:
        turn.start(named.spec.name)
        yield from _input(turn, named, char)


def _unknown(turn: Turn, name: str) -> None:
    if turn.src.empty and turn.src.cut:
        turn.unfinished()
    else:
        turn.reject(turn.tools.unknown(name))


def _input(turn: Turn, named: Named, char: str) -> Steps[None]:
    if char == "(" and (yield from starts(turn.src, "()")):
        turn.src.take(turn.src.at + 2)
        yield from _arguments(turn, named)
    elif char == "(":
        yield from read_pythonic(turn, named)
    elif char == "[":
        yield from _bracket_call(turn, named)
    else:
        yield from _arguments(turn, named)


# Arguments


def _arguments(turn: Turn, named: Named) -> Steps[None]:
    """Find the arguments of a tool, or that it has none."""
    src = turn.src
    char = yield from skip(src)
    if char == "<":
        found = yield from tag(src)
        if found is not None and found.kind in _ARGUMENT_TAGS:
            src.take(found.end)
            yield from _value(turn, named, is_labelled=False)
            return
    elif char in ("{", "`"):
        yield from _value(turn, named, is_labelled=False)
        return
    elif char:
        found = yield from label(src, INPUT_LABELS)
        if found is not None and found.role == "input":
            yield from _labelled(turn, named, found)
            return
    _without_arguments(turn, named)


def _labelled(turn: Turn, named: Named, found: Label) -> Steps[None]:
    src = turn.src
    src.take(found.end)
    char = yield from skip(src)
    if char == "<":
        inner = yield from tag(src)
        if inner is not None and inner.kind in _ARGUMENT_TAGS:
            src.take(inner.end)
    yield from _value(turn, named, is_labelled=True)


def _without_arguments(turn: Turn, named: Named) -> None:
    if turn.src.empty and turn.src.cut:
        turn.unfinished(named.spec.name)
    else:
        turn.accept([make_call(named, {})])


def _value(turn: Turn, named: Named, *, is_labelled: bool) -> Steps[None]:
    """Read the arguments behind their label or tag."""
    src = turn.src
    is_raw = is_labelled and turn.shape.raw_input
    if not is_raw:
        yield from skip_blanks(src)
    elif (yield from skip(src)) == "`" and (yield from starts(src, "```")):
        is_raw = False
    char = yield from skip_fence(turn)
    if not char:
        _without_arguments(turn, named)
    elif char in "{[" or (char in '"“' and not is_raw):
        turn.accept([(yield from read_arguments(turn, named))])
    elif is_labelled and src.before == "\n" and (yield from label(src)) is not None:
        _without_arguments(turn, named)
    elif is_raw:
        yield from _raw_value(turn, named)
    elif char == "<" and (yield from tag(src)) is not None:
        _without_arguments(turn, named)
    else:
        yield from _word_value(turn, named)


def _decoded(turn: Turn, named: Named, text: str) -> Item:
    try:
        value, repairs = read_json(text)
    except ReadError as error:
        return Refusal(error.reason, error.detail, named.spec.name)
    return with_arguments(named, value, turn.tools, repairs)


def _word_value(turn: Turn, named: Named) -> Steps[None]:
    """Arguments that are no JSON. `None` is a way to say that there are none."""
    word = yield from _until(turn, _TAG_NAME)
    first_line = word.strip().partition("\n")[0]
    if turn.src.empty and turn.src.cut:
        turn.unfinished(named.spec.name)
    elif clean(first_line).lower() in NO_TOOL and first_line.strip() != "null":
        turn.accept([make_call(named, {})])
    else:
        turn.accept([_decoded(turn, named, first_line)])


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


def _raw_value(turn: Turn, named: Named) -> Steps[None]:
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


def raw_item(turn: Turn, named: Named, text: str) -> Item:
    """The call for an input without JSON; one text in quotes is what is between them."""
    if text[:1] in ("{", "["):
        return _decoded(turn, named, text)
    if len(text) > 1 and text[0] == '"':
        try:
            value, _ = read_json(text)
        except ReadError:
            value = None
        if isinstance(value, str):
            if value.lstrip().startswith("{"):
                return with_arguments(named, value, turn.tools)
            text = value
    if not text.strip():
        return make_call(named, {})
    return plain_text(named, text)


# Calls in brackets: `Search[text]`, `Finish[text]`


def _bracketed(turn: Turn) -> Steps[tuple[str, bool]]:
    """Read behind a name to the closing bracket, and tell whether there is one: the last of the line if
    the brackets before it are paired, else the last before the next label."""
    src = turn.src
    src.take(src.at + 1)
    parts: list[str] = []
    depth = 1
    while (yield from peek(src)):
        if src.before == "\n" and parts and (yield from label(src)) is not None:
            break
        piece, is_line = yield from _line_piece(turn)
        parts.append(piece)
        depth += piece.count("[") - piece.count("]")
        if is_line and depth <= 0:
            break
    text = "".join(parts)
    end = text.rfind("]")
    is_closed = end >= 0 and (depth <= 0 or not text[end + 1 :].strip())
    return (text[:end], True) if is_closed else (text, False)


def _line_piece(turn: Turn) -> Steps[tuple[str, bool]]:
    """The rest of the line, read in parts if it is long; and whether it ended."""
    src = turn.src
    end = src.text.find("\n", src.at)
    if end >= 0:
        return src.take(end + 1), True
    piece = src.take(len(src.text))
    is_end = not (yield from peek(src))
    return piece, is_end


def _bracket_call(turn: Turn, named: Named) -> Steps[None]:
    text, is_closed = yield from _bracketed(turn)
    if not is_closed:
        turn.unfinished(named.spec.name)
        return
    turn.accept([raw_item(turn, named, text.strip())])


def _finish_call(turn: Turn, char: str) -> Steps[None]:
    """`Finish[answer]`, or `Finish` with the answer as its input."""
    src = turn.src
    if char == "[":
        text, is_closed = yield from _bracketed(turn)
        _finish(turn, text, is_closed)
        return
    if char == "(":
        turn.fail("no_action", "Write the answer behind the answer label.")
        return
    following = yield from skip(src)
    found = (yield from label(src, INPUT_LABELS)) if following else None
    if found is not None and found.role in ("input", "answer"):
        src.take(found.end)
        yield from read_answer(turn, "label")
    else:
        turn.fail("empty", "The answer is empty.")
