"""Pieces of text become events: neighbours of one kind are one event, and a body ends at its limit."""

from __future__ import annotations

from typing import Literal, TypeAlias

from .events import BodyClosed, BodyOpened, BodyReason, BodyText, CaptureEvent, ChatText, Dropped

Kind: TypeAlias = Literal["chat", "body", "tag", "line", "overflow"]


class Collector:
    """The events of one `feed`, and the body that is open."""

    __slots__ = ("_events", "_file_id", "_kind", "_limit_bytes", "_parts", "_room_bytes", "is_open")

    def __init__(self, limit_bytes: int) -> None:
        self._events: list[CaptureEvent] = []
        self._kind: Kind = "chat"
        self._parts: list[str] = []
        self._limit_bytes = limit_bytes
        self._room_bytes = 0
        self._file_id = ""
        self.is_open = False

    def add(self, kind: Kind, text: str) -> None:
        if text:
            if kind != self._kind:
                self._join()
                self._kind = kind
            self._parts.append(text)

    def open(self, file_id: str) -> None:
        self._join()
        self._room_bytes = self._limit_bytes
        self._file_id, self.is_open = file_id, True
        self._events.append(BodyOpened(file_id=file_id))

    def write(self, text: str) -> None:
        """Add to the body what fits. A body that outgrows the limit is complete, and the rest is dropped
        (FC-7)."""
        if not self.is_open:
            self.add("overflow", text)
            return
        # "surrogatepass": no text may make this fail, and half a surrogate pair counts like any character
        size = len(text.encode("utf-8", "surrogatepass"))
        if size <= self._room_bytes:
            self._room_bytes -= size
            self.add("body", text)
            return
        fits = _fitting(text, self._room_bytes)
        self.add("body", text[:fits])
        self.close("oversized")
        self.add("overflow", text[fits:])

    def close(self, reason: BodyReason) -> None:
        self._join()
        self.is_open = False
        self._events.append(BodyClosed(file_id=self._file_id, reason=reason))

    def take(self) -> list[CaptureEvent]:
        """All events since the last time."""
        self._join()
        events, self._events = self._events, []
        return events

    def _join(self) -> None:
        if not self._parts:
            return
        text = "".join(self._parts)
        self._parts.clear()
        kind = self._kind
        if kind == "chat":
            self._events.append(ChatText(text=text))
        elif kind == "body":
            self._events.append(BodyText(file_id=self._file_id, text=text))
        else:
            self._events.append(Dropped(text=text, kind=kind))


def _fitting(text: str, room_bytes: int) -> int:
    """How many characters of `text` fit into `room_bytes` bytes of UTF-8."""
    for count, char in enumerate(text):
        room_bytes -= len(char.encode("utf-8", "surrogatepass"))
        if room_bytes < 0:
            return count
    return len(text)
