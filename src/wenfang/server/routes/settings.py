"""The settings, and whether a model answers with them. A key goes in and never comes out."""

from __future__ import annotations

from fastapi import APIRouter

from wenfang.settings import Settings, SettingsStore

from ..errors import documented
from ..services import Served
from ..shapes import SettingsIn, SettingsOut, TestResult

router = APIRouter(prefix="/api/settings", tags=["settings"])


@router.get("", responses=documented("settings_invalid"))
async def read_settings(services: Served) -> SettingsOut:
    return _shape(services.store, services.store.current())


@router.put("", responses=documented("setting_locked", "disk_full", "data_unwritable"))
async def save_settings(body: SettingsIn, services: Served) -> SettingsOut:
    """Change what is given; it holds from the next run on."""
    return _shape(services.store, services.store.save(body))


@router.post("/test", responses=documented())
async def try_settings(services: Served, body: SettingsIn | None = None) -> TestResult:
    """Ask the model of the form as typed, or of the settings in force."""
    settings = services.store.preview(body or SettingsIn())
    result = await services.models.test(settings)
    return TestResult(
        ok=result.ok,
        code=result.code,
        message=result.message,
        models=list(result.models),
        latency_ms=result.latency_ms,
    )


def _shape(store: SettingsStore, settings: Settings) -> SettingsOut:
    return SettingsOut(
        provider=settings.provider,
        base_url=settings.base_url,
        model=settings.model,
        api_key_set=bool(settings.api_key.get_secret_value()),
        dialect=settings.dialect,
        language=settings.language,
        locked=sorted(store.locked),
    )
