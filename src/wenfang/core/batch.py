"""The calls of one reply: check each in order, run them, record one result for every call (engine A6).

Listeners are told by the parent, outside of what an abort or a tool's failure can cut; the tools run
in tasks of their own. A finished result is announced at once, also while a sibling hangs.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from .arguments import ArgumentError, bind
from .attempt import attempt
from .events import ToolEnd, ToolStart, ToolUpdate
from .hooks import Allow, Decision
from .limits import CallDone, CallDue, Deny, Hint, Stop
from .messages import JSON, Assistant, Message, Text, ToolCall, ToolErrorType, ToolResult
from .nearest import nearest
from .tools import Tool, ToolContext, ToolError, ToolOutput

if TYPE_CHECKING:
    from pydantic import BaseModel

    from .loop import Run


@dataclass(slots=True)
class _Job:
    """A call that passed every check."""

    call: ToolCall
    tool: Tool
    args: BaseModel


class _Bell:
    """What wakes the parent: a task that is done, the progress of a tool, an abort."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._rung: asyncio.Future[None] = self._loop.create_future()
        self._newest: dict[str, ToolUpdate] = {}

    def ring(self, *_: object) -> None:
        if not self._rung.done():
            self._rung.set_result(None)

    async def wait(self) -> None:
        await self._rung
        self._rung = self._loop.create_future()

    def progress(self, call_id: str, text: str, fraction: float | None = None) -> None:
        """Called by tools, from any thread."""
        update = ToolUpdate(call_id=call_id, text=text, fraction=fraction)
        self._loop.call_soon_threadsafe(self._store, update)

    def _store(self, update: ToolUpdate) -> None:
        self._newest[update.call_id] = update
        self.ring()

    def updates(self, running: set[str]) -> list[ToolUpdate]:
        """The newest line of each call that still runs; later words of settled calls are dropped."""
        newest, self._newest = self._newest, {}
        return [update for update in newest.values() if update.call_id in running]


async def run_batch(
    run: Run, reply: Assistant, known: dict[str, ToolResult]
) -> tuple[ToolResult, ...]:
    """Run the calls of `reply`. `known` results (of a run that goes on after a crash) are kept.

    Afterwards the transcript ends with exactly one result for each call, in call order, however this
    coroutine ends. Raises `ListenerFailed` and `CancelledError` only.
    """
    results = dict(known)
    jobs: list[_Job] = []
    try:
        for call in reply.calls:
            if call.id in known:
                _count(run, call, known[call.id])
                continue
            job = await _check(run, call, cut=reply.stop == "length")
            if isinstance(job, ToolResult):
                await _settle(run, results, call, job)
            else:
                jobs.append(job)
        one_by_one = any(job.tool.mode == "exclusive" for job in jobs)
        for group in [[job] for job in jobs] if one_by_one else [jobs]:
            await _run_group(run, group, results)
    finally:
        ordered = tuple(results.get(call.id) or _aborted(call) for call in reply.calls)
        run.transcript.extend(ordered)
    return ordered


def _count(run: Run, call: ToolCall, result: ToolResult) -> None:
    """A call that was run before an interruption still counts."""
    run.calls += 1
    run.guard.observe(CallDue(call=call))
    run.guard.observe(CallDone(call=call, result=result))


async def _check(run: Run, call: ToolCall, *, cut: bool) -> _Job | ToolResult:
    """Everything that can keep a call from running, in order; a refusal is its result."""
    run.calls += 1
    verdict = run.guard.observe(CallDue(call=call))
    if isinstance(verdict, Stop):
        return refusal(call, "limit", f"Not run. {verdict.text}")
    if isinstance(verdict, Deny):
        return refusal(call, verdict.error_type, verdict.text, verdict.details)
    if cut:
        return refusal(call, "truncated", _cut_text(call))
    if call.error is not None:
        return refusal(call, "malformed", run.conversation.repair(call))
    tool = run.tools.get(call.name)
    if tool is None:
        return refusal(call, "unknown_tool", _unknown_text(call.name, list(run.tools)))
    return await _authorize(run, call, tool)


async def _authorize(run: Run, call: ToolCall, tool: Tool) -> _Job | ToolResult:
    """Validate the arguments, ask the hook, validate again what it rewrote."""
    try:
        args = bind(tool, call)
        if run.hooks.before_tool is None:
            return _Job(call, tool, args)
        decision = await attempt(run.hooks.before_tool(call, args))
        return _decide(call, tool, args, decision)
    except ArgumentError as error:
        return refusal(call, error.error_type, str(error))


def _decide(
    call: ToolCall, tool: Tool, args: BaseModel, decision: Decision | Exception
) -> _Job | ToolResult:
    if isinstance(decision, Allow):
        return _Job(call, tool, args)
    if isinstance(decision, Deny):
        return refusal(call, decision.error_type, decision.text, decision.details)
    if isinstance(decision, Exception):
        return refusal(call, "denied", "This call was refused because its check failed.")
    call = replace(call, arguments=decision.arguments)
    return _Job(call, tool, bind(tool, call))


