"""Reasoning that a server leaves in the text: `<think>…</think>` at the start of a reply."""

from __future__ import annotations

from collections.abc import Iterator

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkTags:
    """Separates one block of reasoning at the start from the text after it, without the tags and the
    line ends next to them. Pieces may be cut anywhere; after other text a tag is text."""

    def __init__(self) -> None:
        self._held: str = ""
        self._state = "start"

    def feed(self, text: str) -> Iterator[tuple[str, str]]:
        """Pieces as ("thinking" | "text", text)."""
        if self._state != "text":
            text, self._held = self._held + text, ""
        if self._state == "start":
            body = text.lstrip()
            if not body.startswith(_OPEN):
                if _OPEN.startswith(body):
                    self._held = text
                    return
                self._state = "text"
            else:
                self._state, text = "opened", body.removeprefix(_OPEN)
        if self._state in ("opened", "inside"):
            thought, closed, rest = text.partition(_CLOSE)
            if not closed:
                thought, self._held = _cut(thought)
            yield from self._thinking(thought.rstrip("\n") if closed else thought)
            if not closed:
                return
            self._state, text = "after", rest
        if self._state == "after":
            text = text.lstrip("\n")
        if text:
            self._state = "text"
            yield "text", text

    def _thinking(self, thought: str) -> Iterator[tuple[str, str]]:
        if self._state == "opened":
            thought = thought.lstrip("\n")
        if thought:
            self._state = "inside"
            yield "thinking", thought

    def close(self) -> Iterator[tuple[str, str]]:
        """What was held back when the reply ended."""
        if self._held:
            yield "text" if self._state == "start" else "thinking", self._held
            self._held = ""


def _cut(text: str) -> tuple[str, str]:
    """`text`, and what at its end may belong to the closing tag: a piece of it, line ends before it."""
    keep = len(text)
    for size in range(min(len(_CLOSE) - 1, keep), 0, -1):
        if text.endswith(_CLOSE[:size]):
            keep -= size
            break
    keep = len(text[:keep].rstrip("\n"))
    return text[:keep], text[keep:]
