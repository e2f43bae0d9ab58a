"""The journal on PostgreSQL under many hands at once (durable.md §10: Z1, Q1, Q4, D2, T1)."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from tests.runs.test_journal import NOTICE, REPLY, Desk, ending
from tests.workspace.stores import wipe

from wenfang.problems import Problem
from wenfang.runs.appends import Append, AppendQueue
from wenfang.runs.entries import entry_of
from wenfang.runs.journal import Ack, Busy, Claim, Fenced, Finished, Stopped
from wenfang.runs.postgres_journal import PostgresJournal
from wenfang.storage import Tx
from wenfang.storage.postgres import PostgresDatabase, open_postgres

pytestmark = pytest.mark.anyio

FACT = entry_of(NOTICE)


@asynccontextmanager
async def open_desks(url: str, count: int = 1, **more: Any) -> AsyncGenerator[list[Desk]]:
    """As many processes' journals on one empty database."""
    async with open_postgres(url) as database:
        await database.write(wipe)
        if count == 1:
            yield [Desk(database, **more)]
            return
        async with open_postgres(url) as other:
            yield [Desk(database, **more), Desk(other, **more)]


async def numbers(desk: Desk) -> None:
    """Every project and every run numbers its facts from 1 without a gap, and the rows know the last."""
    for of, number, head in (
        ("project_id", "pseq", "SELECT id, seq FROM projects"),
        ("run_id", "seq", "SELECT id, seq FROM runs"),
    ):
        found: dict[str, list[int]] = defaultdict(list)
        statement = f"SELECT {of}, {number} FROM events WHERE {number} IS NOT NULL ORDER BY pseq"
        for key, n in await desk.rows(statement):
            found[key].append(n)
        heads = dict(await desk.rows(head))
        assert {key: list(range(1, heads[key] + 1)) for key in found} == found


async def test_many_runs_of_many_projects_append_at_once(postgres_url: str) -> None:
    """Two processes, runs that share projects, other facts of the projects in between: no deadlock, no
    gap, and each run's facts in its own order."""
    async with open_desks(postgres_url, 2, user_runs=100) as (one, two):
        two.names = 10_000
        projects = [(await one.catalog.create_project(f"p{n}", None)).id for n in range(4)]

        async def work(desk: Desk, at: int) -> None:
            session, _ = await desk.catalog.create_session(projects[at % 4], "")
            claim = await desk.claimed(session.id)
            for n in range(6):
                ack = await desk.journal.append(claim, [FACT] * (1 + (at + n) % 3))
                told = [json.loads(frame.data)["seq"] for frame in ack.frames]
                assert told == [frame.seq for frame in ack.frames]
                assert told == list(range(told[0], told[0] + 1 + (at + n) % 3))
                if n % 2:
                    await desk.catalog.rename_session(session.id, f"title {n}")
                if n == 3:
                    await desk.journal.steer(claim.run_id, "words")
            await desk.journal.finish(claim, ending(claim.run_id, "failed", "internal_error"))

        await asyncio.gather(*(work(desk, at) for at in range(12) for desk in (one, two)))
        await numbers(one)
        last = await one.rows(
            "SELECT kind, COUNT(*) FROM (SELECT DISTINCT ON (run_id) run_id, kind FROM events "
            "WHERE run_id IS NOT NULL ORDER BY run_id, seq DESC) AS ends GROUP BY kind"
        )
        assert last == [("run.finished", 24)]
        assert await one.rows("SELECT SUM(amount) FROM quota") == [(0,)]


async def test_a_zombie_writes_nothing_while_others_write(postgres_url: str) -> None:
    """Z1: one refused append of a batch neither holds up nor harms the others."""
    async with open_desks(postgres_url) as (desk,):
        claims = [await desk.claimed(await desk.session()) for _ in range(6)]
        taken = [await desk.journal.claim(claim.run_id, "other") for claim in claims[:3]]
        done = await asyncio.gather(
            *(desk.journal.append(claim, [FACT]) for claim in claims), return_exceptions=True
        )
        assert [type(each) for each in done] == [Fenced] * 3 + [Ack] * 3
        for claim in taken:
            assert isinstance(claim, Claim)
            assert isinstance(await desk.journal.append(claim, [FACT]), Ack)
        assert await desk.rows("SELECT seq FROM runs") == [(3,)] * 6
        await numbers(desk)


