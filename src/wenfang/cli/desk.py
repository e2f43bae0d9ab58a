"""What `run` and `chat` work on: the data directory, the settings with flags, a project, one turn."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from wenfang.core import Status
from wenfang.crews import Models, open_models
from wenfang.problems import Problem
from wenfang.runs import RunFinished, Runs, open_runs
from wenfang.settings import SettingsStore, data_dir, database_url, open_data_dir

from .language import Say
from .main import EXIT_ERROR, EXIT_PARTIAL, EXIT_STOPPED
from .render import Printer, decode

EXITS: Mapping[Status, int] = {
    "done": 0,
    "partial": EXIT_PARTIAL,
    "stopped": EXIT_STOPPED,
    "failed": EXIT_ERROR,
    "expired": EXIT_ERROR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """An open data directory. `store` reads the settings, flags first."""

    say: Say
    data: Path
    store: SettingsStore
    models: Models

    @contextlib.asynccontextmanager
    async def runs(self) -> AsyncGenerator[Runs]:
        """The runs of this data directory, shared with a server that may be using it too."""
        async with open_runs(
            self.data, make_agent=self.models.make_agent, database=database_url()
        ) as runs:
            yield runs

    def printer(self) -> Printer:
        settings = self.store.current()
        where = settings.base_url if settings.provider == "openai" else ""
        return Printer(self.say, where=where, model=settings.model)


@contextlib.asynccontextmanager
async def open_desk(
    say: Say, data: Path | None, flags: Mapping[str, str | None]
) -> AsyncGenerator[Desk]:
    """Open everything a run needs. Raises `Problem` before anything is written."""
    folder = data_dir(data)
    store = SettingsStore(folder, flags)  # flags first: they may be wrong
    open_data_dir(folder)
    store.current()
    async with open_models(store) as models:
        yield Desk(say=say, data=folder, store=store, models=models)


async def take_turn(
    desk: Desk, runs: Runs, session_id: str, text: str, *, as_json: bool = False
) -> RunFinished:
    """Do one run and show it. Ctrl-C stops it and keeps what there is; a second one leaves at once."""
    printer = desk.printer()
    submitting = asyncio.create_task(runs.submit(session_id, text))
    stopping: set[asyncio.Task[None]] = set()

    async def stop() -> None:
        await runs.stop((await asyncio.shield(submitting)).id)

    def interrupted() -> None:
        print(desk.say("run.stopping"), file=sys.stderr, flush=True)  # noqa: T201
        stopping.add(asyncio.create_task(stop()))

    with _interrupts(interrupted):
        run = await submitting
        async with runs.subscribe_run(run.id, after=0) as frames:
            async for frame in frames:
                event = decode(frame.data)
                if as_json:
                    sys.stdout.buffer.write(frame.data + b"\n")
                    sys.stdout.buffer.flush()
                else:
                    printer.show(event)
                if isinstance(event, RunFinished):
                    return event
    raise Problem("shutting_down")


@contextlib.contextmanager
def _interrupts(stop: Callable[[], None]) -> Generator[None]:
    """Ctrl-C calls `stop` once, then interrupts for good."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    is_stopping = False

    def interrupt() -> None:
        nonlocal is_stopping
        if is_stopping:
            task.cancel()
        else:
            is_stopping = True
            stop()

    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
