"""The numbers that Word sets before paragraphs by itself: they are visible, but in no text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from wenfang.lang import PACKS

_LEVELS: Final = 9
_PLACE = re.compile(r"%([1-9])")
_MOST = 9_999
_CHINESE: Final = frozenset(
    [
        "chineseCounting",
        "chineseCountingThousand",
        "chineseLegalSimplified",
        "taiwaneseCounting",
        "taiwaneseCountingThousand",
        "ideographDigital",
        "japaneseCounting",
        "ideographTraditional",
    ]
)
_ROMAN: Final = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
)
_ROMAN_SMALL: Final = ((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


@dataclass(slots=True)
class _Level:
    start: int = 1
    form: str = "decimal"
    text: str = ""


@dataclass(slots=True)
class Numbering:
    """Reads the part `numbering.xml`, then counts: `label(num, level)` is asked once for each numbered
    paragraph, in their order."""

    _abstract: dict[str, list[_Level]] = field(default_factory=dict[str, list[_Level]])
    _nums: dict[str, str] = field(default_factory=dict[str, str])
    _overrides: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    _counters: dict[str, list[int | None]] = field(default_factory=dict[str, list[int | None]])
    _started: set[str] = field(default_factory=set[str])
    _current: str = ""
    _num: str = ""
    _level: int = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if name == "abstractNum":
            self._current, self._num = attributes.get("abstractNumId", ""), ""
            self._abstract[self._current] = [_Level() for _ in range(_LEVELS)]
        elif name == "num":
            self._num, self._current = attributes.get("numId", ""), ""
        elif name in ("lvl", "lvlOverride"):
            self._level = min(_LEVELS - 1, number_of(attributes.get("ilvl", "0")))
        elif name == "abstractNumId" and self._num:
            self._nums[self._num] = value
        elif name == "startOverride" and self._num:
            self._overrides[self._num, self._level] = number_of(value)
        elif self._current:
            level = self._abstract[self._current][self._level]
            if name == "start":
                level.start = number_of(value)
            elif name == "numFmt":
                level.form = value
            elif name == "lvlText":
                level.text = value

    def end(self, name: str) -> None:
        """Nothing ends here."""

    def data(self, text: str) -> None:
        """There is no text in this part."""

    def label(self, num: str, level: int) -> str:
        """What stands before the paragraph: "第三章", "2.1", "-" for a bullet, "" for nothing."""
        abstract = self._nums.get(num, "")
        levels = self._abstract.get(abstract)
        if levels is None:
            return ""
        level = min(level, _LEVELS - 1)
        counters = self._counters.setdefault(abstract, [None] * _LEVELS)
        if num not in self._started:
            self._started.add(num)
            for (of, at), start in self._overrides.items():
                if of == num:
                    counters[at] = start - 1
        own = counters[level]
        counters[level] = levels[level].start if own is None else own + 1
        counters[level + 1 :] = [None] * (_LEVELS - level - 1)
        if levels[level].form == "bullet":
            return "-"
        return _PLACE.sub(
            lambda found: _written(levels, counters, int(found[1]) - 1), levels[level].text
        )


def number_of(value: str) -> int:
    """A figure of a document, 0 if it is none."""
    return int(value) if value.isdecimal() and len(value) < 9 else 0


def _written(levels: list[_Level], counters: list[int | None], at: int) -> str:
    counted = counters[at]
    number = levels[at].start if counted is None else counted
    form = levels[at].form
    if not 0 <= number <= _MOST:
        return str(number)
    if form in _CHINESE:
        return PACKS["zh"].write_number(number)
    if form in ("upperRoman", "lowerRoman"):
        return _roman(number).upper() if form == "upperRoman" else _roman(number)
    if form in ("upperLetter", "lowerLetter") and number:
        letter = chr(ord("a") + (number - 1) % 26) * min(8, (number - 1) // 26 + 1)
        return letter.upper() if form == "upperLetter" else letter
    return "" if form == "none" else str(number)


def _roman(number: int) -> str:
    written = ""
    for value, figure in (*_ROMAN, *_ROMAN_SMALL):
        written += figure * (number // value)
        number %= value
    return written
