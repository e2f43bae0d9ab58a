"""`wenfang sync`: a project and a plain folder of texts become the same, both ways."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress as Bar

from wenfang.problems import Problem
from wenfang.runs import FileChanged, projects_named, tell_files
from wenfang.settings import data_dir
from wenfang.storage import Store
from wenfang.workspace import WorkspaceError
from wenfang.workspace.mirror import (
    Action,
    Collide,
    Delete,
    Done,
    Failed,
    Left,
    MakeFolder,
    Move,
    Progress,
    Put,
    Synced,
    mirrored_project,
    open_mirror,
)

from .language import Say
from .loop import make_runner
from .main import EXIT_PARTIAL
from .project import has_database, one_of, open_shelf
from .render import plain

_KINDS: dict[type[Action], str] = {
    Put: "put",
    MakeFolder: "folder",
    Move: "move",
    Delete: "delete",
    Collide: "collide",
}


def sync(
    say: Say, folder: Path, *, project: str, data: Path | None, is_dry: bool, as_json: bool
) -> None:
    """Sync, and print each change as it is made. Raises `Problem`, and SystemExit 3 if both texts of a file
    had to be kept or something could not be done."""
    where = data_dir(data)
    _check(folder, where)
    if not has_database(where):
        raise _unknown(folder, project, where)
    printer = _Printer(say, as_json=as_json, is_dry=is_dry)
    with make_runner() as runner:
        try:
            is_whole = runner.run(_sync(folder, project, where, printer))
        except WorkspaceError as error:
            raise Problem(error.code, **error.params) from error
    if not is_whole:
        sys.exit(EXIT_PARTIAL)


def _check(folder: Path, data: Path) -> None:
    if not folder.is_dir():
        raise Problem("mirror_folder_missing", path=str(folder))
    here, ours = folder.resolve(), data.resolve()
    if here.is_relative_to(ours) or ours.is_relative_to(here):
        raise Problem("mirror_inside_data", path=str(folder), data=str(data))


async def _sync(folder: Path, project: str, data: Path, printer: _Printer) -> bool:
    async with open_shelf(data) as (database, _):
        project_id = await _chosen(database, folder, project, data)
        async with open_mirror(
            database,
            project_id,
            folder,
            host=socket.gethostname(),
            clock=time.time,
            only_look=printer.is_dry,
        ) as mirror:
            if printer.is_dry:
                planned = await mirror.look()
                printer.show_plan(planned.actions, planned.left)
                return True
            try:
                with printer.progress() as tell:
                    synced = await mirror.sync(tell)
            finally:  # also what was done before a full disk
                changes = [fact for done in printer.done for fact in _facts(done)]
                await tell_files(database, project_id, changes, now=time.time())
            return printer.show_end(synced)


def _facts(done: Done) -> Iterator[FileChanged]:
    """What the project's readers are told."""
    match done.action:
        case Put(side="project", path=path, replaces=before):
            change = "created" if before is None else "written"
            yield FileChanged(path=path, change=change, by="author", revision=done.hash)
        case MakeFolder(side="project", path=path):
            yield FileChanged(path=path, change="created", by="author")
        case Move(side="project", path=path, to=to):
            yield FileChanged(path=path, change="renamed", by="author", to=to)
        case Delete(side="project", path=path):
            yield FileChanged(path=path, change="deleted", by="author")
        case Collide(path=path, beside=beside):
            change, where = ("written", path) if done.result == "merged" else ("created", beside)
            yield FileChanged(path=where, change=change, by="author", revision=done.hash)
        case _:
            return


async def _chosen(database: Store, folder: Path, project: str, data: Path) -> str:
    """The id of the project that was named by its id or its title, else of the one that the folder mirrors."""
    found = project or await mirrored_project(database, folder)
    if found is None:
        raise _unknown(folder, project, data)
    rows = await database.read(partial(projects_named, name=found))
    chosen = one_of(rows, found, data)
    if chosen.folder is not None:
        raise Problem("project_is_folder", name=found)
    return chosen.id


