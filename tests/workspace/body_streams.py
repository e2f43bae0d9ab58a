"""What the tests of both codecs share: streams cut into chunks, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from hypothesis import strategies as st

from wenfang.workspace.body import (
    BodyClosed,
    BodyReason,
    BodyText,
    CaptureEvent,
    ChatText,
    Dropped,
    deliver,
)


def cut(text: str, sizes: list[int]) -> Iterator[str]:
    """`text` in chunks of these sizes, over and over."""
    at = turn = 0
    while at < len(text):
        size = sizes[turn % len(sizes)] if sizes else len(text)
        yield text[at : at + size]
        at += size
        turn += 1


SIZES = st.lists(st.integers(1, 40), max_size=6)


def merged(events: Iterable[CaptureEvent]) -> list[CaptureEvent]:
    """Texts of one kind that follow each other are one."""
    out: list[CaptureEvent] = []
    for event in events:
        last = out[-1] if out else None
        if (
            isinstance(event, ChatText | BodyText | Dropped)
            and isinstance(last, ChatText | BodyText | Dropped)
            and replace(last, text="") == replace(event, text="")
        ):
            out[-1] = replace(last, text=last.text + event.text)
        else:
            out.append(event)
    return out


class Files:
    """A sink that keeps what it gets: texts of ended bodies by file, void ones left out."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.ends: list[tuple[str, bool, BodyReason]] = []
        self._open: str | None = None
        self._parts: list[str] = []

    def open(self, file_id: str) -> None:
        assert self._open is None
        self._open, self._parts = file_id, []

    def write(self, text: str) -> None:
        assert self._open is not None
        assert text
        self._parts.append(text)

    def close(self, complete: bool, reason: BodyReason) -> None:
        assert self._open is not None
        self.ends.append((self._open, complete, reason))
        if BodyClosed(file_id=self._open, reason=reason).ending != "void":
            self.texts[self._open] = "".join(self._parts)
        self._open = None


def files_of(events: Iterable[CaptureEvent]) -> Files:
    files = Files()
    deliver(events, files)
    return files


def chat_of(events: Iterable[CaptureEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ChatText))
