"""Event streams: framing by the byte, resuming from every place, viewers that come, leave and stall."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from wenfang.testing import Reply, call, say

from .conftest import Running, envelope

pytestmark = pytest.mark.anyio
Start = Callable[..., Any]

# U+2028 and U+0085 end lines for str.splitlines, not in an event stream (FB29); 𠮷 has two units.
ODD = "一\u2028二\u0085三\r\n四\r五\n\n: 六\ndata: 七 𠮷😀\u2029"


async def _raw(server: Running, path: str, *headers: str) -> bytes:
    """The bytes of a whole answer, chunks joined."""
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", "Connection: close", *headers, "", ""]
    writer.write("\r\n".join(lines).encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert b"text/event-stream" in head
    assert b"no-cache" in head
    body = b""
    while (size := int(await reader.readline(), 16)) > 0:
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    writer.close()
    await writer.wait_closed()
    return body


async def test_framing_by_the_byte(start: Start) -> None:
    async with start([say(ODD)]) as server:
        _, sid = await server.session()
        run = await server.run(sid, ODD)
        await server.finished(run)
        body = await _raw(server, f"/api/runs/{run}/events")
        assert body.endswith(b"\n\n")
        assert b"\r" not in body
        events = [block.split(b"\n") for block in body[:-2].split(b"\n\n")]
        for lines in events:
            assert [line.split(b": ", 1)[0] for line in lines] == [b"id", b"data"]
            assert json.loads(lines[1][6:])["seq"] == int(lines[0][4:])
        facts = [json.loads(lines[1][6:]) for lines in events]
        assert facts[1]["text"] == ODD
        assert facts[-1]["answer"] == ODD


async def test_resume_from_every_place(start: Start) -> None:
    async with start([call("list_files", path="."), say("好")]) as server:
        _, sid = await server.session()
        run = await server.run(sid)
        everything = [e for e in await server.finished(run) if e["_id"]]
        numbers = [e["_id"] for e in everything]
        for after in range(numbers[-1]):
            path = f"/api/runs/{run}/events?after={after}"
            assert await server.events(path) == [e for e in everything if e["_id"] > after]
        header = {"last-event-id": str(numbers[3])}
        resumed = await server.events(f"/api/runs/{run}/events?after=0", headers=header)
        assert [e["_id"] for e in resumed] == numbers[4:]
        done = await server.http.get(f"/api/runs/{run}/events?after={numbers[-1]}")
        assert (done.status_code, done.content) == (204, b"")


@pytest.fixture(scope="module")
async def ended(shared: Running) -> tuple[str, str]:
    """A project and a run of it that has ended."""
    pid, sid = await shared.session()
    run = await shared.run(sid)
    await shared.finished(run)
    return pid, run


@pytest.mark.parametrize("value", ["-1", "x", "1.5", "１", "1" * 16, "99999", " 1", "0x1"])
@pytest.mark.parametrize("stream", ["projects", "runs"])
async def test_a_position_that_is_none(
    shared: Running, ended: tuple[str, str], value: str, stream: str
) -> None:
    path = f"/api/{stream}/{ended[stream == 'runs']}/events"
    answers = [await shared.http.get(path, params={"after": value})]
    if value.isascii() and value == value.strip():
        answers.append(await shared.http.get(path, headers={"last-event-id": value}))
    for answer in answers:
        assert (answer.status_code, envelope(answer)["code"]) == (400, "invalid_request")


async def test_two_viewers_and_one_that_leaves(start: Start) -> None:
    slow = Reply(text=["字"] * 30, pace_ms=10)
    async with start([slow]) as server:
        pid, sid = await server.session()
        run = await server.run(sid)
        one, two, _ = await asyncio.gather(
            server.events(f"/api/projects/{pid}/events", until="run.finished"),
            server.events(f"/api/runs/{run}/events"),
            server.events(f"/api/runs/{run}/events", until="message.delta"),
        )
        kept = [[e["seq"] for e in seen if e["_id"] and e["run_id"] == run] for seen in (one, two)]
        assert kept[0] == kept[1]
        for seen in (one, two):
            assert _text_of(seen) == "字" * 30


def _text_of(events: list[dict[str, Any]]) -> str:
    """What a reader builds from deltas by their offsets."""
    text = ""
    for event in events:
        if event["type"] == "message.delta":
            assert event["off"] <= len(text)
            text = text[: event["off"]] + event["text"]
    return text


async def test_a_snapshot_and_the_rest_are_the_whole(start: Start) -> None:
    slow = Reply(text=["字"] * 40, pace_ms=10)
    async with start([slow]) as server:
        pid, sid = await server.session()
        run = await server.run(sid)
        await server.events(f"/api/runs/{run}/events", until="message.delta")
        snapshot = await server.json("GET", f"/api/projects/{pid}/snapshot?session_id={sid}")
        assert snapshot["partials"][0]["off"] == 0
        path = f"/api/projects/{pid}/events?after={snapshot['seq']}"
        rest = await server.events(path, until="run.finished")
        assert _text_of(snapshot["partials"] + rest) == "字" * 40


async def test_a_quiet_stream_is_kept_alive(start: Start) -> None:
    async with start() as server:
        server.services.streams.keepalive_s = 0.05
        pid, _ = await server.session()
        path = f"/api/projects/{pid}/events"
        first = await server.events(path, until="comment")
        assert [e["type"] for e in first] == ["session.changed", "comment"]
        again = await server.events(f"{path}?after={first[0]['seq']}", until="comment")
        assert [e["type"] for e in again] == ["comment"]


async def test_closing_ends_streams_in_order(start: Start) -> None:
    async with start() as server:
        pid, _ = await server.session()
        watching = asyncio.create_task(server.events(f"/api/projects/{pid}/events"))
        while not server.services.streams._open:
            await asyncio.sleep(0)
        server.services.streams.close()
        # The body ended as it should; a body that is cut would raise.
        assert {e["type"] for e in await watching} <= {"session.changed"}
        answer = await server.http.get(f"/api/projects/{pid}/events")
        assert (answer.status_code, answer.json()["code"]) == (503, "shutting_down")
        ready = await server.http.get("/ready")
        assert (ready.status_code, ready.json()["status"]) == (503, "not_ready")


async def test_a_reader_that_never_reads_holds_up_nobody(start: Start) -> None:
    big = Reply(text=["字" * 4000] * 300, pace_ms=1)
    async with start([big]) as server:
        _, sid = await server.session()
        run = await server.run(sid)
        host, port = server.url.removeprefix("http://").split(":")
        _, stalled = await asyncio.open_connection(host, int(port), limit=1024)
        stalled.write(f"GET /api/runs/{run}/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        events = await server.finished(run)
        assert events[-1]["type"] == "run.finished"
        assert len(events[-1]["answer"]) == 1_200_000
        stalled.close()


async def test_a_foreign_page_gets_no_stream(shared: Running) -> None:
    pid, _ = await shared.session()
    for headers in ({"origin": "https://evil.example"}, {"host": "evil.example"}):
        answer = await shared.http.get(f"/api/projects/{pid}/events", headers=headers)
        assert answer.status_code == 403
        write = await shared.http.post("/api/projects", json={"title": "x"}, headers=headers)
        assert write.status_code == 403
        assert write.headers["x-content-type-options"] == "nosniff"
