"""`wenfang doctor model`: which dialect works best for a model, found by probes and kept for `auto`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from wenfang.core import DIALECTS, DialectName
from wenfang.crews import PROBES, Bounds, Score, Search, Trial, Trying
from wenfang.problems import Problem
from wenfang.settings import Settings

from .desk import Desk, open_desk
from .language import Say
from .loop import make_runner
from .main import EXIT_ERROR, EXIT_STOPPED, EXIT_USAGE, fail
from .render import plain

_SAID_CHARS = 160


def doctor_model(
    say: Say,
    *,
    names: str,
    timeout_s: int,
    is_stored: bool,
    flags: Mapping[str, str | None],
    as_json: bool,
    data: Path | None,
) -> None:
    """Leaves with 0 if a dialect works, 5 if none does or the model does not answer, 4 after Ctrl-C.
    Only the first of these keeps anything, and only if `is_stored`."""
    dialects = _dialects(say, names)
    face = _Face(say, as_json=as_json)

    async def work() -> int:
        async with open_desk(say, data, flags) as desk:
            settings = desk.store.current()

            def watch(step: Trying | Trial) -> None:
                if isinstance(step, Trying) and step.number == 1:
                    face.begin(timeout_s, is_local=settings.provider == "embedded")
                face.show(step)

            with face.progress:
                search = await desk.models.find_dialect(
                    settings,
                    dialects=dialects,
                    language=say.language,
                    bounds=Bounds(seconds=timeout_s),
                    watch=watch,
                )
            return _finish(face, desk, settings, search, is_stored=is_stored)

    with make_runner() as runner:
        try:
            code = runner.run(work())
        except (asyncio.CancelledError, KeyboardInterrupt):
            fail(say, say("probe.stopped"), EXIT_STOPPED)
    sys.exit(code)


def _dialects(say: Say, names: str) -> Sequence[DialectName]:
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    for name in wanted:
        if name not in DIALECTS:
            known = ", ".join(DIALECTS)
            text = say("run.bad_option", option="--dialects", value=name, allowed=known)
            fail(say, text, EXIT_USAGE)
    return cast("list[DialectName]", wanted)


def _finish(face: _Face, desk: Desk, settings: Settings, search: Search, *, is_stored: bool) -> int:
    say, model = face.say, desk.models.status(settings).model
    if search.gone is not None:
        where = settings.base_url if settings.provider == "openai" else ""
        fail(say, say.failure(search.gone.code, base_url=where, model=model), EXIT_ERROR)
    if search.best is not None and is_stored:
        desk.models.keep(settings, search)
    is_kept = search.best is not None and is_stored
    face.result(model, search, is_kept=is_kept)
    if search.best is None:
        raise Problem("no_dialect", model=model)
    if not face.as_json and is_kept:
        above = settings.dialect
        key = "probe.kept" if above == "auto" else "probe.kept_below"
        face.out.print(say(key, dialect=search.best.dialect, model=model, above=above))
    return 0


class _Face:
    """Progress on standard error; the result, or JSON lines, on standard output."""

    def __init__(self, say: Say, *, as_json: bool) -> None:
        self.say = say
        self.as_json = as_json
        self.out = _console()
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        )  # fmt: skip
        console = _console(stderr=True)
        is_plain = not console.is_terminal  # lines only, as each probe ends
        self.progress = Progress(*columns, console=console, transient=True, disable=is_plain)
        self._bar = self.progress.add_task(say("probe.greeting"), total=None)

    def begin(self, timeout_s: int, *, is_local: bool) -> None:
        """Say what is coming and how long it may take."""
        if self.as_json:
            return
        words = [self.say("probe.begin", count=len(PROBES), seconds=timeout_s)]
        if is_local:
            words.append(self.say("probe.begin_local"))
        self.progress.console.print(" ".join(words))

    def show(self, step: Trying | Trial) -> None:
        if isinstance(step, Trying):
            doing = f"{step.dialect}: {self.say(f'probe.{step.probe}')}"
            done = step.number - 1
            self.progress.update(self._bar, description=doing, completed=done, total=step.total)
        elif self.as_json:
            self._line({"type": "probe", **asdict(step)})
        else:
            self.progress.console.print(_trial_line(self.say, step))

    def result(self, model: str, search: Search, *, is_kept: bool) -> None:
        best = search.best
        if self.as_json:
            self._line(
                {
                    "type": "result",
                    "model": model,
                    "dialect": best.dialect if best else None,
                    "stored": is_kept,
                    "scores": [asdict(score) for score in search.scores],
                }
            )
            return
        self.out.print(_table(self.say, search.scores))
        if best is not None:
            why = "; ".join(_why(self.say, score, best) for score in _telling(search.scores, best))
            self.out.print(self.say("probe.best", dialect=best.dialect, model=model, why=why))

    def _line(self, value: Mapping[str, Any]) -> None:
        print(json.dumps(value, ensure_ascii=False), flush=True)  # noqa: T201


def _console(*, stderr: bool = False) -> Console:
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)


def _trial_line(say: Say, trial: Trial) -> str:
    outcome = say("probe.right") if trial.flaw is None else say(f"flaw.{trial.flaw}")
    said = f" ({plain(trial.said)[:_SAID_CHARS]})" if trial.flaw == "refused" else ""
    name = say(f"probe.{trial.probe}")
    return f"{trial.dialect}  {name}  {trial.seconds:.1f} s  {outcome}{said}"


def _table(say: Say, scores: Sequence[Score]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("dialect", "right", "repairs", "tokens", "seconds", "flaw"):
        is_number = name not in ("dialect", "flaw")
        table.add_column(say(f"probe.column.{name}"), justify="right" if is_number else "left")
    for score in scores:
        right = f"{score.right}/{score.tried}"
        numbers = (right, str(score.repairs), str(score.tokens), f"{score.seconds:.1f}")
        table.add_row(score.dialect, *numbers, say(f"flaw.{score.flaw}") if score.flaw else "")
    return table


def _telling(scores: Sequence[Score], best: Score) -> list[Score]:
    """The scores that explain the choice: why not native, and what the best came to."""
    native = [score for score in scores if score.dialect == "native" and score != best]
    return [*native, best]


def _why(say: Say, score: Score, best: Score) -> str:
    if score != best and score.flaw is not None:
        return f"{score.dialect}: {say(f'flaw.{score.flaw}')}"
    counts = {"right": score.right, "total": score.total, "tokens": score.tokens}
    return f"{score.dialect}: {say('probe.score', **counts, repairs=score.repairs)}"
