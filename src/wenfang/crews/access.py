"""Which model answers: resolved anew for each run, so that a change of settings holds for the next."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from wenfang.core import Dialect, ModelClient, native
from wenfang.models import ChatClient, DemoModel, Resilient, profile_for
from wenfang.problems import Problem
from wenfang.runs import AgentSpec, RunContext
from wenfang.settings import Provider, Settings, SettingsStore
from wenfang.tools import PythonSandbox

from . import solo
from .probe import greet, list_models


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """`model` is the name of what would answer; `size_bytes` is a local file's, 0 for others. `why`
    says what is missing, empty if nothing is."""

    provider: Provider
    model: str
    why: str = ""
    size_bytes: int = 0

    @property
    def is_ready(self) -> bool:
        return not self.why


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """`code` is "ok", "model_unavailable", "timeout" or the kind of failure."""

    ok: bool
    code: str
    message: str
    models: tuple[str, ...] = ()
    latency_ms: int = 0


class Models:
    """The models that the settings of one data directory name."""

    def __init__(self, store: SettingsStore, sandbox: PythonSandbox) -> None:
        self._store = store
        self._sandbox = sandbox

    def make_agent(self, context: RunContext) -> AgentSpec:
        """The crew `solo` for a run. Raises Problem `model_unavailable`."""
        settings = self._store.current()
        return AgentSpec(
            client=Resilient((self.client(settings),)),
            tools=solo.make_tools(context.project_path, self._sandbox),
            dialect=self.dialect(settings),
            instructions=solo.INSTRUCTIONS,
            agent=solo.NAME,
        )

    def status(self, settings: Settings | None = None) -> ModelStatus:
        """What would answer the next run."""
        settings = settings or self._store.current()
        if settings.provider == "scripted":
            return ModelStatus(provider="scripted", model=DemoModel.name)
        if settings.provider == "embedded":
            return ModelStatus(provider="embedded", model="", why="not there yet")
        missing = [name for name in ("base_url", "model") if not getattr(settings, name)]
        why = f"the provider has no {' and no '.join(missing)}" if missing else ""
        return ModelStatus(provider="openai", model=settings.model, why=why)

    def client(self, settings: Settings) -> ModelClient:
        """A client for these settings, one try per request. Raises Problem `model_unavailable`."""
        status = self.status(settings)
        if status.why:
            raise Problem("model_unavailable", why=status.why)
        if settings.provider == "scripted":
            return DemoModel()
        key = settings.api_key.get_secret_value()
        return ChatClient(base_url=settings.base_url, model=settings.model, api_key=key)

    def dialect(self, settings: Settings) -> Dialect:
        """How the model of these settings is told about tools."""
        return native

    async def test(self, settings: Settings) -> Tested:
        """Ask the model of these settings for a word."""
        try:
            client = self.client(settings)
        except Problem as problem:
            return Tested(ok=False, code=problem.code, message=problem.text("en"))
        names = await list_models(settings) if settings.provider == "openai" else []
        answer = await greet(client)
        return Tested(
            ok=answer.ok,
            code=answer.code,
            message=answer.message,
            models=tuple(names),
            latency_ms=answer.latency_ms,
        )


@contextlib.asynccontextmanager
async def open_models(store: SettingsStore) -> AsyncGenerator[Models]:
    """Models for as long as the block lasts; a local model's process ends with it."""
    sandbox = PythonSandbox()
    try:
        yield Models(store, sandbox)
    finally:
        await sandbox.aclose()


async def pull_embedded(report): ...
