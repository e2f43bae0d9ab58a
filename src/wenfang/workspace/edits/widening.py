"""A hit that was found without punctuation takes the punctuation at its edges that was quoted (TL-10)."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from .folding import is_dropped

_CLASSES = {
    char: chars
    for chars in ("。.．！!？?…‥｡", "，,、；;：:､", "—–―‒-－~～·", "\n\r", "\"'‘’‚‛′″")
    for char in chars
}
# Letters of scripts that write no spaces begin here, roughly: any place between them is an edge.
_UNSPACED = "\u2e80"


@lru_cache(maxsize=1024)
def _class_of(char: str) -> str:
    if char in _CLASSES:
        return _CLASSES[char]
    if char.isspace():
        return " "
    name = unicodedata.name(char, "")
    category = unicodedata.category(char)
    if category in ("Pi", "Pf") or "CORNER BRACKET" in name or "QUOTATION" in name:
        return _CLASSES['"']
    return category if category in ("Ps", "Pe") else char


def widened(text: str, start: int, end: int, quoted: str, new: str) -> tuple[int, int]:
    """The place with the characters around it that are of the class of the edge characters of `quoted`,
    pair by pair; at an edge where `quoted` has none, those of `new`, which brings its own."""
    head = _edge(quoted[::-1]) or _edge(new[::-1])
    tail = _edge(quoted) or _edge(new)
    before = text[max(0, start - 2 * len(head) - 2) : start][::-1]
    after = text[end : end + 2 * len(tail) + 2]
    return start - _paired(before, head), end + _paired(after, tail)


def _edge(text: str) -> str:
    """The punctuation and whitespace at the end of a text, from inside to outside."""
    end = len(text)
    while end and is_dropped(text[end - 1]):
        end -= 1
    return text[end:] if end else ""


def _paired(found: str, edge: str) -> int:
    """How many characters of `found` go with `edge`. A line end of two characters counts as one."""
    at = 0
    edge = edge.replace("\r\n", "\n").replace("\n\r", "\n")
    for char in edge:
        if at >= len(found) or _class_of(found[at]) != _class_of(char):
            break
        at += 2 if found[at : at + 2] in ("\r\n", "\n\r") else 1
    return at


def is_edge(text: str, at: int) -> bool:
    """Whether a sentence or a word begins or ends at this place."""
    return at in (0, len(text)) or is_dropped(text[at - 1]) or is_dropped(text[at])


def splits_word(text: str, at: int) -> bool:
    """Whether the place is inside of a word of a script that writes spaces."""
    pair = text[at - 1 : at + 1] if at else ""
    return len(pair) == 2 and all(char.isalnum() and char < _UNSPACED for char in pair)


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The place with the rest of the words that it begins and ends in."""
    while splits_word(text, start):
        start -= 1
    while splits_word(text, end):
        end += 1
    return start, end
