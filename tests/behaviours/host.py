"""The product's server with the corpus's tools, in this process or, to be killed, in one of its own."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from wenfang.core import Toolbox
from wenfang.crews import open_models
from wenfang.runs import AgentSpec, Options, RunContext, open_runs
from wenfang.server.app import make_app
from wenfang.server.jobs import Job
from wenfang.server.services import Services
from wenfang.server.serving import Server, bind, url_of
from wenfang.server.streams import Streams
from wenfang.settings import SettingsStore

from .bench import Workbench
from .corpus import Case, load_cases
from .direct import Sleeps, make_client, make_limits

CALLS = "calls.jsonl"
_APP = make_app(None)  # building its routes takes longer than a case; it serves one case at a time
_OPTIONS = Options(delta_s=0.005, delta_chars=1, retry_s=(0.01,) * 4)


async def _no_job(report: Callable[[float], None]) -> None:
    raise AssertionError("no case downloads or probes anything")


class _FailingOnce:
    """The store fails in each of the named transactions, the first time only."""

    def __init__(self, places: list[str]) -> None:
        self._places = list(places)

    def __call__(self, place: str) -> None:
        if place in self._places:
            self._places.remove(place)
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error


@asynccontextmanager
async def open_host(
    case: Case, data: Path, model_url: str, bench: Workbench, sleeps: Sleeps
) -> AsyncGenerator[str]:
    """Serve the data directory; gives the server's address. All runs of it are runs of `case`."""

    def make_agent(context: RunContext) -> AgentSpec:
        return AgentSpec(
            client=make_client(case, model_url, sleeps),
            tools=Toolbox(bench.tools(case.tools, case.schemas)),
            dialect=case.spoken,
            instructions="You are under test.",
            limits=make_limits(case),
            tool_choice=case.tool_choice,  # type: ignore[arg-type]
        )

    store = SettingsStore(data)
    bound = bind("127.0.0.1", 0)
    async with (
        open_models(store) as models,
        open_runs(
            data, make_agent=make_agent, options=_OPTIONS, probe=_FailingOnce(case.store_fails)
        ) as runs,
    ):
        services = Services(
            store=store,
            models=models,
            runs=runs,
            pulls=Job(_no_job, busy="pull_active"),
            probes=Job(_no_job, busy="probe_active"),
            streams=Streams(),
        )
        _APP.state.services = services
        ready = asyncio.Event()
        server = Server(_APP, closing=services.streams.close, ready=ready.set)
        serving = asyncio.create_task(server.serve(sockets=[bound]))
        await ready.wait()
        try:
            yield url_of(bound)
        finally:
            server.should_exit = True
            await serving


async def _main(case_id: str, dialect: str, data: Path, model_url: str, *, hold: bool) -> None:
    case = next(case for case in load_cases(case_id) if case.id == case_id)
    case = replace(case, dialect=dialect)
    bench = Workbench(log=data / CALLS, hold=hold)
    async with open_host(case, data, model_url, bench, Sleeps()) as url:
        print(url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    case_id, dialect, data, model_url, hold = sys.argv[1:]
    asyncio.run(_main(case_id, dialect, Path(data), model_url, hold=hold == "hold"))
