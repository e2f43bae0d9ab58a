"""Which model answers: resolved anew for each run, so that a change of settings holds for the next."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wenfang.core import DIALECTS, Agent, Dialect, DialectName, ModelClient, Toolbox
from wenfang.models import ChatClient, Chooser, DemoModel, Resilient, RetryPolicy, profile_for
from wenfang.models.local import (
    DEFAULT_MODEL,
    LocalModel,
    LocalModelError,
    LocalServer,
    default_store,
    find_model,
)
from wenfang.problems import Language, Problem
from wenfang.runs import AgentSpec, RunContext
from wenfang.settings import Provider, Settings, SettingsStore
from wenfang.tools import PythonSandbox
from wenfang.workspace import Files

from . import solo
from .backup import BackupState, is_complete, is_wanted, shared_dialect
from .found import Found, FoundDialects, Subject
from .probe import greet, list_models
from .probing import Bounds, Search, Watch, find_dialect

if TYPE_CHECKING:
    from wenfang.workspace.project import FileLocks

_LOG = "model.log"
_PROBING = RetryPolicy(retries=2, base_s=1.0)  # a provider that is gone is noticed soon


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
    """The models that the settings of a data directory name. `files` is the folder of local models.
    Each local model has one process, shared by all runs and started at the first request. `chooser` is
    what all runs know of the providers' health, and which one a session stays with."""

    def __init__(
        self,
        store: SettingsStore,
        sandbox: PythonSandbox,
        files: Path,
        *,
        chooser: Chooser | None = None,
    ) -> None:
        self._store = store
        self._sandbox = sandbox
        self._files = files
        self._local: dict[Path, LocalServer] = {}
        self._found = FoundDialects(store.file.parent)
        self._locks: FileLocks | None = None  # of the files that agents write in
        self._chooser = chooser or Chooser()

    def make_agent(self, context: RunContext) -> AgentSpec:
        """The crew `solo` for a durable run: with plain tools, or at the desk of a writer in a project that
        began with a template. Raises Problem `model_unavailable`."""
        settings = self._store.current()
        spec = AgentSpec(
            client=self.answering(settings, context.session_id),
            tools=Toolbox(solo.make_tools(context.files, self._sandbox)),
            dialect=self._run_dialect(settings),
            instructions=solo.INSTRUCTIONS,
            agent=solo.NAME,
        )
        if context.template is None or settings.provider == "scripted":
            return spec  # the demo knows the plain tools
        return self._at_the_desk(spec, context, context.template)

    def _at_the_desk(self, spec: AgentSpec, context: RunContext, name: str) -> AgentSpec:
        from wenfang.workspace.project import FileLocks, Manuscript
        from wenfang.workspace.templates import template_named

        from .writing import equip

        template = template_named(name)
        if template is None or not isinstance(context.files, Manuscript):
            return spec
        self._locks = self._locks or FileLocks()
        equipment = equip(
            context,
            context.files,
            template,
            dialect=spec.dialect,
            locks=self._locks,
            sandbox=self._sandbox,
        )
        return replace(
            spec,
            tools=Toolbox(equipment.tools),
            dialect=equipment.dialect,
            instructions=equipment.instructions,
            hooks=equipment.hooks,
        )

    def agent(self, files: Files) -> Agent:
        """The crew `solo` for a project's files, outside of any journal, with the primary alone: it is
        what an evaluation is about. Raises Problem `model_unavailable`."""
        settings = self._store.current()
        return Agent(
            self._alone(settings),
            solo.make_tools(files, self._sandbox),
            instructions=solo.INSTRUCTIONS,
            dialect=self.dialect(settings),
        )

    def status(self, settings: Settings | None = None) -> ModelStatus:
        """What would answer the next run."""
        settings = settings or self._store.current()
        if settings.provider == "scripted":
            return ModelStatus(provider="scripted", model=DemoModel.name)
        if settings.provider == "embedded":
            return self._local_status(settings.model)
        missing = [name for name in ("base_url", "model") if not getattr(settings, name)]
        why = f"the provider has no {' and no '.join(missing)}" if missing else ""
        return ModelStatus(provider="openai", model=settings.model, why=why)

    def _local_status(self, name: str) -> ModelStatus:
        try:
            file = find_model(self._files, name)
        except LocalModelError:
            name = name or DEFAULT_MODEL.name
            return ModelStatus(provider="embedded", model=name, why=f"no local model {name}")
        return ModelStatus(provider="embedded", model=file.name, size_bytes=file.size_bytes)

    def client(self, settings: Settings) -> ModelClient:
        """A client for these settings, one try per request. Raises Problem `model_unavailable`."""
        why = self.status(settings).why
        if why:
            raise Problem("model_unavailable", why=why)
        match settings.provider:
            case "scripted":
                return DemoModel()
            case "embedded":
                return LocalModel(self._server(find_model(self._files, settings.model).path))
            case "openai":
                return ChatClient(
                    base_url=settings.base_url,
                    model=settings.model,
                    api_key=settings.api_key.get_secret_value(),
                )

    def answering(
        self, settings: Settings, session: str = "", *, policy: RetryPolicy | None = None
    ) -> ModelClient:
        """The client of all calls of a session, or of a single call (FO-7): the provider of these
        settings, and its backup if there is a ready one. Raises Problem `model_unavailable`."""
        primary = self.client(settings)
        if self.backup_state(settings) != "ready":
            return self._alone(settings, policy=policy)
        clients = (primary, self.client(settings.of_backup()))
        names = (_provider("primary", settings), _provider("backup", settings.of_backup()))
        return Resilient(clients, policy=policy, route=self._chooser.route(names, session))

    def _alone(self, settings: Settings, *, policy: RetryPolicy | None = None) -> ModelClient:
        """The primary without its backup. What it does counts for its breaker all the same."""
        route = self._chooser.route((_provider("primary", settings),))
        return Resilient((self.client(settings),), policy=policy, route=route)

    def backup_state(self, settings: Settings) -> BackupState:
        """Whether the backup of these settings takes part, or why not."""
        if not is_wanted(settings):
            return "off"
        if not is_complete(settings):
            return "incomplete"
        return "ready" if self._shared(settings) else "dialect"

    def _shared(self, settings: Settings) -> DialectName | None:
        return shared_dialect(self._spoken(settings), self._spoken(settings.of_backup()))

    def _run_dialect(self, settings: Settings) -> Dialect:
        """The dialect of a run: of the primary, as its backup has to understand it."""
        shared = self._shared(settings) if self.backup_state(settings) == "ready" else None
        return DIALECTS[shared] if shared else self.dialect(settings)

    def _server(self, path: Path) -> LocalServer:
        if path not in self._local:
            self._local[path] = LocalServer(path, log=self._store.file.parent / _LOG)
        return self._local[path]

    def dialect(self, settings: Settings) -> Dialect:
        """How the model of these settings is told about tools: as a person chose, else as probes found,
        else as is usual. Raises Problem `settings_invalid`."""
        return DIALECTS[self._spoken(settings)]

    def _spoken(self, settings: Settings) -> DialectName:
        if settings.dialect != "auto":
            return settings.dialect
        found = self.found(settings)
        return found.dialect if found else _usual(settings)

    def found(self, settings: Settings) -> Found | None:
        """What probes found out about the model of these settings. Raises Problem `settings_invalid`."""
        return self._found.get(self._subject(settings))

    async def find_dialect(
        self,
        settings: Settings,
        *,
        dialects: Sequence[DialectName] = (),
        language: Language = "en",
        bounds: Bounds | None = None,
        watch: Watch = lambda _: None,
    ) -> Search:
        """Probe the model of these settings in all dialects, or thoroughly in the named ones; nothing is
        kept. See `find_dialect`. Raises Problem `model_unavailable`, `nothing_to_probe`."""
        if settings.provider == "scripted":
            raise Problem("nothing_to_probe")
        return await find_dialect(
            self._alone(settings, policy=_PROBING),
            dialects=dialects or tuple(DIALECTS),
            usual=_usual(settings),
            language=language,
            bounds=bounds,
            is_thorough=bool(dialects),
            watch=watch,
        )

    def keep(self, settings: Settings, search: Search) -> Found:
        """Let "auto" mean the best dialect of `search` for the model of these settings from now on.
        Raises Problem `settings_invalid`, `data_unwritable`, `disk_full`."""
        return self._found.put(self._subject(settings), search)

    def _subject(self, settings: Settings) -> Subject:
        name = settings.model
        if settings.provider == "embedded":
            with contextlib.suppress(LocalModelError):
                name = str(find_model(self._files, name).path)
        url = settings.base_url if settings.provider == "openai" else ""
        return Subject(provider=settings.provider, base_url=url, model=name)

    async def test(self, settings: Settings) -> Tested:
        """Ask the model of these settings for a word; without a model's name, for the names."""
        is_remote = settings.provider == "openai" and settings.base_url
        names = tuple(await list_models(settings)) if is_remote else ()
        try:
            client = self.client(settings)
        except Problem as problem:
            return Tested(ok=False, code=problem.code, message=problem.text("en"), models=names)
        answer = await greet(client)
        return Tested(
            ok=answer.ok,
            code=answer.code,
            message=answer.message,
            models=names,
            latency_ms=answer.latency_ms,
        )

    async def aclose(self) -> None:
        for server in self._local.values():
            await server.aclose()


def _provider(place: str, settings: Settings) -> str:
    """What the chooser knows a provider by. The same address and model may stand in both places, with
    another key; a change of either is another provider."""
    return " ".join((place, settings.provider, settings.base_url, settings.model))


def _usual(settings: Settings) -> DialectName:
    """The dialect that is right for most models like this one."""
    match settings.provider:
        case "openai":
            return profile_for(settings.model, settings.base_url).dialect
        case "embedded":
            return "schema"
        case "scripted":
            return "native"


@contextlib.asynccontextmanager
async def open_models(store: SettingsStore) -> AsyncGenerator[Models]:
    """Models for as long as the block lasts; processes that were started for them end with it."""
    sandbox = PythonSandbox()
    models = Models(store, sandbox, default_store())
    try:
        yield models
    finally:
        await models.aclose()
        await sandbox.aclose()
