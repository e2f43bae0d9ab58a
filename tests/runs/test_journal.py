"""The journal through its port, column by column, and what is read cold from it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.runs.rig import migrated
from tests.workspace.stores import Home, OneSqlite

from wenfang.core import Assistant, Text, Usage
from wenfang.problems import Problem
from wenfang.runs import reads
from wenfang.runs.catalog import Catalog
from wenfang.runs.entries import entry_of
from wenfang.runs.facts import (
    Fact,
    MessageFinished,
    NoticeGiven,
    RunFinished,
    RunStarted,
    StepReset,
    UserMessage,
)
from wenfang.runs.hub import Hub
from wenfang.runs.journal import (
    Ack,
    Busy,
    Claim,
    Ending,
    Fenced,
    Finished,
    Journal,
    NewRun,
    Orphan,
    Signal,
    Waiting,
)
from wenfang.runs.lease import Identity, LeaseKeeper
from wenfang.runs.postgres_journal import PostgresJournal
from wenfang.runs.recording import record
from wenfang.runs.records import RunContext, RunInfo
from wenfang.runs.settlement import Settlement
from wenfang.runs.shelf import Shelf
from wenfang.runs.snapshots import read_snapshot
from wenfang.runs.sqlite_journal import SqliteJournal
from wenfang.storage import Database, Store

pytestmark = pytest.mark.anyio

USED = Usage(input=30, output=12)
NOTICE = NoticeGiven(level="info", code="c")
REPLY = MessageFinished(
    step=1, message_id="m", message=Assistant(content=(Text(text="t"),), stop="stop")
)


def ending(run_id: str, status: Any = "done", reason: Any = "completed") -> Ending:
    last = RunFinished(status=status, reason=reason, answer="", usage=USED, steps=0, tool_calls=0)
    return Ending(
        run_id=run_id,
        status=status,
        reason=reason,
        usage=USED,
        entries=[entry_of(NOTICE), entry_of(last)],
        settlement=Settlement(charge=42, refund=58, operator=3, estimated=True),
    )


@dataclass
class Desk:
    """A journal alone: nobody drives anything. `now` is the time, `names` counts ids."""

    database: Store
    now: float = 1000.0
    names: int = 0
    user_runs: int = 10

    def __post_init__(self) -> None:
        make = SqliteJournal if isinstance(self.database, Database) else PostgresJournal
        self.journal: Journal = make(
            self.database,  # type: ignore[arg-type]
            clock=lambda: self.now,
            user_runs=self.user_runs,
            probe=lambda _: None,
        )
        self.catalog = Catalog(self.database, clock=lambda: self.now, new_id=self.new_id)
        self.shelf = Shelf(database=self.database, clock=lambda: self.now, new_id=self.new_id)

    def new_id(self, kind: str) -> str:
        self.names += 1
        return f"{kind}_{self.names}"

    async def session(self) -> str:
        project = await self.catalog.create_project("Book", None)
        session, _ = await self.catalog.create_session(project.id, "")
        return session.id

    async def submit(self, session_id: str, **more: Any) -> RunInfo:
        facts: tuple[Fact, ...] = (
            RunStarted(agent="solo", model="m", dialect="native"),
            UserMessage(message_id="u", text="q"),
        )
        values: dict[str, Any] = {
            "id": self.new_id("run"),
            "session_id": session_id,
            "user_id": "ada",
            "request_id": None,
            "owner": "me",
            "deadline_at": None,
            "reserve": 100,
            "title": "Said",
            "facts": facts,
        }
        run, _ = await self.journal.submit(NewRun(**values | more))
        return run

    async def claimed(self, session_id: str, worker: str = "me", **more: Any) -> Claim:
        run = await self.submit(session_id, **more)
        claim = await self.journal.claim(run.id, worker)
        assert isinstance(claim, Claim)
        return claim

    async def live(self, worker: str, until: float = 2000.0) -> None:
        me = Identity(id=worker, host="h", pid=1, born="b")
        keeper = LeaseKeeper(
            self.database,
            me,
            ttl_s=until - self.now,
            beat_s=1.0,
            clock=lambda: self.now,
            monotonic=lambda: 0.0,
            fenced=lambda: None,
        )
        await keeper.renew()

    async def rows(self, statement: str, *values: Any) -> list[Any]:
        """What the statement finds; its marks are `:v`."""
        asked = sa.text(statement)
        value = {"v": values[0]} if values else {}
        return await self.database.read(
            lambda tx: [tuple(row) for row in tx.sa.execute(asked, value)]
        )


OpenDesk = Callable[..., AbstractAsyncContextManager[Desk]]


@pytest.fixture
def open_desk(home: Home, tmp_path: Path) -> OpenDesk:
    """Opens the journal on an empty database."""

    @asynccontextmanager
    async def open_it(**more: Any) -> AsyncGenerator[Desk]:
        if isinstance(home, OneSqlite):
            migrated(tmp_path)
        async with home.open(tmp_path) as database:
            yield Desk(database, **more)

    return open_it


async def test_a_run_as_it_stands(open_desk: OpenDesk) -> None:
    async with open_desk() as desk:
        session = await desk.session()
        run = await desk.submit(session, id="run_x", request_id="r")
        expected = RunInfo(
            id="run_x",
            session_id=session,
            project_id="prj_1",
            status="queued",
            reason=None,
            created_at=1000.0,
            finished_at=None,
            usage=Usage(),
        )
        assert run == expected
        claim = await desk.journal.claim("run_x", "me")
        assert isinstance(claim, Claim)
        desk.now = 1005.0
        await desk.journal.finish(claim, ending("run_x"))
        info = await desk.database.read(lambda tx: reads.run_info(tx, "run_x"))
        assert info == replace(
            expected, status="done", reason="completed", finished_at=1005.0, usage=USED
        )
        known = await desk.database.read(lambda tx: reads.run_of_request(tx, session, "r"))
        assert known == info
        for request in (None, "other"):
            assert (
                await desk.database.read(
                    lambda tx, request=request: reads.run_of_request(tx, session, request)
                )
                is None
            )


async def test_what_a_submit_writes(open_desk: OpenDesk) -> None:
    async with open_desk() as desk:
        session = await desk.session()
        desk.now = 1010.0
        await desk.submit(session, id="run_x", deadline_at=1060.0)
        assert await desk.rows(
            "SELECT user_id, begin_pseq, owner, epoch, seq, attempts, deadline_at, created_at FROM runs"
        ) == [("ada", 2, "me", 0, 2, 0, 1060.0, 1010.0)]
        assert await desk.rows(
            "SELECT pseq, session_id, run_id, seq, ts, kind FROM events ORDER BY pseq"
        ) == [
            (1, session, None, None, 1000.0, "session.changed"),
            (2, session, "run_x", 1, 1010.0, "run.started"),
            (3, session, "run_x", 2, 1010.0, "user.message"),
        ]
        assert await desk.rows("SELECT * FROM quota") == [("run_x", "reserve", 100, 0)]
        assert await desk.rows("SELECT title, updated_at FROM sessions") == [("Said", 1010.0)]
        assert await desk.rows("SELECT updated_at, seq FROM projects") == [(1010.0, 3)]
        assert await desk.database.read(lambda tx: reads.reserved(tx, "run_x")) == 100


async def test_who_is_refused(open_desk: OpenDesk) -> None:
    """Each with its code and the value, also when the session or its project went meanwhile."""
    async with open_desk() as desk:
        hub = Hub(desk.journal.page)
        session, busy, gone, homeless = [await desk.session() for _ in range(4)]
        await desk.submit(busy)
        await desk.catalog.delete_session(gone)
        project = (await desk.catalog.session(homeless)).project_id
        await desk.catalog.delete_project(project)
        seqs = await desk.rows("SELECT SUM(seq) FROM projects")
        for doing, code, params in (
            (desk.submit("ses_none"), "session_not_found", {"id": "ses_none"}),
            (desk.submit(gone), "session_not_found", {"id": gone}),
            (desk.submit(homeless), "session_not_found", {"id": homeless}),
            (desk.submit(busy), "run_active", {"session_id": busy}),
            (
                read_snapshot(desk.database, hub, "prj_1", busy, None),
                "session_not_found",
                {"id": busy},
            ),
            (
                read_snapshot(desk.database, hub, project, homeless, None),
                "project_not_found",
                {"id": project},
            ),
        ):
            with pytest.raises(Problem) as failure:
                await doing
            assert (failure.value.code, failure.value.params) == (code, params)
        assert await desk.rows("SELECT SUM(seq) FROM projects") == seqs
        assert (await desk.submit(session)).status == "queued"


async def test_a_claim_says_all_a_driver_needs(open_desk: OpenDesk) -> None:
    async with open_desk() as desk:
        session = await desk.session()
        run = await desk.submit(session, deadline_at=1060.0)
        for _ in range(3):
            await desk.journal.steer(run.id, "words")
        first = await desk.journal.claim(run.id, "me")
        assert first == Claim(
            run_id=run.id,
            session_id=session,
            project_id="prj_1",
            folder=None,
            template=None,
            user_id="ada",
            worker="me",
            epoch=1,
            attempts=1,
            deadline_at=1060.0,
            stop_requested=False,
            next_signal=1,
            newest_signal=3,
            reserved=100,
        )
        applied = UserMessage(message_id="u", text="words", source="steer", signal=2)
        ack = await desk.journal.append(first, [entry_of(applied), entry_of(NOTICE)])
        assert (ack.stop_requested, ack.newest_signal) == (False, 3)
        assert [(f.seq, f.run_id, f.type) for f in ack.frames] == [
            (4, run.id, "user.message"),
            (5, run.id, "notice"),
        ]
        assert await desk.rows("SELECT seq, next_signal, attempts FROM runs") == [(4, 3, 1)]
        await desk.journal.stop(run.id, ending(run.id))
        assert (await desk.journal.append(first, [])).stop_requested
        again = await desk.journal.claim(run.id, "other")
        assert again == replace(
            first, worker="other", epoch=2, attempts=2, stop_requested=True, next_signal=3
        )
        cut = ending(run.id, "stopped", "cancelled_by_user")
        for doing in (desk.journal.append(first, []), desk.journal.finish(first, cut)):
            with pytest.raises(Fenced):
                await doing


async def test_who_may_claim(open_desk: OpenDesk) -> None:
    """A live owner keeps its run until the moment its lease ends; nobody claims what is over."""
    async with open_desk() as desk:
        await desk.live("me", until=1015.0)
        claim = await desk.claimed(await desk.session())
        assert await desk.journal.claim(claim.run_id, "other") == Busy(why="owned")
        assert await desk.journal.orphans("other") == []
        assert [each.run_id for each in await desk.journal.orphans("me")] == [claim.run_id]
        desk.now = 1015.0
        assert [each.run_id for each in await desk.journal.orphans("other")] == [claim.run_id]
        taken = await desk.journal.claim(claim.run_id, "other")
        assert isinstance(taken, Claim)
        await desk.journal.finish(taken, ending(claim.run_id))
        assert await desk.journal.claim(claim.run_id, "other") == Finished()
        assert await desk.journal.claim("run_none", "other") == Finished()
        assert await desk.journal.orphans("other") == []


async def test_how_many_runs_a_user_has_at_once(open_desk: OpenDesk) -> None:
    """Q4: queued runs and those of the dead do not count, and neither does the run itself."""
    async with open_desk(user_runs=2) as desk:
        await desk.live("me")
        sessions = [await desk.session() for _ in range(5)]
        claims = [await desk.claimed(session) for session in sessions[:2]]
        third = await desk.submit(sessions[2])
        assert await desk.journal.claim(third.id, "me") == Busy(why="user")
        assert isinstance(await desk.journal.claim(claims[0].run_id, "me"), Claim)
        other = await desk.submit(sessions[3], user_id="bob")
        assert isinstance(await desk.journal.claim(other.id, "me"), Claim)
        await desk.journal.finish(claims[1], ending(claims[1].run_id))
        assert isinstance(await desk.journal.claim(third.id, "me"), Claim)
        fourth = await desk.submit(sessions[4])
        assert await desk.journal.claim(fourth.id, "me") == Busy(why="user")
        desk.now = 3000.0
        assert isinstance(await desk.journal.claim(fourth.id, "me"), Claim)


async def test_orphans(open_desk: OpenDesk) -> None:
    async with open_desk() as desk:
        late = await desk.submit(await desk.session(), deadline_at=1010.0)
        desk.now = 1001.0
        stopped = await desk.claimed(await desk.session(), deadline_at=1010.5)
        await desk.journal.stop(stopped.run_id, ending(stopped.run_id))
        desk.now = 1002.0
        steered = await desk.submit(await desk.session())
        for _ in range(2):
            await desk.journal.steer(steered.id, "x")
        desk.now = 1010.0
        assert await desk.journal.orphans("anyone") == [
            Orphan(run_id=late.id, expired=True, stop_requested=False, newest_signal=0),
            Orphan(run_id=stopped.run_id, expired=False, stop_requested=True, newest_signal=0),
            Orphan(run_id=steered.id, expired=False, stop_requested=False, newest_signal=2),
        ]


async def test_giving_a_run_back(open_desk: OpenDesk) -> None:
    async with open_desk() as desk:
        await desk.live("me")
        claim = await desk.claimed(await desk.session())
        await desk.journal.release(claim)
        assert await desk.rows("SELECT owner, attempts, status FROM runs") == [(None, 0, "running")]
        taken = await desk.journal.claim(claim.run_id, "other")
        assert isinstance(taken, Claim)
        assert (taken.epoch, taken.attempts) == (2, 1)
        with pytest.raises(Fenced):
            await desk.journal.release(claim)
        assert await desk.rows("SELECT owner FROM runs") == [("other",)]


@pytest.mark.parametrize(
    ("fact", "is_kept", "attempts"),
    [
        (NOTICE, True, 1),
        (StepReset(step=1, message_id="m", attempt=2, reason="x"), False, 1),
        (REPLY, False, 0),
    ],
    ids=["notice", "reset", "reply"],
)
async def test_what_was_shown_is_kept_until_its_fact_comes(
    open_desk: OpenDesk, fact: Fact, is_kept: bool, attempts: int
) -> None:
    """And a finished step, nothing else, resets the count of attempts."""
    async with open_desk() as desk:
        claim = await desk.claimed(await desk.session())
        other = await desk.claimed(await desk.session())
        assert await desk.journal.partial(claim.run_id) == b""
        for each in (claim, other):
            await desk.journal.save_partial(each, b"old")
            await desk.journal.save_partial(each, b"shown")
        await desk.journal.save_partial(replace(claim, epoch=7), b"zombie")
        assert await desk.journal.partial(claim.run_id) == b"shown"
        assert await desk.rows("SELECT updated_at FROM partials") == [(1000.0,), (1000.0,)]
        await desk.journal.append(claim, [entry_of(NOTICE), entry_of(fact)])
        assert await desk.journal.partial(claim.run_id) == (b"shown" if is_kept else b"")
        assert await desk.journal.partial(other.run_id) == b"shown"
        counts = await desk.rows("SELECT attempts FROM runs WHERE id = :v", claim.run_id)
        assert counts == [(attempts,)]
        await desk.journal.finish(claim, ending(claim.run_id))
        assert await desk.journal.partial(claim.run_id) == b""
        assert await desk.journal.partial(other.run_id) == b"shown"


async def test_an_end_is_the_row_the_facts_and_the_settlement(open_desk: OpenDesk) -> None:
    async with open_desk() as desk:
        claim = await desk.claimed(await desk.session())
        desk.now = 1020.0
        ack = await desk.journal.finish(claim, ending(claim.run_id))
        assert isinstance(ack, Ack)
        assert [(f.seq, f.type) for f in ack.frames] == [(4, "notice"), (5, "run.finished")]
        assert await desk.rows(
            "SELECT status, reason, owner, finished_at, seq, usage FROM runs"
        ) == [
            ("done", "completed", None, 1020.0, 4, json.dumps(asdict(USED), separators=(",", ":")))
        ]
        assert await desk.rows("SELECT kind, amount, estimated FROM quota ORDER BY kind") == [
            ("refund", -58, 0),
            ("reserve", 100, 0),
            ("settle", -42, 1),
        ]


@pytest.mark.parametrize("status", ["done", "partial", "failed"])
async def test_words_that_came_too_late(open_desk: OpenDesk, status: str) -> None:
    """A run that ended well goes on with them, any other takes them along before its last fact."""
    async with open_desk() as desk:
        claim = await desk.claimed(await desk.session())
        for text in ("one", "two", "three"):
            await desk.journal.steer(claim.run_id, text)
        applied = UserMessage(message_id="u", text="one", source="steer", signal=1)
        await desk.journal.append(claim, [entry_of(applied)])
        done = await desk.journal.finish(claim, ending(claim.run_id, status, "budget"))
        if status == "done":
            assert done == Waiting(newest_signal=3)
            assert await desk.rows("SELECT status FROM runs") == [("running",)]
            return
        assert isinstance(done, Ack)
        told = [json.loads(frame.data) for frame in done.frames]
        assert [fact["type"] for fact in told] == [
            "notice",
            "user.message",
            "user.message",
            "run.finished",
        ]
        assert [(fact["text"], fact["signal"], fact["source"]) for fact in told[1:3]] == [
            ("two", 2, "steer"),
            ("three", 3, "steer"),
        ]


async def test_words_for_a_run(open_desk: OpenDesk) -> None:
    async with open_desk() as desk:
        claim = await desk.claimed(await desk.session())
        other = await desk.claimed(await desk.session())
        assert await desk.journal.steer(claim.run_id, "one") == Signal(n=1, text="one")
        assert await desk.journal.steer(other.run_id, "other") == Signal(n=1, text="other")
        desk.now = 1003.0
        assert await desk.journal.steer(claim.run_id, "two") == Signal(n=2, text="two")
        assert await desk.journal.signals(claim.run_id, 1) == [Signal(n=2, text="two")]
        assert [s.n for s in await desk.journal.signals(claim.run_id, 0)] == [1, 2]
        assert await desk.rows(
            "SELECT n, kind, body, created_at FROM signals WHERE run_id = :v ORDER BY n",
            claim.run_id,
        ) == [(1, "steer", "one", 1000.0), (2, "steer", "two", 1003.0)]
        failing = ending(claim.run_id, "failed", "internal_error")
        await desk.journal.finish(claim, failing)
        for run_id, code in ((claim.run_id, "run_finished"), ("run_none", "run_not_found")):
            with pytest.raises(Problem) as failure:
                await desk.journal.steer(run_id, "three")
            assert failure.value.code == code
            assert failure.value.params["id"] == run_id


async def test_stopping(open_desk: OpenDesk) -> None:
    """A queued run ends at once with the words it was given; a running one is only asked, and the
    first time counts."""
    async with open_desk() as desk:
        session = await desk.session()
        queued = await desk.submit(session)
        await desk.journal.steer(queued.id, "late")
        unstarted = ending(queued.id, "stopped", "cancelled_by_user")
        desk.now = 1030.0
        stopped = await desk.journal.stop(queued.id, unstarted)
        assert [(f.seq, f.type) for f in stopped.frames] == [
            (4, "notice"),
            (5, "user.message"),
            (6, "run.finished"),
        ]
        assert stopped.info.status == "stopped"
        assert stopped.info.finished_at == 1030.0
        assert await desk.rows("SELECT seq FROM runs") == [(5,)]
        assert await desk.rows(
            "SELECT seq, ts, session_id FROM events WHERE run_id = :v AND pseq > 3 ORDER BY seq",
            queued.id,
        ) == [(n, 1030.0, session) for n in (3, 4, 5)]
        assert await desk.rows("SELECT SUM(amount) FROM quota") == [(0,)]
        again = await desk.journal.stop(queued.id, unstarted)
        assert (again.info, again.frames) == (stopped.info, ())
        running = await desk.claimed(session)
        for desk.now in (1040.0, 1050.0):
            asked = await desk.journal.stop(running.run_id, unstarted)
            assert (asked.info.status, asked.frames) == ("running", ())
        stops = await desk.rows("SELECT stop_at FROM runs WHERE id = :v", running.run_id)
        assert stops == [(1040.0,)]


async def test_a_sessions_history(open_desk: OpenDesk) -> None:
    """Facts of past runs that make messages, all of this run, none of other sessions."""
    async with open_desk() as desk:
        session = await desk.session()
        past = await desk.claimed(session)
        await desk.journal.append(past, [entry_of(REPLY)])
        await desk.journal.finish(past, ending(past.run_id))
        other = await desk.claimed(await desk.session())
        await desk.journal.append(other, [entry_of(REPLY)])
        claim = await desk.claimed(session)
        state = await desk.journal.history(claim)
        assert [m.role for m in state.messages] == ["user", "assistant", "user"]
        assert (state.start, state.open_step, state.steps) == (2, None, 0)


async def test_for_whom_an_agent_is_made(open_desk: OpenDesk) -> None:
    async with open_desk() as desk:
        session = await desk.session()

        async def ask(request_id: str | None) -> RunContext | RunInfo:
            return await desk.database.read(
                lambda tx: reads.context_of(desk.shelf, "run_new", session, "text", request_id, tx)
            )

        assert await ask("r") == RunContext(
            run_id="run_new",
            session_id=session,
            project_id="prj_1",
            files=desk.shelf.files("prj_1", None, "ai"),
            text="text",
        )
        run = await desk.submit(session, request_id="r")
        assert await ask("r") == run
        with pytest.raises(Problem) as failure:
            await ask("other")
        assert failure.value.code == "run_active"
        assert failure.value.params["session_id"] == session


@pytest.mark.parametrize(("after", "is_fine"), [(-1, False), (0, True), (3, True), (4, False)])
async def test_positions(open_desk: OpenDesk, after: int, is_fine: bool) -> None:
    async with open_desk() as desk:
        await desk.submit(await desk.session())

        async def check() -> None:
            await desk.database.read(lambda tx: reads.check_position(tx, "prj_1", after))

        if is_fine:
            await check()
            return
        with pytest.raises(Problem) as failure:
            await check()
        assert failure.value.code == "invalid_request"
        assert failure.value.params["field"] == "after"
        assert "3" in str(failure.value.params["problem"])


async def test_whether_there_is_more_of_a_run(open_desk: OpenDesk) -> None:
    async with open_desk() as desk:
        claim = await desk.claimed(await desk.session())

        async def more(after: int) -> bool:
            return await desk.database.read(lambda tx: reads.has_more(tx, claim.run_id, after))

        assert await more(3)
        await desk.journal.finish(claim, ending(claim.run_id))
        assert [await more(after) for after in (3, 4, 5, 6)] == [True, True, False, False]


async def test_heads(open_desk: OpenDesk) -> None:
    async with open_desk() as desk:
        await desk.submit(await desk.session())
        project = await desk.catalog.create_project("Empty", None)
        await desk.session()
        found = await desk.database.read(lambda tx: reads.heads(tx, ["prj_1", project.id]))
        assert found == {"prj_1": 3, project.id: 0}


# Pages


@pytest.mark.parametrize("by_run", [False, True])
@pytest.mark.parametrize(("count", "on_page"), [(200, 200), (201, 200)])
async def test_a_page_has_200_frames(
    open_desk: OpenDesk, by_run: bool, count: int, on_page: int
) -> None:
    async with open_desk() as desk:
        claim = await desk.claimed(await desk.session())
        # 200 of a run are 2 at its start and the rest; a project's page begins with a session's fact
        await desk.journal.append(claim, [entry_of(NOTICE)] * (count - 2))
        after = 1
        run_id = claim.run_id if by_run else None
        page = await desk.journal.page("prj_1", after, run_id)
        assert [frame.seq for frame in page.frames] == list(range(2, on_page + 2))
        assert (page.upto, page.complete, page.ended) == (on_page + 1, count == on_page, False)
        if count > on_page:
            rest = await desk.journal.page("prj_1", page.upto, run_id)
            assert [frame.seq for frame in rest.frames] == [on_page + 2]
            assert rest.complete


@pytest.mark.parametrize("too_much", [0, 1])
async def test_a_page_ends_with_the_frame_that_fills_half_a_megabyte(
    open_desk: OpenDesk, too_much: int
) -> None:
    async with open_desk() as desk:
        claim = await desk.claimed(await desk.session())
        after = 3

        async def say(size: int) -> int:
            """A fact whose text has so many letters; the size of its frame."""
            long = NoticeGiven(level="info", code="c", params={"x": "x" * size})
            ack = await desk.journal.append(claim, [entry_of(long)])
            return len(ack.frames[0].data)

        empty = await say(0)
        after += 1
        await say(512 * 1024 - empty + too_much)
        await say(0)
        page = await desk.journal.page("prj_1", after)
        assert len(page.frames[0].data) == 512 * 1024 + too_much
        assert (len(page.frames), page.complete) == ((1, False) if too_much else (2, True))


@pytest.mark.parametrize(("of_run", "ended"), [("first", True), ("second", False), (None, False)])
async def test_a_page_says_whether_its_run_has_ended(
    open_desk: OpenDesk, of_run: str | None, ended: bool
) -> None:
    async with open_desk() as desk:
        session = await desk.session()
        claim = await desk.claimed(session)
        await desk.journal.finish(claim, ending(claim.run_id))
        second = await desk.submit(session)
        run_id = {"first": claim.run_id, "second": second.id, None: None}[of_run]
        page = await desk.journal.page("prj_1", 0, run_id)
        assert (page.complete, page.upto, page.ended) == (True, 7, ended)
        wanted = {"first": [2, 3, 4, 5], "second": [6, 7], None: [1, 2, 3, 4, 5, 6, 7]}[of_run]
        assert [frame.seq for frame in page.frames] == wanted


async def test_an_end_behind_a_page_is_not_told_with_it(open_desk: OpenDesk) -> None:
    async with open_desk() as desk:
        claim = await desk.claimed(await desk.session())
        await desk.journal.append(claim, [entry_of(NOTICE)] * 250)
        await desk.journal.finish(claim, ending(claim.run_id))
        first = await desk.journal.page("prj_1", 0, claim.run_id)
        assert (first.complete, first.ended) == (False, False)
        rest = await desk.journal.page("prj_1", first.upto, claim.run_id)
        assert (rest.complete, rest.ended) == (True, True)


# Snapshots


async def test_a_snapshot_of_a_run_that_another_process_drives(open_desk: OpenDesk) -> None:
    """What it kept of the message is shown, unless a fact says that the message is over."""
    async with open_desk() as desk:
        hub = Hub(desk.journal.page)
        session = await desk.session()

        async def taken(before: int | None = None) -> Any:
            return await read_snapshot(desk.database, hub, "prj_1", session, before)

        past = await desk.claimed(session)
        await desk.journal.save_partial(past, b"past")
        await desk.journal.finish(past, ending(past.run_id))
        assert (await taken()).partials == ()
        claim = await desk.claimed(session)
        assert (await taken()).partials == ()
        await desk.journal.save_partial(claim, b"one\ntwo")
        whole = await taken()
        assert (whole.seq, whole.partials, whole.more) == (7, (b"one", b"two"), False)
        assert [json.loads(frame)["seq"] for frame in whole.frames] == [2, 3, 4, 5, 6, 7]
        earlier = await taken(before=6)
        assert [json.loads(frame)["seq"] for frame in earlier.frames] == [2, 3, 4, 5]
        assert earlier.partials == ()
        entries = [entry_of(REPLY)]
        await desk.database.write(
            lambda tx: record(
                tx,
                project_id="prj_1",
                session_id=session,
                run_id=claim.run_id,
                last_seq=3,
                entries=entries,
                now=1.0,
            )
        )  # the fact is there, what was kept is not gone yet
        assert await desk.journal.partial(claim.run_id) == b"one\ntwo"
        assert (await taken()).partials == ()
        with pytest.raises(Problem) as failure:
            await read_snapshot(desk.database, hub, "prj_1", "ses_none", None)
        assert failure.value.code == "session_not_found"


@pytest.mark.parametrize(("runs", "more"), [(50, False), (51, True)])
async def test_a_snapshot_has_50_runs(open_desk: OpenDesk, runs: int, more: bool) -> None:
    async with open_desk() as desk:
        session = await desk.session()
        for _ in range(runs):
            run = await desk.submit(session)
            await desk.journal.stop(run.id, ending(run.id, "stopped", "cancelled_by_user"))
        taken = await read_snapshot(desk.database, Hub(desk.journal.page), "prj_1", session, None)
        assert (len(taken.frames), taken.more) == (200, more)
