"""The model's process: started on first use, shared, stopped when idle, replaced after a crash."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import aclosing, suppress
from pathlib import Path

import pytest

from wenfang.core import Assistant, Delta, ModelError, ModelRequest, user
from wenfang.models.local import LocalModel, LocalServer, WorkerOptions, default_options

FAKE = (sys.executable, str(Path(__file__).with_name("fake_worker.py")))
REQUEST = ModelRequest(messages=(user("hi"),))


class Rig:
    def __init__(self, folder: Path, mode: str, **options: object) -> None:
        self.folder = folder
        self.slept: list[float] = []
        (folder / "m.gguf").write_text(f"GGUF{mode}")

        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)

        self.server = LocalServer(
            folder / "m.gguf",
            log=folder / "logs" / "model.log",
            options=WorkerOptions(context_tokens=512, threads=1),
            command=FAKE,
            sleep=sleep,
            **options,  # type: ignore[arg-type]
        )
        self.model = LocalModel(self.server, sign_of_life_s=0.05)

    async def __aenter__(self) -> Rig:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.server.aclose()
        for pid in self.starts:
            assert not is_alive(pid)

    @property
    def starts(self) -> list[int]:
        file = self.folder / "starts"
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    async def ask(self, request: ModelRequest = REQUEST) -> Assistant:
        async with aclosing(self.model.stream(request)) as events:
            last = [event async for event in events][-1]
        assert isinstance(last, Assistant)
        return last


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def until(condition) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.mark.anyio
async def test_it_starts_on_first_use_and_is_shared(tmp_path: Path) -> None:
    async with Rig(tmp_path, "ok") as rig:
        assert (rig.server.state, rig.starts) == ("stopped", [])
        replies = await asyncio.gather(rig.ask(), rig.ask())
        assert [reply.text for reply in replies] == ["hello", "hello"]
        assert (await rig.ask()).model == "m"
        assert (rig.server.state, len(rig.starts)) == ("ready", 1)
        assert (tmp_path / "logs" / "model.log").read_text() == "native noise\n"
    assert rig.server.state == "stopped"


@pytest.mark.anyio
async def test_what_it_is_asked(tmp_path: Path) -> None:
    schema = {"type": "object"}
    async with Rig(tmp_path, "ok") as rig:
        await rig.ask(ModelRequest(messages=(user("hi"),), response_schema=schema))
    body = json.loads((tmp_path / "request.json").read_text())
    assert body["temperature"] == 0
    assert body["response_format"]["json_schema"]["schema"]["type"] == "object"
    assert not body["response_format"]["json_schema"]["schema"]["x-guidance"]["whitespace_flexible"]
    assert schema == {"type": "object"}


@pytest.mark.anyio
async def test_it_stops_when_idle_and_starts_again(tmp_path: Path) -> None:
    async with Rig(tmp_path, "ok", idle_s=0.02) as rig:
        await rig.ask()
        await until(lambda: rig.server.state == "stopped")
        assert not is_alive(rig.starts[0])
        await rig.ask()
        assert (len(rig.starts), rig.slept) == (2, [])


@pytest.mark.anyio
async def test_it_is_not_idle_while_it_is_used(tmp_path: Path) -> None:
    async with Rig(tmp_path, "slow", idle_s=0.0) as rig:
        asked = asyncio.create_task(rig.ask())
        await until((tmp_path / "request.json").exists)
        async with rig.server.use():
            pass
        assert rig.server.state == "ready"
        (tmp_path / "go").touch()
        assert (await asked).text == "hello"
        await until(lambda: rig.server.state == "stopped")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("mode", "kind", "words"),
    [
        ("dies-loading", "overload", "ended while loading; model.log says why"),
        ("refuses", "fatal", "unknown architecture"),
    ],
)
async def test_a_failed_start_is_a_model_error(
    tmp_path: Path, mode: str, kind: str, words: str
) -> None:
    async with Rig(tmp_path, mode) as rig:
        with pytest.raises(ModelError, match=words) as caught:
            await rig.ask()
        assert caught.value.failure.kind == kind
        assert rig.server.state == "stopped"


@pytest.mark.anyio
async def test_a_start_that_hangs_is_given_up(tmp_path: Path) -> None:
    async with Rig(tmp_path, "hangs", start_s=0.5) as rig:
        with pytest.raises(ModelError, match=r"not loaded within 0\.5 s"):
            await rig.ask()


@pytest.mark.anyio
async def test_a_missing_file_says_what_to_run(tmp_path: Path) -> None:
    async with Rig(tmp_path, "ok") as rig:
        rig.server.model.unlink()
        with pytest.raises(ModelError, match="wenfang model pull") as caught:
            await rig.ask()
        assert caught.value.failure.kind == "fatal"
        assert str(tmp_path) not in caught.value.failure.message


@pytest.mark.anyio
async def test_a_crash_in_a_reply_ends_it_and_the_next_request_gets_a_new_process(
    tmp_path: Path,
) -> None:
    async with Rig(tmp_path, "dies-working") as rig:
        with pytest.raises(ModelError) as caught:
            await rig.ask()
        assert caught.value.failure.kind in ("network", "stream_incomplete")
        await until(lambda: rig.server._process.returncode is not None)
        assert (await rig.ask()).text == "hello"
        assert (len(rig.starts), rig.slept) == (2, [0.5])


@pytest.mark.anyio
async def test_it_waits_longer_after_each_crash_in_a_row(tmp_path: Path) -> None:
    async with Rig(tmp_path, "dies-loading") as rig:
        for _ in range(9):
            with pytest.raises(ModelError):
                await rig.ask()
        assert rig.slept == [0.5, 1, 2, 4, 8, 16, 30, 30]
        (tmp_path / "m.gguf").write_text("GGUFok")
        await rig.ask()
        os.kill(rig.starts[-1], signal.SIGKILL)
        await until(lambda: rig.server._process.returncode is not None)
        await rig.ask()
        assert rig.slept[-1] == 0.5


@pytest.mark.anyio
async def test_a_process_that_does_not_stop_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wenfang.models.local.server._STOP_S", 0.1)
    async with Rig(tmp_path, "deaf") as rig:
        await rig.ask()


@pytest.mark.anyio
async def test_a_request_that_is_given_up_while_loading_leaves_no_process(tmp_path: Path) -> None:
    async with Rig(tmp_path, "hangs") as rig:
        asked = asyncio.create_task(rig.ask())
        await until(lambda: rig.starts)
        asked.cancel()
        with suppress(asyncio.CancelledError):
            await asked
        assert rig.server.state == "stopped"
        assert not is_alive(rig.starts[0])


@pytest.mark.anyio
async def test_signs_of_life_while_a_long_prompt_is_read(tmp_path: Path) -> None:
    async with Rig(tmp_path, "slow") as rig, aclosing(rig.model.stream(REQUEST)) as events:
        assert await anext(events) == Delta(kind="text", text="")
        (tmp_path / "go").touch()
        rest = [event async for event in events]
        assert "".join(e.text for e in rest if isinstance(e, Delta)) == "hello"
        assert isinstance(rest[-1], Assistant)


@pytest.mark.anyio
async def test_leaving_early_while_a_long_prompt_is_read(tmp_path: Path) -> None:
    async with Rig(tmp_path, "slow") as rig:
        async with aclosing(rig.model.stream(REQUEST)) as events:
            await anext(events)
        (tmp_path / "go").touch()
        assert (await rig.ask()).text == "hello"


PARENT = """
import asyncio, sys
from pathlib import Path
from wenfang.models.local import LocalServer, WorkerOptions

async def main():
    options = WorkerOptions(context_tokens=512, threads=1)
    server = LocalServer(Path(sys.argv[1]), log=Path(sys.argv[2]), options=options, command=sys.argv[3:])
    async with server.use():
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.anyio
async def test_it_dies_with_its_parent(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_text("GGUFok")
    arguments = (tmp_path / "m.gguf", tmp_path / "log", *FAKE)
    parent = subprocess.Popen(  # noqa: ASYNC220 - killed below
        [sys.executable, "-c", PARENT, *map(str, arguments)], stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"ready\n"
    pid = int((tmp_path / "starts").read_text())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    await until(lambda: not is_alive(pid))


def test_defaults_leave_a_core_free() -> None:
    options = default_options()
    assert 1 <= options.threads <= max(1, (os.cpu_count() or 2) - 1)
    assert options.context_tokens in (4096, 8192, 16_384)
