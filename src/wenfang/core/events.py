"""What a run tells its listeners while it happens. Deltas only; a message is sent whole once, at its end.

Order of events is the order of the transcript. `ModelStart` and `ToolStart` are announced *before*
the effect and awaited, so a listener that writes them down has an intent log (durable.md §8).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from .messages import JSON, Assistant, Failure, ToolCall, ToolResult, Usage, User
from .reasons import Reason, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStart:
    type: Literal["run_start"] = "run_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserAdded:
    """A person's message, a steering message, or words of the engine (`message.source`)."""

    message: User
    type: Literal["user_added"] = "user_added"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStart:
    """Request number `step` (from 1) of this run is about to be sent."""

    step: int
    message_id: str
    model: str
    type: Literal["model_start"] = "model_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDelta:
    """`off` is the offset of `text` in its block, in UTF-16 code units (studio.md §2.3)."""

    step: int
    message_id: str
    kind: Literal["text", "thinking", "call"]
    index: int
    off: int
    text: str
    attempt: int = 1
    name: str | None = None
    type: Literal["message_delta"] = "message_delta"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptReset:
    """What was shown of `message_id` is void; the next deltas belong to try `attempt`."""

    step: int
    message_id: str
    attempt: int
    failure: Failure
    usage: Usage
    type: Literal["attempt_reset"] = "attempt_reset"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEnd:
    step: int
    message_id: str
    message: Assistant
    type: Literal["message_end"] = "message_end"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStart:
    call: ToolCall
    access: Literal["read", "write", "exec"]
    type: Literal["tool_start"] = "tool_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUpdate:
    call_id: str
    text: str
    fraction: float | None = None
    type: Literal["tool_update"] = "tool_update"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnd:
    """Also sent for calls that never started (refused, malformed): then no `ToolStart` came."""

    call: ToolCall
    result: ToolResult
    type: Literal["tool_end"] = "tool_end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something worth showing that changes nothing. A code, not prose: the reader translates."""

    code: str
    params: dict[str, JSON] = field(default_factory=dict[str, JSON])
    type: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """The one closing event. `answer` is the last answer text, or what there is of it."""

    status: Status
    reason: Reason
    answer: str
    usage: Usage
    steps: int
    tool_calls: int
    failure: Failure | None = None
    type: Literal["run_end"] = "run_end"


AgentEvent: TypeAlias = (
    RunStart
    | UserAdded
    | ModelStart
    | MessageDelta
    | AttemptReset
    | MessageEnd
    | ToolStart
    | ToolUpdate
    | ToolEnd
    | Notice
    | RunEnd
)