async def test_a_run_has_one_owner_and_one_end(postgres_url: str) -> None:
    """Q1, T1: claimed, ended and stopped by many at once."""
    async with open_desks(postgres_url, 2) as desks:
        desk = desks[0]
        for worker in ("w0", "w1"):
            await desk.live(worker)
        run = await desk.submit(await desk.session())
        claimed = await asyncio.gather(
            *(desks[n % 2].journal.claim(run.id, f"w{n % 2}") for n in range(20))
        )
        mine = [each for each in claimed if isinstance(each, Claim)]
        assert len({claim.worker for claim in mine}) == 1
        assert all(each in mine or each == Busy(why="owned") for each in claimed)
        unstarted = ending(run.id, "stopped", "cancelled_by_user")

        async def end(n: int) -> Any:
            journal = desks[n % 2].journal
            if n % 3 == 0:
                return await journal.stop(run.id, unstarted)
            return await journal.finish(mine[n % len(mine)], ending(run.id))

        done = await asyncio.gather(*(end(n) for n in range(30)), return_exceptions=True)
        assert {type(each) for each in done} <= {Ack, Fenced, Stopped}
        assert await desk.rows("SELECT kind, seq FROM events WHERE kind = 'run.finished'") == [
            ("run.finished", 4)
        ]
        assert await desk.rows("SELECT COUNT(*) FROM quota") == [(3,)]
        assert await desk.journal.claim(run.id, "w1") == Finished()


async def test_words_and_ends_at_once(postgres_url: str) -> None:
    """Words for a run are refused or written down before its last fact, never lost."""
    async with open_desks(postgres_url, 2) as desks:
        for _ in range(8):
            claim = await desks[0].claimed(await desks[0].session())
            said = [desks[1].journal.steer(claim.run_id, f"word {n}") for n in range(4)]
            end = desks[0].journal.finish(claim, ending(claim.run_id, "failed", "internal_error"))
            *told, done = await asyncio.gather(*said, end, return_exceptions=True)
            assert isinstance(done, Ack)
            taken = [each for each in told if not isinstance(each, BaseException)]
            assert {getattr(each, "code", None) for each in told if each not in taken} <= {
                "run_finished"
            }
            facts = [json.loads(frame.data) for frame in done.frames]
            assert [f["signal"] for f in facts if f["type"] == "user.message"] == sorted(
                each.n for each in taken
            )


async def test_no_user_has_more_runs_than_allowed(postgres_url: str) -> None:
    """Q4: 30 users with three runs each, all claimed at once by two processes, two of each at a time."""
    async with open_desks(postgres_url, 2, user_runs=2) as desks:
        desk = desks[0]
        for worker in ("w0", "w1"):
            await desk.live(worker)
        queued = [
            await desk.submit(await desk.session(), user_id=f"user {n % 30}") for n in range(90)
        ]

        async def claim(n: int) -> Any:
            return await desks[n % 2].journal.claim(queued[n].id, f"w{n % 2}")

        claimed = await asyncio.gather(*map(claim, range(90)))
        counts: dict[str, int] = defaultdict(int)
        for each in claimed:
            if isinstance(each, Claim):
                counts[each.user_id] += 1
            else:
                assert each == Busy(why="user")
        assert counts == {f"user {n}": 2 for n in range(30)}


async def test_a_session_has_one_run_whoever_asks(postgres_url: str) -> None:
    """And the same request is one run, also if it comes twice at the same moment."""
    async with open_desks(postgres_url, 2) as desks:
        session = await desks[0].session()
        asked = [
            desks[n % 2].submit(session, id=f"run_{n}", request_id=f"r{n % 2}") for n in range(10)
        ]
        done = await asyncio.gather(*asked, return_exceptions=True)
        known = {each.id for each in done if not isinstance(each, BaseException)}
        assert len(known) == 1
        refused = [each for each in done if isinstance(each, BaseException)]
        assert {getattr(each, "code", each) for each in refused} == {"run_active"}
        assert len(refused) == 5
        await numbers(desks[0])


class Cut:
    """A database that commits the next writes and loses the answers."""

    def __init__(self, database: PostgresDatabase) -> None:
        self.database = database
        self.read = database.read
        self.left = 0

    async def write(self, operation: Callable[[Tx], Any], **more: Any) -> Any:
        result = await self.database.write(operation, **more)
        if self.left:
            self.left -= 1
            raise Problem("database_unreachable", path="x", problem="cut")
        return result


@pytest.fixture
async def cut(postgres_url: str) -> AsyncGenerator[tuple[Desk, Cut]]:
    async with open_desks(postgres_url) as (desk,):
        database = Cut(desk.database)  # type: ignore[arg-type]
        desk.journal = PostgresJournal(
            database,  # type: ignore[arg-type]
            clock=lambda: desk.now,
            user_runs=10,
            probe=lambda _: None,
        )
        yield desk, database


async def test_a_commit_whose_answer_was_lost_is_found(cut: tuple[Desk, Cut]) -> None:
    """D2: the same facts again are the ones that are there, with their numbers and their time."""
    desk, database = cut
    claim = await desk.claimed(await desk.session())
    other = await desk.claimed(await desk.session())
    await desk.journal.append(claim, [FACT])
    database.left = 1
    desk.now = 1001.0
    with pytest.raises(Problem, match="unreachable"):
        await desk.journal.append(claim, [FACT, entry_of(REPLY)])
    await desk.journal.steer(claim.run_id, "words")
    await desk.journal.append(other, [FACT])
    desk.now = 1002.0
    ack = await desk.journal.append(claim, [FACT, entry_of(REPLY)])
    assert [(f.seq, f.type) for f in ack.frames] == [(5, "notice"), (6, "message.finished")]
    assert [json.loads(f.data)["ts"] for f in ack.frames] == [1001.0] * 2
    assert ack.newest_signal == 1
    assert [f.seq for f in (await desk.journal.append(claim, [FACT])).frames] == [7]
    await numbers(desk)


