"""English: numbers in words and Roman figures, and the headings of novels, scripts and reports."""

from __future__ import annotations

import re
from typing import Final

from .values import Heading, UnitKind

_SMALL: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_ORDINALS: Final = [
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]
_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES: Final = {
    **{word: value for value, word in enumerate(_SMALL)},
    **{word: value for value, word in enumerate(_ORDINALS)},
    **{word: 20 + 10 * place for place, word in enumerate(_TENS)},
}
_ROMAN: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_ROMAN_FORM = re.compile(r"(?=.)M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")

_WORD = "(?:" + "|".join(sorted(_VALUES, key=len, reverse=True)) + "|hundred|and)"
_NUMBER = rf"(?:\d{{1,5}}|(?:the\s+)?{_WORD}(?:[\s-]{_WORD}){{0,5}}|[IVXLCDM]{{1,12}})"
_UNITS: Final[dict[str, UnitKind]] = {
    **dict.fromkeys(("part", "book", "volume", "act"), "part"),
    **dict.fromkeys(("chapter", "episode"), "chapter"),
    **dict.fromkeys(("scene", "section"), "section"),
}
_NUMBERED = re.compile(
    rf"(?P<unit>{'|'.join(_UNITS)})\s+(?P<number>{_NUMBER})(?![\w'’])(?P<rest>.*)", re.IGNORECASE
)
_EXTRA = re.compile(
    r"(?:prologue|epilogue|foreword|preface|afterword|interlude|introduction|acknowledge?ments"
    rf"|dedication|postscript|coda|appendix(?:\s+[A-Z])?)(?:\s+(?P<number>{_NUMBER}))?(?P<rest>.*)",
    re.IGNORECASE,
)
_SCENE = re.compile(r"(?:\d{1,4}[A-Z]?\.?\s+)?(?:INT|EXT|INT\.?/EXT|I/E)[. ]\s*[^a-z]{2,}")
_BARE = re.compile(r"(?:\d{1,4}|[IVXLC]{1,9})\.?")
_BEGINS = re.compile(r"[0-9a-fipsvxl]", re.IGNORECASE)
_LONGEST = 90
_SET_OFF = re.compile(r"\s*[:.—–|-]+\s*(?P<title>.*)")
_TITLE_BEGINS = re.compile(r"\s+[“\"'‘(\[]?[A-Z0-9]")


class English:
    """The pack of English."""

    untitled = "Untitled"
    unfinished = " (unfinished)"

    def read_heading(self, line: str) -> Heading | None:
        if not _BEGINS.match(line) or len(line) > _LONGEST or line.endswith((",", ";")):
            return None
        if found := _NUMBERED.fullmatch(line):
            number = self.read_number(found["number"])
            if number is not None and _is_title(found["rest"]) and _begins_large(line, found):
                return Heading(kind=_UNITS[found["unit"].lower()], number=number)
        if (found := _EXTRA.fullmatch(line)) and line[0].isupper() and _stands_apart(found["rest"]):
            number = found["number"]
            return Heading(kind="extra", number=self.read_number(number) if number else None)
        if _SCENE.fullmatch(line):
            return Heading(kind="section")
        if _BARE.fullmatch(line) and (number := self.read_number(line.rstrip("."))) is not None:
            return Heading(kind="chapter", number=number, is_bare=True)
        return None

    def read_number(self, words: str) -> int | None:
        if words.isascii() and words.isdigit():
            return int(words)
        if _ROMAN_FORM.fullmatch(words.upper()):
            return _read_roman(words.upper())
        return _read_words(words.lower())

    def write_number(self, number: int) -> str:
        return str(number)


def _read_roman(figures: str) -> int:
    values = [_ROMAN[figure] for figure in figures]
    following = [*values[1:], 0]
    return sum(
        -value if value < after else value for value, after in zip(values, following, strict=True)
    )


def _read_words(words: str) -> int | None:
    total = 0
    for word in re.split(r"[\s-]+", words.removeprefix("the ").strip()):
        if word == "hundred":
            total = (total or 1) * 100
        elif word in _VALUES:
            total += _VALUES[word]
        elif word != "and":
            return None
    return total


def _is_title(rest: str) -> bool:
    """Whether what follows "Chapter 12" is its title, and not the rest of a sentence."""
    if not rest:
        return True
    if found := _SET_OFF.fullmatch(rest):
        title = found["title"]
        return not title.endswith(".") or len(title.split()) <= 8
    return _TITLE_BEGINS.match(rest) is not None and not rest.endswith(".")


def _stands_apart(rest: str) -> bool:
    found = _SET_OFF.fullmatch(rest)
    return not rest or (found is not None and not found["title"].endswith("."))


def _begins_large(line: str, found: re.Match[str]) -> bool:
    """ "chapter 12" alone is a heading; in small letters with more after it, it is prose."""
    return line[0].isupper() or not found["rest"]
