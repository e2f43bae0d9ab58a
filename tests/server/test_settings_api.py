from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.crews.provider import Provider

from wenfang.crews import PROBES
from wenfang.problems import Problem
from wenfang.server.jobs import Job
from wenfang.testing import RecordedRequest, Reply, say

from .conftest import Running, envelope

pytestmark = pytest.mark.anyio
Start = Callable[..., Any]
KEY = "sk-secret-0123456789"


async def test_a_key_goes_in_and_never_comes_out(start: Start, tmp_path: Path) -> None:
    async with start() as server:
        form = {"provider": "openai", "base_url": "https://h/v1", "model": "m", "api_key": KEY}
        answers = [
            await server.http.put("/api/settings", json=form),
            await server.http.get("/api/settings"),
            await server.http.put("/api/settings", json={"api_key": None, "language": "zh"}),
            await server.http.put("/api/settings", json={"api_key": KEY + "\n\u5bc6"}),
            await server.http.get("/api/openapi.json"),
            await server.http.get("/api/info"),
        ]
        assert [a.status_code for a in answers] == [200, 200, 200, 400, 200, 200]
        assert not any(KEY in a.text for a in answers)
        assert answers[2].json()["api_key_set"] is True
        assert answers[2].json()["language"] == "zh"
        gone = await server.json("PUT", "/api/settings", {"api_key": ""})
        assert gone["api_key_set"] is False


@pytest.mark.parametrize(
    "body",
    [
        {"provider": "x"},
        {"base_url": "nowhere"},
        {"dialect": 1},
        {"later": 1},
        {"model": "a\nb"},
        [],
    ],
    ids=str,
)
async def test_bad_settings_change_nothing(shared: Running, body: object) -> None:
    before = await shared.json("GET", "/api/settings")
    assert await shared.error("PUT", "/api/settings", body) == (400, "invalid_request")
    assert await shared.json("GET", "/api/settings") == before


async def test_what_the_environment_fixes_is_said(start: Start) -> None:
    async with start(flags={"model": "fixed"}) as server:
        assert (await server.json("GET", "/api/settings"))["locked"] == ["model"]
        refused = await server.http.put("/api/settings", json={"model": "other"})
        assert (refused.status_code, envelope(refused)["code"]) == (409, "setting_locked")
        same = await server.json("PUT", "/api/settings", {"model": "fixed", "dialect": "native"})
        assert same["dialect"] == "native"


async def test_a_change_holds_for_the_next_run(start: Start) -> None:
    async with start([say("一"), say("二")]) as server:
        _, sid = await server.session()
        await server.finished(await server.run(sid))
        server.services.store._above.pop("model")
        await server.json("PUT", "/api/settings", {"model": "other"})
        await server.finished(await server.run(sid))
        assert [r.body["model"] for r in server.provider.requests] == ["scripted", "other"]


