"""What the browser tests stand on: the server as a process, scripted models, a line that can be cut."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeVar
from urllib.parse import quote

from playwright.sync_api import BrowserContext, Locator, Page, expect

from wenfang.testing import ScriptedServer, parse_script

T = TypeVar("T")

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_S = 30
RUN_MS = 30_000


class Loop:
    """An event loop in a thread of its own, for servers that live beside a test."""

    def __enter__(self) -> Self:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(START_S)


class Models(Loop):
    """Scripted model servers, one per test."""

    def __enter__(self) -> Self:
        super().__enter__()
        self._open: list[ScriptedServer] = []
        return self

    def serve(self, replies: list[Any]) -> ScriptedServer:
        script = parse_script(
            {"replies": replies or [{"text": "好。", "repeat": 0}]}, name="browser"
        )
        server = ScriptedServer(script)
        self.run(server.__aenter__())
        self._open.append(server)
        return server

    def __exit__(self, *raised: Any) -> None:
        for server in self._open:
            self.run(server.__aexit__(None, None, None))
        super().__exit__(*raised)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What the server says of a project's files."""

    id: str
    studio: Studio

    def read(self, path: str) -> bytes:
        answer: dict[str, str] = self.studio.call("GET", f"/api/projects/{self.id}/files/{path}")
        return answer["text"].encode()

    def paths(self) -> list[str]:
        tree = self.studio.call("GET", f"/api/projects/{self.id}/files")
        return [each["path"] for each in tree["entries"] if each["kind"] == "file"]


class Studio:
    """`wenfang serve` as a process: it can be stopped, killed and started again on its port."""

    def __init__(self, data: Path, *options: str) -> None:
        self.data = data
        self.port = 0
        self._options = options
        self._setup_code: Future[str] = Future()
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(START_S)
        self._close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("WENFANG_")
        }
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "wenfang",
                "serve",
                "--port",
                str(self.port),
                "--data",
                str(self.data),
                *self._options,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment | {"PYTHONUNBUFFERED": "1"},
        )
        assert self._process.stdout is not None
        said: list[str] = []
        for line in self._process.stdout:
            said.append(line)
            if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found.group(1))
                threading.Thread(
                    target=self._listen, args=(self._process.stdout,), daemon=True
                ).start()
                return
        raise AssertionError("the server did not start: " + "".join(said))

    def _listen(self, said: IO[str]) -> None:
        for line in said:
            found = re.search(r"安装码 (\S+)|set-up code (\S+)", line)
            if found and not self._setup_code.done():
                self._setup_code.set_result(found.group(1) or found.group(2))

    @property
    def setup_code(self) -> str:
        """What a server with accounts prints while there is no admin."""
        return self._setup_code.result(START_S)

    def kill(self) -> None:
        """As a crash or the power would: nothing is put in order."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(START_S)
        self._close()

    def _close(self) -> None:
        if self._process and self._process.stdout:
            self._process.stdout.close()

    def call(self, method: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            self.url + quote(path, safe="/?=&%"),
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=START_S) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def make_project(
        self,
        title: str,
        files: Mapping[str, str | bytes],
        folder: Path | None = None,
        template: str | None = None,
    ) -> Project:
        """A project with its files in the database, from a template or not, or in a folder of the disk."""
        where = {} if folder is None else {"path": str(folder)}
        if template is not None:
            where = {"template": template, "language": "zh"}
        made = self.call("POST", "/api/projects", {"title": title, **where})
        for name, content in files.items():
            text = content.decode() if isinstance(content, bytes) else content
            body = {"text": text, "base": None}
            self.call("PUT", f"/api/projects/{made['id']}/files/{name}", body)
        return Project(id=made["id"], studio=self)

    def use_model(self, url: str) -> None:
        settings = {"provider": "openai", "base_url": url, "model": "scripted", "dialect": "native"}
        self.call("PUT", "/api/settings", settings)

    def settle(self, run_id: str) -> Any:
        return self.call("GET", f"/api/runs/{run_id}")


class Line(Loop):
    """A proxy between browser and server that can be cut."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._is_cut = False
        self._writers: set[asyncio.StreamWriter] = set()

    def __enter__(self) -> Self:
        super().__enter__()
        self._server = self.run(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *raised: Any) -> None:
        self.cut()
        self.run(self._close())
        super().__exit__(*raised)

    async def _close(self) -> None:
        self._server.close()
        await asyncio.sleep(0)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """End all connections and refuse new ones until `mend`."""

        async def cut() -> None:
            self._is_cut = True
            for writer in self._writers:
                writer.transport.abort()

        self.run(cut())

    def mend(self) -> None:
        self._is_cut = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers |= {writer, far_writer}
        try:
            await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        finally:
            self._writers -= {writer, far_writer}
            writer.close()
            far_writer.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65_536):
            target.write(data)
            await target.drain()
    except OSError:
        pass
    finally:
        target.transport.abort() if source.exception() else target.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """An open project and what a person can do with it."""

    page: Page
    studio: Studio
    project: Project
    model: ScriptedServer

    @property
    def composer(self) -> Locator:
        return self.page.get_by_role("textbox", name=re.compile("给助手的话|追加给正在运行的助手"))

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log")

    @property
    def end(self) -> Locator:
        return self.page.get_by_test_id("run-end")

    @property
    def editor(self) -> Locator:
        return self.page.locator(".cm-content")

    def say(self, text: str) -> None:
        self.composer.fill(text)
        self.composer.press("Enter")

    def wait_for_end(self, status: str = "done", runs: int = 1) -> None:
        expect(self.end).to_have_count(runs, timeout=RUN_MS)
        expect(self.end.last).to_have_attribute("data-status", status)

    def open(self, path: str) -> None:
        self.page.get_by_role("treeitem", name=path.split("/")[-1], exact=True).click()
        expect(self.editor).to_be_visible()

    def wait_saved(self) -> None:
        expect(self.page.get_by_test_id("save-state")).to_contain_text("已保存")

    def read(self, path: str) -> bytes:
        return self.project.read(path)


def allow_clipboard(context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])


def forgive(errors: list[str], *statuses: int) -> None:
    """Accept what the browser logs about answers that a test provoked, and nothing else."""
    expected = tuple(f"status of {status}" for status in statuses)
    assert [error for error in errors if not any(each in error for each in expected)] == []
    errors.clear()


def is_gone(studio: Studio, path: str) -> bool:
    try:
        studio.call("GET", path)
    except urllib.error.HTTPError as error:
        return error.code == 404
    return False
