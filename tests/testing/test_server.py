"""The scripted server, asked by a client that is not ours."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from wenfang.testing import RawItem, Reply, Script, ScriptedServer, ToolUse, say
from wenfang.testing.server import main

pytestmark = pytest.mark.anyio
CHAT = "/chat/completions"


def serve(*replies: Reply) -> ScriptedServer:
    return ScriptedServer(Script(name="test.toml", replies=replies))


async def post(server: ScriptedServer, **body: Any) -> tuple[int, str, bytes]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(server.url + CHAT, json={"model": "m", "messages": [], **body}) as response,
    ):
        return response.status, response.content_type, await response.read()


async def get(server: ScriptedServer, path: str) -> tuple[int, Any]:
    async with aiohttp.ClientSession() as session, session.get(server.url + path) as response:
        return response.status, await response.json()


def chunks(body: bytes) -> list[Any]:
    events = [line.removeprefix("data: ") for line in body.decode().split("\n\n") if line]
    return [json.loads(event) if event != "[DONE]" else event for event in events]


async def test_a_streamed_reply() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 2}
    reply = Reply(text="a b", thinking="t", tools=[ToolUse(name="add", args={"a": 1})], usage=usage)
    async with serve(reply) as server:
        status, kind, body = await post(server, stream=True)
    assert (status, kind) == (200, "text/event-stream")
    *events, done = chunks(body)
    assert done == "[DONE]"
    assert events.pop()["usage"] == usage
    assert events.pop()["choices"][0]["finish_reason"] == "tool_calls"
    deltas = [event["choices"][0]["delta"] for event in events]
    assert deltas[:4] == [
        {"role": "assistant", "content": ""}, {"reasoning_content": "t"}, {"content": "a"}, {"content": " b"},
    ]  # fmt: skip
    assert deltas[4]["tool_calls"][0]["id"] == "call_1_0"
    written = "".join(d["tool_calls"][0]["function"]["arguments"] for d in deltas[4:])
    assert json.loads(written) == {"a": 1}


async def test_a_whole_reply() -> None:
    tools = [ToolUse(name="add", args='{"a"', id="mine")]
    reply = Reply(text="a", thinking="t", tools=tools, usage=[{}, {"prompt_tokens": 4}])
    async with serve(reply, say("b")) as server:
        _, kind, body = await post(server)
        value = json.loads(body)
        assert kind == "application/json"
        assert value["usage"] == {"prompt_tokens": 4}
        assert value["choices"][0]["message"] == {
            "role": "assistant",
            "content": "a",
            "reasoning_content": "t",
            "tool_calls": [
                {"index": 0, "id": "mine", "type": "function", "function": {"name": "add", "arguments": '{"a"'}}
            ],
        }  # fmt: skip
        assert "usage" not in json.loads((await post(server))[2])


async def test_errors_and_headers() -> None:
    async with serve(
        Reply(http=429, body={"error": "x"}, headers={"Retry-After": "3"}), Reply(body="plain")
    ) as server:
        status, kind, body = await post(server)
        assert (status, kind, json.loads(body)) == (429, "application/json", {"error": "x"})
        assert await post(server) == (200, "text/plain", b"plain")


async def test_raw_bytes() -> None:
    items = ["data: 1\n\n", RawItem(hex="e69687"), RawItem(sleep_ms=1), "x"]
    async with serve(Reply(raw=items, end="eof")) as server:
        assert (await post(server, stream=True))[2] == "data: 1\n\n文x".encode()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="a b", end="cut"), Reply(text="a b", end="reset"),
        Reply(raw=["data: 1\n\n", RawItem(reset=True)]),
    ],
)  # fmt: skip
async def test_breaking_off(reply: Reply) -> None:
    async with serve(reply) as server:
        with pytest.raises(aiohttp.ClientError):
            await post(server, stream=True)


async def test_steps_by_model_and_repeats() -> None:
    async with serve(
        Reply(text="b", model="b"), Reply(text="a", repeat=2), Reply(text="b2", model="b", repeat=0)
    ) as server:
        said = []
        for name in ("a", "b", "b", "b", "b"):
            body = json.loads((await post(server, model=name))[2])
            said.append(body["choices"][0]["message"]["content"])
        assert said == ["a", "b", "a", "b2", "b2"]
        server.check()


async def test_extra_and_unused_steps() -> None:
    async with serve(say("a"), Reply(chunks=[{"content": "x"}])) as server:
        assert await get(server, "/check") == (
            409,
            {"ok": False, "problems": ["step 1 was used 0 of 1 times", "step 2 was used 0 of 1 times"]},
        )  # fmt: skip
        assert [(await post(server))[0] for _ in range(3)] == [200, 400, 400]
        with pytest.raises(
            AssertionError, match=r"test.toml: .*step 2 needs a request that streams"
        ):
            server.check()
        shown = (await get(server, "/requests"))[1]
        assert [(each["body"]["model"], each["ended"]) for each in shown] == [("m", "done")] * 3


async def test_other_addresses_and_bodies() -> None:
    async with serve(say("a")) as server:
        assert (await get(server, "/models"))[1]["data"][0]["id"] == "scripted"
        assert (await get(server, "/nothing"))[0] == 404
        async with aiohttp.ClientSession() as session:
            for path, data in ((CHAT, b"no json"), (CHAT, b"[]"), ("/embeddings", b"{}")):
                async with session.post(server.url + path, data=data) as response:
                    assert response.status == 400
        assert server.requests == []


async def test_a_request_in_pieces_and_two_in_one_write() -> None:
    async with serve(say("one"), say("two")) as server:
        host, port = server.url.removeprefix("http://").removesuffix("/v1").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        body = b'{"model": "m", "messages": []}'
        request = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (
            len(body),
            body,
        )
        for at in range(0, len(request), 9):
            writer.write(request[at : at + 9])
            await writer.drain()
        writer.write(request[:50])
        await writer.drain()
        writer.write(request[50:])
        text = b""
        while b"one" not in text or b"two" not in text:
            text += await reader.read(4096)
        writer.close()
        await writer.wait_closed()
    server.check()


async def test_closing_ends_what_is_open() -> None:
    async with serve(Reply(text="a b", pace_ms=600_000)) as server:
        asking = asyncio.ensure_future(post(server, stream=True))
        while not server.requests:
            await asyncio.sleep(0)
    with pytest.raises(aiohttp.ClientError):
        await asking
    assert server.requests[0].ended == "dropped"


def script_file(tmp_path: Path) -> Path:
    path = tmp_path / "script.toml"
    path.write_text('[[replies]]\ntext = "hello"\n')
    return path


@pytest.mark.parametrize(("used", "code"), [(True, 0), (False, 1)])
def test_the_command(tmp_path: Path, used: bool, code: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "wenfang.testing.server", str(script_file(tmp_path))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    url = process.stdout.readline().split()[-1]

    async def ask() -> bytes:
        async with (
            aiohttp.ClientSession() as session,
            session.post(url + CHAT, json={"model": "m"}) as response,
        ):
            return await response.read()

    if used:
        assert b"hello" in asyncio.run(ask())
    os.kill(process.pid, signal.SIGTERM)
    _, errors = process.communicate()
    assert process.returncode == code
    assert ("step 1 was used 0 of 1 times" in errors) == (not used)


def test_a_script_with_an_error_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('[[replies]]\ntxet = "hello"\n')
    assert main([str(path)]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert f"{path}: step 1: Object contains unknown field `txet`" in errors


def test_a_taken_port_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main([str(script_file(tmp_path)), "--port", str(port)]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert f"cannot listen on 127.0.0.1:{port}" in errors
