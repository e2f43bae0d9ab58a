"""New text takes over how the file is written: its line ends, and its double quotes (TL-23)."""

from __future__ import annotations

import re

_LINE_END = re.compile(r"\r\n|\r|\n")
_STYLES: tuple[str, ...] = ('""', "“”", "「」")
_KIND: dict[str, str] = {char: pair for pair in _STYLES for char in pair} | {
    "＂": '""',
    "„": "“”",
    "‟": "“”",
}
_QUOTE = re.compile("[" + "".join(_KIND) + "\n]")


def line_end_of(text: str) -> str | None:
    """The most frequent line end, None if there is none."""
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    best = max(counts, key=lambda end: counts[end])
    return best if counts[best] else None


def with_line_ends(new: str, line_end: str | None) -> str:
    return new if line_end is None else _LINE_END.sub(line_end, new)


def quotes_of(text: str) -> str | None:
    """The pair of double quotes a manuscript is written with (straight, curly or corner), None if it has
    none, or two kinds equally often."""
    counts = dict.fromkeys(_STYLES, 0)
    for char, pair in _KIND.items():
        counts[pair] += text.count(char)
    best, second = sorted(counts, key=lambda pair: -counts[pair])[:2]
    return best if counts[best] > counts[second] else None


def with_quotes(new: str, pair: str | None, before: str = "") -> str:
    """`new` with this pair of double quotes. Straight quotes open and close in turn, line by line;
    `before` is what stands before it on its line."""
    if pair is None:
        return new
    is_open = False

    def swapped(match: re.Match[str]) -> str:
        nonlocal is_open
        char = match.group()
        if char == "\n":
            is_open = False
            return char
        kind = _KIND[char]
        opens = not is_open if kind == '""' else char != kind[1]
        is_open = opens
        return char if kind == pair and char in pair else pair[not opens]

    _QUOTE.sub(swapped, before)
    return _QUOTE.sub(swapped, new)


def in_quotes_of(manuscript: str, new: str) -> str:
    """`new` with the double quotes that the manuscript is written with; as it is if that has none."""
    return with_quotes(new, quotes_of(manuscript))
