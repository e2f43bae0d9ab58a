"""The app: routes, guard, error envelope, studio, and what must be open around it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI

from wenfang.accounts import Accounts, new_setup_code
from wenfang.crews import open_models
from wenfang.runs import open_runs
from wenfang.settings import SettingsStore, open_data_dir

from . import errors, studio
from .cookies import LoginCookie
from .jobs import Job, probe_current, pull_default
from .routes import routers
from .security import Guard, PublicUrl
from .services import Services
from .serving import Server
from .streams import Streams


def make_app(
    services: Services | None, *, static: Path = studio.BUILT, public: PublicUrl | None = None
) -> FastAPI:
    """The app over open services. Without services it can only describe itself. `public` is where other
    machines reach it."""
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
    app.state.cookie = LoginCookie(is_secure=public is not None and public.is_secure)
    errors.install(app)
    app.add_middleware(Guard, public=public)
    for router in routers:
        app.include_router(router)
    app.router.default = studio.Studio(static)
    return app


@contextlib.asynccontextmanager
async def open_services(
    data: Path,
    flags: Mapping[str, str | None] | None = None,
    database: str | None = None,
    *,
    with_accounts: bool = False,
) -> AsyncGenerator[Services]:
    """Open the data directory, the database (the one at the address `database`, if there is one) and the
    models. Once there are accounts, they are used whatever is asked for. Raises `Problem`."""
    open_data_dir(data)
    store = SettingsStore(data, flags)
    store.current()
    pulls = Job(pull_default, busy="pull_active")
    async with (
        open_models(store) as models,
        open_runs(data, make_agent=models.make_agent, database=database) as runs,
    ):
        probes = Job(partial(probe_current, store, models), busy="probe_active")
        accounts = Accounts(runs.store)
        has_users = await accounts.people.any()
        try:
            yield Services(
                store=store,
                models=models,
                runs=runs,
                pulls=pulls,
                probes=probes,
                streams=Streams(),
                accounts=accounts if with_accounts or has_users else None,
                setup_code="" if has_users else new_setup_code(),
            )
        finally:
            await pulls.cancel()
            await probes.cancel()


async def serve(
    data: Path,
    bound: socket.socket,
    *,
    project: Path | None = None,
    with_accounts: bool = False,
    public: PublicUrl | None = None,
    database: str | None = None,
    ready: Callable[[Services], None] = lambda _: None,
) -> None:
    """Serve until SIGTERM or SIGINT, then drain: streams end, runs are handed on, all is closed.
    `project` is a folder that shall be among the projects, `database` the address of a PostgreSQL database;
    a server with a `public` address has accounts."""
    has_accounts = with_accounts or public is not None
    async with open_services(data, database=database, with_accounts=has_accounts) as services:
        if project is not None:
            await services.runs.project_at(project)
        app = make_app(services, public=public)
        server = Server(app, closing=services.streams.close, ready=partial(ready, services))
        await server.serve(sockets=[bound])
