"""What the routes work with: one value per app, handed to each route by dependency."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated

from fastapi import Depends, Request

from wenfang.accounts import Accounts
from wenfang.crews import Models
from wenfang.runs import Runs
from wenfang.settings import SettingsStore

from .jobs import Job
from .streams import Streams


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Open services; whoever opened them closes them after the server has ended. Without `accounts` the
    server is local; `setup_code` lets the first admin be made."""

    store: SettingsStore
    models: Models
    runs: Runs
    pulls: Job
    probes: Job
    streams: Streams
    accounts: Accounts | None = None
    setup_code: str = ""
    version: str = version("wenfang")


async def _services(request: Request) -> Services:  # not async, it would cost a worker thread
    services: Services = request.app.state.services
    return services


Served = Annotated[Services, Depends(_services)]
