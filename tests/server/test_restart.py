"""The server as a process: killed with -9 in the middle of a run, ended by SIGTERM, seen by a CLI."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from wenfang.testing import Reply, Script, ScriptedServer, say

from .conftest import read_events

pytestmark = pytest.mark.anyio


class Process:
    """`wenfang serve` on a free port."""

    def __init__(self, data: Path, *env: tuple[str, str]) -> None:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("WENFANG_")}
        self._env = {**clean, **dict(env), "WENFANG_DATA": str(data), "WENFANG_LANGUAGE": "en"}
        self.http = httpx.AsyncClient()

    async def start(self) -> None:
        await self.http.aclose()
        argv = [sys.executable, "-m", "wenfang", "serve", "--port", "0"]
        self.process = await asyncio.create_subprocess_exec(
            *argv, env=self._env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdout is not None
        line = (await self.process.stdout.readline()).decode()
        found = re.search(r"http://\S+", line)
        assert found is not None, (await self.process.communicate())[1]
        self.http = httpx.AsyncClient(base_url=found[0], timeout=30)

    async def end(self, number: int) -> tuple[int, str]:
        await self.http.aclose()
        self.process.send_signal(number)
        _, err = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, err.decode()

    async def post(self, path: str, body: object = None) -> Any:
        answer = await self.http.post(path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def events(self, path: str, until: str | None = None) -> list[dict[str, Any]]:
        return await read_events(self.http, path, until=until)


@asynccontextmanager
async def _serving(tmp_path: Path, *replies: Reply, database: str = "") -> AsyncGenerator[Process]:
    async with ScriptedServer(Script(name="test", replies=replies)) as provider:
        env = (
            ("WENFANG_BASE_URL", provider.url),
            ("WENFANG_MODEL", "scripted"),
            ("WENFANG_DATABASE", database),
        )
        served = Process(tmp_path / "data", *env)
        await served.start()
        try:
            yield served
        finally:
            if served.process.returncode is None:
                await served.end(signal.SIGKILL)


async def _until_text(served: Process) -> str:
    project = await served.post("/api/projects", {"title": "x"})
    session = await served.post(f"/api/projects/{project['id']}/sessions")
    run = await served.post(f"/api/sessions/{session['id']}/runs", {"text": "写"})
    await served.events(f"/api/runs/{run['id']}/events", until="message.delta")
    return run["id"]


SLOW = Reply(text=["字"] * 2000, pace_ms=20)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_killed_server_s_run_is_taken_over(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    database = "" if kind == "sqlite" else request.getfixturevalue("postgres_url")
    async with _serving(tmp_path, SLOW, say("写好了。"), database=database) as served:
        rid = await _until_text(served)
        await served.end(signal.SIGKILL)
        await served.start()
        events = await served.events(f"/api/runs/{rid}/events")
        assert [e["type"] for e in events].count("run.finished") == 1
        assert (events[-1]["status"], events[-1]["answer"]) == ("done", "写好了。")
        assert "step.reset" in [e["type"] for e in events]
        numbers = [e["_id"] for e in events if e["_id"]]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        again = await served.events(f"/api/runs/{rid}/events?after={numbers[2]}")
        assert [e["_id"] for e in again] == numbers[3:]


async def test_sigterm_drains(tmp_path: Path) -> None:
    async with _serving(tmp_path, SLOW, say("写好了。")) as served:
        rid = await _until_text(served)

        async def ask_to_end() -> None:
            served.process.send_signal(signal.SIGTERM)

        seen = await read_events(served.http, f"/api/runs/{rid}/events", at_text=ask_to_end)
        assert seen[-1]["type"] != "run.finished"  # the stream ended in order, the run did not
        _, err = await served.process.communicate()
        assert (served.process.returncode, err) == (0, b"")
        await served.start()
        events = await served.events(f"/api/runs/{rid}/events")
        assert events[-1]["answer"] == "写好了。"


async def test_idle_server_ends_at_once_and_quietly(tmp_path: Path) -> None:
    async with _serving(tmp_path, say("x")) as served:
        assert await served.end(signal.SIGINT) == (0, "")


async def test_a_run_of_the_command_line_shows_in_the_studio(tmp_path: Path) -> None:
    folder = tmp_path / "office"
    folder.mkdir()

    async def command(served: Process) -> None:
        argv = [sys.executable, "-m", "wenfang", "run", "x", "--project", str(folder)]
        process = await asyncio.create_subprocess_exec(
            *argv, env=served._env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        assert await process.wait() == 0

    async with _serving(tmp_path, say("一"), say("二")) as served:
        await command(served)
        (project,) = (await served.http.get("/api/projects")).json()
        assert project["path"] == str(folder)
        at = f"/api/projects/{project['id']}"
        (session,) = (await served.http.get(f"{at}/sessions")).json()
        taken = (await served.http.get(f"{at}/snapshot?session_id={session['id']}")).json()
        assert taken["frames"][-1]["answer"] == "一"
        again = asyncio.create_task(command(served))
        seen = await served.events(f"{at}/events?after={taken['seq']}", until="run.finished")
        assert seen[-1]["answer"] == "二"
        await again