async def _run_group(run: Run, jobs: list[_Job], results: dict[str, ToolResult]) -> None:
    """Run jobs side by side and settle each as it finishes."""
    bell = _Bell()
    tasks: dict[asyncio.Task[ToolResult], _Job] = {}
    run.abort.listen(bell.ring)
    try:
        for job in jobs:
            if run.abort.requested:
                await _settle(run, results, job.call, _aborted(job.call))
                continue
            await run.tell(ToolStart(call=job.call, access=job.tool.access))
            task = asyncio.create_task(_execute(run, job, bell))
            task.add_done_callback(bell.ring)
            tasks[task] = job
        while tasks:
            if run.abort.requested:
                await _cancel(tasks, run.limits.cleanup_s)
                ready = list(tasks)  # one that will not stop is left alone; its result is "aborted"
            else:
                await bell.wait()
                ready = [task for task in tasks if task.done()]
            for update in bell.updates({job.call.id for job in tasks.values()}):
                await run.tell(update)
            for task in ready:
                job = tasks.pop(task)
                await _settle(run, results, job.call, _outcome(task, job.call))
    finally:
        run.abort.listen(None)
        try:
            await _cancel(tasks, run.limits.cleanup_s)
        finally:
            for task, job in tasks.items():
                results[job.call.id] = _outcome(task, job.call)


async def _cancel(tasks: dict[asyncio.Task[ToolResult], _Job], within_s: float) -> None:
    """Cancel and wait, also if this task is cancelled meanwhile; that cancellation comes after."""
    for task in tasks:
        task.cancel()
    loop = asyncio.get_running_loop()
    until, cancelled = loop.time() + within_s, None
    while not all(task.done() for task in tasks) and loop.time() < until:
        try:
            await asyncio.wait(tasks, timeout=until - loop.time())
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


def _outcome(task: asyncio.Task[ToolResult], call: ToolCall) -> ToolResult:
    if not task.done() or task.cancelled():
        return _aborted(call)
    return task.result()


async def _execute(run: Run, job: _Job, bell: _Bell) -> ToolResult:
    """One tool, with its time limit; whatever it does ends as a result."""
    began = run.clock()
    call, tool = job.call, job.tool
    timeout_s = run.limits.tool_timeout_s if tool.timeout_s is None else tool.timeout_s
    context = ToolContext(call_id=call.id, key=call.id, update=partial(bell.progress, call.id))
    scope = asyncio.timeout(timeout_s)
    try:
        async with scope:
            output = await attempt(tool.handler(context, job.args))
    except TimeoutError as error:
        output = error
    except asyncio.CancelledError:
        return _aborted(call)
    if isinstance(output, TimeoutError) and scope.expired():
        text = f"{tool.name} did not finish within {timeout_s:g} s and was stopped."
        return refusal(call, "timeout", text)
    result = _result(call, output, run.clock() - began)
    if run.hooks.after_tool is not None:
        changed = await attempt(run.hooks.after_tool(call, result))
        if isinstance(changed, Exception):
            return refusal(call, "failed", "The result of this call could not be processed.")
        result = changed
    return result


def _result(call: ToolCall, output: ToolOutput | JSON | Exception, seconds: float) -> ToolResult:
    if isinstance(output, ToolOutput):
        content = output.content
        return ToolResult(
            call_id=call.id,
            name=call.name,
            content=(Text(text=content),) if isinstance(content, str) else content,
            is_error=output.is_error,
            error_type="failed" if output.is_error else None,
            details=output.details,
            effects=output.effects,
            terminate=output.terminate,
            seconds=seconds,
        )
    if isinstance(output, ToolError):
        return refusal(call, "failed", str(output))
    if isinstance(output, Exception):
        return refusal(call, "failed", _crash_text(call.name, output))
    text = (
        output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=str)
    )
    return ToolResult(call_id=call.id, name=call.name, content=(Text(text=text),), seconds=seconds)


async def _settle(
    run: Run, results: dict[str, ToolResult], call: ToolCall, result: ToolResult
) -> None:
    verdict = run.guard.observe(CallDone(call=call, result=result))
    if isinstance(verdict, Hint):
        result = replace(result, content=(*result.content, Text(text=f"\n\n{verdict.text}")))
    results[call.id] = result
    await run.tell(ToolEnd(call=call, result=result))


def refusal(
    call: ToolCall, error_type: ToolErrorType, text: str, details: JSON = None
) -> ToolResult:
    """The result of a call that was not run, or failed."""
    return ToolResult(
        call_id=call.id,
        name=call.name,
        content=(Text(text=text),),
        is_error=True,
        error_type=error_type,
        details=details,
    )


def _aborted(call: ToolCall) -> ToolResult:
    return refusal(call, "aborted", "This call was stopped before it finished.")


def unanswered(transcript: Sequence[Message]) -> list[ToolResult]:
    """Results for calls of the last message that never came to run: a listener failed or the run was
    cancelled between the message and its batch."""
    last = transcript[-1] if transcript else None
    return [_aborted(call) for call in last.calls] if isinstance(last, Assistant) else []


def _cut_text(call: ToolCall) -> str:
    size = len(call.raw) if call.raw is not None else len(json.dumps(dict(call.arguments)))
    return (
        f"Not run: your reply was cut at the output limit, after {size} characters of this call's "
        "arguments. Send it again in smaller parts, for example write the file in several steps."
    )


def _unknown_text(name: str, names: list[str]) -> str:
    near = nearest(name, names)
    hint = f" Did you mean {near!r}?" if near else ""
    known = ", ".join(names) if names else "none"
    return f"There is no tool {name[:80]!r}.{hint} The tools are: {known}."


_PATH = re.compile(r"(?:[A-Za-z]:)?(?:[/\\][\w.\-]+){2,}")


def _crash_text(name: str, error: Exception) -> str:
    """The kind and the first line of an unexpected failure, without the host's paths."""
    line = _PATH.sub("<path>", str(error).partition("\n")[0])[:300]
    return f"{name} failed unexpectedly: {type(error).__name__}{': ' + line if line else ''}"
