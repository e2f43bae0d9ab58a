"""A real server on a free port, in the test's own loop, with a scripted provider behind it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from wenfang.server import (
    BUILT,
    PublicUrl,
    Server,
    Services,
    bind,
    make_app,
    open_services,
    url_of,
)
from wenfang.testing import Reply, Script, ScriptedServer


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("WENFANG_")]:
        monkeypatch.delenv(name)


@dataclass(kw_only=True)
class Running:
    """A server that answers, and shorthand for what tests do with it."""

    url: str
    http: httpx.AsyncClient
    services: Services
    provider: ScriptedServer | None

    async def json(self, method: str, path: str, body: object = None, status: int = 200) -> Any:
        answer = await self.http.request(method, path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def error(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        answer = await self.http.request(method, path, json=body)
        return answer.status_code, envelope(answer)["code"]

    async def session(self, folder: Path | None = None) -> tuple[str, str]:
        where = {} if folder is None else {"path": str(folder)}
        project = await self.json("POST", "/api/projects", {"title": "甲", **where}, 201)
        session = await self.json("POST", f"/api/projects/{project['id']}/sessions", None, 201)
        return project["id"], session["id"]

    async def run(self, session: str, text: str = "1+1") -> str:
        return (await self.json("POST", f"/api/sessions/{session}/runs", {"text": text}, 201))["id"]

    async def finished(self, run: str) -> list[dict[str, Any]]:
        """All events of a run, to its end."""
        return await self.events(f"/api/runs/{run}/events")

    async def events(self, path: str, **more: Any) -> list[dict[str, Any]]:
        return await read_events(self.http, path, **more)


async def read_events(
    http: httpx.AsyncClient,
    path: str,
    *,
    until: str | None = None,
    at_text: Callable[[], Awaitable[object]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """The events of a stream, to its end or to the first of type `until`. `at_text` is awaited when
    the first text has been seen."""
    seen: list[dict[str, Any]] = []
    async with (
        http.stream("GET", path, headers=headers) as answer,
        aclosing(parse_stream(answer.aiter_bytes())) as events,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        async for event in events:
            seen.append(event)
            if at_text is not None and event["type"] == "message.delta":
                await at_text()
                at_text = None
            if event["type"] == until:
                break
    return seen


def envelope(answer: httpx.Response) -> dict[str, Any]:
    body = answer.json()
    assert set(body) == {"code", "message", "params"}
    assert body["message"]
    assert "Traceback" not in answer.text
    return body


async def parse_stream(chunks: AsyncIterator[bytes]) -> AsyncGenerator[dict[str, Any]]:
    """Events by the letter of the standard, with `_id` as it came."""
    buffer = b""
    async for chunk in chunks:
        buffer += chunk
        while b"\n\n" in buffer:
            block, buffer = buffer.split(b"\n\n", 1)
            fields = [line.split(b": ", 1) for line in block.split(b"\n")]
            if not all(len(field) == 2 for field in fields) or fields[0][0] == b"":
                yield {"type": "comment", "_id": None}
                continue
            named = dict(fields)
            assert set(named) <= {b"id", b"data"}
            number = int(named[b"id"]) if b"id" in named else None
            yield {**json.loads(named[b"data"]), "_id": number}


@asynccontextmanager
async def running(
    data: Path,
    replies: Sequence[Reply] = (),
    flags: Mapping[str, str] | None = None,
    static: Path | None = None,
    public: str = "",
    with_accounts: bool = False,
) -> AsyncGenerator[Running]:
    async with AsyncExitStack() as stack:
        provider = None
        if replies:
            script = Script(name="test", replies=tuple(replies))
            provider = await stack.enter_async_context(ScriptedServer(script))
            flags = {"base_url": provider.url, "model": "scripted", **(flags or {})}
        services = await stack.enter_async_context(
            open_services(data, flags, with_accounts=with_accounts or bool(public))
        )
        bound = stack.enter_context(bind("127.0.0.1", 0))
        ready = asyncio.Event()
        app = make_app(
            services,
            static=static or BUILT,
            public=PublicUrl.parse(public) if public else None,
        )
        server = Server(app, closing=services.streams.close, ready=ready.set)
        serving = asyncio.create_task(server.serve(sockets=[bound]))
        await ready.wait()
        http = httpx.AsyncClient(base_url=url_of(bound), timeout=20)
        try:
            yield Running(url=url_of(bound), http=http, services=services, provider=provider)
        finally:
            await http.aclose()
            server.should_exit = True
            await serving


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Any]:
    """`async with start(replies) as server:`"""

    def make(replies: Sequence[Reply] = (), **more: Any) -> Any:
        return running(tmp_path / "data", replies, **more)

    return make


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    """One server for tables; each row makes its own project."""
    flags = {"provider": "scripted"}
    async with running(tmp_path_factory.mktemp("data"), flags=flags) as server:
        yield server
