"""The model's process, seen from outside: started on first use, stopped when idle, replaced after a crash.

A native crash, or the memory that a model holds, must not touch the application: so it runs as a child
(`worker.py`) that lives no longer than its parent and is spoken to over HTTP on a loopback port with a
random key.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from wenfang.core import ModelError

WORKER = (sys.executable, "-P", "-m", "wenfang.models.local.worker")

_STOP_S = 5.0  # for the process to end by itself
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 30.0  # before a start after crashes in a row

State: TypeAlias = Literal["stopped", "starting", "ready"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """`context_tokens` of prompt and reply together; `threads` for reading as for writing. One core is
    left free: with as many threads as cores, any other work makes generation ten times slower."""

    context_tokens: int
    threads: int


def default_options() -> WorkerOptions:
    """What this machine can bear: about 29 KB of memory per token of context, beside the model."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    context = 16_384 if memory_bytes > 7e9 else 8192 if memory_bytes > 3.5e9 else 4096
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 2
    return WorkerOptions(context_tokens=context, threads=max(1, cores - 1))


class Endpoint(NamedTuple):
    """Where the running process answers chat completions."""

    url: str
    api_key: str


class LocalServer:
    """Keeps one model ready for as long as it is used.

    `log` is the file for what the process says; it is written anew with each start. `idle_s` without a
    request stop the process, `start_s` is the time to load in. `command`, `sleep` and `new_key` are handed
    in by tests.
    """

    def __init__(
        self,
        model: Path,
        *,
        log: Path,
        options: WorkerOptions | None = None,
        idle_s: float = 600.0,
        start_s: float = 180.0,
        command: Sequence[str] = WORKER,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        new_key: Callable[[], str] = secrets.token_urlsafe,
    ) -> None:
        self.model = model
        self.state: State = "stopped"
        self._log = log
        self._options = options or default_options()
        self._idle_s = idle_s
        self._start_s = start_s
        self._command = tuple(command)
        self._sleep = sleep
        self._new_key = new_key
        self._process: asyncio.subprocess.Process | None = None
        self._endpoint = Endpoint("", "")
        self._lock = asyncio.Lock()
        self._users = 0
        self._crashes = 0  # in a row
        self._idle: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[Endpoint]:
        """The running process, started if need be; it is not stopped before the block ends.

        Raises `ModelError`: "fatal" if the model cannot be loaded, "overload" if the process died while
        loading or took too long.
        """
        self._users += 1
        self._cancel_idle()
        try:
            async with self._lock:
                endpoint = await self._ready()
            yield endpoint
            self._crashes = 0
        finally:
            self._users -= 1
            if not self._users and self._process is not None:
                self._idle = asyncio.get_running_loop().create_task(self._stop_when_idle())

    async def aclose(self) -> None:
        """Stop the process, if it runs. The server can be used again afterwards."""
        self._cancel_idle()
        async with self._lock:
            await self._stop()

    async def _ready(self) -> Endpoint:
        process = self._process
        if process is not None and process.returncode is None:
            return self._endpoint
        if process is not None:
            self._crashes += 1
            await self._stop()
        if self._crashes:
            wait_s = min(_FIRST_WAIT_S * 2 ** (self._crashes - 1), _LONGEST_WAIT_S)
            await self._sleep(wait_s)
        return await self._start()

    async def _start(self) -> Endpoint:
        if not self.model.is_file():
            raise ModelError("fatal", f"There is no model file {self.model.name}. {_HOW_TO_PULL}")
        self.state = "starting"
        is_ready = False
        try:
            async with asyncio.timeout(self._start_s):
                self._endpoint = await self._launch()
            is_ready = True
        except TimeoutError:
            text = f"The local model was not loaded within {self._start_s:g} s."
            raise ModelError("overload", text) from None
        finally:
            if not is_ready:
                await self._stop()
        self.state = "ready"
        return self._endpoint

    async def _launch(self) -> Endpoint:
        """Start the process and wait until it answers."""
        key = self._new_key()
        config = asdict(self._options) | {"model": str(self.model), "api_key": key}
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(config).encode() + b"\n")
        answer = _answer(await self._process.stdout.readline())
        if "url" in answer:
            return Endpoint(str(answer["url"]), key)
        if "error" in answer:
            raise ModelError("fatal", f"The local model cannot be loaded: {answer['error']}")
        self._crashes += 1
        text = f"The local model's process ended while loading; {self._log.name} says why."
        raise ModelError("overload", text)

    async def _stop(self) -> None:
        """End the process: politely, then not."""
        process, self._process = self._process, None
        try:
            if process is not None:
                await _end(process)
        finally:
            self.state = "stopped"

    async def _stop_when_idle(self) -> None:
        await asyncio.sleep(self._idle_s)
        async with self._lock:
            if not self._users:
                await self._stop()

    def _cancel_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None


async def _end(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(_STOP_S):
            await process.wait()
    except TimeoutError:
        pass
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


_HOW_TO_PULL = "Run `wenfang model pull`, or name the path of a GGUF file."


def _answer(line: bytes) -> dict[str, Any]:
    """What the process said before it was ready; nothing if it said no whole line."""
    try:
        return cast("dict[str, Any]", json.loads(line))
    except ValueError:
        return {}
