"""Decoding a JSON string that is still growing."""

from __future__ import annotations

import re
from typing import NamedTuple

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


class Decoded(NamedTuple):
    """`text` was decoded, up to `at`. There, unless more text is needed, the string `is_closed` by a quote or
    holds what no JSON string may hold (`is_wrong`)."""

    text: str
    at: int
    is_closed: bool = False
    is_wrong: bool = False


def decode(text: str, at: int) -> Decoded:
    """The part of a string that begins at `at`, inside of the string. Half a surrogate pair, as an escape or
    as it is, is no character and is wrong."""
    parts: list[str] = []
    end = len(text)
    while at < end:
        plain = _PLAIN.match(text, at)
        if plain:
            parts.append(plain[0])
            at = plain.end()
            continue
        if text[at] == '"':
            return Decoded("".join(parts), at + 1, is_closed=True)
        escape = _ESCAPE.match(text, at)
        if escape is None:
            is_prefix = _PREFIX.fullmatch(text, at) is not None
            return Decoded("".join(parts), at, is_wrong=not is_prefix)
        parts.append(_character(escape))
        at = escape.end()
    return Decoded("".join(parts), at)


def _character(escape: re.Match[str]) -> str:
    if escape["char"]:
        return _CHARS.get(escape["char"], escape["char"])
    if escape["code"]:
        return chr(int(escape["code"], 16))
    high, low = int(escape["high"], 16), int(escape["low"], 16)
    return chr(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF))
