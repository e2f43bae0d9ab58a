"""How many of a suite of tasks an agent gets right, and how long it takes (`wenfang eval tasks`).

A suite is a TOML file beside a project folder. Every task runs on a fresh copy of the project, so that
nothing an agent does there reaches the next task or the original.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wenfang.core import Agent, AgentEvent, Reason, ToolEnd
from wenfang.problems import Problem

Value: TypeAlias = int | float | str
Expected: TypeAlias = Value | Annotated[list[Value], Field(min_length=1)]

LIMIT_S = 300.0
"""How long a task may take, unless told otherwise."""

_NUMBER = re.compile(r"(?<![\d.])\d[\d,]*(?:\.\d+)?")


class Task(BaseModel):
    """`expect` lists what must stand in the answer (a list inside it: one of these), `tools` what must
    have been used with success. The language is the first two letters of the id."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: str = Field(pattern=r"^(en|zh)-[0-9a-z-]+$")
    prompt: str = Field(min_length=1)
    expect: list[Expected] = Field(min_length=1)
    tools: list[str] = []

    @property
    def language(self) -> Literal["en", "zh"]:
        return "zh" if self.id.startswith("zh") else "en"


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    project: str
    task: list[Task] = Field(min_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    project: Path
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One task in run number `run` (from 1). `missing` are the expected values and tools that are not
    there; none of them means right, unless the time was over ("deadline"). Tokens are of all requests
    together."""

    run: int
    task: Task
    answer: str
    missing: tuple[str, ...]
    reason: Reason
    seconds: float
    input_tokens: int
    output_tokens: int

    @property
    def is_right(self) -> bool:
        return not self.missing and self.reason != "deadline"

    def as_json(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "task": self.task.id,
            "right": self.is_right,
            "missing": list(self.missing),
            "answer": self.answer,
            "reason": self.reason,
            "seconds": round(self.seconds, 2),
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One run over the suite: right answers in all and by language, `(right, total)` each."""

    run: int
    right: int
    total: int
    languages: dict[str, tuple[int, int]]
    seconds_per_task: float
    input_tokens: int
    output_tokens: int

    def as_json(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "right": self.right,
            "total": self.total,
            "languages": {name: list(pair) for name, pair in self.languages.items()},
            "seconds_per_task": round(self.seconds_per_task, 2),
            "output_tokens": self.output_tokens,
        }


def load_suite(path: Path) -> Suite:
    """Read a suite. Raises Problem `script_invalid`, `project_path_missing`."""
    try:
        file = _File.model_validate(tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        raise _invalid(path, error.strerror or "it cannot be read") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _invalid(path, f"{where}: {first['msg']}") from error
    except ValueError as error:  # no TOML, or no UTF-8
        raise _invalid(path, str(error)) from error
    names = [task.id for task in file.task]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _invalid(path, f"two tasks have the id {twice[0]}")
    project = path.parent / file.project
    if not project.is_dir():
        raise Problem("project_path_missing", path=str(project))
    return Suite(project=project, tasks=tuple(file.task))


def _invalid(path: Path, problem: str) -> Problem:
    return Problem("script_invalid", path=str(path), problem=problem)


async def eval_tasks(
    suite: Suite,
    make_agent: Callable[[Path], Agent],
    *,
    runs: int = 3,
    limit_s: float = LIMIT_S,
    on_result: Callable[[Result], None],
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Summary, ...]:
    """Run every task `runs` times, one after another. `make_agent` makes an agent for a project
    folder; it is called for every task. A task that takes longer than `limit_s` is stopped and not right.
    `on_result` hears of each task as it ends."""
    summaries: list[Summary] = []
    for run in range(1, runs + 1):
        results: list[Result] = []
        for task in suite.tasks:
            result = await _eval_task(suite.project, task, run, make_agent, limit_s, clock)
            results.append(result)
            on_result(result)
        summaries.append(summarize(run, results))
    return tuple(summaries)


async def _eval_task(
    project: Path,
    task: Task,
    run: int,
    make_agent: Callable[[Path], Agent],
    limit_s: float,
    clock: Callable[[], float],
) -> Result:
    used: set[str] = set()

    async def watch(event: AgentEvent) -> None:
        if isinstance(event, ToolEnd) and not event.result.is_error:
            used.add(event.call.name)

    with tempfile.TemporaryDirectory(prefix="wenfang-eval-") as folder:
        copy = Path(shutil.copytree(project, Path(folder) / project.name))
        agent = make_agent(copy)
        began = clock()
        timer = asyncio.get_running_loop().call_later(limit_s, agent.abort)
        try:
            end = await agent.run(task.prompt, emit=watch)
        finally:
            timer.cancel()
        seconds = clock() - began
    return Result(
        run=run,
        task=task,
        answer=end.answer,
        missing=missing(task, end.answer, used),
        reason="deadline" if end.reason == "cancelled_by_user" else end.reason,
        seconds=seconds,
        input_tokens=end.usage.input,
        output_tokens=end.usage.output,
    )


def summarize(run: int, results: Sequence[Result]) -> Summary:
    """The counts of one run."""
    languages: dict[str, tuple[int, int]] = {}
    for result in results:
        right, total = languages.get(result.task.language, (0, 0))
        languages[result.task.language] = (right + result.is_right, total + 1)
    return Summary(
        run=run,
        right=sum(result.is_right for result in results),
        total=len(results),
        languages=languages,
        seconds_per_task=sum(result.seconds for result in results) / max(1, len(results)),
        input_tokens=sum(result.input_tokens for result in results),
        output_tokens=sum(result.output_tokens for result in results),
    )


def missing(task: Task, answer: str, used: set[str]) -> tuple[str, ...]:
    """What the answer lacks: expected values, then tools that were not used with success."""
    numbers = {float(each.replace(",", "")) for each in _NUMBER.findall(answer)}
    text = answer.casefold()
    values = [each for each in task.expect if not _stands(each, numbers, text)]
    tools = [name for name in task.tools if name not in used]
    return (*map(_shown, values), *tools)


def _stands(expected: Expected, numbers: set[float], text: str) -> bool:
    if isinstance(expected, list):
        return any(_stands(each, numbers, text) for each in expected)
    if isinstance(expected, str):
        return expected.casefold() in text
    return float(expected) in numbers


def _shown(expected: Expected) -> str:
    return " / ".join(map(str, expected)) if isinstance(expected, list) else str(expected)
