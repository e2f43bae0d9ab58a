"""Decoding a JSON string that is still growing."""

from __future__ import annotations

import re
from typing import Literal

_PLAIN = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]+')
_ESCAPE = re.compile(
    r'\\(?:(?P<char>["\\/bfnrt])'
    r"|u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u(?P<code>(?![dD][89a-fA-F])[0-9a-fA-F]{4}))"
)
# What may become one of these, if more text comes.
_HEX = "[0-9a-fA-F]"
_PREFIX = re.compile(
    rf"\\(?:u(?:{_HEX}{{0,3}}|[dD][89abAB]{_HEX}{{2}}(?:\\(?:u(?:[dD](?:[c-fC-F]{_HEX}?)?)?)?)?)?)?"
)
_CHARS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def decode(text: str, at: int) -> tuple[str, int]:
    """The string's text from `at`, a place inside of the string, and how far it goes (`stop_at`)."""
    plain = _PLAIN.match(text, at)
    if plain and plain.end() == len(text):
        return plain[0], plain.end()
    parts: list[str] = []
    while True:
        if plain:
            parts.append(plain[0])
            at = plain.end()
        escape = _ESCAPE.match(text, at)
        if escape:
            parts.append(_character(escape))
            at = escape.end()
        elif not plain:
            return "".join(parts), at
        plain = _PLAIN.match(text, at)


def stop_at(text: str, at: int) -> Literal["end", "more", "wrong"]:
    """Why decoding stopped before the end of `text`: at the quote that ends the string; because more text is
    needed; or at what no JSON string holds. Half a surrogate pair, as an escape or as it is, is no character."""
    if text.startswith('"', at):
        return "end"
    return "more" if _PREFIX.fullmatch(text, at) else "wrong"


def _character(escape: re.Match[str]) -> str:
    if escape["char"]:
        return _CHARS.get(escape["char"], escape["char"])
    if escape["code"]:
        return chr(int(escape["code"], 16))
    high, low = int(escape["high"], 16), int(escape["low"], 16)
    return chr(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF))
