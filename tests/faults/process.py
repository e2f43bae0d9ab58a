"""Processes of the suite: forked workers, and the hook that kills one at a named place."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.faults.plan import Plan, make_agent

from wenfang.runs import Options, Runs, open_runs

OPTIONS = Options(
    lease_ttl_s=2.0, beat_s=0.3, reconcile_s=0.1, poll_s=0.05, retry_s=(0.02, 0.1), partial_s=0.01
)
PATIENCE_S = 60.0


@dataclass
class CrashAt:
    """Kills its own process when the `nth` time the place `name` is reached. A name that ends with
    a colon is a prefix."""

    name: str
    nth: int = 1
    seen: int = 0

    def __call__(self, name: str) -> None:
        if name == self.name or (self.name.endswith(":") and name.startswith(self.name)):
            self.seen += 1
            if self.seen == self.nth:
                os.kill(os.getpid(), signal.SIGKILL)


def nowhere(name: str) -> None:
    del name


@dataclass(frozen=True)
class Died:
    """How a process ended. `code` is its exit status, or minus the signal that killed it."""

    code: int

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


class Process:
    """A forked process that runs a coroutine; its trace of a failure goes to standard error."""

    def __init__(self, main: Callable[[], Awaitable[None]]) -> None:
        sys.stdout.flush()
        self.pid = os.fork()
        self._died: Died | None = None
        if self.pid == 0:
            code = 1
            try:
                asyncio.run(main())  # type: ignore[arg-type]
                code = 0
            except BaseException:  # noqa: BLE001 - the end of the process
                traceback.print_exc()
            finally:
                os._exit(code)

    def send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self, within_s: float = PATIENCE_S) -> Died | None:
        """How it ended, or None if it still runs after `within_s`; then it is killed."""
        until = time.monotonic() + within_s
        while self._died is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._died = Died(os.waitstatus_to_exitcode(status))
            elif time.monotonic() > until:
                self.send(signal.SIGKILL)
                os.waitpid(self.pid, 0)
                return None
            else:
                time.sleep(0.003)
        return self._died


def worker(
    data: Path,
    *,
    probe: Callable[[str], None] = nowhere,
    submit: Sequence[Plan] = (),
    options: Options = OPTIONS,
    act: Callable[[Runs, list[str]], Awaitable[None]] | None = None,
    deadline_s: float | None = None,
) -> Process:
    """A process that submits plans, does `act` with their ids, and ends when no run is open."""

    async def main() -> None:
        async with open_runs(
            data, make_agent=make_agent(data, probe), options=options, probe=probe
        ) as runs:
            ids = [await start(runs, plan, deadline_s) for plan in submit]
            if act is not None:
                await act(runs, ids)
            while await open_count(runs):
                await asyncio.sleep(0.01)

    return Process(main)


async def start(runs: Runs, plan: Plan, deadline_s: float | None = None) -> str:
    projects = await runs.projects()
    project = projects[0] if projects else await runs.create_project("Faults")
    session = await runs.create_session(project.id, plan.name)
    return (await runs.submit(session.id, plan.text(), deadline_s=deadline_s)).id


async def open_count(runs: Runs) -> int:
    return sum(project.running for project in await runs.projects())