def _unknown(folder: Path, project: str, data: Path) -> Problem:
    if not project:
        return Problem("mirror_project_needed", path=str(folder))
    return Problem("project_unknown", name=project, data=str(data))


class _Printer:
    """Changes go to standard output, everything else to standard error, or all of it as JSON lines."""

    def __init__(self, say: Say, *, as_json: bool, is_dry: bool) -> None:
        self._say = say
        self._as_json = as_json
        self.is_dry = is_dry
        self.done: list[Done] = []

    @contextmanager
    def progress(self) -> Generator[Callable[[Progress], None]]:
        """A bar on a terminal, and what is called with each outcome."""
        console = Console(stderr=True)
        with Bar(
            console=console,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),
            disable=self._as_json or not console.is_terminal,
        ) as bar:
            task = bar.add_task(self._say("sync.working"), total=None)

            def tell(progress: Progress) -> None:
                bar.update(task, completed=progress.at, total=progress.total)
                if isinstance(progress.outcome, Done):
                    self.done.append(progress.outcome)
                    self._show(progress.outcome.action, progress.outcome.result)

            yield tell

    def show_plan(self, actions: tuple[Action, ...], left: tuple[Left, ...]) -> None:
        """What would be done."""
        for action in actions:
            self._show(action, "planned")
        self._show_left(left)
        self._sum_up("sync.planned", changes=len([each for each in actions if _is_shown(each)]))

    def show_end(self, synced: Synced) -> bool:
        """What was left and how it ended; whether nothing needs to be looked at by a person."""
        self._show_left(synced.left)
        for failed in synced.failed:
            self._show_failed(failed)
        kept = len([each for each in synced.done if each.result == "kept_both"])
        changes = len([each for each in synced.done if _is_shown(each.action)])
        self._sum_up("sync.done", changes=changes, conflicts=kept, failed=len(synced.failed))
        return not kept and not synced.failed

    def _show(self, action: Action, result: str) -> None:
        if not _is_shown(action):
            return
        kind = _KINDS[type(action)]
        names = {name: plain(getattr(action, name, "")) for name in ("path", "to", "beside")}
        if self._as_json:
            side = getattr(action, "side", None)
            given = {name: value for name, value in names.items() if value}
            _tell({"action": kind, "side": side, **given, "result": result})
        elif isinstance(action, Collide):
            _line(self._say("sync.both" if self.is_dry else f"sync.{result}", **names))
        else:
            _line(self._say(f"sync.{kind}.{getattr(action, 'side', '')}", **names))

    def _show_left(self, left: tuple[Left, ...]) -> None:
        for each in left:
            path = plain(each.path)
            if self._as_json:
                _tell({"left": path, "reason": each.reason})
            else:
                why = self._say(f"sync.left.{each.reason}")
                _note(self._say("sync.left", path=path, why=why))

    def _show_failed(self, failed: Failed) -> None:
        path, error = plain(failed.action.path), failed.error
        code = "file_busy" if error is None else error.code
        params = {"path": path} if error is None else dict(error.params)
        text = Problem(code, **params).text(self._say.language)
        if self._as_json:
            _tell({"failed": path, "code": code, "message": text})
        else:
            _note(self._say("error", text=plain(text)))

    def _sum_up(self, words: str, **counts: int) -> None:
        if self._as_json:
            _tell({"changes": 0, "conflicts": 0, "failed": 0, **counts})
        elif not any(counts.values()):
            _note(self._say("sync.nothing"))
        else:
            _note(self._say(words, **counts))


def _is_shown(action: Action) -> bool:
    """Whether a side is changed, and not only the record."""
    return type(action) in _KINDS and not (isinstance(action, Move) and action.side is None)


def _tell(value: dict[str, Any]) -> None:
    _line(json.dumps(value, ensure_ascii=False))


def _line(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def _note(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201
