"""Reading one step while it grows: `{"thought": ..., "action": ..., "input" or "answer": ...}`.

Live text and final blocks come from the same scanner, so they cannot differ. Each character is looked
at a bounded number of times, however the text is cut. What a schema would have prevented (text around
the object, foreign keys, line breaks inside strings) is passed over, because a provider may ignore the
schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

Key: TypeAlias = Literal["thought", "action", "input", "answer"]
_KEYS: tuple[Key, ...] = ("thought", "action", "input", "answer")

_IN_STRING = re.compile(r'[^"\\]+')
_IN_NESTED = re.compile(r'[^"{}\[\]]+')
_SCALAR = re.compile(r"[^,}\s]+")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LONE = "\ufffd"


class Piece(NamedTuple):
    """A part of the value of `key`: decoded text, or for "input" the JSON as written."""

    key: Key
    text: str


class StepReader:
    """`begun` after the opening bracket of the step, `done` after its closing one."""

    def __init__(self) -> None:
        self.begun = False
        self.done = False
        self._values: dict[Key, list[str]] = {}
        self._state: Callable[[str, int], int] = self._seek
        self._name: list[str] | None = None  # the key that is being read
        self._key: Key | None = None  # whose value comes next; None: a value to pass over
        self._depth = 0  # of brackets in a nested value
        self._escape = ""  # an escape that is not complete yet, from its backslash on
        self._high = ""  # a high surrogate that waits for its other half
        self._new: list[Piece] = []

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def text(self, key: Key) -> str:
        """The value of `key`, as far as it was read."""
        return "".join(self._values.get(key, ()))

    def feed(self, text: str) -> list[Piece]:
        """The parts of values that `text` adds."""
        at = 0
        while at < len(text) and not self.done:
            at = self._state(text, at)
        new, self._new = self._new, []
        return new

    def _add(self, text: str) -> None:
        if self._name is not None:
            self._name.append(text)
        elif self._key is not None and text:
            self._values[self._key].append(text)
            if self._new and self._new[-1].key == self._key:
                text = self._new.pop().text + text
            self._new.append(Piece(self._key, text))

    # Each state takes one character or a stretch, and says where the next one begins.

    def _seek(self, text: str, at: int) -> int:
        at = text.find("{", at)
        if at < 0:
            return len(text)
        self.begun = True
        self._state = self._before_key
        return at + 1

    def _before_key(self, text: str, at: int) -> int:
        if text[at] == '"':
            self._name = []
            self._state = self._string
        self.done = text[at] == "}"
        return at + 1

    def _before_value(self, text: str, at: int) -> int:
        char = text[at]
        if char == '"':
            self._state = self._string
        elif char in "{[":
            self._key = self._key if self._key == "input" else None
            self._state = self._nested
            return at
        elif char == "}":
            self.done = True
        elif not (char == ":" or char.isspace()):
            self._state = self._scalar
            return at
        return at + 1

    def _scalar(self, text: str, at: int) -> int:
        """A number or a word where a string or an object was due."""
        match = _SCALAR.match(text, at)
        if match:
            return match.end()
        self._end_value()
        return at

    def _string(self, text: str, at: int) -> int:
        if self._escape:
            self._in_escape(text[at])
            return at + 1
        plain = _IN_STRING.match(text, at)
        if plain:
            self._flush()
            self._add(plain.group())
            return plain.end()
        if text[at] == "\\":
            self._escape = "\\"
        else:
            self._flush()
            self._end_string()
        return at + 1

    def _end_string(self) -> None:
        if self._name is None:
            self._end_value()
            return
        name, self._name = "".join(self._name), None
        self._key = next((key for key in _KEYS if key == name and key not in self._values), None)
        if self._key is not None:
            self._values[self._key] = []
        self._state = self._before_value

    def _end_value(self) -> None:
        self._key = None
        self._state = self._before_key

    def _in_escape(self, char: str) -> None:
        self._escape += char
        if self._escape[1] != "u":
            self._escape = ""
            self._flush()
            self._add(_ESCAPES.get(char, char))
        elif len(self._escape) == 6:
            digits, self._escape = self._escape[2:], ""
            is_hex = all(each in "0123456789abcdefABCDEF" for each in digits)
            self._add_unit(chr(int(digits, 16)) if is_hex else _LONE)

    def _add_unit(self, unit: str) -> None:
        """One UTF-16 code unit; the halves of a pair are joined, lone ones become U+FFFD."""
        if self._high and "\udc00" <= unit <= "\udfff":
            pair, self._high = self._high + unit, ""
            self._add(pair.encode("utf-16", "surrogatepass").decode("utf-16"))
            return
        self._flush()
        if "\ud800" <= unit <= "\udbff":
            self._high = unit
        else:
            self._add(_LONE if "\udc00" <= unit <= "\udfff" else unit)

    def _flush(self) -> None:
        if self._high:
            self._high = ""
            self._add(_LONE)

    def _nested(self, text: str, at: int) -> int:
        """An object or array, taken as it is written."""
        flat = _IN_NESTED.match(text, at)
        if flat:
            self._add(flat.group())
            return flat.end()
        char = text[at]
        self._add(char)
        if char == '"':
            self._state = self._nested_string
        else:
            self._depth += 1 if char in "{[" else -1
            if self._depth == 0:
                self._end_value()
        return at + 1

    def _nested_string(self, text: str, at: int) -> int:
        if self._escape:
            self._escape = ""
            self._add(text[at])
            return at + 1
        plain = _IN_STRING.match(text, at)
        if plain:
            self._add(plain.group())
            return plain.end()
        self._add(text[at])
        if text[at] == '"':
            self._state = self._nested
        else:
            self._escape = "\\"
        return at + 1
