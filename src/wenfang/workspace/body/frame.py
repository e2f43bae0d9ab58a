"""The line breaks between the tags and the body: one after `<file>` and one before `</file>`."""

from __future__ import annotations


class Frame:
    """Takes a body apart from the line breaks around it: what is dropped, and what is body. A line break at
    the end waits for what follows."""

    __slots__ = ("_at_start", "_waiting")

    def __init__(self) -> None:
        self._at_start = True
        self._waiting = ""

    def feed(self, text: str) -> tuple[str, str]:
        if self._waiting:
            text = self._waiting + text
            self._waiting = ""
        dropped = ""
        if self._at_start:
            if text == "\r":
                self._waiting = text
                return "", ""
            self._at_start = False
            dropped = _line_break(text[:2])
            text = text[len(dropped) :]
        if text.endswith(("\n", "\r")):
            end = -2 if text.endswith("\r\n") else -1
            self._waiting = text[end:]
            text = text[:end]
        return dropped, text

    def end(self, *, at_tag: bool) -> tuple[str, str]:
        """What waited: before the end tag a line break is dropped; a body that was cut off keeps it."""
        waiting, self._waiting = self._waiting, ""
        if at_tag and waiting.endswith("\n"):
            return waiting, ""
        return "", waiting


def _line_break(start: str) -> str:
    if start == "\r\n":
        return start
    return "\n" if start.startswith("\n") else ""
