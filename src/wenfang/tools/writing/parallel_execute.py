"""parallel_execute: a few independent tasks, two at a time (TL-19, TL-20)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from wenfang.core import (
    JSON,
    ArgumentError,
    Effect,
    FileCreated,
    Tool,
    ToolCall,
    ToolContext,
    ToolOutput,
    bind,
)

from .desk import Desk
from .envelope import Done
from .errors import ErrorType, Refusal, author_text
from .params import Task

DESCRIPTION = (
    "Do up to five independent tasks together: write_chapter (title and the whole content in params), "
    "edit_file, delete_file, query_files. Not while a blank file waits for its text."
)
MOST_TASKS = 5
_AT_ONCE = 2
_LEAST_CHARS = 4000
_SHARE = 0.8
_PREVIEW_CHARS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    task: Task
    output: ToolOutput | None = None
    error: tuple[ErrorType, str] | None = None

    @property
    def error_type(self) -> str | None:
        if self.error is not None:
            return self.error[0]
        if self.output is None or not self.output.is_error:
            return None
        details = cast("Mapping[str, JSON]", self.output.details)
        return str(details["error_type"])


class Batch:
    """The tasks of one call. `tools` are the tools of the tasks by their type."""

    def __init__(self, desk: Desk, context: ToolContext, tools: Mapping[str, Tool]) -> None:
        self._desk = desk
        self._context = context
        self._tools = tools
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._finished = 0
        self._stopped = False

    async def run(self, tasks: list[Task]) -> list[_Outcome]:
        """All outcomes, in the order of the tasks. If the call is cancelled, what has begun is finished
        and told of; the rest is not begun."""
        running = [asyncio.create_task(self._one(at, task, tasks)) for at, task in enumerate(tasks)]
        try:
            await asyncio.shield(asyncio.create_task(asyncio.wait(running)))
        except asyncio.CancelledError:
            self._stopped = True
            await asyncio.wait(running)
        return [each.result() for each in running]

    async def _one(self, at: int, task: Task, tasks: list[Task]) -> _Outcome:
        async with self._places:
            if self._stopped:
                return _Outcome(
                    task=task, error=("tool_disabled", "Not begun: the run was stopped.")
                )
            outcome = await self._executed(at, task)
        self._finished += 1
        line = f"{self._finished}/{len(tasks)} {task.description or task.type}"
        self._context.update(line[:_PREVIEW_CHARS], self._finished / len(tasks))
        return outcome

    async def _executed(self, at: int, task: Task) -> _Outcome:
        tool = self._tools[task.type]
        call = ToolCall(
            id=f"{self._context.call_id}.{at + 1}", name=task.type, arguments=task.params
        )
        try:
            args = bind(tool, call)
        except ArgumentError as error:
            return _Outcome(task=task, error=("invalid_arguments", error.text))
        output = await tool.handler(replace(self._context, call_id=call.id, key=call.id), args)
        assert isinstance(output, ToolOutput)
        return _Outcome(task=task, output=output)


def budget(result_chars: int, count: int) -> int:
    """How long the result of each of `count` tasks may be."""
    return max(_LEAST_CHARS, int(result_chars * _SHARE / count))


async def check(desk: Desk) -> None:
    """Raises `Refusal` while a blank file waits: its text comes first."""
    blocker = await desk.blocker()
    if blocker is not None:
        title = desk.title_of(blocker.path)
        raise Refusal(
            "pending_empty_file_unwritten",
            f"{title!r} was created and is still blank, so none of the tasks was begun. Write {title!r} "
            f"first: {desk.how_to_write}; or fill it with edit_file, or delete it.",
        )


def report(desk: Desk, outcomes: list[_Outcome], requested: int) -> Done:
    """All tasks in one result; their effects are its effects."""
    told = [_told(at, each) for at, each in enumerate(outcomes, 1)]
    failed = [each for each in outcomes if each.error_type is not None]
    effects: tuple[Effect, ...] = tuple(
        effect for each in outcomes if each.output is not None for effect in each.output.effects
    )
    counts: dict[str, JSON] = {
        "total_tasks": len(outcomes),
        "completed": len(outcomes) - len(failed),
        "failed": len(failed),
        "any_failed": bool(failed),
        "requested_task_count": requested,
        "dropped_count": requested - len(outcomes),
    }
    if requested > len(outcomes):
        counts["note"] = (
            f"The last {requested - len(outcomes)} tasks were not begun: at most {MOST_TASKS} are taken. "
            "Send them in another call."
        )
    problem = None
    if failed:
        types = sorted({each.error_type or "" for each in failed})
        problem = Refusal(
            "task_failed",
            f"{len(failed)} of {len(outcomes)} tasks failed ({', '.join(types)}); the others are done. Send "
            "only the failed ones again, corrected.",
        )
    people = [_for_people(desk, at, each) for at, each in enumerate(outcomes, 1)]
    return Done(
        data={"tasks": cast("JSON", told)} | counts,
        details={"tasks": cast("JSON", people)} | counts,
        effects=effects,
        problem=problem,
    )


def _told(at: int, outcome: _Outcome) -> dict[str, JSON]:
    told: dict[str, JSON] = {
        "task": at,
        "type": outcome.task.type,
        "description": outcome.task.description,
        "status": "completed" if outcome.error_type is None else "failed",
    }
    if outcome.output is not None:
        content = outcome.output.content
        assert isinstance(content, str)
        inner = cast("dict[str, JSON]", json.loads(content))
        told["result"] = inner.get("data")
        told |= {name: inner[name] for name in ("error_type", "error") if name in inner}
    elif outcome.error is not None:
        told |= {"error_type": outcome.error[0], "error": outcome.error[1]}
    return told


def _for_people(desk: Desk, at: int, outcome: _Outcome) -> dict[str, JSON]:
    failed = outcome.error_type is not None
    told: dict[str, JSON] = {
        "task_id": at,
        "task_type": outcome.task.type,
        "description": outcome.task.description,
        "status": "failed" if failed else "completed",
        "result_preview": _preview(outcome),
    }
    if failed:
        told["error_type"] = outcome.error_type
        told["error"] = author_text(cast("ErrorType", outcome.error_type), desk.language)
    return told


def _preview(outcome: _Outcome) -> str:
    effects = outcome.output.effects if outcome.output is not None else ()
    names = dict.fromkeys(effect.path for effect in effects if not isinstance(effect, FileCreated))
    return ", ".join(names)[:_PREVIEW_CHARS]
