"""Which model answers: resolved anew for each run, so that a change of settings holds for the next."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from wenfang.core import Dialect, ModelClient, Toolbox, native, schema
from wenfang.models import ChatClient, DemoModel, Resilient, profile_for
from wenfang.models.local import LocalModel, find_model
from wenfang.problems import Problem
from wenfang.runs import AgentSpec, RunContext
from wenfang.settings import Provider, Settings, SettingsStore
from wenfang.tools import project_tools
from wenfang.workspace import Workspace

from . import solo
from .probe import greet, list_models

NO_MODEL = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """`model` is the name of what would answer; `size_bytes` is a local file's, 0 for others."""

    provider: Provider
    model: str
    is_ready: bool
    size_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """`code` is "ok", "model_unavailable", "model_unknown", "timeout" or the kind of failure."""

    ok: bool
    code: str
    message: str
    models: tuple[str, ...] = ()
    latency_ms: int = 0


class Models:
    """The models of one data directory. Clients are kept while the settings they were made from
    last; runs that use an older one go on with it."""

    def __init__(self, store: SettingsStore) -> None:
        self._store = store
        self._local: dict[str, LocalModel] = {}

    def make_agent(self, context: RunContext) -> AgentSpec:
        """The crew `solo` for a run. Raises Problem `model_unavailable`."""
        settings = self._store.current()
        return AgentSpec(
            client=self.client(settings),
            tools=Toolbox(project_tools(Workspace(context.project_path))),
            dialect=_dialect(settings),
            instructions=solo.INSTRUCTIONS,
            agent=solo.NAME,
        )

    def client(self, settings: Settings) -> ModelClient:
        """A client for these settings. Raises Problem `model_unavailable`."""
        if settings.provider == "scripted":
            return DemoModel()
        if settings.provider == "embedded":
            return self._embedded(settings)
        for field in ("base_url", "model"):
            if not getattr(settings, field):
                raise Problem("model_unavailable", why=f"the provider has no {field}")
        return Resilient(_chat(settings))

    def status(self) -> ModelStatus: ...

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
