"""Labels such as `Thought:` or `**行动**：`, which count at the start of a line only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from .source import INVISIBLE, MORE, Source, Steps, Wait

Role: TypeAlias = Literal["thought", "action", "input", "answer", "observation", "question"]

MAX_LABEL = 64  # characters from the start of the line

WORDS: dict[Role, tuple[str, ...]] = {
    "thought": ("thought", "思考"),
    "action": ("action", "tool call", "行动", "动作", "工具调用"),
    "input": ("action input", "行动输入", "动作输入"),
    "answer": ("final answer", "answer", "最终答案", "最终回答", "答案"),
    "observation": ("observation", "观察"),
    "question": ("question", "问题"),
}
# Where only arguments can follow, more names for them are understood.
_INPUT_WORDS = (
    *WORDS["input"],
    *("action inputs", "tool input", "input", "arguments", "parameters", "args"),
    *("工具输入", "工具参数", "参数", "输入"),
)

_BEFORE = f" \t\u3000#-*+•_0123456789{INVISIBLE}"
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_OBSERVATIONS = ("observation", "观察")
_MIN_RESIDUE = 3


class Label(NamedTuple):
    role: Role
    end: int  # index after the label and its emphasis


def _prefix_pattern(word: str) -> str:
    """A pattern for every beginning of `word`."""
    pattern = ""
    for char in reversed(word):
        pattern = f"(?:{re.escape(char)}{pattern})?"
    return pattern


class LabelSet:
    """A compiled vocabulary."""

    def __init__(self, words: Mapping[Role, Sequence[str]]) -> None:
        pairs: list[tuple[str, Role]] = [
            (word, role) for role, each in words.items() for word in each
        ]
        pairs.sort(key=lambda pair: -len(pair[0]))
        self._roles: dict[str, Role] = {word.replace(" ", ""): role for word, role in pairs}
        self._first = frozenset("".join(word[0] + word[0].upper() for word, _ in pairs))
        self._first |= frozenset(("", *_BEFORE))
        any_word = "|".join(word.replace(" ", "[ _]?") for word, _ in pairs)
        beginnings = "|".join(
            _prefix_pattern(form)
            for word, _ in pairs
            for form in sorted({word.replace(" ", each) for each in (" ", "_", "")})
        )
        blank = r"[ \t\u3000]*+"  # possessive: several in a row must not share
        before = rf"{blank}(?:\#{{1,6}}{blank}|[-*+•][ \t]++|\d{{1,2}}[.)、]{blank})?"
        tail = rf"(?:{blank}\d{{1,3}})?{blank}"
        opened = r"(?P<open>\*{1,3}|_{1,2})?"
        closed = r"(?P<close>\*{1,3}|_{1,2})?"
        self._label = re.compile(
            rf"{before}{opened}{blank}(?P<word>{any_word}){tail}{closed}{blank}(?:[:：]|(?P<bare>$))",
            re.IGNORECASE,
        )
        self._partial = re.compile(
            rf"{blank}(?:\#{{0,6}}|[-*+•]|\d{{1,2}}[.)、]?)?{blank}[*_]{{0,3}}{blank}"
            rf"(?:(?:{any_word}){tail}[*_]{{0,3}}{blank}|{beginnings})",
            re.IGNORECASE,
        )

    def look(self, text: str, at: int, final: bool) -> Label | Wait | None:
        """The label at `text[at]`, which is the start of a line."""
        if text[at : at + 1] not in self._first:
            return None
        stop = min(len(text), at + MAX_LABEL)
        end = text.find("\n", at, stop)
        line = text[at : end if end >= 0 else stop]
        ended = end >= 0 or (final and stop == len(text))
        if not _INVISIBLE.search(line):
            found = self._match(line, ended)
            return found._replace(end=at + found.end) if isinstance(found, Label) else found
        found = self._match(_INVISIBLE.sub("", line), ended)
        if not isinstance(found, Label):
            if found is None and not ended and len(line) < MAX_LABEL:
                return None
            return found
        return found._replace(end=at + _shown_index(line, found.end))

    def _match(self, line: str, ended: bool) -> Label | Wait | None:
        match = self._label.match(line)
        open_ended = not ended and len(line) < MAX_LABEL
        if match is not None and (match["bare"] is None or ended):
            word = re.sub(r"[ _]", "", match["word"]).lower()
            end, emphasis = match.end(), match["open"]
            if emphasis and not match["close"]:
                if line.startswith(emphasis, end):
                    end += len(emphasis)
                elif open_ended and emphasis.startswith(line[end:]):
                    return MORE
            return Label(self._roles[word], end)
        if open_ended and self._partial.fullmatch(line):
            return MORE
        return None


def _shown_index(line: str, count: int) -> int:
    """The index in `line` after its first `count` visible characters."""
    for index, char in enumerate(line):
        if count == 0:
            return index
        count -= char not in INVISIBLE
    return len(line)


LABELS = LabelSet(WORDS)
INPUT_LABELS = LabelSet({**WORDS, "input": _INPUT_WORDS})


def label(src: Source, labels: LabelSet = LABELS) -> Steps[Label | None]:
    """The label at the unread text, which is the start of a line."""
    while True:
        found = labels.look(src.text, src.at, src.final)
        if not isinstance(found, Wait):
            return found
        yield


def is_residue(line: str) -> bool:
    """Whether `line`, the last of the output, is what a stop word left: a beginning of `Observation`."""
    word = line.strip(INVISIBLE + " \t\n*").lower()
    return (len(word) >= _MIN_RESIDUE and _OBSERVATIONS[0].startswith(word)) or (
        word == _OBSERVATIONS[1]
    )