async def test_an_end_whose_answer_was_lost_is_found(cut: tuple[Desk, Cut]) -> None:
    """D2: one end and one settlement, and the driver that asks again hears of it."""
    desk, database = cut
    claim = await desk.claimed(await desk.session())
    database.left = 1
    with pytest.raises(Problem, match="unreachable"):
        await desk.journal.finish(claim, ending(claim.run_id))
    again = await desk.journal.finish(claim, ending(claim.run_id))
    assert isinstance(again, Ack)
    assert [(f.seq, f.type) for f in again.frames] == [(4, "notice"), (5, "run.finished")]
    assert await desk.rows("SELECT COUNT(*) FROM quota") == [(3,)]
    with pytest.raises(Fenced):
        await desk.journal.append(claim, [FACT])


async def test_what_was_lost_is_not_taken_for_another_owners(cut: tuple[Desk, Cut]) -> None:
    """D2 with Z1: the answer was lost and the run was taken over meanwhile."""
    desk, database = cut
    claim = await desk.claimed(await desk.session())
    database.left = 1
    with pytest.raises(Problem, match="unreachable"):
        await desk.journal.append(claim, [FACT])
    taken = await desk.journal.claim(claim.run_id, "other")
    assert isinstance(taken, Claim)
    with pytest.raises(Fenced):
        await desk.journal.append(claim, [FACT])
    await desk.journal.finish(taken, ending(claim.run_id))
    with pytest.raises(Fenced):
        await desk.journal.finish(claim, ending(claim.run_id))
    await numbers(desk)


# The queue, without a database


def one(run_id: str, number: int = 0) -> Append:
    claim: Any = Claim(
        run_id=run_id,
        session_id="s",
        project_id="p",
        folder=None,
        template=None,
        user_id="u",
        worker="w",
        epoch=number,
        attempts=1,
        deadline_at=None,
        stop_requested=False,
        next_signal=1,
        newest_signal=0,
        reserved=1,
    )
    return Append(claim=claim, entries=(), after=None)


ACK = Ack(frames=(), stop_requested=False, newest_signal=0)


async def test_what_queues_up_goes_together_and_each_run_once() -> None:
    batches: list[list[tuple[str, int]]] = []
    gate = asyncio.Event()

    async def write(batch: Any) -> list[Ack | None]:
        batches.append([(each.claim.run_id, each.claim.epoch) for each in batch])
        await gate.wait()
        return [ACK] * len(batch)

    queue = AppendQueue(write)
    waiting: list[asyncio.Task[Ack]] = []

    async def put(*jobs: Append) -> None:
        waiting.extend(asyncio.ensure_future(queue.append(each)) for each in jobs)
        for _ in range(4):
            await asyncio.sleep(0)

    await put(one("a"))
    await put(one("b"))
    await put(one("a", 1), one("c"), one("d"), one("c", 1), *(one(f"r{n}") for n in range(300)))
    assert batches == [[("a", 0)], [("b", 0)]]
    gate.set()
    assert await asyncio.gather(*waiting) == [ACK] * 306
    assert max(map(len, batches)) == 256
    order = [each for batch in batches for each in batch]
    for run_id in "ac":
        assert [n for run, n in order if run == run_id] == [0, 1]
    assert all(len({run for run, _ in batch}) == len(batch) for batch in batches)


async def test_one_that_cannot_be_written_fails_alone() -> None:
    async def write(batch: Any) -> list[Ack | None]:
        if any(each.claim.run_id == "bad" for each in batch):
            raise sa.exc.DataError("x", {}, Exception("bad"))
        if any(each.claim.run_id == "odd" for each in batch):
            raise Problem("disk_full")
        return [None if each.claim.run_id == "old" else ACK for each in batch]

    queue = AppendQueue(write)
    jobs = [queue.append(one(name)) for name in ("a", "bad", "old", "b")]
    done = await asyncio.gather(*jobs, return_exceptions=True)
    assert [type(each) for each in done] == [Ack, sa.exc.DataError, Fenced, Ack]
    done = await asyncio.gather(queue.append(one("odd")), return_exceptions=True)
    assert [getattr(each, "code", None) for each in done] == ["disk_full"]


async def test_a_caller_that_left_changes_nothing_for_the_others() -> None:
    gate = asyncio.Event()

    async def write(batch: Any) -> list[Ack | None]:
        await gate.wait()
        return [replace(ACK, newest_signal=len(batch))] * len(batch)

    queue = AppendQueue(write)
    left, stays = (asyncio.ensure_future(queue.append(one(name))) for name in ("a", "b"))
    await asyncio.sleep(0)
    left.cancel()
    with suppress(asyncio.CancelledError):
        await left
    gate.set()
    assert await stays == replace(ACK, newest_signal=2)
