"""Text dialects: actions and answers of models that have no native tool calls, read safely.

`Parser` reads a reply as it arrives, `parse` a whole one; `SHAPES` are the dialects. `render_observation`
writes a tool's result so that nothing in it can be taken for the protocol.
"""

from .events import (
    AnswerDelta,
    Call,
    Cut,
    Event,
    Outcome,
    Reason,
    Reclassify,
    TextDelta,
    ThoughtDelta,
    ToolReady,
    ToolStart,
)
from .observe import render_observation, restore_observation, restored
from .parser import Parser, parse
from .shapes import SHAPES, Shape

__all__ = [
    "SHAPES",
    "AnswerDelta",
    "Call",
    "Cut",
    "Event",
    "Outcome",
    "Parser",
    "Reason",
    "Reclassify",
    "Shape",
    "TextDelta",
    "ThoughtDelta",
    "ToolReady",
    "ToolStart",
    "parse",
    "render_observation",
    "restore_observation",
    "restored",
]
