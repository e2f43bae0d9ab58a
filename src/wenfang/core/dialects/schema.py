"""The schema dialect: each step is one JSON object that a schema constrains (local-models §1.6).

For models that cannot call tools by themselves, such as small local ones. A step is
`{"thought", "action", "input"}` or `{"thought", "action": "final", "answer"}`; the history shows the
model only well-formed steps of its own, whatever it or another model really wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..limits import Limit, SameText
from ..models import ToolChoice, ToolSpec
from .base import Conversation


@dataclass(frozen=True, slots=True)
class Schema:
    """What it takes is imported with the first run: most programs never need it."""

    name: str = "schema"

    def open(
        self,
        tools: tuple[ToolSpec, ...],
        new_id: Callable[[], str],
        tool_choice: ToolChoice = "auto",
    ) -> Conversation:
        from .schema_conversation import StepConversation

        return StepConversation(tools, new_id, tool_choice)

    def limits(self) -> Sequence[Limit]:
        from .schema_conversation import Repeats

        return (Repeats(), SameText())


schema = Schema()
