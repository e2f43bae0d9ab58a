"""Projects that begin with a template, over HTTP (writing.md §16, TL-7; studio.md §9)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wenfang.workspace.templates import TEMPLATES, find_template

from .conftest import Running

pytestmark = pytest.mark.anyio

LANGUAGES = ("zh", "en")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_templates_are_told_in_each_language(shared: Running, language: str) -> None:
    told = await shared.json("GET", f"/api/templates?language={language}")
    assert [each["id"] for each in told] == list(TEMPLATES)
    for each in told:
        known = find_template(each["id"], language)  # type: ignore[arg-type]
        assert each == {"id": known.key, "title": known.title, "description": known.description, "opens": known.opens}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", TEMPLATES)
async def test_TL_7_a_project_begins_with_its_template(
    shared: Running, key: str, language: str
) -> None:
    told = await shared.json("GET", f"/api/templates?language={language}")
    opens = next(each["opens"] for each in told if each["id"] == key)
    body = {"title": "雨夜", "template": key, "language": language}
    made = await shared.json("POST", "/api/projects", body, 201)
    at = f"/api/projects/{made['id']}"
    entries = (await shared.json("GET", f"{at}/files"))["entries"]
    files = [each for each in entries if each["kind"] == "file"]
    roots = [each for each in entries if "/" not in each["path"]]
    assert all(each["id"].startswith(f"{made['id']}-") for each in roots)
    assert all(each["id"].endswith("-folder") for each in roots)
    assert made["files"] == len(files) > 0
    assert made["words"] == sum(each["words"] for each in files) > 0
    assert (await shared.json("GET", f"{at}/files/{opens}"))["text"].strip()
    listed = await shared.json("GET", f"{at}/versions?path={opens}")
    assert [(each["n"], each["actor"], each["change"]) for each in listed] == [
        (1, "system", "create")
    ]


@pytest.mark.parametrize(
    ("method", "call", "body"),
    [
        ("GET", "templates", None),
        ("GET", "templates?language=fr", None),
        ("POST", "projects", {"title": "甲", "template": "opera", "language": "zh"}),
        ("POST", "projects", {"title": "甲", "template": "novel"}),
        ("POST", "projects", {"title": "甲", "template": "novel", "language": "fr"}),
        ("POST", "projects", {"title": "甲", "template": "novel", "language": "zh", "path": "/"}),
    ],
    ids=repr,
)
async def test_a_bad_template_makes_nothing(
    shared: Running, method: str, call: str, body: object
) -> None:
    before = await shared.json("GET", "/api/projects")
    assert await shared.error(method, f"/api/{call}", body) == (400, "invalid_request")
    assert await shared.json("GET", "/api/projects") == before


async def test_a_template_that_cannot_be_planted_leaves_no_project(
    start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Project and files are one step: the third text fails, and there is neither."""
    async with start([]) as server:
        put, calls = blobs_put(), 0

        def fail(*args: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == 3:
                raise OSError(28, "No space left on device")
            return put(*args)

        monkeypatch.setattr("wenfang.workspace.project.blobs.put", fail)
        body = {"title": "甲", "template": "novel", "language": "zh"}
        answer = await server.http.post("/api/projects", json=body)
        assert answer.status_code >= 500
        assert await server.json("GET", "/api/projects") == []


def blobs_put() -> Callable[..., Any]:
    from wenfang.workspace.project import blobs

    return blobs.put


async def test_words_are_counted_where_files_have_versions(shared: Running, tmp_path: Path) -> None:
    for folder, words in ((None, 5), (tmp_path, None)):
        pid, _ = await shared.session(folder)
        for name, text in (("一.md", "雨夜。"), ("卷/二.md", "两 three 字")):
            await shared.json(
                "PUT", f"/api/projects/{pid}/files/{name}", {"text": text, "base": None}
            )
        project = next(p for p in await shared.json("GET", "/api/projects") if p["id"] == pid)
        assert (project["files"], project["words"]) == (2, words)
