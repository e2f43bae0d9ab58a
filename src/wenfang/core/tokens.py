"""A rough count of tokens, for usage that a provider did not report. Always flagged as estimated."""

from __future__ import annotations

from .messages import Image, Message, System, Text, Thinking, ToolCall
from .models import ModelRequest

# Per-script rates with a margin of 40 % (local-models §4): unknown models differ by up to 1.8 times.
_WIDE, _NARROW, _IMAGE, _MESSAGE = 0.87, 0.33, 1200, 4


def estimate_tokens(text: str) -> int:
    """Tokens of a text, from its counts of wide (CJK and beyond) and other characters."""
    if text.isascii():
        return round(_NARROW * len(text))
    wide = sum(char > "\u2e7f" for char in text)
    return round(_WIDE * wide + _NARROW * (len(text) - wide))


def estimate_request(request: ModelRequest) -> int:
    """Tokens of a request: its messages, and its tools as JSON."""
    tools = sum(estimate_tokens(f"{t.name}{t.description}{t.parameters}") for t in request.tools)
    return tools + sum(_MESSAGE + _message(message) for message in request.messages)


def _message(message: Message) -> int:
    if isinstance(message, System):
        return estimate_tokens(message.content)
    return sum(_block(block) for block in message.content)


def _block(block: Text | Thinking | Image | ToolCall) -> int:
    if isinstance(block, Image):
        return _IMAGE
    if isinstance(block, ToolCall):
        return estimate_tokens(f"{block.name}{dict(block.arguments)}")
    return estimate_tokens(block.text)
