"""What the room hands out: projects, sessions, runs, frames; and what an application hands in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from wenfang.core import (
    Dialect,
    Effect,
    Hooks,
    Limits,
    ModelClient,
    Reason,
    Status,
    Toolbox,
    ToolChoice,
    Usage,
)
from wenfang.workspace import Files

RunStatus: TypeAlias = Literal["queued", "running"] | Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Files with sessions. Times are Unix seconds. `running` counts its active runs. `folder` is a
    person's own folder of the disk; None: the files are in the database. `template` names what it began
    with (`Template.name`), if it began with one."""

    id: str
    title: str
    folder: Path | None
    template: str | None
    created_at: float
    updated_at: float
    running: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation. `active_run` is the id of its queued or running run."""

    id: str
    project_id: str
    title: str
    created_at: float
    updated_at: float
    active_run: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """A run as it stands. `reason` and `finished_at` are None until it has ended."""

    id: str
    session_id: str
    project_id: str
    status: RunStatus
    reason: Reason | None
    created_at: float
    finished_at: float | None
    usage: Usage

    @property
    def is_finished(self) -> bool:
        return self.status not in ("queued", "running")


class Frame(NamedTuple):
    """One frame of an event stream, encoded once for all readers. `seq` is the SSE id, None on
    ephemeral frames; `data` is the JSON of an `Event`, one line of UTF-8."""

    seq: int | None
    data: bytes
    run_id: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A session as of `seq`: the facts of its last runs as JSON, then the running message as deltas
    with `off` 0. `more`: there are earlier runs, ask with `before` the first frame's seq."""

    seq: int
    frames: tuple[bytes, ...]
    partials: tuple[bytes, ...]
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """For whom an agent is made. `files` are its project's, as this run writes them, `template` names what
    the project began with. `text` is what the person asked; `effects` are those of the run so far."""

    run_id: str
    session_id: str
    project_id: str
    files: Files = field(compare=False)
    text: str
    user_id: str = "local"
    template: str | None = None
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """How a run works: all that `run_loop` needs and the journal notes. `agent` is the role's name.
    The toolbox must be the same for the same context, so that another process can take over. A
    `tool_choice` ("required", or a tool's name) holds until the first call of a run. Raises `ValueError`
    if it names no tool."""

    client: ModelClient
    tools: Toolbox
    dialect: Dialect
    instructions: str = ""
    agent: str = "solo"
    hooks: Hooks = field(default_factory=Hooks)
    limits: Limits = field(default_factory=Limits)
    streaming: bool = True
    tool_choice: ToolChoice = "auto"

    def __post_init__(self) -> None:
        self.tools.check_choice(self.tool_choice)


MakeAgent: TypeAlias = Callable[[RunContext], AgentSpec]
"""Called when a run is submitted and again when it is taken over; raises `Problem` (for example
`model_unavailable`), which refuses the submit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The numbers of the room, in seconds unless named otherwise.

    `slots` runs at once in this process, `user_runs` of one user on this database. A lease lives
    `lease_ttl_s` and is renewed each `beat_s`; the process fences itself when it could not renew for
    0.8 of it. `attempts`: claims without a new finished step before a run counts as poison.
    `delta_s` and `delta_chars` bound how long and how far text is held back to be sent together.
    `patience_s` is how long a fact whose loss would cost no more than asking or reading again may wait
    for an intent to be written with. `retry_s` are the pauses after which a failed write is tried again.
    `reserve_tokens` is reserved for a run whose limits name no token budget.
    """

    slots: int = 256
    user_runs: int = 256
    lease_ttl_s: float = 15.0
    beat_s: float = 5.0
    reconcile_s: float = 5.0
    poll_s: float = 0.25
    attempts: int = 5
    delta_s: float = 0.04
    delta_chars: int = 64
    partial_s: float = 1.0
    patience_s: float = 0.04
    deadline_s: float | None = None
    retry_s: tuple[float, ...] = (0.05, 0.25, 1.0, 3.0)
    reserve_tokens: int = 200_000