async def test_the_test_button(start: Start) -> None:
    async with start([say("ok")]) as server:
        tested = await server.json("POST", "/api/settings/test", None)
        assert (tested["ok"], tested["code"], tested["models"]) == (True, "ok", ["scripted"])
        assert tested["latency_ms"] >= 0
        server.provider.check()


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(http=401, body={"error": {"message": f"bad key {KEY}"}}), "auth"),
        (Reply(http=404, body={"error": {"message": "no such model"}}), "fatal"),
        (Reply(http=429, body={"error": {"message": "slow down"}}), "rate"),
        (Reply(http=500, body="oops"), "overload"),
        (Reply(text="o", end="cut"), "stream_incomplete"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_the_test_button_says_what_is_wrong(start: Start, reply: Reply, code: str) -> None:
    async with start([reply]) as server:
        tested = await server.json("POST", "/api/settings/test", {"api_key": KEY})
        assert tested["ok"] is False
        assert tested["code"] == code
        assert KEY not in str(tested)


async def test_the_test_button_without_an_address_or_model(shared: Running) -> None:
    for form in (
        {"provider": "openai", "base_url": "https://h/v1"},
        {"provider": "openai", "model": "m"},
    ):
        tested = await shared.json("POST", "/api/settings/test", form)
        assert (tested["ok"], tested["code"]) == (False, "model_unavailable")


async def test_the_test_button_lists_models_before_one_is_named(start: Start) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        body = b'{"data": [{"id": "b"}, {"id": "a"}, {"id": 1}, 2]}'
        head = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        writer.write(head % len(body) + body)
        await writer.drain()
        writer.close()

    asked: list[bytes] = []
    provider = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with provider, start() as server:
        url = f"http://127.0.0.1:{provider.sockets[0].getsockname()[1]}/v1"
        form = {"provider": "openai", "base_url": url, "model": "", "api_key": KEY}
        tested = await server.json("POST", "/api/settings/test", form)
        assert (tested["ok"], tested["code"]) == (False, "model_unavailable")
        assert tested["models"] == ["a", "b"]
        assert f"authorization: Bearer {KEY}".encode() in asked[0]
        assert KEY not in str(tested)


async def test_the_test_button_with_nobody_there(start: Start) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        async with start() as server:
            form = {"provider": "openai", "base_url": url, "model": "m"}
            tested = await server.json("POST", "/api/settings/test", form)
            assert (tested["ok"], tested["code"]) == (False, "network")


async def test_a_broken_settings_file_is_said(start: Start, tmp_path: Path) -> None:
    async with start() as server:
        (tmp_path / "data" / "settings.json").write_text("{")
        assert await server.error("GET", "/api/settings") == (500, "settings_invalid")
        assert await server.error("GET", "/api/model") == (500, "settings_invalid")


async def test_pull_and_cancel(start: Start) -> None:
    async with start() as server:
        report: list[Callable[[float], None]] = []
        cancelled = asyncio.Event()

        async def pull(told: Callable[[float], None]) -> None:
            report.append(told)
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        server.services.pulls._work = pull
        assert (await server.json("POST", "/api/model/pull", None, 202))["progress"] == 0
        assert await server.error("POST", "/api/model/pull") == (409, "pull_active")
        report[0](0.5)
        assert (await server.json("GET", "/api/model"))["progress"] == 0.5
        assert (await server.json("POST", "/api/model/cancel"))["progress"] is None
        assert cancelled.is_set()
        assert (await server.json("POST", "/api/model/cancel"))["error"] is None


async def test_a_failed_pull_is_said_until_the_next() -> None:
    outcomes = iter([Problem("disk_full"), None])

    async def pull(told: Callable[[float], None]) -> None:
        told(2)
        if problem := next(outcomes):
            raise problem

    pulls = Job(pull, busy="pull_active")
    for expected in ("The disk is full", None):
        pulls.start()
        await asyncio.wait([pulls._task] if pulls._task else [])
        assert pulls.progress is None
        error = pulls.problem.text() if pulls.problem else ""
        assert error.startswith(expected or "")
        assert bool(error) == bool(expected)


# Probing


async def _probed(server: Running) -> dict[str, Any]:
    """The state after the search that runs has ended."""
    job = server.services.probes
    assert job._task is not None
    await asyncio.wait([job._task])
    return await server.json("GET", "/api/settings/probe")


async def test_probes_find_the_dialect_that_auto_means(start: Start) -> None:
    async with Provider({"tagged": "good"}) as provider, start() as server:
        form = {"provider": "openai", "base_url": provider.url, "model": "m"}
        assert (await server.json("PUT", "/api/settings", form))["found"] is None
        begun = await server.json("POST", "/api/settings/probe", None, 202)
        assert (begun["progress"], begun["code"]) == (0, None)
        assert await server.error("POST", "/api/settings/probe") == (409, "probe_active")
        assert await _probed(server) == {
            "progress": None,
            "code": None,
            "message": "",
            "params": {},
        }
        found = (await server.json("GET", "/api/settings"))["found"]
        assert found.pop("at") > 1e9
        assert found == {"dialect": "tagged", "right": 5, "total": 5}

        _, sid = await server.session()
        for choice in ("auto", "classic"):
            await server.json("PUT", "/api/settings", {"dialect": choice})
            provider.dialects.clear()
            await server.finished(await server.run(sid, PROBES[0].en))
            assert provider.dialects == ["tagged" if choice == "auto" else choice]

        other = await server.json("PUT", "/api/settings", {"model": "other"})
        assert other["found"] is None


@pytest.mark.parametrize(
    ("reply", "code"),
    [(None, "no_dialect"), (Reply(http=401, body={"error": {"message": KEY}}), "probe_failed")],
    ids=["nothing works", "wrong key"],
)
async def test_probes_that_find_nothing_say_so(
    start: Start, reply: Reply | None, code: str
) -> None:
    async with Provider(answer_of=lambda _n, _r: reply) as provider, start() as server:
        form = {"provider": "openai", "base_url": provider.url, "model": "m", "api_key": KEY}
        await server.json("PUT", "/api/settings", form)
        await server.json("POST", "/api/settings/probe", None, 202)
        state = await _probed(server)
        assert (state["progress"], state["code"]) == (None, code)
        assert state["message"]
        assert KEY not in str(state)
        assert (await server.json("GET", "/api/settings"))["found"] is None
        await server.json("PUT", "/api/settings", {"model": "other"})
        assert (await server.json("GET", "/api/settings/probe"))["code"] is None


async def test_probing_can_be_cancelled(start: Start, tmp_path: Path) -> None:
    asked = asyncio.Event()

    def answer(number: int, request: RecordedRequest) -> Reply | None:
        del request
        if number < 4:
            return None
        asked.set()
        return Reply(text="x", latency_ms=60_000)

    async with Provider({"native": "good"}, answer_of=answer) as provider, start() as server:
        form = {"provider": "openai", "base_url": provider.url, "model": "m"}
        await server.json("PUT", "/api/settings", form)
        await server.json("POST", "/api/settings/probe", None, 202)
        await asked.wait()
        assert (await server.json("GET", "/api/settings/probe"))["progress"] > 0
        assert (await server.json("POST", "/api/settings/probe/cancel"))["progress"] is None
        assert (await server.json("POST", "/api/settings/probe/cancel"))["code"] is None
        assert not (tmp_path / "data" / "dialects.json").exists()


async def test_the_demo_is_not_probed(start: Start) -> None:
    async with start(flags={"provider": "scripted"}) as server:
        assert await server.error("POST", "/api/settings/probe") == (409, "nothing_to_probe")


async def test_without_a_model_probes_say_so(start: Start) -> None:
    async with start(flags={"provider": "openai"}) as server:
        await server.json("POST", "/api/settings/probe", None, 202)
        assert (await _probed(server))["code"] == "model_unavailable"
