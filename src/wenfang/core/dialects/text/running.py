"""Running text: everything outside an action and an answer. The first construct that may stand where it
stands decides; code, quoted lines and thoughts between tags are never looked into."""

from __future__ import annotations

import re

from .action import read_action, read_tool_name
from .answer import BEFORE_EXAMPLE, after_end, read_answer
from .bare import may_be_call, read_bare_call
from .harmony import begins_bare, read_bare, read_channel
from .labels import Label, is_residue, label
from .native import read_native
from .shapes import OPENERS
from .source import INVISIBLE, Steps, line, peek, starts
from .tags import MAYBE_TAG, Tag, tag
from .thinking import read_think
from .turn import Turn

_TEXT_MARKS = re.compile(rf"[\n`]|\[(?=T|\Z)|{MAYBE_TAG}", re.IGNORECASE)
_LINE_ENDS = re.compile(r"\n+")
_LINE_END = re.compile(r"\n")
_IN_CODE = re.compile(r"[\n`]")
_MAX_INDENT = 64
_INDENT = re.compile(rf"[ \t\u3000{INVISIBLE}]{{0,{_MAX_INDENT}}}")
_TICKS = re.compile(r"`+")
_OPENING = re.compile(r"(`{3,}|~{3,})[ \t]*[^`\n]*")
_CLOSING = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*")
_TEXT_LANGUAGES = frozenset(("", "text", "txt", "plaintext", "plain", "markdown", "md"))
_MAX_FENCE_LINE = 120


def read_running(turn: Turn) -> Steps[None]:
    """Read until there is a verdict, or to the end of the output."""
    src = turn.src
    while turn.verdict is None and not turn.is_over:
        if src.empty:
            if src.final:
                return
            is_marked = turn.at_line_start or turn.code or turn.is_quoted or turn.fence
            turn.plain = None if is_marked else turn.emit
            yield
            turn.plain = None
        elif not turn.at_line_start:
            yield from _inline(turn)
        elif turn.fence is not None:
            yield from _in_fence(turn)
        else:
            yield from _line_start(turn)


# At the start of a line


def _line_start(turn: Turn) -> Steps[None]:
    src = turn.src
    turn.code, turn.is_quoted = 0, False
    blank = _LINE_ENDS.match(src.text, src.at)
    if blank:
        turn.emit(src.take(blank.end()))
        return
    if turn.shape.labels and (yield from _label(turn)):
        return
    while True:
        match = _INDENT.match(src.text, src.at)
        end = match.end() if match else src.at
        if end < len(src.text) or src.final or end - src.at == _MAX_INDENT:
            break
        yield
    char = src.text[end : end + 1]
    if end - src.at == _MAX_INDENT or not char:
        turn.at_line_start = False
        turn.emit(src.take(end))
    elif char == "\n":
        turn.emit(src.take(end + 1))
    else:
        indent = end - src.at
        if char not in "`~" or not (yield from _fence(turn, indent)):
            yield from _begin_line(turn, indent, char)


def _begin_line(turn: Turn, indent: int, char: str) -> Steps[None]:
    src = turn.src
    if indent:
        turn.emit(src.take(src.at + indent))
    if char in "{[" and may_be_call(turn, char) and (yield from read_bare_call(turn)):
        return
    if turn.at_head and turn.shape.bare_channels and (yield from begins_bare(turn)):
        yield from read_bare(turn)
        return
    turn.is_quoted = char == ">"
    yield from _inline(turn)


def _label(turn: Turn) -> Steps[bool]:
    """Read a label and what it begins; whether there was one."""
    src = turn.src
    found = yield from label(src)
    if found is None:
        rest = src.text[src.at :] if src.final else ""
        if rest and "\n" not in rest and is_residue(rest):
            src.take(len(src.text))
            return True
        return False
    if turn.mode == "open" and found.role != "action" and not _opens_turn(turn, found):
        return False
    if found.role == "question":
        return False
    src.take(found.end)
    turn.at_line_start = False
    if found.role == "action":
        yield from _action(turn)
    elif found.role == "answer":
        turn.at_head = False
        yield from read_answer(turn, "label")
    else:
        turn.at_head = False
        turn.mode = "thought" if found.role == "thought" else "dropped"  # made up, or for no tool
    return True


def _opens_turn(turn: Turn, found: Label) -> bool:
    """In a dialect where plain text is the answer, only its first line can tell that it is not."""
    return not turn.has_prose and found.role in ("thought", "answer")


def _action(turn: Turn) -> Steps[None]:
    had_head = turn.at_head
    turn.at_head = False
    yield from read_action(turn)
    if turn.verdict is None:
        turn.at_head = had_head and turn.at_head


