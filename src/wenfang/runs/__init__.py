"""Durable runs: the journal, who drives which run, and the live stream (durable.md, design §6)."""

from .catalog import projects_named
from .facts import (
    BlockDelta,
    Envelope,
    Ephemeral,
    Event,
    Fact,
    FileChanged,
    MessageFinished,
    NoticeGiven,
    RunFinished,
    RunStarted,
    SessionChanged,
    StepReset,
    StepStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    UserMessage,
)
from .hub import Subscription
from .moving_in import move_in
from .records import (
    AgentSpec,
    Frame,
    MakeAgent,
    Options,
    Project,
    RunContext,
    RunInfo,
    RunStatus,
    Session,
    Snapshot,
)
from .service import Runs, open_runs
from .shelf import Shelf
from .telling import tell_files

__all__ = [
    "AgentSpec",
    "BlockDelta",
    "Envelope",
    "Ephemeral",
    "Event",
    "Fact",
    "FileChanged",
    "Frame",
    "MakeAgent",
    "MessageFinished",
    "NoticeGiven",
    "Options",
    "Project",
    "RunContext",
    "RunFinished",
    "RunInfo",
    "RunStarted",
    "RunStatus",
    "Runs",
    "Session",
    "SessionChanged",
    "Shelf",
    "Snapshot",
    "StepReset",
    "StepStarted",
    "Subscription",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
    "UserMessage",
    "move_in",
    "open_runs",
    "projects_named",
    "tell_files",
]
