"""Dialects in which calls are text, for models whose tool calls are absent, broken or leak."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..limits import Limit, SameText
from ..models import ToolChoice, ToolSpec
from .base import Conversation


@dataclass(frozen=True, slots=True)
class Told:
    """What it takes is imported with the first run: most programs never need it."""

    name: str
    shape: str

    def open(
        self,
        tools: tuple[ToolSpec, ...],
        new_id: Callable[[], str],
        tool_choice: ToolChoice = "auto",
    ) -> Conversation:
        from .text import SHAPES
        from .text.conversation import TextConversation

        return TextConversation(SHAPES[self.shape], tools, new_id, tool_choice)

    def limits(self) -> Sequence[Limit]:
        return (SameText(),)


tagged = Told("tagged", "tagged")
markdown = Told("markdown", "bold")
plain_zh = Told("plain_zh", "simple")
bracket = Told("bracket", "bracket")
classic = Told("classic", "classic")
