"""Reading an action that a label or `<tool_name>` begins: the name, then the arguments."""

from __future__ import annotations

import re

from .answer import read_answer
from .brackets import read_answer_in_brackets, read_call_in_brackets
from .events import Cut, Reason
from .labels import INPUT_LABELS, Label, label
from .markup import skip_blanks
from .names import (
    ARGUMENT_KEYS,
    NO_TOOL,
    Named,
    Refusal,
    calls_from,
    clean,
    is_finish,
    make_call,
    written_name,
)
from .native import read_native
from .pythonic import read_call
from .raw import decoded, read_fenced, read_raw
from .shapes import OPENERS
from .source import Steps, line, skip, starts
from .tags import tag
from .turn import Turn
from .values import GUESSED
from .written import Written, read_arguments, read_written, skip_fence

_MAX_NAME = 300
_NAME = re.compile(r"[^\n({\[<｛]*")
_TAG_NAME = re.compile(r"[^<{]*")
_BLANK = re.compile(r"[ \t\u3000\u200b]*")
_UNTIL_LINE_END = re.compile(r"[^\n]+")
_OBJECT = frozenset(("{", "｛"))  # also with the brackets of a Chinese keyboard
_VALUE = _OBJECT | {"["}
_UNREAD: frozenset[Reason] = frozenset({"bad_json", "args_not_object"})
_ARGUMENT_TAGS = frozenset(("arguments", "argument_tag"))


def read_action(turn: Turn) -> Steps[None]:
    """Read what follows an action label. Without a verdict, the action was none."""
    src = turn.src
    src.record()
    first = yield from skip_fence(turn)
    is_fenced = "```" in src.recorded()
    if not first:
        _no_name(turn)
    elif first in _OBJECT:
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
        yield from _named_call(turn, is_fenced=is_fenced)


def _no_name(turn: Turn) -> None:
    if turn.src.cut:
        turn.unfinished()
    else:
        turn.fail("no_action", "An action label is not followed by the name of a tool.")


def _whole_call(turn: Turn) -> Steps[None]:
    written = yield from read_written(turn)
    if isinstance(written, Refusal):
        turn.reject(written)
    elif (answer := _final_text(turn, written)) is not None:
        _finish(turn, answer, True)
    else:
        turn.accept(calls_from(written.value, turn.tools, written.repairs))


def _final_text(turn: Turn, written: Written) -> str | None:
    """The answer that an action object gives: `{"action": "Final Answer", "action_input": "..."}`."""
    value = written.value
    if not isinstance(value, dict) or GUESSED in written.repairs:
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


def _named_call(turn: Turn, *, is_fenced: bool) -> Steps[None]:
    src = turn.src
    name = yield from _until(turn, _NAME)
    char = src.text[src.at] if not src.empty else ""
    named = turn.tools.find(name)
    if named is None and clean(name).lower() in NO_TOOL:
        yield from skip(src, _UNTIL_LINE_END)
        return
    if named is None and is_finish(name):
        yield from _finish_call(turn, char)
    elif named is None:
        _unknown(turn, name)
    else:
        turn.start(named.spec.name)
        if is_fenced:
            yield from _end_of_fence(turn)
        yield from _input(turn, named, char)


def _end_of_fence(turn: Turn) -> Steps[None]:
    """Read the line that closes the fence around a name, if it comes next."""
    src = turn.src
    if (yield from skip(src)) == "`" and (yield from starts(src, "```")):
        rest = yield from line(src, _MAX_NAME)
        if rest is not None and not rest.strip("` \t"):
            src.take(src.at + len(rest))


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
        yield from _in_brackets(turn, named)
    elif char == "[":
        yield from read_call_in_brackets(turn, named)
    else:
        yield from _arguments(turn, named)


# Arguments


def _in_brackets(turn: Turn, named: Named) -> Steps[None]:
    """`name(...)`. What cannot be read between the brackets may only repeat what stands in the right
    place below; where the two might differ, a tool that changes something is not called."""
    item = yield from read_call(turn, named)
    is_unread = isinstance(item, Refusal) and item.reason in _UNREAD
    if not is_unread or not (yield from _is_input_next(turn)):
        turn.accept([item])
    elif named.spec.read_only:
        yield from _arguments(turn, named)
    else:
        detail = "Arguments stand behind the name and again below it: write them once, below it."
        turn.fail("bad_json", detail, named.spec.name)


def _is_input_next(turn: Turn) -> Steps[bool]:
    """Whether what comes next is the place of arguments: their tag, label, fence or object."""
    char = yield from skip(turn.src)
    if char == "<":
        found = yield from tag(turn.src)
        return found is not None and found.kind in _ARGUMENT_TAGS
    if not char or char in _OBJECT or char == "`":
        return bool(char)
    found_label = yield from label(turn.src, INPUT_LABELS)
    return found_label is not None and found_label.role == "input"


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
    elif char in _OBJECT or char == "`":
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
    is_fenced = False
    if not is_raw:
        yield from skip_blanks(src)
    elif (yield from skip(src)) == "`":
        is_fenced = yield from starts(src, "```")
    src.record()
    char = yield from skip_fence(turn)
    opening = src.recorded()
    if is_fenced and char not in _VALUE:
        yield from read_fenced(turn, named, opening)
    elif not char:
        _without_arguments(turn, named)
    elif char in _VALUE or (char in '"“' and not is_raw):
        turn.accept([(yield from read_arguments(turn, named))])
    elif is_labelled and src.before == "\n" and (yield from label(src)) is not None:
        _without_arguments(turn, named)
    elif is_raw:
        yield from read_raw(turn, named)
    elif char == "<" and (yield from tag(src)) is not None:
        _without_arguments(turn, named)
    else:
        yield from _word_value(turn, named)


def _word_value(turn: Turn, named: Named) -> Steps[None]:
    """Arguments that are no JSON. `None` is a way to say that there are none."""
    word = yield from _until(turn, _TAG_NAME)
    first_line = word.strip().partition("\n")[0]
    if turn.src.empty and turn.src.cut:
        turn.unfinished(named.spec.name)
    elif clean(first_line).lower() in NO_TOOL and first_line.strip() != "null":
        turn.accept([make_call(named, {})])
    else:
        turn.accept([decoded(turn, named, first_line)])


def _finish_call(turn: Turn, char: str) -> Steps[None]:
    """`Finish[answer]`, or `Finish` with the answer as its input."""
    src = turn.src
    if char == "[":
        yield from read_answer_in_brackets(turn)
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
