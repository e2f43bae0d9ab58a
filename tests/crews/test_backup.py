"""FO-1, FO-2, FO-3, FO-7: which settings have a backup, what a run then speaks, and who answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.models.fake import ask, seen_until_failure

from wenfang.core import DIALECTS, Assistant, DialectName
from wenfang.crews import Models, shared_dialect
from wenfang.models import Chooser, RetryPolicy
from wenfang.runs import RunContext
from wenfang.settings import Change, Settings, SettingsStore
from wenfang.testing import Fault, FaultPoint, Reply, Script, ScriptedServer, broken, call, say
from wenfang.tools import PythonSandbox
from wenfang.workspace import FolderFiles, Workspace

pytestmark = pytest.mark.anyio
PRIMARY = {"provider": "openai", "base_url": "https://a/v1", "model": "gpt-4o"}
BACKUP = {"backup_base_url": "https://b/v1", "backup_model": "gpt-4.1"}
QUICK = RetryPolicy(retries=0)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def make(tmp_path: Path, fields: dict[str, Any]) -> tuple[Models, Settings, Clock]:
    store = SettingsStore(tmp_path)
    settings = store.save(Change.model_validate(fields))
    clock = Clock()
    files = tmp_path / "models"
    return Models(store, PythonSandbox(), files, chooser=Chooser(clock=clock)), settings, clock


def context(tmp_path: Path, session: str = "s") -> RunContext:
    files = FolderFiles(Workspace(tmp_path))
    return RunContext(run_id="r", session_id=session, project_id="p", files=files, text="x")


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        (PRIMARY, "off"),
        ({**BACKUP, "provider": "scripted"}, "off"),
        ({**BACKUP, "provider": "embedded"}, "off"),  # what is local stays local
        ({**PRIMARY, "backup_base_url": "https://b/v1"}, "incomplete"),
        ({**PRIMARY, "backup_model": "b"}, "incomplete"),
        ({**PRIMARY, **BACKUP}, "ready"),
        ({**PRIMARY, **BACKUP, "backup_model": "qwen2.5-coder-1.5b"}, "dialect"),
        ({**PRIMARY, **BACKUP, "backup_model": "qwen2.5-coder-1.5b", "dialect": "tagged"}, "ready"),
    ],
    ids=str,
)
def test_whether_it_takes_part(tmp_path: Path, fields: dict[str, Any], state: str) -> None:
    models, settings, _ = make(tmp_path, fields)
    assert models.backup_state(settings) == state


@pytest.mark.parametrize(
    ("primary", "backup", "spoken"),
    [
        ("native", "native", "native"),
        ("native", "lenient", "lenient"),
        ("lenient", "native", "lenient"),
        ("native", "schema", None),
        ("native", "tagged", None),
        ("schema", "native", "schema"),
        ("schema", "tagged", None),
        ("tagged", "native", "tagged"),
        ("tagged", "markdown", "tagged"),
    ],
)
def test_what_both_understand(
    primary: DialectName, backup: DialectName, spoken: DialectName | None
) -> None:
    assert shared_dialect(primary, backup) == spoken


@pytest.mark.parametrize("name", DIALECTS)
def test_everyone_understands_its_own(name: DialectName) -> None:
    assert shared_dialect(name, name) == name


@pytest.mark.parametrize(
    ("model", "backup", "dialect"),
    [
        ("gpt-4o", "gpt-4.1", "native"),
        ("gpt-4o", "qwen3-32b", "lenient"),
        ("gpt-4o", "qwen2.5-coder-1.5b", "native"),  # left out, so nothing changes
        ("qwen2.5-coder-1.5b", "gpt-4o", "schema"),
    ],
)
def test_the_dialect_of_a_run(tmp_path: Path, model: str, backup: str, dialect: str) -> None:
    models, _, _ = make(tmp_path, {**PRIMARY, **BACKUP, "model": model, "backup_model": backup})
    spec = models.make_agent(context(tmp_path))
    assert (spec.dialect.name, spec.client.name) == (dialect, model)


def server(*replies: Reply) -> ScriptedServer:
    return ScriptedServer(Script(name="provider", replies=replies))


def fields_of(a: ScriptedServer, b: ScriptedServer) -> dict[str, Any]:
    return {
        "provider": "openai", "base_url": a.url, "model": "one", "api_key": "key-a",
        "backup_base_url": b.url, "backup_model": "two", "backup_api_key": "key-b",
    }  # fmt: skip


async def reply_of(models: Models, settings: Settings, session: str = "") -> Assistant:
    seen, error = await seen_until_failure(models.answering(settings, session, policy=QUICK), ask())
    assert error is None
    return seen[-1]


@pytest.mark.parametrize("at", ["connect", "headers", "thinking", "text", "arguments", "finish"])
async def test_the_backup_answers(tmp_path: Path, at: FaultPoint) -> None:
    """FO-1, FO-2, FO-7: a single call goes the same way, each provider with its own key and model."""
    whole = Reply(text="So.", thinking="hm", tools=call("add", first=1, second=2).tools)
    async with server(broken(whole, Fault(at=at))) as a, server(say("ok")) as b:
        models, settings, _ = make(tmp_path, fields_of(a, b))
        reply = await reply_of(models, settings)
        assert (reply.model, reply.text) == ("two", "ok")
        assert [attempt.model for attempt in reply.attempts] == ["one"]
        told = [(r.body["model"], r.headers["authorization"]) for r in (*a.requests, *b.requests)]
        assert told == [("one", "Bearer key-a"), ("two", "Bearer key-b")]


async def test_a_session_stays_and_comes_back(tmp_path: Path) -> None:
    """FO-3, FO-4: all runs share what is known; settings that change begin anew."""
    down = broken(say("x"), Fault(at="connect", kind="overload"))
    up = Reply(text="a", repeat=0)
    async with server(down, down, down, up) as a, server(Reply(text="b", repeat=0)) as b:
        models, settings, clock = make(tmp_path, fields_of(a, b))
        # The second session is not moved by the first one's failure, only by its own, then the breaker opens.
        for session, requests in (("s", 1), ("s", 1), ("t", 2), ("u", 3), ("v", 3)):
            assert (await reply_of(models, settings, session)).model == "two"
            assert len(a.requests) == requests
        clock.now = 30.0
        assert (await reply_of(models, settings, "s")).model == "two"
        assert (await reply_of(models, settings, "w")).model == "one"
        clock.now = 30.0 + 1800.0
        assert (await reply_of(models, settings, "s")).model == "one"


async def test_probes_and_evaluations_ask_the_primary_alone(tmp_path: Path) -> None:
    """FO-7: they are about one model, and what they meet counts for its breaker."""
    down = broken(say("x"), Fault(at="connect", kind="overload"))
    async with server(*[down] * 9) as a, server(say("b")) as b:
        models, settings, _ = make(tmp_path, fields_of(a, b))
        agent = models.agent(FolderFiles(Workspace(tmp_path)))
        assert agent.client.name == "one"
        client = models._alone(settings, policy=RetryPolicy(retries=2, base_s=0.0))
        _, error = await seen_until_failure(client, ask())
        assert error is not None
        assert (len(a.requests), len(b.requests)) == (3, 0)
        assert (await reply_of(models, settings)).model == "two"
        assert len(a.requests) == 3


async def test_both_failing(tmp_path: Path) -> None:
    """FO-8: the last failure."""
    a_down = broken(say("x"), Fault(at="connect", kind="overload"))
    b_down = broken(say("x"), Fault(at="connect", kind="auth"))
    async with server(a_down) as a, server(b_down) as b:
        models, settings, _ = make(tmp_path, fields_of(a, b))
        client = models.answering(settings, policy=QUICK)
        _, error = await seen_until_failure(client, ask())
        assert error is not None
        assert error.failure.kind == "auth"
        assert "key-b" not in error.failure.message
