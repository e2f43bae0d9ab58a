"""Our own words to a model - why a reply could not be used, what to write instead - are never its answer.

A small model likes to repeat the last thing it read. An answer all of whose lines and sentences stand in
what it was told counts as such a repetition; one that says anything of its own does not.
"""

from __future__ import annotations

import re

from ..messages import Message, ToolErrorType, ToolResult, User

# Results that speak of the reply and not of the world.
_ABOUT_REPLY: frozenset[ToolErrorType | None] = frozenset(
    {"unknown_tool", "malformed", "truncated", "invalid_arguments", "limit", "repeated"}
)
_ENDS = re.compile(r"\n+|(?<=[.!?:])\s+|(?<=[。！？：])")
_AROUND = " \t\"'`*_.。"
_MIN_CHARS = 3  # anything shorter may be an answer of its own


class OwnWords:
    """What one conversation has told its model about the model's replies."""

    def __init__(self, *always: str) -> None:
        self._said: set[str] = set()
        for text in always:
            self.add(text)

    def hear(self, message: Message) -> None:
        """Remember a message that is about the model's replies; leave all others."""
        if (isinstance(message, User) and message.source in ("repair", "limit")) or (
            isinstance(message, ToolResult) and message.error_type in _ABOUT_REPLY
        ):
            self.add(message.text)

    def add(self, text: str) -> None:
        self._said.update(each for each in _sentences(text) if len(each) >= _MIN_CHARS)

    def are(self, text: str) -> bool:
        """Whether `text` says nothing but what the model was told."""
        sentences = _sentences(text)
        return bool(sentences) and all(each in self._said for each in sentences)

    def may_become(self, text: str) -> bool:
        """Whether more of `text` can make it a repetition."""
        *whole, last = _sentences(text) or [""]
        return all(each in self._said for each in whole) and any(
            each.startswith(last) for each in self._said
        )


class HeldAnswer:
    """The beginning of an answer, held back while it may be a repetition."""

    def __init__(self, words: OwnWords) -> None:
        self._words = words
        self._text = ""
        self._is_free = False

    def take(self, text: str) -> str:
        """What may be shown now that `text` has come too."""
        if self._is_free:
            return text
        self._text += text
        if self._words.may_become(self._text):
            return ""
        return self.rest()

    def rest(self) -> str:
        """What was held back: the answer is its own."""
        self._is_free = True
        text, self._text = self._text, ""
        return text


def _sentences(text: str) -> list[str]:
    parts = (" ".join(each.casefold().split()).strip(_AROUND) for each in _ENDS.split(text))
    return [each for each in parts if each]
