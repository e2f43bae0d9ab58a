"""Health, readiness, and what this server is."""

from __future__ import annotations

from starlette.responses import JSONResponse

from wenfang.problems import Problem

from ..access import Router
from ..services import Served
from ..shapes import Health, Info, Ready
from .model import model_state

router = Router(tags=["system"])


@router.get("/health")
async def health(services: Served) -> Health:
    """The process answers; nothing else is looked at."""
    return Health(version=services.version)


@router.get("/ready", response_model=Ready, responses={503: {"model": Ready}})
async def ready(services: Served) -> JSONResponse:
    """Whether runs can be taken: the database can be written and the server is not closing."""
    checks = {"database": True, "open": not services.streams.is_closing}
    try:
        await services.runs.check()
    except Problem:
        checks["database"] = False
    is_ready = all(checks.values())
    answer = Ready(status="ready" if is_ready else "not_ready", checks=checks)
    return JSONResponse(answer.model_dump(), 200 if is_ready else 503)


@router.get("/api/info", tags=["system"])
async def info(services: Served) -> Info:
    return Info(
        version=services.version, local=services.accounts is None, model=model_state(services)
    )
