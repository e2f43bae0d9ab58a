"""Every call of docs/wire.md over a real socket: what it answers and which codes it can refuse with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wenfang.testing import Reply, call, say

from .conftest import Running, envelope

pytestmark = pytest.mark.anyio

# Where the files of a project are.
PLACES = ("database", "folder")
Start = Callable[..., Any]

SLOW = Reply(text=["…"] * 1000, pace_ms=50)


async def test_health_ready_info(start: Start) -> None:
    async with start(flags={"provider": "scripted"}) as server:
        assert (await server.json("GET", "/health"))["status"] == "ok"
        assert (await server.json("GET", "/ready"))["checks"] == {"database": True, "open": True}
        info = await server.json("GET", "/api/info")
        assert info["local"] is True
        assert info["model"]["state"] == "ready"


async def test_projects(start: Start) -> None:
    async with start() as server:
        first = await server.json("POST", "/api/projects", {"title": " 雨夜归人 "}, 201)
        assert first["title"] == "雨夜归人"
        assert first["files"] == first["size_bytes"] == first["running"] == 0
        assert first["path"] == ""
        second = await server.json("POST", "/api/projects", {"title": "星海"}, 201)
        listed = await server.json("GET", "/api/projects")
        assert [p["id"] for p in listed] == [second["id"], first["id"]]
        at = f"/api/projects/{first['id']}"
        assert (await server.json("PATCH", at, {"title": "改"}))["title"] == "改"
        await server.json("PUT", f"{at}/files/a.md", {"text": "甲乙", "base": None})
        await server.json("DELETE", at, status=204)
        assert await server.error("GET", f"{at}/files") == (404, "project_not_found")
        restored = await server.json("POST", f"{at}/restore")
        assert (restored["files"], restored["size_bytes"]) == (1, 6)


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        {"title": ""},
        {"title": "  "},
        {"title": "x" * 201},
        {"title": 1},
        [],
        {"title": "a", "x": 1},
    ],
    ids=str,
)
async def test_a_bad_title(shared: Running, body: object) -> None:
    assert await shared.error("POST", "/api/projects", body) == (400, "invalid_request")


async def test_files(start: Start) -> None:
    async with start() as server:
        pid, _ = await server.session()
        at = f"/api/projects/{pid}"
        saved = await server.json(
            "PUT", f"{at}/files/大纲/第一卷.md", {"text": "一\r\n二\r\n", "base": None}
        )
        assert saved["newline"] == "\r\n"
        assert "text" not in saved
        read = await server.json("GET", f"{at}/files/大纲/第一卷.md")
        assert read == {**saved, "text": "一\r\n二\r\n"}
        again = await server.json(
            "PUT", f"{at}/files/大纲/第一卷.md", {"text": "三", "base": saved["revision"]}
        )
        conflict = await server.http.put(
            f"{at}/files/大纲/第一卷.md", json={"text": "四", "base": saved["revision"]}
        )
        assert conflict.status_code == 409
        body = envelope(conflict)
        assert (body["code"], body["params"]["revision"]) == (
            "revision_conflict",
            again["revision"],
        )
        folder = await server.json("POST", f"{at}/folders", {"path": "人物"}, 201)
        assert folder["kind"] == "folder"
        moved = await server.json(
            "POST", f"{at}/rename", {"path": "大纲/第一卷.md", "to": "人物/李青.md"}
        )
        assert moved["path"] == "人物/李青.md"
        tree = await server.json("GET", f"{at}/files")
        assert [e["path"] for e in tree["entries"]] == ["大纲", "人物", "人物/李青.md"]
        assert tree["truncated"] is False
        trashed = await server.json("DELETE", f"{at}/files/人物")
        assert await server.error("GET", f"{at}/files/人物/李青.md") == (404, "file_not_found")
        back = await server.json("POST", f"{at}/trash/{trashed['trash_id']}/restore")
        assert back["path"] == "人物"
        changes = [
            (e["path"], e["change"], e["by"], e["to"])
            for e in await _facts(server, pid)
            if e["type"] == "file.changed"
        ]
        assert changes == [
            ("大纲/第一卷.md", "created", "author", None),
            ("大纲/第一卷.md", "written", "author", None),
            ("人物", "created", "author", None),
            ("大纲/第一卷.md", "renamed", "author", "人物/李青.md"),
            ("人物", "deleted", "author", None),
            ("人物", "created", "author", None),
        ]


async def _facts(server: Running, pid: str) -> list[dict[str, Any]]:
    """What the project's stream holds so far: a session is made and waited for."""
    await server.json("POST", f"/api/projects/{pid}/sessions", {"title": "end"}, 201)
    path = f"/api/projects/{pid}/events"
    found = await server.events(path, until="session.changed")
    found += await server.events(f"{path}?after={found[-1]['seq']}", until="session.changed")
    assert found[-1]["title"] == "end"
    return found


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "files/none.md", None, (404, "file_not_found")),
        ("GET", "files/", None, (400, "path_invalid")),
        ("GET", "files/bin.dat", None, (415, "file_not_text")),
        ("GET", "files/folder", None, (400, "path_invalid")),
        (
            "PUT",
            "files/big.md",
            {"text": "x" * (8 * 1024 * 1024 + 1), "base": None},
            (413, "file_too_large"),
        ),
        ("PUT", "files/a.md", {"text": "new", "base": None}, (409, "revision_conflict")),
        ("PUT", "files/none.md", {"text": "new", "base": "0" * 64}, (409, "revision_conflict")),
        ("PUT", "files/a.md", {"text": "new"}, (400, "invalid_request")),
        ("PUT", "files/folder", {"text": "new", "base": None}, (400, "path_invalid")),
        ("PUT", "files/b.md", {"text": "a\0b", "base": None}, (415, "file_not_text")),
        ("DELETE", "files/none.md", None, (404, "file_not_found")),
        ("POST", "folders", {"path": "folder"}, (409, "path_exists")),
        ("POST", "folders", {"path": ""}, (400, "invalid_request")),
        ("POST", "rename", {"path": "a.md", "to": "folder"}, (409, "path_exists")),
        ("POST", "rename", {"path": "none.md", "to": "b.md"}, (404, "file_not_found")),
        ("POST", "trash/trash_0000/restore", None, (404, "trash_not_found")),
        ("POST", "trash/..%2F..%2Fx/restore", None, (404, "not_found")),
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value)[:40],
)
async def test_file_refusals(
    shared: Running,
    tmp_path: Path,
    place: str,
    method: str,
    path: str,
    body: object,
    expected: tuple[int, str],
) -> None:
    if place == "database" and path == "files/bin.dat":
        expected = (404, "file_not_found")  # the database takes texts only
    pid, _ = await shared.session(tmp_path if place == "folder" else None)
    at = f"/api/projects/{pid}"
    await shared.json("PUT", f"{at}/files/a.md", {"text": "old", "base": None})
    await shared.json("POST", f"{at}/folders", {"path": "folder"}, 201)
    (tmp_path / "bin.dat").write_bytes(b"\0\1\2")
    assert await shared.error(method, f"{at}/{path}", body) == expected
    assert (await shared.json("GET", f"{at}/files/a.md"))["text"] == "old"


