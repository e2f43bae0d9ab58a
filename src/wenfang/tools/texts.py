"""How much of a text a model is shown, and what it is told about the rest (coding-tools.md)."""

from __future__ import annotations

from collections import deque

MAX_LINES = 2000
MAX_BYTES = 50 * 1024


def size(count: int) -> str:
    """A number of bytes as people write it."""
    if count < 1024:
        return f"{count} bytes"
    return f"{count / 1024:.1f} KB" if count < 1024 * 1024 else f"{count / 1024 / 1024:.1f} MB"


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


class HeadAndTail:
    """Collects a stream of text and keeps its beginning and its end, `limit` characters in all.
    What is in between is counted, not kept."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head: list[str] = []
        self._room = self._half
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self._dropped = 0

    def add(self, text: str) -> None:
        if self._room:
            head, text = text[: self._room], text[self._room :]
            self._head.append(head)
            self._room -= len(head)
        if not text:
            return
        self._tail.append(text)
        self._tail_length += len(text)
        while self._tail_length > self._half:
            first = self._tail.popleft()
            spare = self._tail_length - self._half
            if len(first) > spare:
                self._tail.appendleft(first[spare:])
            cut = min(spare, len(first))
            self._tail_length -= cut
            self._dropped += cut

    def text(self) -> str:
        """What was kept, with a note where something is missing."""
        gap = (
            f"\n... ({plural(self._dropped, 'character')} left out) ...\n" if self._dropped else ""
        )
        return "".join((*self._head, gap, *self._tail))
