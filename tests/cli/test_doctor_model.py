"""`wenfang doctor model`: what it finds, says and keeps, against providers of all abilities."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Mapping
from typing import Any

import pytest
from tests.crews.provider import Ability, Provider

from wenfang.crews import PROBES
from wenfang.testing import RecordedRequest, Reply

from .conftest import Command, Result

pytestmark = pytest.mark.anyio


async def _probe(command: Command, provider: Provider, *args: str, **env: str) -> Result:
    env = {"WENFANG_BASE_URL": provider.url, "WENFANG_MODEL": "m-7b", **env}
    return await asyncio.to_thread(command, "doctor", "model", *args, env=env)


def _stored(command: Command) -> list[dict[str, Any]]:
    file = command.data / "dialects.json"
    return json.loads(file.read_text("utf-8")) if file.exists() else []


FOUND: list[tuple[str, Mapping[str, Ability], str, str]] = [
    ("native", {"native": "good"}, "native", "native: 5 of 5, 0 repairs, "),
    ("tools rejected", {"native": "rejects", "schema": "good"}, "schema", "native: the provider refuses such requests; schema: 5 of 5"),
    ("leaked", {"native": "leaks", "tagged": "leaks"}, "lenient", "native: the server returned the call as text; lenient: 5 of 5"),
    ("only tags", {"tagged": "good"}, "tagged", "native: no tool was called; tagged: 5 of 5"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("abilities", "dialect", "why"), [row[1:] for row in FOUND], ids=[row[0] for row in FOUND]
)
async def test_the_best_is_found_told_and_kept(
    command: Command, abilities: Mapping[str, Ability], dialect: str, why: str
) -> None:
    async with Provider(abilities) as provider:
        result = await _probe(command, provider)
        assert (result.code, why in result.out) == (0, True), result
        assert result.out.startswith("dialect ")
        assert f"{dialect} works best for m-7b." in result.out
        assert f"auto means {dialect} from now on" in result.out
        (row,) = _stored(command)
        assert row["subject"] == {"provider": "openai", "base_url": provider.url, "model": "m-7b"}
        assert row["best"]["dialect"] == dialect


async def test_auto_means_what_was_found_and_a_choice_stands_above_it(command: Command) -> None:
    async with Provider({"tagged": "good"}) as provider:
        await _probe(command, provider)
        env = {"WENFANG_BASE_URL": provider.url, "WENFANG_MODEL": "m-7b"}
        doctor = await asyncio.to_thread(command, "doctor", env=env)
        assert ": tagged (5 of 5)" in doctor.out
        for choice in ("auto", "classic"):
            provider.dialects.clear()
            above = {**env, "WENFANG_DIALECT": choice}
            await asyncio.to_thread(command.process, "run", PROBES[0].en, env=above)
            assert provider.dialects == ["tagged" if choice == "auto" else choice]
        doctor = await asyncio.to_thread(command, "doctor", env=above)
        assert "the settings choose classic" in doctor.out


async def test_a_choice_in_the_settings_is_named(command: Command) -> None:
    async with Provider({"native": "good"}) as provider:
        result = await _probe(command, provider, WENFANG_DIALECT="bracket")
    assert result.code == 0
    assert "the settings choose bracket" in result.out


async def test_nothing_works(command: Command) -> None:
    async with Provider() as provider:
        result = await _probe(command, provider)
    assert result.code == 5
    assert result.err.splitlines()[-1] == (
        "Error: m-7b calls tools in no dialect; choose another model"
    )
    assert "works best" not in result.out
    assert _stored(command) == []


async def test_no_store_keeps_nothing(command: Command) -> None:
    async with Provider({"native": "good"}) as provider:
        result = await _probe(command, provider, "--no-store")
    assert result.code == 0
    assert "native works best" in result.out
    assert "from now on" not in result.out
    assert _stored(command) == []


async def test_json_lines(command: Command) -> None:
    async with Provider({"native": "good", "tagged": "good"}) as provider:
        result = await _probe(command, provider, "--dialects", "native, tagged", "--json")
    *trials, last = map(json.loads, result.out.splitlines())
    assert (result.code, result.err) == (0, "")
    assert [(row["type"], row["dialect"]) for row in trials] == [
        ("probe", name) for name in ("native", "tagged") for _ in PROBES
    ]
    assert (last["type"], last["dialect"], last["stored"]) == ("result", "native", True)
    assert [score["right"] for score in last["scores"]] == [5, 5]


async def test_options_may_stand_before_the_word_model(command: Command) -> None:
    async with Provider({"native": "good"}) as provider:
        env = {"WENFANG_BASE_URL": provider.url, "WENFANG_MODEL": "m-7b"}
        data = str(command.project / "elsewhere")
        args = ("doctor", "--json", "--data", data, "model")
        result = await asyncio.to_thread(command, *args, env=env)
    assert json.loads(result.out.splitlines()[-1])["dialect"] == "native"
    assert (command.project / "elsewhere" / "dialects.json").exists()
    assert _stored(command) == []


async def test_chinese(command: Command) -> None:
    async with Provider({"tagged": "good"}) as provider:
        result = await _probe(command, provider, "--lang", "zh")
        asked = [str(request.body["messages"]) for request in provider.requests]
    assert "m-7b 最适合 tagged" in result.out
    assert any(PROBES[0].zh in text for text in asked)
    assert not any(PROBES[0].en in text for text in asked)


GONE: list[tuple[str, int, Reply, str]] = [
    ("wrong key", 1, Reply(http=401, body={"error": {"message": "no"}}), "does not accept the key"),
    ("unknown model", 1, Reply(http=404, body={"error": {"message": "no such model"}}), "'m-7b'"),
    ("dies midway", 4, Reply(http=503, body={"error": {"message": "gone"}}), "overloaded or failing"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "reply", "words"), [row[1:] for row in GONE], ids=[row[0] for row in GONE]
)
async def test_a_provider_that_does_not_answer(
    command: Command, first: int, reply: Reply, words: str
) -> None:
    def answer(number: int, request: RecordedRequest) -> Reply | None:
        del request
        return reply if number >= first else None

    async with Provider({"native": "good"}, answer_of=answer) as provider:
        result = await _probe(command, provider)
    assert (result.code, result.out) == (5, "")
    assert words in result.err.splitlines()[-1]
    assert "Traceback" not in result.err
    assert _stored(command) == []


async def test_a_slow_dialect_is_bounded(command: Command) -> None:
    def answer(number: int, request: RecordedRequest) -> Reply | None:
        del number
        return Reply(text="x", latency_ms=60_000) if "tools" in request.body else None

    async with Provider({"tagged": "good"}, answer_of=answer) as provider:
        result = await _probe(command, provider, "--timeout", "1", "--dialects", "native,tagged")
    assert result.code == 0
    assert "native: not done in time; tagged: 5 of 5" in result.out


async def test_ctrl_c_keeps_nothing(command: Command) -> None:
    asked = asyncio.Event()

    def answer(number: int, request: RecordedRequest) -> Reply | None:
        del request
        if number < 4:
            return None
        asked.set()
        return Reply(text="x", latency_ms=60_000)

    async with Provider({"native": "good"}, answer_of=answer) as provider:
        env = {**command.env, "WENFANG_BASE_URL": provider.url, "WENFANG_MODEL": "m-7b"}
        process = command.popen("doctor", "model", env=env)
        await asyncio.wait_for(asked.wait(), 30)
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.to_thread(process.communicate, timeout=30)
    assert (process.returncode, out) == (4, "")
    assert err.splitlines()[-1] == "Error: Interrupted; nothing was kept"
    assert _stored(command) == []


BAD: list[tuple[str, tuple[str, ...], int, str]] = [
    ("unknown dialect", ("--dialects", "native,xml"), 2, "'xml'"),
    ("no time", ("--timeout", "0"), 2, "--timeout"),
    ("endless time", ("--timeout", "inf"), 2, "--timeout"),
    ("no model", (), 5, "wenfang model pull"),
    ("the demo", ("--provider", "scripted"), 5, "nothing to probe"),
    ("no address", ("--base-url", "nowhere"), 5, "--base-url"),
]


@pytest.mark.parametrize(
    ("args", "code", "words"), [row[1:] for row in BAD], ids=[row[0] for row in BAD]
)
def test_bad_input(command: Command, args: tuple[str, ...], code: int, words: str) -> None:
    result = command("doctor", "model", *args)
    assert (result.code, result.out) == (code, "")
    assert len(result.err.splitlines()) == 1 or "Usage:" in result.err
    assert words in result.err
    assert _stored(command) == []


def test_a_broken_file_of_what_was_found_is_named(command: Command) -> None:
    command.data.mkdir()
    (command.data / "dialects.json").write_text("{")
    env = {"WENFANG_BASE_URL": "http://127.0.0.1:9/v1", "WENFANG_MODEL": "m-7b"}
    doctor = command("doctor", env=env)
    broken = [line for line in doctor.out.splitlines() if line.startswith("broken")]
    assert (doctor.code, len(broken), "dialects.json" in broken[0]) == (5, 1, True)
    run = command("run", "x", env=env)
    assert (run.code, len(run.err.splitlines()), "dialects.json" in run.err) == (5, 1, True)