TRICKS = [
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/etc/passwd",
    "a/%2e%2e/%2e%2e/x",
    "%2fetc%2fpasswd",
    "link/passwd",
    "link",
    "%00",
    "a%00.md",
    "..%5c..%5cx",
    "C:%5cx",
    ".wenfang/trash/x",
    "con",
    "a%0ab.md",
    "%ff.md",
    "a/./b",
    "%ef%bc%8e%ef%bc%8e/x",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("path", TRICKS)
async def test_no_path_leads_out(shared: Running, place: str, path: str, tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (outside / "passwd").write_text("secret")
    pid, _ = await shared.session(folder if place == "folder" else None)
    (folder / "link").symlink_to(outside)
    for method, body in (("GET", None), ("PUT", {"text": "x", "base": None}), ("DELETE", None)):
        answer = await shared.http.request(method, f"/api/projects/{pid}/files/{path}", json=body)
        assert "secret" not in answer.text
        if answer.status_code == 200:  # a harmless name that was taken as it stands
            assert not answer.json().get("path", "").startswith(("/", ".."))
        else:
            assert envelope(answer)["code"] in {
                "path_invalid", "file_not_found", "not_found", "revision_conflict"
            }  # fmt: skip
    assert [p.name for p in outside.iterdir()] == ["passwd"]
    assert (outside / "passwd").read_text() == "secret"
    assert not (folder.parent / "x").exists()


async def test_sessions(start: Start) -> None:
    async with start() as server:
        pid, sid = await server.session()
        at = f"/api/projects/{pid}/sessions"
        named = await server.json("POST", at, {"title": "第二章"}, 201)
        assert named["title"] == "第二章"
        assert named["active_run"] is None
        assert [s["id"] for s in await server.json("GET", at)] == [named["id"], sid]
        renamed = await server.json("PATCH", f"/api/sessions/{sid}", {"title": "新"})
        assert renamed["title"] == "新"
        await server.json("DELETE", f"/api/sessions/{sid}", status=204)
        assert [s["id"] for s in await server.json("GET", at)] == [named["id"]]
        assert await server.error("PATCH", f"/api/sessions/{sid}", {"title": "x"}) == (
            404,
            "session_not_found",
        )


async def test_a_run_with_a_tool(start: Start) -> None:
    replies = [call("write_file", path="a.md", text="第一章"), say("写好了。")]
    async with start(replies) as server:
        pid, sid = await server.session()
        run = await server.run(sid, "写第一章")
        events = await server.finished(run)
        kept = [e for e in events if e["_id"] is not None]
        assert [e["type"] for e in kept] == [
            "run.started", "user.message", "step.started", "message.finished", "tool.started",
            "tool.finished", "file.changed", "step.started", "message.finished", "run.finished",
        ]  # fmt: skip
        assert all(e["seq"] == e["_id"] for e in kept)
        assert kept[-1]["answer"] == "写好了。"
        assert (await server.json("GET", f"/api/runs/{run}"))["status"] == "done"
        assert (await server.json("GET", f"/api/projects/{pid}/files/a.md"))["text"] == "第一章"
        snapshot = await server.json("GET", f"/api/projects/{pid}/snapshot?session_id={sid}")
        assert [f["seq"] for f in snapshot["frames"]] == [e["_id"] for e in kept]
        assert (snapshot["partials"], snapshot["more"]) == ([], False)
        server.provider.check()


async def test_the_same_request_gives_the_same_run(start: Start) -> None:
    async with start([say("一")]) as server:
        _, sid = await server.session()
        body = {"text": "去做", "request_id": "r1"}
        first = await server.json("POST", f"/api/sessions/{sid}/runs", body, 201)
        again = await server.json("POST", f"/api/sessions/{sid}/runs", body, 201)
        assert first["id"] == again["id"]
        await server.finished(first["id"])
        server.provider.check()


async def test_two_posts_at_once_give_one_run(start: Start) -> None:
    async with start([SLOW]) as server:
        _, sid = await server.session()
        posts = [
            server.http.post(f"/api/sessions/{sid}/runs", json={"text": str(n)}) for n in range(5)
        ]
        answers = await asyncio.gather(*posts)
        assert sorted(a.status_code for a in answers) == [201, 409, 409, 409, 409]
        assert {envelope(a)["code"] for a in answers if a.status_code == 409} == {"run_active"}
        assert await server.error("DELETE", f"/api/sessions/{sid}") == (409, "run_active")
        started = next(a.json()["id"] for a in answers if a.status_code == 201)
        await server.json("POST", f"/api/runs/{started}/stop")


async def test_stop_keeps_what_there_is_and_is_idempotent(start: Start) -> None:
    async with start([SLOW]) as server:
        _, sid = await server.session()
        run = await server.run(sid)
        at = f"/api/runs/{run}"
        rest = await server.events(
            f"{at}/events", at_text=lambda: server.json("POST", f"{at}/stop")
        )
        assert rest[-1]["type"] == "run.finished"
        assert (rest[-1]["status"], rest[-1]["reason"]) == ("stopped", "cancelled_by_user")
        assert "…" in rest[-1]["answer"]
        for _ in range(2):
            assert (await server.json("POST", f"/api/runs/{run}/stop"))["status"] == "stopped"
        assert await server.error("POST", f"/api/runs/{run}/steer", {"text": "x"}) == (
            409,
            "run_finished",
        )


async def test_steering_reaches_the_next_request(start: Start) -> None:
    first = Reply(text=["想"] * 20, pace_ms=20, tools=call("list_files", path=".").tools)
    async with start([first, say("好")]) as server:
        _, sid = await server.session()
        run = await server.run(sid, "去做")
        at = f"/api/runs/{run}"
        said = {"text": "更冷峻"}
        rest = await server.events(
            f"{at}/events", at_text=lambda: server.json("POST", f"{at}/steer", said, 202)
        )
        words = [(e["text"], e["source"]) for e in rest if e["type"] == "user.message"]
        assert words == [("去做", "user"), ("更冷峻", "steer")]
        last = server.provider.requests[-1].body["messages"]
        assert any("更冷峻" in str(message["content"]) for message in last)


async def test_no_model_refuses_the_run(start: Start) -> None:
    async with start(flags={"model": "none"}) as server:
        _, sid = await server.session()
        refused = await server.http.post(f"/api/sessions/{sid}/runs", json={"text": "x"})
        assert refused.status_code == 409
        assert envelope(refused)["code"] == "model_unavailable"
        assert (await server.json("GET", "/api/model"))["state"] == "missing"


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "/api/projects/none/files", None, (404, "project_not_found")),
        ("PATCH", "/api/projects/none", {"title": "x"}, (404, "project_not_found")),
        ("DELETE", "/api/projects/none", None, (404, "project_not_found")),
        ("POST", "/api/projects/none/restore", None, (404, "project_not_found")),
        ("GET", "/api/projects/none/sessions", None, (404, "project_not_found")),
        ("POST", "/api/projects/none/sessions", None, (404, "project_not_found")),
        ("GET", "/api/projects/none/events", None, (404, "project_not_found")),
        ("GET", "/api/projects/none/snapshot?session_id=x", None, (404, "project_not_found")),
        ("GET", "/api/projects/none/snapshot", None, (400, "invalid_request")),
        ("DELETE", "/api/sessions/none", None, (404, "session_not_found")),
        ("POST", "/api/sessions/none/runs", {"text": "x"}, (404, "session_not_found")),
        ("GET", "/api/runs/none", None, (404, "run_not_found")),
        ("GET", "/api/runs/none/events", None, (404, "run_not_found")),
        ("POST", "/api/runs/none/stop", None, (404, "run_not_found")),
        ("POST", "/api/runs/none/steer", {"text": "x"}, (404, "run_not_found")),
        ("GET", "/api/none", None, (404, "not_found")),
        ("GET", "/api", None, (404, "not_found")),
        ("GET", "/api/", None, (404, "not_found")),
        ("POST", "/api/none", {}, (404, "not_found")),
        ("PUT", "/api/projects", {}, (405, "method_not_allowed")),
        ("DELETE", "/health", None, (405, "method_not_allowed")),
    ],
)
async def test_refusals(
    shared: Running, method: str, path: str, body: object, expected: tuple[int, str]
) -> None:
    assert await shared.error(method, path, body) == expected


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "application/json"),
        (b"{", "application/json"),
        (b'{"text": "\\ud800"}', "application/json"),
        (b'{"text": " "}', "application/json"),
        (b"text=x", "application/x-www-form-urlencoded"),
        (b'{"text": "x"}', "text/plain"),
        (b"\xff\xfe", "application/json"),
        (b"[" * 100_000, "application/json"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_bodies_that_are_none(start: Start, content: bytes, kind: str) -> None:
    async with start([say("x")]) as server:
        _, sid = await server.session()
        answer = await server.http.post(
            f"/api/sessions/{sid}/runs", content=content, headers={"content-type": kind}
        )
        assert answer.status_code == 400
        assert envelope(answer)["code"] == "invalid_request"
        assert server.provider.requests == []


async def test_a_bug_shows_nothing(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    async with start() as server:

        async def broken() -> None:
            raise RuntimeError("secret /home/someone")

        monkeypatch.setattr(server.services.runs, "projects", broken)
        answer = await server.http.get("/api/projects")
        assert answer.status_code == 500
        assert envelope(answer)["code"] == "internal_error"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "secret" not in answer.text
