"""`wenfang run`: one task, every step shown, an exit code that says how it ended."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

from wenfang.problems import Problem

from .desk import EXITS, open_desk, take_turn
from .language import Say
from .loop import make_runner
from .main import EXIT_STOPPED
from .project import named


def run(
    say: Say,
    task: str,
    *,
    project: Path,
    flags: Mapping[str, str | None],
    as_json: bool,
    data: Path | None,
) -> None:
    """Raises SystemExit with the run's exit code."""
    text = sys.stdin.read() if task == "-" else task
    if not text.strip():
        raise Problem("empty_request")
    where = named(project, data)

    async def work() -> int:
        async with open_desk(say, data, flags) as desk, desk.runs() as runs:
            at = await where.project(runs)
            session = await runs.create_session(at.id)
            end = await take_turn(desk, runs, session.id, text, as_json=as_json)
            return EXITS[end.status]

    with make_runner() as runner:
        try:
            code = runner.run(work())
        except asyncio.CancelledError:
            code = EXIT_STOPPED
    sys.exit(code)
