"""The app: routes, guard, error envelope, studio, and what must be open around it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI

from wenfang.crews import open_models
from wenfang.runs import open_runs
from wenfang.settings import SettingsStore, open_data_dir

from . import errors, studio
from .jobs import Job, probe_current, pull_default
from .routes import routers
from .security import Guard
from .services import Services
from .serving import Server
from .streams import Streams


def make_app(services: Services | None, *, static: Path = studio.BUILT) -> FastAPI:
    """The app over open services. Without services it can only describe itself."""
    app = FastAPI(
        title="Wenfang",
        version=version("wenfang"),
        description="The studio's protocol. See docs/wire.md.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        generate_unique_id_function=lambda route: route.name,
        responses={"default": {"model": errors.ErrorBody, "description": "any other failure"}},
    )
    app.state.services = services
    errors.install(app)
    app.add_middleware(Guard)
    for router in routers:
        app.include_router(router)
    app.router.default = studio.Studio(static)
    return app


@contextlib.asynccontextmanager
async def open_services(
    data: Path, flags: Mapping[str, str | None] | None = None, database: str | None = None
) -> AsyncGenerator[Services]:
    """Open the data directory, the database (the one at the address `database`, if there is one) and the
    models. Raises `Problem`."""
    open_data_dir(data)
    store = SettingsStore(data, flags)
    store.current()
    pulls = Job(pull_default, busy="pull_active")
    async with (
        open_models(store) as models,
        open_runs(data, make_agent=models.make_agent, database=database) as runs,
    ):
        probes = Job(partial(probe_current, store, models), busy="probe_active")
        try:
            yield Services(
                store=store,
                models=models,
                runs=runs,
                pulls=pulls,
                probes=probes,
                streams=Streams(),
            )
        finally:
            await pulls.cancel()
            await probes.cancel()


async def serve(
    data: Path,
    bound: socket.socket,
    *,
    project: Path | None = None,
    database: str | None = None,
    ready: Callable[[Services], None] = lambda _: None,
) -> None:
    """Serve until SIGTERM or SIGINT, then drain: streams end, runs are handed on, all is closed.
    `project` is a folder that shall be among the projects, `database` the address of a PostgreSQL database."""
    async with open_services(data, database=database) as services:
        if project is not None:
            await services.runs.project_at(project)
        app = make_app(services)
        server = Server(app, closing=services.streams.close, ready=partial(ready, services))
        await server.serve(sockets=[bound])
