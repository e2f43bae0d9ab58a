"""Hooks: where a crew or an application bends a run. All are optional; a hook that fails denies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from .limits import Deny
from .messages import JSON, Assistant, Message, ToolCall, ToolResult, User
from .reasons import Reason

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """Run the call with these arguments instead; they are validated again."""

    arguments: Mapping[str, JSON]


Decision: TypeAlias = Allow | Deny | Rewrite


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One reply and the results of its calls."""

    reply: Assistant
    results: tuple[ToolResult, ...]


def _nothing() -> Sequence[User]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """`prepare` gives the view of the transcript that one request sees (compaction, memory).
    `before_tool` decides on a validated call; `after_tool` may change a result. `after_turn` may end
    the run with a reason. `steering` is asked before each request and after an answer, `follow_up`
    when the run would end; both hand out each message once."""

    prepare: Callable[[Sequence[Message]], Awaitable[Sequence[Message]]] | None = None
    before_tool: Callable[[ToolCall, BaseModel], Awaitable[Decision]] | None = None
    after_tool: Callable[[ToolCall, ToolResult], Awaitable[ToolResult]] | None = None
    after_turn: Callable[[Turn], Awaitable[Reason | None]] | None = None
    steering: Callable[[], Sequence[User]] = _nothing
    follow_up: Callable[[], Sequence[User]] = _nothing
