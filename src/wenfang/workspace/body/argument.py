"""Codec B: a body in the streamed arguments of a tool call, like `content` of a call that writes a file.

The arguments are read as JSON (RFC 8259) while they grow, and the body is told as far as it is decoded.
Nothing is repaired, since a call that needed a repair writes nothing either (`core.bind`). Whether the call
may run is not said here: its other arguments may not fit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from .collect import Collector
from .events import MAX_BODY_BYTES, BodyReason, CaptureEvent, Interruption
from .strings import decode, stop_at

_Expects: TypeAlias = Literal[
    "value", "first_item", "first_key", "key", "colon", "comma", "nothing"
]

_SPACE = re.compile(r"[ \t\n\r]+")
_SCALAR_PART = re.compile(r"[-+.0-9A-Za-z]+")
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_MAX_SCALAR = 4096  # characters; of a key and of a member that is kept as well
_MAX_DEPTH = 100
_CLOSERS = {"{": "}", "[": "]"}


class ArgumentCapture:
    """Reads the arguments of one call.

    `feed` for each delta, then `boundary` when the call is whole, or `close` if the run is interrupted, or
    `reset` if the reply is void. The body is the string of the first of `keys` at the top of the object; where
    else a key stands or in what order does not matter. A second one makes the body void, because what was
    shown cannot be replaced, and so does what is not JSON. `file_id` is what the body is known by: the file,
    or the call while the file's name is still to come.
    """

    def __init__(
        self,
        file_id: str,
        *,
        keys: Collection[str] = ("content",),
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        self._file_id = file_id
        self._keys = frozenset(keys)
        self._out = Collector(max_body_bytes)
        self._text = ""  # that needs more text
        self._stack: list[str] = []
        self._expects: _Expects = "value"
        self._string: Literal["none", "key", "body", "member", "skipped"] = "none"
        self._parts: list[str] = []  # of a key, a kept member or a scalar
        self._length = 0
        self._key = ""
        self._has_body = False
        self._problem: Literal["malformed", "duplicate_key"] | None = None
        self._members: dict[str, str] = {}

    @property
    def problem(self) -> Literal["malformed", "duplicate_key"] | None:
        """Why the arguments are refused. Nothing is read after it."""
        return self._problem

    @property
    def members(self) -> Mapping[str, str]:
        """The other strings at the top of the object that are whole by now, of at most 4096 characters."""
        return MappingProxyType(self._members)

    @property
    def is_whole(self) -> bool:
        """Whether the object has ended."""
        return self._expects == "nothing" and self._problem is None

    def feed(self, delta: str) -> list[CaptureEvent]:
        """The next piece of the arguments, as JSON text."""
        text = self._text + delta if self._text else delta
        self._text = ""
        at = 0
        while at < len(text) and self._problem is None:
            if self._string == "none":
                at = self._between(text, at)
                continue
            decoded, at = decode(text, at)
            self._take(decoded)
            if at < len(text):
                at = self._stop(text, at)
        return self._out.take()

    def boundary(self) -> list[CaptureEvent]:
        """The call is over. A body of arguments that did not end is truncated."""
        return self._end("end" if self.is_whole else "boundary")

    def close(self, reason: Interruption) -> list[CaptureEvent]:
        """The run is interrupted. A body of arguments that have ended is complete nevertheless."""
        return self._end("end" if self.is_whole else reason)

    def reset(self) -> list[CaptureEvent]:
        """The reply is void and tried again; its calls get new captures."""
        return self._end("reset")

    def _end(self, reason: BodyReason) -> list[CaptureEvent]:
        if self._out.is_open:
            self._out.close(reason)
        return self._out.take()

    def _refuse(self, problem: Literal["malformed", "duplicate_key"]) -> None:
        self._problem = problem
        if self._out.is_open:
            self._out.close(problem)

    # Between strings

    def _between(self, text: str, at: int) -> int:
        """Read white space, or one token, or a part of a scalar."""
        if self._parts:  # a scalar may go on
            part = _SCALAR_PART.match(text, at)
            if part:
                self._keep(part[0])
                return part.end()
            self._end_scalar()
            return at
        space = _SPACE.match(text, at)
        if space:
            return space.end()
        char = text[at]
        if char == '"':
            self._open_string()
        elif char in "{[":
            self._open(char)
        elif char in "}]":
            self._close(char)
        elif char == "," and self._expects == "comma" and self._stack:
            self._expects = "key" if self._stack[-1] == "{" else "value"
        elif char == ":" and self._expects == "colon":
            self._expects = "value"
        elif (
            _SCALAR_PART.match(text, at)
            and self._expects in ("value", "first_item")
            and self._stack
        ):
            self._length = 0
            self._keep(char)
        else:
            self._refuse("malformed")
        return at + 1

    def _open(self, char: str) -> None:
        is_object = char == "{"
        may_stand = self._expects in ("value", "first_item") and (is_object or bool(self._stack))
        if not may_stand or len(self._stack) > _MAX_DEPTH:
            self._refuse("malformed")
            return
        self._stack.append(char)
        self._expects = "first_key" if is_object else "first_item"

    def _close(self, char: str) -> None:
        may_end = ("comma", "first_key" if char == "}" else "first_item")
        if not self._stack or _CLOSERS[self._stack[-1]] != char or self._expects not in may_end:
            self._refuse("malformed")
            return
        self._stack.pop()
        self._expects = "comma" if self._stack else "nothing"

    def _end_scalar(self) -> None:
        scalar = "".join(self._parts)
        self._parts.clear()
        self._expects = "comma"
        is_scalar = self._length <= _MAX_SCALAR and _SCALAR.fullmatch(scalar)
        is_word = scalar in ("true", "false", "null")
        if not is_scalar or (not is_word and float(scalar) in (float("inf"), float("-inf"))):
            self._refuse("malformed")

    def _keep(self, text: str) -> None:
        """Keep a part of a key, a member or a scalar, up to a little more than is of use."""
        self._length += len(text)
        if self._length <= _MAX_SCALAR:
            self._parts.append(text)

    # Strings

    def _open_string(self) -> None:
        self._length = 0
        if self._expects in ("first_key", "key"):
            self._string = "key"
        elif self._expects not in ("value", "first_item") or not self._stack:
            self._refuse("malformed")
        elif len(self._stack) > 1 or self._expects == "first_item":
            self._string = "skipped"
        elif self._key not in self._keys:
            self._string = "member"
        else:
            self._string = "body"
            self._out.open(self._file_id)

    def _take(self, text: str) -> None:
        if self._string == "body":
            self._out.write(text)
        elif self._string != "skipped" and text:
            self._keep(text)

    def _stop(self, text: str, at: int) -> int:
        stop = stop_at(text, at)
        if stop == "more":
            self._text = text[at:]
            return len(text)
        if stop == "end":
            self._end_string()
        else:
            self._refuse("malformed")
        return at + 1

    def _end_string(self) -> None:
        is_kept = self._length <= _MAX_SCALAR
        text = "".join(self._parts) if is_kept else ""
        self._parts.clear()
        is_key = self._string == "key"
        if self._string == "member" and is_kept:
            self._members[self._key] = text
        self._string = "none"
        self._expects = "colon" if is_key else "comma"
        if is_key and len(self._stack) == 1:
            self._name(text)

    def _name(self, key: str) -> None:
        """A member at the top of the object begins."""
        self._key = key
        if key in self._keys:
            if self._has_body:
                self._refuse("duplicate_key")
            self._has_body = True
