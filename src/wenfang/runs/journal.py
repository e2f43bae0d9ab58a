"""The journal's port: the truth about runs, and what a worker may do to it (durable.md §3, §8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from wenfang.core import Reason, Status, Usage

from .facts import Fact
from .fold import Fold
from .records import Frame, RunInfo
from .settlement import Settlement

Probe: TypeAlias = Callable[[str], None]
"""Told the names of the places where the fault suite kills the process."""


class Fenced(Exception):  # noqa: N818 - an outcome the driver acts on
    """The run has another owner now, or has ended. Whoever gets this stops without a trace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """`facts` are its first ones; `title` names the session if it has no title yet."""

    id: str
    session_id: str
    user_id: str
    request_id: str | None
    owner: str
    deadline_at: float | None
    reserve: int
    title: str
    facts: Sequence[Fact]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to append to a run, until someone else claims it. `attempts` counts claims since the
    last finished step; `reserved` is the reservation in tokens."""

    run_id: str
    session_id: str
    project_id: str
    folder: Path | None
    template: str | None
    user_id: str
    worker: str
    epoch: int
    attempts: int
    deadline_at: float | None
    stop_requested: bool
    next_signal: int
    newest_signal: int
    reserved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """Not now: a live worker has it, or its user has enough runs at once."""

    why: Literal["owned", "user"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The run has ended."""


Claimed: TypeAlias = Claim | Busy | Finished


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An encoded fact on its way into the journal. `signal` is the signal it applies; `is_step`
    marks a finished step, `ends_message` that the message being written has come or is void."""

    kind: str
    body: bytes
    signal: int | None = None
    is_step: bool = False
    ends_message: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    """What an append tells a worker. `frames` are the facts as they stand in the project's stream."""

    frames: tuple[Frame, ...]
    stop_requested: bool
    newest_signal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ends: the columns of its row, its last facts and its settlement. A run that ended well
    does not end while a steering message waits (`Waiting`); others take its words along."""

    run_id: str
    status: Status
    reason: Reason
    usage: Usage
    entries: Sequence[Entry]
    settlement: Settlement


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Steering messages came in before the end; this is the newest one's number."""

    newest_signal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    n: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Frames after a number. `upto` is the project's number up to which the reader then has all that
    it asked for, `complete` that this was the project's newest; `ended` that the run has ended and
    the reader has its last fact."""

    frames: tuple[Frame, ...]
    upto: int
    complete: bool
    ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The run after a stop was asked for, and the frames if that ended it."""

    info: RunInfo
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphan:
    """An unfinished run that a worker may claim, or drives already."""

    run_id: str
    expired: bool
    stop_requested: bool
    newest_signal: int


class Journal(Protocol):
    """All calls are atomic. `append`, `finish` and `release` raise `Fenced` for a claim that holds no
    longer; any may raise `Problem` when the database fails, and then nothing was written."""

    async def submit(self, run: NewRun) -> tuple[RunInfo, tuple[Frame, ...]]:
        """Row, first facts and reservation. The same `request_id` again gives the first run and no
        frames. Raises Problem `session_not_found` or `run_active`."""
        ...

    async def claim(self, run_id: str, worker: str) -> Claimed: ...

    async def append(self, claim: Claim, entries: Sequence[Entry]) -> Ack: ...

    async def finish(self, claim: Claim, ending: Ending) -> Ack | Waiting: ...

    async def release(self, claim: Claim) -> None:
        """Give the run back, so that another worker may claim it at once."""
        ...

    async def history(self, claim: Claim) -> Fold:
        """The session's facts up to now, folded."""
        ...

    async def stop(self, run_id: str, unstarted: Ending) -> Stopped:
        """Ask a run to stop. One that was never claimed ends here, with `unstarted`. Any number of
        times; raises Problem `run_not_found`."""
        ...

    async def steer(self, run_id: str, text: str) -> Signal:
        """Keep a message for a run. Raises Problem `run_not_found` or `run_finished`."""
        ...

    async def save_partial(self, claim: Claim, frames: bytes | None) -> None:
        """Keep what viewers saw of a message that is being written, as lines of JSON."""
        ...

    async def partial(self, run_id: str) -> bytes:
        """The newest partial, empty if there is none."""
        ...

    async def orphans(self, worker: str) -> list[Orphan]:
        """Unfinished runs that this worker may claim: its own, nobody's, and those of the dead."""
        ...

    async def signals(self, run_id: str, after: int) -> list[Signal]:
        """Steering messages with a number above `after`."""
        ...

    async def page(self, project_id: str, after: int, run_id: str | None = None) -> Page: ...
