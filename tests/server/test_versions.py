"""Versions, finding and order over HTTP (writing.md VR-1 to VR-6, UI-6, TL-7)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from wenfang.testing import call, say

from .conftest import Running

pytestmark = pytest.mark.anyio

Start = Callable[..., Any]


async def versions(server: Running, pid: str, path: str) -> list[tuple[int, str, str]]:
    listed = await server.json("GET", f"/api/projects/{pid}/versions?path={quote(path)}")
    return [(each["n"], each["actor"], each["change"]) for each in listed]


async def test_VR_1_an_agent_and_its_author_leave_versions(start: Start) -> None:
    replies = [
        call("write_file", path="第一章.md", text="雨。\n风。\n"),
        say("写好了。"),
    ]
    async with start(replies) as server:
        pid, sid = await server.session()
        at = f"/api/projects/{pid}"
        first = await server.json("PUT", f"{at}/files/第一章.md", {"text": "雨。\n", "base": None})
        run = await server.run(sid, "写第一章")
        await server.finished(run)
        listed = await server.json("GET", f"{at}/versions?path=第一章.md")
        assert [(v["n"], v["parent"], v["actor"], v["change"]) for v in listed] == [
            (2, 1, "ai", "ai_edit"), (1, None, "author", "create"),
        ]  # fmt: skip
        assert [v["run_id"] for v in listed] == [run, None]
        assert (listed[0]["lines_added"], listed[0]["lines_removed"], listed[0]["words"]) == (
            1,
            0,
            2,
        )
        assert listed[1]["revision"] == first["revision"]
        old = await server.json("GET", f"{at}/versions/1?path=第一章.md")
        assert old["text"] == "雨。\n"
        assert old["revision"] == listed[0]["revision"]  # what a save now is based on
        back = await server.json("POST", f"{at}/versions/1/restore", {"path": "第一章.md"})
        assert back["revision"] == first["revision"]
        assert (await server.json("GET", f"{at}/files/第一章.md"))["text"] == "雨。\n"
        assert await versions(server, pid, "第一章.md") == [
            (3, "author", "restore"), (2, "ai", "ai_edit"), (1, "author", "create"),
        ]  # fmt: skip
        facts = await server.events(f"{at}/events", until="run.finished")
        told = [(e["path"], e["change"], e["by"]) for e in facts if e["type"] == "file.changed"]
        assert told == [("第一章.md", "created", "author"), ("第一章.md", "written", "ai")]


async def test_a_file_in_a_folder_has_no_versions(shared: Running, tmp_path: Path) -> None:
    pid, _ = await shared.session(tmp_path)
    at = f"/api/projects/{pid}"
    await shared.json("PUT", f"{at}/files/a.md", {"text": "x", "base": None})
    assert await versions(shared, pid, "a.md") == []
    assert await shared.error("GET", f"{at}/versions/1?path=a.md") == (404, "revision_not_found")
    assert await shared.error("POST", f"{at}/arrange", {"folder": "", "names": ["a.md"]}) == (
        409, "order_fixed",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("method", "call", "body", "expected"),
    [
        ("GET", "versions?path=none.md", None, (404, "file_not_found")),
        ("GET", "versions", None, (400, "invalid_request")),
        ("GET", "versions?path=../x", None, (400, "path_invalid")),
        ("GET", "versions/9?path=a.md", None, (404, "revision_not_found")),
        ("GET", "versions/x?path=a.md", None, (400, "invalid_request")),
        ("POST", "versions/9/restore", {"path": "a.md"}, (404, "revision_not_found")),
        ("POST", "versions/1/restore", {"path": "none.md"}, (404, "file_not_found")),
        ("POST", "versions/1/restore", {}, (400, "invalid_request")),
        ("GET", "find", None, (400, "invalid_request")),
        ("GET", "find?phrase=", None, (400, "invalid_request")),
        ("GET", "find?phrase=x&limit=0", None, (400, "invalid_request")),
        ("POST", "arrange", {"folder": "none", "names": []}, (404, "file_not_found")),
        ("POST", "arrange", {"folder": "", "names": ["none.md"]}, (404, "file_not_found")),
        ("POST", "arrange", {"folder": "a.md", "names": []}, (400, "path_invalid")),
    ],
    ids=str,
)
async def test_refusals(
    shared: Running, method: str, call: str, body: object, expected: tuple[int, str]
) -> None:
    pid, _ = await shared.session()
    at = f"/api/projects/{pid}"
    await shared.json("PUT", f"{at}/files/a.md", {"text": "x", "base": None})
    assert await shared.error(method, f"{at}/{call}", body) == expected
    assert await versions(shared, pid, "a.md") == [(1, "author", "create")]


@pytest.mark.parametrize("place", ["database", "folder"])
async def test_finding(shared: Running, tmp_path: Path, place: str) -> None:
    pid, _ = await shared.session(tmp_path if place == "folder" else None)
    at = f"/api/projects/{pid}"
    for n, text in enumerate(("夜雨\n雨夜 Rain", "晴", "雨"), 1):
        await shared.json("PUT", f"{at}/files/第{n}章.md", {"text": text, "base": None})
    found = await shared.json("GET", f"{at}/find?phrase=雨&limit=2")
    assert (found["total"], found["files"]) == (3, 2)
    assert found["hits"] == [
        {"path": "第1章.md", "line": 1, "column": 2, "excerpt": "夜雨", "start": 1, "end": 2},
        {"path": "第1章.md", "line": 2, "column": 1, "excerpt": "雨夜 Rain", "start": 0, "end": 1},
    ]
    assert (await shared.json("GET", f"{at}/find?phrase=RAIN"))["total"] == 1
    assert (await shared.json("GET", f"{at}/find?phrase=RAIN&match_case=true"))["total"] == 0


async def test_TL_7_the_order_of_a_folder(shared: Running) -> None:
    pid, _ = await shared.session()
    at = f"/api/projects/{pid}"
    for name in ("序.md", "后记.md", "正文.md"):
        await shared.json("PUT", f"{at}/files/{name}", {"text": "", "base": None})
    await shared.json("POST", f"{at}/arrange", {"folder": "", "names": ["序.md", "正文.md"]}, 204)
    tree = await shared.json("GET", f"{at}/files")
    assert [each["path"] for each in tree["entries"]] == ["序.md", "正文.md", "后记.md"]