def _fence(turn: Turn, indent: int) -> Steps[bool]:
    """Read a line that opens a fence; whether there was one. One around the whole turn counts as none."""
    src = turn.src
    rest = yield from line(src, _MAX_FENCE_LINE + indent)
    match = _OPENING.fullmatch(rest, indent) if rest is not None else None
    if match is None or rest is None:
        return False
    run = match[1]
    if turn.wrapper and run.startswith(turn.wrapper) and rest.strip() == run:
        src.take(src.at + len(rest))
        return True
    shown = src.take(src.at + len(rest))
    if (yield from peek(src)):
        shown += src.take(src.at + 1)
    if turn.at_head:
        if (yield from _wraps_turn(turn, rest.strip()[len(run) :].strip())):
            turn.wrapper = run
            return True
        turn.wrapper, turn.prefix = run, shown
        if (yield from peek(src)) in ("{", "[") and (yield from read_bare_call(turn)):
            return True
        turn.wrapper = turn.prefix = ""
    turn.emit(shown)
    turn.fence = (run[0], len(run))
    return True


def _wraps_turn(turn: Turn, language: str) -> Steps[bool]:
    """Whether what follows a fence at the head shows that it stands around the whole turn. Where text
    may be the answer, a label in a program does not."""
    src = turn.src
    is_text = not turn.shape.is_open or language.lower() in _TEXT_LANGUAGES
    if turn.shape.labels and is_text:
        found = yield from label(src)
        if found is not None and found.role not in ("input", "question"):
            return True
    if (yield from peek(src)) != "<":
        return False
    found_tag = yield from tag(src)
    return found_tag is not None and _is_construct(turn, found_tag)


def _is_construct(turn: Turn, found: Tag) -> bool:
    own = turn.shape.tags and found.kind in ("tool_name", "final_answer")
    return own or found.kind in OPENERS or found.kind in ("think", "start", "channel")


def _in_fence(turn: Turn) -> Steps[None]:
    """Read a line inside a fence, or the one that closes it."""
    src = turn.src
    mark, size = turn.fence or ("", 0)
    blank = _LINE_ENDS.match(src.text, src.at)
    if blank:
        turn.emit(src.take(blank.end()))
        return
    turn.at_line_start = False
    if src.text[src.at] not in f" \t{mark}":
        return
    rest = yield from line(src, _MAX_FENCE_LINE)
    match = _CLOSING.fullmatch(rest) if rest is not None else None
    if match and match[1][0] == mark and len(match[1]) >= size:
        turn.fence = None
        turn.emit(src.take(src.at + len(match.group())))


# Inside a line


def _inline(turn: Turn) -> Steps[None]:
    src = turn.src
    turn.at_line_start = False
    marks = _TEXT_MARKS
    if turn.fence or turn.is_quoted:
        marks = _LINE_END
    elif turn.code:
        marks = _IN_CODE
    match = marks.search(src.text, src.at)
    char = match.group() if match else ""
    end = match.start() if match else len(src.text)
    if char == "\n":
        end += 1
        turn.at_line_start = True
    if end > src.at:
        turn.emit(src.take(end))
    if char in ("", "\n"):
        return
    if char == "`":
        yield from _ticks(turn)
    elif char == "<":
        yield from _tag(turn)
    else:
        yield from _bracket(turn)


def _ticks(turn: Turn) -> Steps[None]:
    """A run of backticks opens inline code, and one of the same length closes it."""
    src = turn.src
    size = 0
    while (yield from peek(src)) == "`":
        match = _TICKS.match(src.text, src.at)
        if match:
            size += len(match.group())
            turn.emit(src.take(match.end()))
    if not turn.code:
        turn.code = size
    elif turn.code == size:
        turn.code = 0


def _bracket(turn: Turn) -> Steps[None]:
    src = turn.src
    is_example = src.before in BEFORE_EXAMPLE
    if not is_example and (yield from starts(src, "[TOOL_CALLS]")):
        yield from read_native(turn, "mistral")
    else:
        turn.emit(src.take(src.at + 1))


def _tag(turn: Turn) -> Steps[None]:
    src = turn.src
    is_example = src.before in BEFORE_EXAMPLE
    found = yield from tag(src)
    if found is None or is_example or not (yield from _construct(turn, found)):
        turn.emit(src.take(src.at + 1))


def _construct(turn: Turn, found: Tag) -> Steps[bool]:
    """Read what a tag begins; False if it begins nothing here."""
    src, kind = turn.src, found.kind
    if kind in OPENERS:
        yield from read_native(turn, found)
    elif kind == "think":
        src.take(found.end)
        yield from read_think(turn)
    elif kind == "/think":
        src.take(found.end)
        _end_orphan(turn)
    elif kind in ("start", "channel"):
        yield from read_channel(turn)
    elif kind == "end":
        piece = yield from after_end(turn, found)
        turn.is_over = piece is None
        if piece:
            turn.emit(piece)
    elif turn.shape.tags and kind == "tool_name":
        src.take(found.end)
        yield from read_tool_name(turn)
    elif turn.shape.tags and kind == "final_answer":
        src.take(found.end)
        yield from read_answer(turn, "tag")
    else:
        return False
    return True


def _end_orphan(turn: Turn) -> None:
    """The end of a thought whose beginning was not written: all before it was thought."""
    turn.live.take_back()
    turn.mode = "open" if turn.shape.is_open else "thought"
    turn.at_head = turn.at_line_start = True
    turn.has_prose = False
