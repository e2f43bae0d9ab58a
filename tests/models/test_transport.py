"""Both ways of HTTP against a real server: our own, and aiohttp for machines behind a proxy."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from tests.models.fake import ask, collect, seen_until_failure, text_of

from wenfang.core import Assistant, ModelError, ModelRequest, user
from wenfang.models import ChatClient, aio, http1, transport
from wenfang.testing import RawItem, Reply, Script, ScriptedServer, call, say

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True, params=[http1, aio], ids=["http1", "aiohttp"])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(transport, "_exchange_for", lambda _: request.param.Exchange)
    return request.param


def serve(*replies: Reply) -> ScriptedServer:
    return ScriptedServer(Script(name="test", replies=replies))


async def test_one_session_and_one_connection_serve_many_requests() -> None:
    async with serve(say("a"), say("b"), Reply(http=500, body={"error": "x"}), say("c")) as server:
        for stream in (True, False):
            _, reply = await collect(ChatClient(base_url=server.url, model="m"), ask(stream=stream))
            assert reply is not None
        with pytest.raises(ModelError):
            await collect(ChatClient(base_url=server.url, model="m"))
        await collect(ChatClient(base_url=server.url, model="m"))
        assert server.connections == 1
    server.check()


async def test_leaving_early_closes_the_connection() -> None:
    async with serve(Reply(text="a b c d e f g h", pace_ms=10_000)) as server:
        stream = ChatClient(base_url=server.url, model="m").stream(ask())
        waiting = asyncio.ensure_future(anext(stream))
        while not server.requests:
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait((waiting,))
        await stream.aclose()
        while server.requests[0].ended == "open":
            await asyncio.sleep(0)
        assert server.requests[0].ended == "dropped"


@pytest.mark.parametrize("end", ["cut", "reset"])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_connection_that_breaks(end: Any, stream: bool) -> None:
    async with serve(Reply(text="some words", end=end)) as server:
        chat = ChatClient(base_url=server.url, model="m")
        shown, error = await seen_until_failure(chat, ask(stream=stream))
        assert error is not None
        assert error.failure.kind == "stream_incomplete"
        assert text_of(shown) == ("some words" if stream else "")


async def test_a_stream_that_stays_open_after_done_does_not_hold_the_reply(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TAIL_S", 0.01)
    done = 'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    reply = Reply(raw=[done, RawItem(sleep_ms=600_000)])
    async with serve(reply) as server:
        _, message = await collect(ChatClient(base_url=server.url, model="m"))
        assert message is not None
        assert message.text == "x"
        while server.requests[0].ended == "open":
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/v1",
        "http://no-such-host.invalid/v1",
        "http://127.0.0.1:99999/v1",
        "no address at all",
        "https://127.0.0.1:1/v1",
    ],
)
async def test_no_connection(url: str) -> None:
    with pytest.raises(ModelError) as caught:
        await collect(ChatClient(base_url=url, model="m"))
    assert caught.value.failure.kind == "network"
    assert url in str(caught.value)


async def test_a_large_body() -> None:
    async with serve(say("ok")) as server:
        text = "文" * 700_000
        request = ModelRequest(messages=(user(text),))
        _, reply = await collect(ChatClient(base_url=server.url, model="m"), request)
        assert isinstance(reply, Assistant)
        assert server.requests[0].body["messages"][0]["content"] == text


def test_the_session_ends_with_its_loop(module: Any) -> None:
    async def once() -> None:
        async with serve(call("add", a=1)) as server:
            await collect(ChatClient(base_url=server.url, model="m"))

    for _ in range(2):
        asyncio.run(once())
    held = module._pools if module is http1 else module._sessions
    assert not any(loop.is_closed() for loop in held._held)


def test_http_is_imported_with_the_first_request() -> None:
    code = "import sys, wenfang.models; sys.exit(bool({'aiohttp', 'httptools'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
