"""Which model answers for which settings: a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wenfang.crews import Models
from wenfang.problems import Problem
from wenfang.runs import RunContext
from wenfang.settings import Change, SettingsStore
from wenfang.tools import PythonSandbox
from wenfang.workspace import FolderFiles, Workspace


def _models(tmp_path: Path, fields: dict[str, Any]) -> tuple[Models, SettingsStore]:
    files = tmp_path / "models"
    files.mkdir()
    for name in ("qwen2.5-coder-1.5b-instruct-q4_k_m", "mine"):
        (files / f"{name}.gguf").write_bytes(b"GGUF")
    store = SettingsStore(tmp_path)
    store.save(Change.model_validate(fields))
    return Models(store, PythonSandbox(), files), store


OPENAI = {"provider": "openai", "base_url": "https://h/v1"}
ROWS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "qwen2.5-coder-1.5b-instruct-q4_k_m", "schema"),
    ({"model": "mine"}, "mine", "schema"),
    ({"model": "mine.gguf", "dialect": "native"}, "mine", "native"),
    ({"provider": "scripted"}, "scripted-demo", "native"),
    ({**OPENAI, "model": "gpt-4o"}, "gpt-4o", "native"),
    ({**OPENAI, "model": "gpt-4o", "dialect": "schema"}, "gpt-4o", "schema"),
    ({**OPENAI, "model": "gpt-4o", "dialect": "lenient"}, "gpt-4o", "lenient"),
    ({**OPENAI, "model": "qwen3:8b"}, "qwen3:8b", "lenient"),
    ({**OPENAI, "model": "qwen3:8b", "dialect": "native"}, "qwen3:8b", "native"),
    ({**OPENAI, "model": "qwen2.5-coder-1.5b"}, "qwen2.5-coder-1.5b", "schema"),
]


@pytest.mark.parametrize(("fields", "name", "dialect"), ROWS, ids=str)
def test_who_answers(tmp_path: Path, fields: dict[str, Any], name: str, dialect: str) -> None:
    models, _ = _models(tmp_path, fields)
    context = RunContext(
        run_id="r", session_id="s", project_id="p", files=FolderFiles(Workspace(tmp_path)), text="x"
    )
    spec = models.make_agent(context)
    assert (spec.client.name, spec.dialect.name, spec.agent) == (name, dialect, "solo")
    assert list(spec.tools) == [
        "list_files", "read_file", "write_file", "edit_file", "calculator", "python_interpreter",
    ]  # fmt: skip
    assert (models.status().model, models.status().is_ready) == (name, True)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"model": "none"}, "no local model none"),
        ({"model": "/nowhere/x.gguf"}, "no local model /nowhere/x.gguf"),
        (OPENAI, "no model"),
        ({"provider": "openai", "model": "m"}, "no base_url"),
        ({"provider": "openai"}, "no base_url and no model"),
    ],
    ids=str,
)
def test_nobody_answers(tmp_path: Path, fields: dict[str, Any], why: str) -> None:
    models, store = _models(tmp_path, fields)
    with pytest.raises(Problem) as caught:
        models.client(store.current())
    assert caught.value.code == "model_unavailable"
    assert why in caught.value.text()
    assert not models.status().is_ready
