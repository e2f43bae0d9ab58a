"""`wenfang chat`: a conversation in the terminal. The data directory is only held during a turn."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Generator, Mapping
from importlib import import_module
from pathlib import Path

from .desk import Desk, open_desk, take_turn
from .language import Say
from .loop import make_runner
from .project import Named, named


def chat(say: Say, *, project: Path, flags: Mapping[str, str | None], data: Path | None) -> None:
    """Talk until /exit or the end of input."""
    where = named(project, data)
    with make_runner() as runner, contextlib.ExitStack() as stack:
        desk_cm = open_desk(say, data, flags)
        desk = runner.run(desk_cm.__aenter__())
        stack.callback(lambda: runner.run(desk_cm.__aexit__(None, None, None)))
        print(say("chat.hello", project=where.folder or where.name), file=sys.stderr)  # noqa: T201
        session_id: str | None = None
        for line in _lines(say):
            if line == "/new":
                session_id = None
                print(say("chat.new"), file=sys.stderr)  # noqa: T201
            elif line.startswith("/"):
                print(say("chat.unknown", command=line), file=sys.stderr)  # noqa: T201
            else:
                with contextlib.suppress(asyncio.CancelledError):
                    session_id = runner.run(_turn(desk, where, session_id, line))


def _lines(say: Say) -> Generator[str]:
    """What the person types, until /exit, Ctrl-D or Ctrl-C at the prompt."""
    with contextlib.suppress(ImportError):
        import_module("readline")  # gives input() its line editing
    while True:
        try:
            line = input(say("chat.prompt") if sys.stdin.isatty() else "").strip()
        except (EOFError, KeyboardInterrupt):
            return
        if line == "/exit":
            return
        if line:
            yield line


async def _turn(desk: Desk, where: Named, session_id: str | None, text: str) -> str:
    async with desk.runs() as runs:
        if session_id is None:
            project = await where.project(runs)
            session_id = (await runs.create_session(project.id)).id
        await take_turn(desk, runs, session_id, text)
        return session_id
