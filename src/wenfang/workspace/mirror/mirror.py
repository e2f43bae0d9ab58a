"""A project and a folder that mirror each other: look what differs, and make it the same.

The folder's changes are the author's. Several rounds are made if somebody goes on writing meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Final, Literal

from wenfang.core import new_id
from wenfang.problems import Problem
from wenfang.storage import Store, Tx

from ..errors import Code, WorkspaceError
from ..project import By, Item, ProjectFiles
from ..workspace import Workspace
from . import record
from .folder import Mark, Scan, hold_mark, read_mark, scan
from .hands import Changed, Hands
from .planning import plan
from .record import Mirrored
from .values import (
    Action,
    Delete,
    Forget,
    Left,
    MakeFolder,
    Node,
    Plan,
    Record,
    Result,
    is_mirrored,
    key_of,
)

_ROUNDS: Final = 3
_AT_ONCE: Final = 256
_TEXT_BYTES: Final = 8 * 1024 * 1024
_STOPS: Final[frozenset[Code]] = frozenset(("disk_full", "content_damaged"))
"""What no other file would get past either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """An action and what came of it. `hash` names the text that the project got, "" if it got none."""

    action: Action
    result: Result
    hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """An action that was not done; `error` None: the file was changed all the time."""

    action: Action
    error: WorkspaceError | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """What a sync did (`done`, without what was only recorded), what it could not do, and what it left
    alone."""

    done: tuple[Done, ...]
    failed: tuple[Failed, ...]
    left: tuple[Left, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """`at` of `total` actions of a round are done; `outcome` is the last one's."""

    at: int
    total: int
    outcome: Done | Failed


def _ignore(_: Progress) -> None:
    pass


class Mirror:
    """`open_mirror` makes one."""

    def __init__(
        self,
        database: Store,
        place: Mirrored,
        *,
        mark: Mark | None,
        is_known: bool,
        clock: Callable[[], float],
        new_id: Callable[[str], str],
    ) -> None:
        self._db = database
        self._place = place
        self._mark = mark
        self._is_known = is_known
        self._clock = clock
        self._root = Path(place.folder)
        by = By(actor="author")
        self._files = ProjectFiles(
            database, place.project_id, by=by, clock=clock, text_limit_bytes=_TEXT_BYTES
        )
        self._folder = Workspace(self._root, new_id=new_id, text_limit_bytes=_TEXT_BYTES)

    async def look(self) -> Plan:
        """What a sync would do now. Nothing is written."""
        base = await self._db.read(self._base)
        found = await asyncio.to_thread(scan, self._root, _TEXT_BYTES)
        items = await self._files.list()
        return self._compare(base, found, items)

    async def sync(self, tell: Callable[[Progress], None] = _ignore) -> Synced:
        """Make both sides the same. Raises `Problem` and `WorkspaceError` for what stops everything (a full
        disk); what was done until then stays done, and the next sync goes on."""
        assert self._mark is not None, "opened for looking only"
        if not self._is_known:
            now = self._clock()
            await self._db.write(lambda tx: record.begin(tx, self._place, now))
            await asyncio.to_thread(self._mark.write, self._place.id)
            self._is_known = True
        with ThreadPoolExecutor(1, "wenfang-folder") as thread:
            hands = Hands(self._db, self._files, self._folder, self._place.id, thread)
            done, failed, left = await self._rounds(hands, tell)
        await self._db.write(lambda tx: record.touch(tx, self._place.id, self._clock()))
        return Synced(done=done, failed=failed, left=left)

    async def _rounds(
        self, hands: Hands, tell: Callable[[Progress], None]
    ) -> tuple[tuple[Done, ...], tuple[Failed, ...], tuple[Left, ...]]:
        done: list[Done] = []
        rounds_left = _ROUNDS
        while True:
            planned = await self.look()
            outcomes = await _carry_out(hands, planned.actions, tell)
            done += [each for each in outcomes if isinstance(each, Done)]
            failed = tuple(each for each in outcomes if isinstance(each, Failed))
            rounds_left -= 1
            if not rounds_left or all(each.error is not None for each in failed):
                return tuple(done), failed, planned.left

    def _base(self, tx: Tx) -> dict[str, Node]:
        return record.state(tx, self._place.id) if self._is_known else {}

    def _compare(self, base: dict[str, Node], found: Scan, items: Sequence[Item]) -> Plan:
        project = {
            key_of(item.path): Node(path=item.path, hash=item.hash, id=item.id)
            for item in items
            if is_mirrored(item.path)
        }
        today = date.fromtimestamp(self._clock()).isoformat()
        planned = plan(base, project, found.nodes, today=today, kept=found.kept)
        return Plan(actions=planned.actions, left=(*found.left, *planned.left))


async def _carry_out(
    hands: Hands, actions: Sequence[Action], tell: Callable[[Progress], None]
) -> list[Done | Failed]:
    """In order; neighbours that do not depend on each other share the commits of the database."""
    shown = [action for action in actions if not isinstance(action, Record | Forget)]
    outcomes: list[Done | Failed] = []

    async def one(action: Action) -> None:
        try:
            result, text = await hands.do(action)
            outcome: Done | Failed = Done(action=action, result=result, hash=text)
        except Changed:
            outcome = Failed(action=action, error=None)
        except WorkspaceError as error:
            if error.code in _STOPS:
                raise
            outcome = Failed(action=action, error=error)
        outcomes.append(outcome)
        tell(Progress(at=len(outcomes), total=len(shown), outcome=outcome))

    for kind, group in groupby(actions, key=_kind):
        together = [*group]
        size = 1 if kind == "one by one" else _AT_ONCE
        for at in range(0, len(together), size):
            some = together[at : at + size]
            if kind == "record":
                await hands.note_all([a for a in some if isinstance(a, Record | Forget)])
                continue
            results = await asyncio.gather(*map(one, some), return_exceptions=True)
            for result in results:
                if result is not None:
                    raise result
    return outcomes


def _kind(action: Action) -> Literal["record", "one by one", "together"]:
    match action:
        case Record() | Forget():
            return "record"
        case MakeFolder() | Delete(hash=None):
            return "one by one"
        case _:
            return "together"


@asynccontextmanager
async def open_mirror(
    database: Store,
    project_id: str,
    folder: Path,
    *,
    host: str,
    clock: Callable[[], float],
    new_id: Callable[[str], str] = new_id,
    only_look: bool = False,
) -> AsyncGenerator[Mirror]:
    """The folder `folder` of the machine `host` as a mirror of a project, for one sync at a time. With
    `only_look` nothing is written, not even into the folder.

    Raises Problem "mirror_folder_missing", "mirror_taken" if the folder mirrors another project,
    "mirror_busy" while another sync works in it, and `WorkspaceError`.
    """
    root = await asyncio.to_thread(_existing, folder)
    with ExitStack() as stack:
        mark = None if only_look else stack.enter_context(hold_mark(root))
        said = read_mark(root)
        known = None if said is None else await database.read(lambda tx: record.find(tx, said))
        if known is not None and known.project_id != project_id:
            raise Problem("mirror_taken", path=str(folder), id=known.project_id)
        is_known = known is not None and (known.host, known.folder) == (host, str(root))
        place = (
            known
            if known is not None and is_known
            else Mirrored(id=new_id("mir"), project_id=project_id, host=host, folder=str(root))
        )
        yield Mirror(database, place, mark=mark, is_known=is_known, clock=clock, new_id=new_id)


async def mirrored_project(database: Store, folder: Path) -> str | None:
    """The id of the project that a folder mirrors, if it does."""
    said = await asyncio.to_thread(read_mark, folder)
    known = None if said is None else await database.read(lambda tx: record.find(tx, said))
    return None if known is None else known.project_id


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise Problem("mirror_folder_missing", path=str(folder))
    return folder.resolve()
