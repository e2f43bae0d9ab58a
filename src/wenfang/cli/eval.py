"""`wenfang eval tasks | dialects`: the example tasks on the model of the settings, as they end."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from rich.console import Console

from wenfang.core import Agent
from wenfang.workspace import FolderFiles, Workspace

from .desk import Desk, open_desk
from .evals import Result, Summary, eval_tasks, load_suite
from .language import Say
from .loop import make_runner
from .main import EXIT_ERROR, EXIT_STOPPED
from .render import plain

_ANSWER_CHARS = 200


def tasks(
    say: Say,
    suite: Path,
    *,
    runs: int,
    at_least: int,
    limit_s: float,
    flags: Mapping[str, str | None],
    as_json: bool,
    data: Path | None,
) -> None:
    """Leaves with 5 if one of the runs has fewer than `at_least` right answers."""
    loaded = load_suite(suite)
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)

    def show(result: Result) -> None:
        console.print(json.dumps(result.as_json()) if as_json else _line(say, result))

    async def work() -> tuple[Summary, ...]:
        async with open_desk(say, data, flags) as desk:
            return await eval_tasks(
                loaded, partial(_agent_in, desk), runs=runs, limit_s=limit_s, on_result=show
            )

    with make_runner() as runner:
        try:
            summaries = runner.run(work())
        except (asyncio.CancelledError, KeyboardInterrupt):
            sys.exit(EXIT_STOPPED)
    for summary in summaries:
        console.print(json.dumps(summary.as_json()) if as_json else _summary(say, summary))
    sys.exit(EXIT_ERROR if any(each.right < at_least for each in summaries) else 0)


def _agent_in(desk: Desk, folder: Path) -> Agent:
    return desk.models.agent(FolderFiles(Workspace(folder)))


def dialects(
    say: Say,
    suite: Path,
    *,
    names: str,
    limit_s: float,
    flags: Mapping[str, str | None],
    as_json: bool,
    data: Path | None,
) -> None:
    """Do the tasks once in each dialect, and show a table: right answers, seconds and tokens a task."""
    loaded = load_suite(suite)
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    steps = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
    chosen = [name.strip() for name in names.split(",") if name.strip()]

    async def work() -> dict[str, Summary]:
        found: dict[str, Summary] = {}
        for name in chosen:
            async with open_desk(say, data, {**flags, "dialect": name}) as desk:
                steps.print(name)
                (found[name],) = await eval_tasks(
                    loaded,
                    partial(_agent_in, desk),
                    runs=1,
                    limit_s=limit_s,
                    on_result=lambda result: steps.print(_line(say, result)),
                )
        return found

    with make_runner() as runner:
        try:
            summaries = runner.run(work())
        except (asyncio.CancelledError, KeyboardInterrupt):
            sys.exit(EXIT_STOPPED)
    if not as_json:
        console.print(say("eval.dialects"))
    for name, summary in summaries.items():
        if as_json:
            console.print(
                json.dumps(
                    {
                        "dialect": name,
                        **summary.as_json(),
                        "input_tokens": summary.input_tokens,
                    }
                )
            )
            continue
        right = {"en": (0, 0), "zh": (0, 0)} | summary.languages
        cells = (
            name,
            f"{summary.right}/{summary.total}",
            *(f"{r}/{t}" for r, t in right.values()),
            f"{summary.seconds_per_task:.1f}",
            str(round(summary.input_tokens / summary.total)),
            str(round(summary.output_tokens / summary.total)),
        )
        console.print(f"| {' | '.join(cells)} |")


def _line(say: Say, result: Result) -> str:
    head = f"{result.task.id}  {result.seconds:6.1f} s  "
    if result.is_right:
        return head + say("eval.right")
    if result.reason == "deadline":
        return f"{head}{say('eval.wrong')}: {say('eval.deadline')}"
    answer = plain(" ".join(result.answer.split()))[:_ANSWER_CHARS]
    lacks = say("eval.missing", missing=", ".join(result.missing), answer=answer)
    return f"{head}{say('eval.wrong')}: {lacks}"


def _summary(say: Say, summary: Summary) -> str:
    languages = ", ".join(f"{n} {r}/{t}" for n, (r, t) in summary.languages.items())
    return say(
        "eval.summary",
        run=summary.run,
        right=summary.right,
        total=summary.total,
        languages=languages,
        seconds=round(summary.seconds_per_task, 1),
    )
