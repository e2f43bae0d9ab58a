"""The facts of a run: what the journal keeps and what viewers are sent (design M1, studio.md §3.1).

One persisted fact is one frame of the event stream; its `seq` is the frame's SSE id. A frame is the
fact's JSON with the envelope in front: the union below is both the storage format and the wire
format, and reaches the studio's TypeScript through OpenAPI. Ephemeral frames (deltas, progress) are
sent live only, carry no SSE id and are never needed: the finished message says everything again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from pydantic import Field
from typing_extensions import TypeAliasType

from wenfang.core import (
    JSON,
    Assistant,
    Failure,
    Reason,
    Source,
    Status,
    ToolResult,
    Usage,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """`seq` rises by one per project without gaps (0 on ephemeral frames), `ts` is Unix seconds.
    `run_id` and `session_id` are empty on facts that belong to the project alone."""

    seq: int = 0
    ts: float = 0.0
    run_id: str = ""
    session_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Envelope):
    """First fact of a run. `agent` is the crew's role."""

    agent: str
    model: str
    dialect: str
    type: Literal["run.started"] = "run.started"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage(Envelope):
    """`source` "steer" marks words that were added while the run worked; `signal` is the number of
    the signal that brought them (durable.md §8), so that each is applied once."""

    message_id: str
    text: str
    source: Source = "user"
    signal: int | None = None
    type: Literal["user.message"] = "user.message"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted(Envelope):
    """Intent: model request number `step` is about to be sent; its reply will be `message_id`."""

    step: int
    message_id: str
    model: str
    type: Literal["step.started"] = "step.started"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReset(Envelope):
    """What viewers saw of `message_id` is void. `reason` "takeover": another worker asks again."""

    step: int
    message_id: str
    attempt: int
    reason: str
    usage: Usage = field(default_factory=Usage)
    type: Literal["step.reset"] = "step.reset"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFinished(Envelope):
    step: int
    message_id: str
    message: Assistant
    type: Literal["message.finished"] = "message.finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(Envelope):
    """Intent: the call is about to take effect. `replay` says what a takeover may do with it."""

    call_id: str
    name: str
    args: dict[str, JSON]
    access: Literal["read", "write", "exec"]
    replay: Literal["read", "idempotent", "unsafe"]
    type: Literal["tool.started"] = "tool.started"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished(Envelope):
    """Also written for calls that never started (refused, malformed): then no `tool.started` came."""

    call_id: str
    name: str
    args: dict[str, JSON]
    result: ToolResult
    type: Literal["tool.finished"] = "tool.finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeGiven(Envelope):
    """A code and its parameters; the studio and the command line have the words."""

    level: Literal["info", "warning", "error"]
    code: str
    params: dict[str, JSON] = field(default_factory=dict[str, JSON])
    type: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(Envelope):
    """Last fact of a run, exactly one. `answer` is the final answer or what there is of it."""

    status: Status
    reason: Reason
    answer: str
    usage: Usage
    steps: int
    tool_calls: int
    failure: Failure | None = None
    type: Literal["run.finished"] = "run.finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanged(Envelope):
    """A file of the project changed. `revision` is empty for a deleted one; `to` is the new path of
    a renamed one; of an arranged folder the files have another order. Facts of a run's tools carry the
    run's id."""

    path: str
    change: Literal["created", "written", "deleted", "renamed", "arranged"]
    by: Literal["author", "ai", "system"]
    revision: str = ""
    to: str | None = None
    type: Literal["file.changed"] = "file.changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChanged(Envelope):
    title: str
    deleted: bool = False
    type: Literal["session.changed"] = "session.changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDelta(Envelope):
    """Ephemeral. `text` belongs at offset `off` (UTF-16 code units) of block `index` of the message:
    a reader cuts its text at `off` and appends; if its text is shorter than `off`, it has a gap and
    takes a snapshot. `kind` "call" is a preview of written arguments, `name` the tool's."""

    step: int
    message_id: str
    attempt: int
    kind: Literal["text", "thinking", "call"]
    index: int
    off: int
    text: str
    name: str | None = None
    type: Literal["message.delta"] = "message.delta"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress(Envelope):
    """Ephemeral."""

    call_id: str
    text: str
    fraction: float | None = None
    type: Literal["tool.progress"] = "tool.progress"


Fact: TypeAlias = (
    RunStarted
    | UserMessage
    | StepStarted
    | StepReset
    | MessageFinished
    | ToolStarted
    | ToolFinished
    | NoticeGiven
    | RunFinished
    | FileChanged
    | SessionChanged
)
Ephemeral: TypeAlias = BlockDelta | ToolProgress
Event = TypeAliasType("Event", Annotated[Fact | Ephemeral, Field(discriminator="type")])
