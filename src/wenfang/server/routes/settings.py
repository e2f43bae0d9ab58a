"""The settings, and whether a model answers with them. A key goes in and never comes out."""

from __future__ import annotations

from typing import Literal

from fastapi import Request

from wenfang.problems import Problem
from wenfang.settings import Settings

from ..access import Admitted, Router, note
from ..errors import documented
from ..services import Served, Services
from ..shapes import DialectFound, ProbeState, SettingsIn, SettingsOut, TestResult

router = Router(prefix="/api/settings", tags=["settings"])


@router.get("", responses=documented("settings_invalid"))
async def read_settings(services: Served) -> SettingsOut:
    return _shape(services, services.store.current())


@router.put("", responses=documented("setting_locked", "disk_full", "data_unwritable"))
async def save_settings(
    body: SettingsIn, services: Served, caller: Admitted, request: Request
) -> SettingsOut:
    """Change what is given; it holds from the next run on."""
    saved = services.store.save(body)
    await note(services, caller, request, " ".join(sorted(body.model_fields_set)))
    services.probes.problem = None  # it was about the settings as they were
    return _shape(services, saved)


@router.post("/test", responses=documented())
async def try_settings(
    services: Served, body: SettingsIn | None = None, of: Literal["primary", "backup"] = "primary"
) -> TestResult:
    """Ask the model of the form as typed, or of the settings in force; `of` says whose."""
    settings = services.store.preview(body or SettingsIn())
    if of == "backup":
        settings = settings.of_backup()
    result = await services.models.test(settings)
    return TestResult(
        ok=result.ok,
        code=result.code,
        message=result.message,
        models=list(result.models),
        latency_ms=result.latency_ms,
    )


@router.get("/probe")
async def read_probe(services: Served) -> ProbeState:
    return _probe_state(services)


@router.post("/probe", status_code=202, responses=documented("nothing_to_probe", "probe_active"))
async def find_dialect(services: Served) -> ProbeState:
    """Find out in the background which dialect works best for the model of the settings in force."""
    if services.store.current().provider == "scripted":
        raise Problem("nothing_to_probe")
    services.probes.start()
    return _probe_state(services)


@router.post("/probe/cancel")
async def cancel_probe(services: Served) -> ProbeState:
    """Give up the search; also fine if there is none. Nothing is kept of it."""
    await services.probes.cancel()
    return _probe_state(services)


def _probe_state(services: Services) -> ProbeState:
    problem = services.probes.problem
    return ProbeState(
        progress=services.probes.progress,
        code=problem.code if problem else None,
        message=problem.text("en") if problem else "",
        params=dict(problem.params) if problem else {},
    )


def _shape(services: Services, settings: Settings) -> SettingsOut:
    found = services.models.found(settings)
    return SettingsOut(
        provider=settings.provider,
        base_url=settings.base_url,
        model=settings.model,
        api_key_set=bool(settings.api_key.get_secret_value()),
        dialect=settings.dialect,
        language=settings.language,
        backup_base_url=settings.backup_base_url,
        backup_model=settings.backup_model,
        backup_api_key_set=bool(settings.backup_api_key.get_secret_value()),
        backup_state=services.models.backup_state(settings),
        found=DialectFound(
            dialect=found.dialect, right=found.best.right, total=found.best.total, at=found.at
        )
        if found
        else None,
        locked=sorted(services.store.locked),
    )
