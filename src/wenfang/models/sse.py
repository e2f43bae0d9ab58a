"""Server-sent events from bytes (WHATWG HTML §9.2), incremental, for streams of JSON (FB29).

Only LF, CRLF and CR end a line: U+2028, U+0085 and the like are data. Nothing is decoded before a
whole event is there, so a character that is split over two reads cannot be damaged.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

_BOM = b"\xef\xbb\xbf"


class EventTooLarge(ValueError):  # noqa: N818 - says what it is
    """One event is larger than the limit; the stream cannot be read on."""


class EventSplitter:
    """Cuts a stream into the data of its events. Cost is linear in the bytes, however they arrive."""

    def __init__(self, limit_bytes: int = 16 * 1024 * 1024) -> None:
        self._limit = limit_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._after_cr = False
        self._after_lf = False

    def feed(self, data: bytes) -> Sequence[bytes]:
        """The data of each event that `data` completes. Raises `EventTooLarge`."""
        if self._after_cr:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n\n" not in data and not (self._after_lf and data.startswith(b"\n")):
            self._keep(data)
            return ()
        if self._pieces:
            data = b"".join((*self._pieces, data))
        events = data.split(b"\n\n")
        self._pieces.clear()
        self._size = 0
        self._after_lf = False
        self._keep(events.pop())
        return [
            event[6:] if event.startswith(b"data: ") and b"\n" not in event else _data(event)
            for event in events
        ]

    def close(self) -> Sequence[bytes]:
        """The data of a last event that only lacks the empty line after it; not a piece of one."""
        data = _data(b"".join(self._pieces))
        return (data,) if _is_whole(data) else ()

    def _keep(self, data: bytes) -> None:
        if data:
            self._pieces.append(data)
            self._after_lf = data.endswith(b"\n")
            self._size += len(data)
            if self._size > self._limit:
                raise EventTooLarge(f"an event of more than {self._limit} bytes")


def _is_whole(data: bytes) -> bool:
    if data == b"[DONE]":
        return True
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _data(event: bytes) -> bytes:
    """The data lines of an event, joined; empty for comments and other fields."""
    return b"\n".join(
        line[5:].removeprefix(b" ")
        for line in event.removeprefix(_BOM).split(b"\n")
        if line.startswith(b"data:")
    )
