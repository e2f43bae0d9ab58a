"""Wenfang (文房): agents for long-form work that never lose a word.

The library's door. Names are loaded on first use, so that importing costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core import (
        Agent,
        AgentEvent,
        Deny,
        Hooks,
        Image,
        Limits,
        MessageDelta,
        MessageEnd,
        RunEnd,
        Text,
        ToolContext,
        ToolEnd,
        ToolError,
        ToolOutput,
        ToolStart,
        bracket,
        classic,
        lenient,
        markdown,
        native,
        plain_zh,
        tagged,
        tool,
    )
    from .core.dialects.schema import schema
    from .models import ChatClient, Resilient

__version__ = "0.1.0"

_HOMES = {
    "ChatClient": ".models",
    "Resilient": ".models",
    "schema": ".core.dialects.schema",
}

__all__ = [
    "Agent",
    "AgentEvent",
    "ChatClient",
    "Deny",
    "Hooks",
    "Image",
    "Limits",
    "MessageDelta",
    "MessageEnd",
    "Resilient",
    "RunEnd",
    "Text",
    "ToolContext",
    "ToolEnd",
    "ToolError",
    "ToolOutput",
    "ToolStart",
    "bracket",
    "classic",
    "lenient",
    "markdown",
    "native",
    "plain_zh",
    "schema",
    "tagged",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, ".core"), __name__), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
