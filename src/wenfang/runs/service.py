"""The facade of durable runs, for the server and the command line."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wenfang.core import REASONS, RunEnd, Usage, new_id
from wenfang.problems import Problem
from wenfang.storage import FILE, Database, Store, Tx, open_store
from wenfang.workspace import Files

from . import reads
from .bus import Message, Poked
from .catalog import Begin, Catalog, hold_project, title_of
from .driver import Desk
from .ending import ending_of
from .engine import LocalEngine
from .entries import entry_of
from .facts import FileChanged, RunStarted, UserMessage
from .fold import Fold
from .hub import Hub, Subscription
from .journal import Journal, NewRun, Probe
from .lease import Identity, LeaseKeeper, identify
from .moving_in import move_in
from .recording import record as record_facts
from .records import AgentSpec, Frame, MakeAgent, Options, Project, RunInfo, Session, Snapshot
from .shelf import Shelf
from .snapshots import read_snapshot
from .sqlite_journal import SqliteJournal

if TYPE_CHECKING:
    from wenfang.workspace.templates import Template

_USER = "local"
_LONGEST_OWN_TITLE = 60


def _nowhere(name: str) -> None:
    del name


@asynccontextmanager
async def open_runs(
    data: Path,
    *,
    make_agent: MakeAgent,
    database: str | None = None,
    clock: Callable[[], float] | None = None,
    monotonic: Callable[[], float] = time.monotonic,
    new_id: Callable[[str], str] = new_id,
    options: Options | None = None,
    me: Identity | None = None,
    probe: Probe = _nowhere,
) -> AsyncGenerator[Runs]:
    """Open the data directory `data`, take over what dead processes left, and serve until the block
    ends; runs still going then are handed over.

    `make_agent` says how a run works. `database` is the address of a PostgreSQL database to use in place
    of the file in `data`. `clock` gives Unix seconds, those of the database if there is none. `probe` is told the names of the
    places where the fault suite kills the process.

    Raises Problem `database_busy` if a live process of another host uses the database, and those of
    `open_store`.
    """
    options = options or Options()
    me = me or identify(new_id("wrk"))
    async with open_store(database or data / FILE) as store:
        clock = clock or store.clock
        journal = _make_journal(store, clock, options, probe)
        hub = Hub(journal.page)
        desk = Desk(
            journal=journal,
            hub=hub,
            make_agent=make_agent,
            shelf=Shelf(database=store, clock=clock, new_id=new_id),
            clock=clock,
            new_id=new_id,
            options=options,
            probe=probe,
        )
        await move_in(desk.shelf, data)
        loop = asyncio.get_running_loop()
        keeper = LeaseKeeper(
            store,
            me,
            ttl_s=options.lease_ttl_s,
            beat_s=options.beat_s,
            clock=clock,
            monotonic=monotonic,
            fenced=lambda: loop.call_soon_threadsafe(engine.fence),
        )
        engine = LocalEngine(desk, keeper)
        catalog = Catalog(store, clock=clock, new_id=new_id)
        await keeper.start()
        runs = Runs(store, desk, journal, engine, keeper, catalog)
        async with _told_by_others(database, me, hub, engine), runs.serving():
            yield runs


def _told_by_others(
    database: str | None, me: Identity, hub: Hub, engine: LocalEngine
) -> AbstractAsyncContextManager[None]:
    """Tell the other processes of a server's database, and hear them, until the block ends."""
    if database is None:
        return nullcontext()
    from .notice_bus import NoticeBus  # only its users load it

    def hear(message: Message) -> None:
        if isinstance(message, Poked):
            engine.poke(message.run_id)
        else:
            hub.hear(message)

    bus = NoticeBus(me.id, hear, hub.missed)
    hub.join(bus)
    return bus.opened(database)


def _make_journal(
    store: Store, clock: Callable[[], float], options: Options, probe: Probe
) -> Journal:
    if isinstance(store, Database):
        return SqliteJournal(store, clock=clock, user_runs=options.user_runs, probe=probe)
    from .postgres_journal import PostgresJournal  # only its users load it

    return PostgresJournal(store, clock=clock, user_runs=options.user_runs, probe=probe)


