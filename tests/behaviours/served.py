"""The served faces: the live event stream, and the replay of the same run after its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from wenfang.runs import RunFinished
from wenfang.storage import FILE
from wenfang.testing import ScriptedServer

from .bench import Workbench
from .corpus import Case
from .direct import Sleeps
from .frames import Watch, read_events
from .host import CALLS, open_host
from .outcome import Outcome


class Served:
    """One run, seen twice: by a viewer while it happened, and by one who comes after the end."""

    names = ("sse", "replay")

    async def start(self, case: Case) -> dict[str, Outcome]:
        with tempfile.TemporaryDirectory() as folder:
            async with ScriptedServer(case.script) as model, aiohttp.ClientSession() as http:
                drive = _Drive(case, Path(folder), model, http)
                async with AsyncExitStack() as stack:
                    await drive.run(stack)
                    again = await drive.read_again()
                    await drive.compare(again)
                return {
                    "sse": drive.outcome(drive.watch, live=True),
                    "replay": drive.outcome(again, live=False),
                }


class _Drive:
    """Does over HTTP what a case drives."""

    def __init__(
        self, case: Case, data: Path, model: ScriptedServer, http: aiohttp.ClientSession
    ) -> None:
        self._case = case
        self._data = data
        self._model = model
        self._http = http
        self._bench = Workbench()
        self._sleeps = Sleeps()
        self._refused: list[str] = []
        self._run_id = ""
        self.watch = Watch()

    async def run(self, stack: AsyncExitStack) -> None:
        crash = any("crash_at" in action for action in self._case.drive)
        host = _spawn(self._case, self._data, self._model.url, hold=True) if crash else None
        self._url = await stack.enter_async_context(host or self._host())
        project = await self._post("/api/projects", {"title": "Corpus"})
        self._project: str = project["id"]
        session = await self._post(f"/api/projects/{self._project}/sessions", {})
        self._session: str = session["id"]
        for action in self._case.drive:
            await self._act(action, stack)

    def _host(self) -> Any:
        return open_host(self._case, self._data, self._model.url, self._bench, self._sleeps)

    async def _act(self, action: dict[str, Any], stack: AsyncExitStack) -> None:
        if "reconnect_every" in action:
            await self._say(action["say"])
            await self._follow_in_pieces(action["reconnect_every"])
            return
        viewer = asyncio.create_task(self._view())
        try:
            await self._say(action["say"])
            if "also" in action:
                await self.watch.until(lambda: self.watch.is_shown("first"))
                await self._say(action["also"])
            if "also_elsewhere" in action:
                await self.watch.until(lambda: self.watch.is_shown("first"))
                await self._say_elsewhere(action["also_elsewhere"])
            if action.get("second_viewer_leaves"):
                await self._look_once()
            if "stop_at" in action:
                await self._reach(action["stop_at"])
                await self._post(f"/api/runs/{self._run_id}/stop", {})
            elif "leave_at" in action:
                await self._reach(action["leave_at"])
                viewer.cancel()
                await self._wait_unseen()
                viewer = asyncio.create_task(self._view())
            elif "crash_at" in action:
                await self._reach(action["crash_at"])
                await self._kill(viewer)
                self._url = await stack.enter_async_context(
                    _spawn(self._case, self._data, self._model.url, hold=False)
                )
                viewer = asyncio.create_task(self._view())
            await self._until_end(viewer)
        finally:
            viewer.cancel()
            await asyncio.wait((viewer,))

    async def _until_end(self, viewer: asyncio.Task[None]) -> None:
        ended = asyncio.create_task(self.watch.until(lambda: bool(self.watch.ends(self._run_id))))
        await asyncio.wait((ended, viewer), return_when=asyncio.FIRST_COMPLETED, timeout=20)
        if not ended.done():
            ended.cancel()
            if viewer.done():
                viewer.result()
            raise AssertionError(f"{self._case.id}: the run did not end; saw {self.watch.facts}")

    async def _say_elsewhere(self, text: str) -> None:
        """Say it to a second process that serves the same data."""
        here = self._url
        async with _spawn(self._case, self._data, self._model.url, hold=False) as self._url:
            await self._say(text)
        self._url = here

    async def _say(self, text: str) -> None:
        url = f"{self._url}/api/sessions/{self._session}/runs"
        async with self._http.post(url, json={"text": text}) as response:
            body = await response.json()
            if response.status == 201:
                self._run_id = body["id"]
            else:
                self._refused.append(body["code"])

    async def _reach(self, place: str) -> None:
        """Until the tool of that name has been entered, or the text is shown."""
        if place not in self._case.tools:
            await self.watch.until(lambda: self.watch.is_shown(place))
        elif "crash_at" in self._case.drive[-1]:
            calls = self._data / CALLS
            while not (
                calls.exists() and calls.read_text().endswith("\n")
            ):  # written, not only opened
                await asyncio.sleep(0.01)
        else:
            await self._bench.entered.wait()

    async def _view(self) -> None:
        url = f"{self._url}/api/projects/{self._project}/events"
        async with aclosing(read_events(self._http, url, self.watch.seq)) as events:
            async for seq, event in events:
                self.watch.see(seq, event)

    async def _look_once(self) -> None:
        url = f"{self._url}/api/projects/{self._project}/events"
        async with aclosing(read_events(self._http, url, 0)) as events:
            await anext(events)

    async def _follow_in_pieces(self, count: int) -> None:
        """Read `count` facts, drop the connection, and go on after the last one."""
        url = f"{self._url}/api/runs/{self._run_id}/events"
        while not self.watch.ends(self._run_id):
            had = len(self.watch.facts)
            async with aclosing(read_events(self._http, url, self.watch.seq)) as events:
                async for seq, event in events:
                    self.watch.see(seq, event)
                    if len(self.watch.facts) >= had + count:
                        break

    async def _wait_unseen(self) -> None:
        while True:
            async with self._http.get(f"{self._url}/api/runs/{self._run_id}") as response:
                if (await response.json())["status"] not in ("queued", "running"):
                    return
            await asyncio.sleep(0.01)

    async def _kill(self, viewer: asyncio.Task[None]) -> None:
        os.kill(int((self._data / "pid").read_text()), signal.SIGKILL)
        await asyncio.wait((viewer,))
        viewer.exception()  # the connection broke, as it must

    async def read_again(self) -> Watch:
        """What one sees who comes after the end: the facts from the first one on."""
        watch = Watch()
        url = f"{self._url}/api/projects/{self._project}/events"
        async with aclosing(read_events(self._http, url, 0)) as events:
            async for seq, event in events:
                watch.see(seq, event)
                if watch.ends(self._run_id):
                    break
        return watch

    async def compare(self, again: Watch) -> None:
        """Live, replay and snapshot are the same facts."""
        if again.facts[-len(self.watch.facts) :] != self.watch.facts:
            self.watch.faults.append("the replay differs from what was sent live")
        url = f"{self._url}/api/projects/{self._project}/snapshot?session_id={self._session}"
        async with self._http.get(url) as response:
            frames = (await response.json())["frames"]
        seen = [
            fact.seq for fact in again.facts if fact.session_id == self._session and fact.run_id
        ]
        if [frame["seq"] for frame in frames] != seen:
            again.faults.append("the snapshot holds other facts than the replay")

    def outcome(self, watch: Watch, *, live: bool) -> Outcome:
        end = watch.ends(self._run_id)[-1]
        calls = self._data / CALLS
        logged = (
            [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []
        )
        return Outcome(
            status=end.status,
            reason=end.reason,
            answer=end.answer,
            usage=end.usage,
            kind=end.failure.kind if end.failure else None,
            messages=watch.messages,
            shown=list(watch.texts.values()) if live else None,
            resets=watch.resets,
            closings=len(watch.ends(self._run_id)),
            executed=logged or self._bench.executed,
            cancelled=self._bench.cancelled,
            requests=self._model.requests,
            problems=self._model.problems(),
            sleeps=list(self._sleeps),
            refused=self._refused,
            faults=watch.faults + _after_the_end(watch),
            ledger=_ledger(self._data, self._run_id),
            seen=watch.seen,
        )

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        async with self._http.post(f"{self._url}{path}", json=body) as response:
            assert response.status < 300, await response.text()
            return await response.json()


def _after_the_end(watch: Watch) -> list[str]:
    """Facts of a run after its last one."""
    over: set[str] = set()
    late: list[str] = []
    for fact in watch.facts:
        if fact.run_id in over:
            late.append(f"{type(fact).__name__} after the end of its run")
        if isinstance(fact, RunFinished):
            over.add(fact.run_id)
    return late


def _ledger(data: Path, run_id: str) -> dict[str, Any]:
    database = sqlite3.connect(f"file:{data / FILE}?mode=ro", uri=True)
    try:
        rows = database.execute(
            "SELECT kind, amount FROM quota WHERE run_id = ?", (run_id,)
        ).fetchall()
    finally:
        database.close()
    charge = -sum(amount for kind, amount in rows if kind == "settle")
    return {
        "drift": sum(amount for kind, amount in rows if kind in ("reserve", "settle", "refund")),
        "charge": charge,
        "charged": charge > 0,
        "settlements": sum(kind == "settle" for kind, _ in rows),
    }


@asynccontextmanager
async def _spawn(case: Case, data: Path, model_url: str, *, hold: bool) -> AsyncGenerator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.behaviours.host", case.id, case.dialect, str(data), model_url,
        "hold" if hold else "go", stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        (data / "pid").write_text(str(process.pid))
        assert process.stdout is not None
        yield (await process.stdout.readline()).decode().strip()
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
