"""Running untrusted Python: pydantic-monty in worker processes (tools.md §1, tier A).

A worker has no files, no network and an empty environment, and limits of its own; a worker that hangs
or dies is replaced. The synchronous pool is used, in threads: the asynchronous one of 1.4.0 aborts the
whole interpreter at exit now and then (docs/notes/python-sandbox.md).
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .host_statistics import make_statistics
from .rendering import render
from .texts import HeadAndTail

if TYPE_CHECKING:
    from pydantic_monty import Monty, MontySession, ResourceLimits

Ending: TypeAlias = Literal[
    "ok", "error", "syntax", "unsupported", "time", "memory", "crash", "unavailable"
]
_UNAVAILABLE = "The sandbox does not start on this machine."
_log = logging.getLogger("wenfang.tools")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """`wall_s` counts while code runs; a worker that cannot be interrupted is killed 1 s later."""

    wall_s: float = 5.0
    memory_bytes: int = 256 * 1024 * 1024
    output_chars: int = 64 * 1024
    result_chars: int = 64 * 1024
    processes: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxResult:
    """`output` is what was printed. `value` is the text of the last expression's value, None if there
    is none. `error` is the traceback or the reason, None if `ending` is "ok"."""

    ending: Ending
    output: str
    value: str | None = None
    error: str | None = None


class _Job:
    """One run, and the worker it holds: the only one that may be killed for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid: int | None = None
        self.cancelled = False

    def holds(self, pid: int | None) -> None:
        with self._lock:
            self._pid = pid
            if self.cancelled:
                self._kill()

    def cancel(self) -> None:
        with self._lock:
            self.cancelled = True
            self._kill()

    def _kill(self) -> None:
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)


class PythonSandbox:
    """A pool of workers, started at the first run. Close it with `aclose`. Use it on one event loop."""

    def __init__(self, limits: SandboxLimits | None = None) -> None:
        self.limits = limits or SandboxLimits()
        self._slots = asyncio.Semaphore(self.limits.processes)
        self._starting = threading.Lock()
        self._pool: Monty | None = None

    async def run(self, code: str) -> SandboxResult:
        """Run `code` in a fresh session. A cancellation kills its worker and waits for that."""
        async with self._slots:
            job = _Job()
            task = asyncio.create_task(asyncio.to_thread(self._run, code, job))
            try:
                return await asyncio.shield(task)
            except asyncio.CancelledError:
                job.cancel()
                await asyncio.wait([task])
                raise

    async def aclose(self) -> None:
        """Stop the workers. Afterwards a run starts new ones."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with self._starting:
            if self._pool is not None:
                self._pool.__exit__(None, None, None)
                self._pool = None

    def _started(self) -> Monty:
        from pydantic_monty import Monty

        with self._starting:
            if self._pool is None:
                pool = Monty(min_processes=1, max_processes=self.limits.processes)
                self._pool = pool.__enter__()
            return self._pool

    def _run(self, code: str, job: _Job) -> SandboxResult:
        from pydantic_monty import ExternalModule, MontyError

        limits: ResourceLimits = {
            "max_feed_duration_secs": self.limits.wall_s,
            "max_memory": self.limits.memory_bytes,
            "max_total_sleep_secs": self.limits.wall_s,
        }
        output = HeadAndTail(self.limits.output_chars)
        modules: dict[str, Any] = {"statistics": ExternalModule(make_statistics())}
        try:
            with self._started().checkout(limits=limits, external_modules=modules) as session:
                value = self._feed(session, code, output, job)
        except MontyError as error:
            ending, text = _ending(error, self.limits)
            return SandboxResult(ending=ending, output=output.text(), error=text)
        except (RuntimeError, OSError):
            _log.warning("the sandbox's workers do not start", exc_info=True)
            return SandboxResult(ending="unavailable", output="", error=_UNAVAILABLE)
        text = None if value is None else render(value, self.limits.result_chars)
        return SandboxResult(ending="ok", output=output.text(), value=text)

    def _feed(self, session: MontySession, code: str, output: HeadAndTail, job: _Job) -> Any:
        job.holds(session.worker_pid)
        try:
            return session.feed_run(code, print_callback=lambda _, text: output.add(text))
        finally:
            job.holds(None)


def _ending(error: Exception, limits: SandboxLimits) -> tuple[Ending, str]:
    from pydantic_monty import MontyCrashedError, MontyRuntimeError, MontySyntaxError

    if isinstance(error, MontyCrashedError):
        return (
            ("time", _too_long(limits)) if error.timed_out else ("crash", "The interpreter died.")
        )
    if isinstance(error, MontySyntaxError):
        return "syntax", error.display()
    if not isinstance(error, MontyRuntimeError):
        return "error", str(error)
    inner, text = error.exception(), error.display()
    if isinstance(inner, TimeoutError) and "limit exceeded" in str(inner):
        return "time", _too_long(limits)
    if isinstance(inner, MemoryError):
        return "memory", f"It needed more than {limits.memory_bytes // 1024 // 1024} MB of memory."
    if isinstance(inner, NotImplementedError | ModuleNotFoundError):
        return "unsupported", text
    return "error", text


def _too_long(limits: SandboxLimits) -> str:
    return f"It ran longer than {limits.wall_s:g} s and was stopped."