class Runs:
    """Projects, sessions and runs of one data directory. See docs/rooms/runs.md for the table of
    calls and their problems."""

    def __init__(
        self,
        database: Store,
        desk: Desk,
        journal: Journal,
        engine: LocalEngine,
        keeper: LeaseKeeper,
        catalog: Catalog,
    ) -> None:
        self.store: Store = database
        self._db = database
        self._desk = desk
        self._hub = desk.hub
        self._journal = journal
        self._engine = engine
        self._keeper = keeper
        self._catalog = catalog
        self.projects = catalog.projects
        self.project = catalog.project
        self.project_at = catalog.project_at
        self.projects_named = catalog.projects_named
        self.rename_project = catalog.rename_project
        self.delete_project = catalog.delete_project
        self.restore_project = catalog.restore_project
        self.sessions = catalog.sessions
        self.session = catalog.session

    @property
    def database_name(self) -> str:
        """Which database this is, for people: without its password."""
        return self._db.name

    async def create_project(
        self,
        title: str,
        path: Path | None = None,
        *,
        template: Template | None = None,
        also: Begin | None = None,
    ) -> Project:
        """Make a project, with its files in the database, all those of `template` at once, or in the
        existing folder `path`, which has files of its own. `also` is done in the same transaction."""
        begin = [] if template is None else [self._desk.shelf.planting(template)]
        begin += [] if also is None else [also]
        name = None if template is None else template.name
        return await self._catalog.create_project(title, path, begin, name)

    async def files(self, project_id: str) -> Files:
        """A project's files, for its author. Raises Problem `project_not_found`."""
        project = await self.project(project_id)
        return self._desk.shelf.files(project.id, project.folder, "author")

    async def create_session(self, project_id: str, title: str = "") -> Session:
        """Begin a conversation; one without a title takes the first words said in it."""
        session, frames = await self._catalog.create_session(project_id, title)
        self._hub.publish(session.project_id, frames)
        return session

    async def rename_session(self, session_id: str, title: str) -> Session:
        session, frames = await self._catalog.rename_session(session_id, title)
        self._hub.publish(session.project_id, frames)
        return session

    async def delete_session(self, session_id: str) -> None:
        session, frames = await self._catalog.delete_session(session_id)
        self._hub.publish(session.project_id, frames)

    async def submit(
        self,
        session_id: str,
        text: str,
        *,
        request_id: str | None = None,
        deadline_s: float | None = None,
        user_id: str = _USER,
    ) -> RunInfo:
        """Start a run for a user. The same `request_id` again in a session gives the same run.

        Raises Problem `empty_request`, `session_not_found`, `run_active`, or what `make_agent` says.
        """
        if not text.strip():
            raise Problem("empty_request")
        run_id = self._desk.new_id("run")
        context = await self._db.read(
            partial(reads.context_of, self._desk.shelf, run_id, session_id, text, request_id)
        )
        if isinstance(context, RunInfo):
            return context
        spec = self._desk.make_agent(context)
        within_s = deadline_s if deadline_s is not None else self._desk.options.deadline_s
        self._desk.probe("submit.before")
        run, frames = await self._journal.submit(
            NewRun(
                id=run_id,
                session_id=session_id,
                user_id=user_id,
                request_id=request_id,
                owner=self._keeper.me.id,
                deadline_at=None if within_s is None else self._desk.clock() + within_s,
                reserve=spec.limits.tokens or self._desk.options.reserve_tokens,
                title=title_of(text)[:_LONGEST_OWN_TITLE],
                facts=self._first_facts(spec, text),
            )
        )
        self._desk.probe("submit.after")
        self._hub.publish(run.project_id, frames)
        if run.id == run_id:
            self._engine.enqueue(run_id, spec)
        return run

    def _first_facts(self, spec: AgentSpec, text: str) -> tuple[RunStarted, UserMessage]:
        return (
            RunStarted(agent=spec.agent, model=spec.client.name, dialect=spec.dialect.name),
            UserMessage(message_id=self._desk.new_id("msg"), text=text),
        )

    async def info(self, run_id: str) -> RunInfo:
        """A run as it stands. Raises Problem `run_not_found`."""
        return await self._db.read(lambda tx: reads.run_info(tx, run_id))

    async def stop(self, run_id: str) -> RunInfo:
        """Ask a run to stop; also after its end, any number of times. It ends a moment later, as
        soon as what it is doing has been cancelled."""
        row = REASONS["cancelled_by_user"]
        end = RunEnd(
            status=row.status, reason=row.code, answer="", usage=Usage(), steps=0, tool_calls=0
        )
        reserved = await self._db.read(lambda tx: reads.reserved(tx, run_id))
        stopped = await self._journal.stop(run_id, ending_of(run_id, end, Fold(), reserved))
        self._desk.probe("stop.before_poke")
        self._hub.publish(stopped.info.project_id, stopped.frames)
        driver = self._engine.find(run_id)
        if driver is not None:
            driver.stop()
        elif not stopped.info.is_finished:
            self._hub.poke(run_id)
            await self._engine.reconcile()
        return stopped.info

    async def steer(self, run_id: str, text: str) -> RunInfo:
        """Add words to a run; the model reads them before its next request.

        Raises Problem `run_not_found`, `run_finished` or `empty_request`.
        """
        if not text.strip():
            raise Problem("empty_request")
        signal = await self._journal.steer(run_id, text)
        driver = self._engine.find(run_id)
        if driver is not None:
            driver.look(signal.n, stop_requested=False)
        else:
            self._hub.poke(run_id)
        return await self.info(run_id)

    async def wait(self, run_id: str) -> RunInfo:
        """The run once it has ended. Raises Problem `run_not_found`."""
        async with self.subscribe_run(run_id, after=0) as frames:
            while await frames.batch():
                pass
        return await self.info(run_id)

    async def snapshot(
        self, project_id: str, session_id: str, before: int | None = None
    ) -> Snapshot:
        """A session's last 50 runs (those that began before the fact `before`), and the message that
        is being written."""
        return await read_snapshot(self._db, self._hub, project_id, session_id, before)

    @asynccontextmanager
    async def subscribe(self, project_id: str, after: int) -> AsyncGenerator[Subscription]:
        """The frames of a project after the fact number `after`, then live ones.

        Raises Problem `project_not_found`, or `invalid_request` for a number from the future.
        """
        await self._db.read(lambda tx: reads.check_position(tx, project_id, after))
        async with self._hub.subscribe(project_id, after) as subscription:
            yield subscription

    @asynccontextmanager
    async def subscribe_run(self, run_id: str, after: int) -> AsyncGenerator[Subscription]:
        """The same frames, only those of one run; ends after its `run.finished`."""
        run = await self._db.read(lambda tx: reads.run_at(tx, run_id, after))
        async with self._hub.subscribe(run.project_id, after, run_id) as subscription:
            yield subscription

    async def has_more(self, run_id: str, after: int) -> bool:
        """False: the run has ended and a reader with the fact `after` has its last one."""
        return await self._db.read(lambda tx: reads.has_more(tx, run_id, after))

    async def record_file_change(self, project_id: str, *changes: FileChanged) -> int:
        """Tell everyone that a person changed a file, or several at once; returns the number of the last
        fact."""

        def record(tx: Tx) -> tuple[Frame, ...]:
            hold_project(tx, project_id)
            return record_facts(
                tx,
                project_id=project_id,
                session_id="",
                run_id=None,
                last_seq=None,
                entries=[entry_of(change) for change in changes],
                now=self._desk.clock(),
            )

        frames = await self._db.write(record)
        self._hub.publish(project_id, frames)
        return frames[-1].seq or 0

    async def check(self) -> None:
        """Whether runs can be taken. Raises the `Problem` that a write meets."""
        await self._keeper.renew()

    async def drain(self, grace_s: float = 5.0) -> None:
        """Begin no more runs, hand over those that are driven here, end all streams."""
        await self._engine.drain(grace_s)
        self._hub.close()

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        """Drive runs until the block ends; then nobody's lease is left."""
        try:
            await self._engine.start()
            every_s = self._desk.options.poll_s
            looking = asyncio.create_task(_look_around(self._db, self._hub, every_s))
            try:
                yield
            finally:
                looking.cancel()
        finally:
            await self.drain()
            await self._keeper.stop()


async def _look_around(database: Store, hub: Hub, every_s: float) -> None:
    """Send readers to the journal for facts that another process wrote. Our own have been published
    by the time of the next look, so that only what is still missing then sends anyone."""
    heads: dict[str, int] = {}
    while True:
        await asyncio.sleep(every_s)
        for project_id, seq in heads.items():
            hub.skip(project_id, seq)
        watched = hub.watched()
        with suppress(Problem):  # the next look finds it
            heads = await database.read(lambda tx: reads.heads(tx, watched)) if watched else {}  # noqa: B023
