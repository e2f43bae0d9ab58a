"""`wenfang doctor`: what works, what does not, and how to mend it."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from rich.console import Console

from wenfang.core import ModelClient
from wenfang.crews import Found, Models, can_call, greet, open_models
from wenfang.problems import Problem
from wenfang.server import BUILT
from wenfang.settings import DialectChoice, Settings, SettingsStore, data_dir, open_data_dir
from wenfang.storage import open_store
from wenfang.tools import PythonSandbox

from .language import Say
from .loop import make_runner
from .main import EXIT_ERROR
from .project import address_of
from .sizes import readable_size

_LOW_BYTES = 500 * 1024 * 1024
_EMPTY_BYTES = 20 * 1024 * 1024

Level = Literal["ok", "warning", "broken"]
_STYLES = {"ok": "green", "warning": "yellow", "broken": "red"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`name` is a key of the words (`doctor.<name>`); `text` says what is there or how to mend it."""

    name: str
    level: Level
    text: str


def doctor(say: Say, *, as_json: bool, data: Path | None) -> None:
    """Print findings as they come. Leaves with a non-zero code if something is broken."""
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)

    async def examine() -> int:
        broken = 0
        async for finding in _findings(say, data_dir(data)):
            broken += finding.level == "broken"
            if as_json:
                print(json.dumps(asdict(finding), ensure_ascii=False), flush=True)  # noqa: T201
            else:
                mark = say(f"doctor.{finding.level}")
                console.print(mark, style=_STYLES[finding.level], end="  ")
                console.print(f"{say(f'doctor.{finding.name}')}: {finding.text}")
        return broken

    with make_runner() as runner:
        broken = runner.run(examine())
    if not as_json:
        console.print(say("doctor.some_broken", count=broken) if broken else say("doctor.all_ok"))
    sys.exit(EXIT_ERROR if broken else 0)


async def _findings(say: Say, folder: Path) -> AsyncGenerator[Finding]:
    try:
        open_data_dir(folder)
    except Problem as problem:
        yield Finding(name="data", level="broken", text=problem.text(say.language))
        return
    yield Finding(name="data", level="ok", text=str(folder))
    yield _disk(say, folder)
    yield await _database(say, folder)
    try:
        store = SettingsStore(folder)
        provider = store.current().provider
    except Problem as problem:
        yield Finding(name="settings", level="broken", text=problem.text(say.language))
        return
    yield Finding(name="settings", level="ok", text=provider)
    async for finding in _models(say, store):
        yield finding
    yield await _sandbox(say)
    yield _studio(say)


def _disk(say: Say, folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    level: Level = "ok" if free > _LOW_BYTES else "warning" if free > _EMPTY_BYTES else "broken"
    key = "doctor.disk_free" if level == "ok" else "doctor.disk_low"
    return Finding(name="disk", level=level, text=say(key, free=readable_size(free)))


async def _database(say: Say, folder: Path) -> Finding:
    try:
        async with open_store(address_of(folder)) as store:
            name = store.name
    except Problem as problem:
        return Finding(name="database", level="broken", text=problem.text(say.language))
    return Finding(name="database", level="ok", text=name)


async def _models(say: Say, store: SettingsStore) -> AsyncGenerator[Finding]:
    settings = store.current()
    async with open_models(store) as models:
        async for finding in _model(say, models, settings):
            yield finding
        if models.backup_state(settings) != "off":
            yield await _backup(say, models, settings)


async def _model(say: Say, models: Models, settings: Settings) -> AsyncGenerator[Finding]:
    try:
        client, found = models.client(settings), models.found(settings)
    except Problem as problem:
        yield Finding(name="model", level="broken", text=problem.text(say.language))
        return
    answers = await _answers(say, "model", client, settings)
    yield answers
    if answers.level == "broken":
        return
    if found is not None:
        yield _dialect(say, settings.dialect, found)
    if settings.provider == "scripted":
        return
    dialect = models.dialect(settings)
    if dialect.name == "schema":
        yield Finding(name="tools", level="ok", text=say("doctor.tools_schema"))
    elif dialect.name not in ("native", "lenient"):
        text = say("doctor.tools_text", dialect=dialect.name)
        yield Finding(name="tools", level="ok", text=text)
    elif await can_call(client, dialect):
        yield Finding(name="tools", level="ok", text=say("doctor.tools_native"))
    else:
        yield Finding(name="tools", level="broken", text=say("doctor.tools_none"))


async def _backup(say: Say, models: Models, settings: Settings) -> Finding:
    state, of_backup = models.backup_state(settings), settings.of_backup()
    if state == "incomplete":
        text = say("doctor.backup_incomplete")
        return Finding(name="backup", level="warning", text=text)
    answers = await _answers(say, "backup", models.client(of_backup), of_backup)
    if state == "dialect" and answers.level == "ok":
        dialect = models.dialect(settings).name
        text = say("doctor.backup_dialect", model=of_backup.model, dialect=dialect)
        return Finding(name="backup", level="warning", text=text)
    return answers


async def _answers(say: Say, name: str, client: ModelClient, settings: Settings) -> Finding:
    """Whether a model answers at all."""
    answer = await greet(client)
    if answer.ok:
        text = say("doctor.model_answers", model=client.name, latency=answer.latency_ms)
        return Finding(name=name, level="ok", text=text)
    where = settings.base_url if settings.provider == "openai" else ""
    variable = "WENFANG_BACKUP_API_KEY" if name == "backup" else "WENFANG_API_KEY"
    words = say.failure(answer.code, base_url=where, model=client.name, variable=variable)
    return Finding(name=name, level="broken", text=f"{client.name}: {words}")


def _dialect(say: Say, chosen: DialectChoice, found: Found) -> Finding:
    key = "doctor.dialect_found" if chosen == "auto" else "doctor.dialect_above"
    date = datetime.fromtimestamp(found.at).astimezone().date().isoformat()
    counts = {"right": found.best.right, "total": found.best.total}
    text = say(key, date=date, dialect=found.dialect, above=chosen, **counts)
    return Finding(name="dialect", level="ok", text=text)


async def _sandbox(say: Say) -> Finding:
    sandbox = PythonSandbox()
    try:
        result = await sandbox.run("6 * 7")
    finally:
        await sandbox.aclose()
    if result.ending == "ok":
        return Finding(name="sandbox", level="ok", text=say("doctor.sandbox_ok"))
    text = say("doctor.sandbox_broken", problem=result.error or result.ending)
    return Finding(name="sandbox", level="broken", text=text)


def _studio(say: Say) -> Finding:
    if (BUILT / "index.html").is_file():
        return Finding(name="studio", level="ok", text=say("doctor.ok"))
    return Finding(name="studio", level="warning", text=say("doctor.studio_missing"))
