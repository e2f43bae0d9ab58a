"""Who drives which run: slots, users, claims."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.runs.rig import QUICK, Counter, Puppet, Rig, call, kinds, open_rig, say

from wenfang.core import Delta, Failure, Reset, Text, Toolbox, ToolContext, Usage, tool
from wenfang.problems import Problem
from wenfang.runs.journal import Busy, Claim, Fenced, Finished, NewRun
from wenfang.runs.settlement import Settlement

pytestmark = pytest.mark.anyio


async def many(rig: Rig, count: int) -> list[str]:
    sessions = [await rig.runs.create_session(rig.project_id) for _ in range(count)]
    return [(await rig.runs.submit(session.id, "go")).id for session in sessions]


class Gauge:
    """Counts how many requests are open at once."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.name = "gauge"

    async def stream(self, request: object):
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(20):
            await asyncio.sleep(0)
        yield Delta(kind="text", text="x")
        self.now -= 1
        yield say("x")


@pytest.mark.parametrize("limits", [{"slots": 2}, {"user_runs": 2}])
async def test_no_more_at_once_than_allowed(tmp_path: Path, limits: dict[str, int]) -> None:
    """Q4, by slots of the process and by runs of the user."""
    gauge = Gauge()
    options = replace(QUICK, **limits)  # type: ignore[arg-type]
    async with open_rig(tmp_path, gauge, options=options) as rig:
        for run_id in await many(rig, 9):
            assert (await rig.runs.wait(run_id)).status == "done"
    assert 1 <= gauge.most <= 2


async def test_the_users_limit_holds_across_processes(tmp_path: Path) -> None:
    gauge = Gauge()
    options = replace(QUICK, user_runs=1)
    async with (
        open_rig(tmp_path, gauge, options=options) as a,
        open_rig(tmp_path, gauge, options=options) as b,
    ):
        for run_id in [*await many(a, 3), *await many(b, 3)]:
            assert (await b.runs.wait(run_id)).status == "done"
    assert gauge.most == 1


async def test_a_run_delivered_many_times_is_driven_once(tmp_path: Path) -> None:
    """Q1"""
    gate = asyncio.Event()
    model = Puppet([say("a b")], gate=gate)
    async with open_rig(tmp_path, model) as rig:
        engine = rig.runs._engine
        run = await rig.ask()
        for _ in range(50):
            engine.enqueue(run.id)
            engine.enqueue(run.id)
        await engine.reconcile()
        gate.set()
        await rig.runs.wait(run.id)
        for _ in range(50):
            engine.enqueue(run.id)
        while engine._tasks or engine._waiting:
            await asyncio.sleep(0)
        (row,) = await rig.runs._db.read(
            lambda tx: tx.raw.execute("SELECT epoch FROM runs").fetchall()
        )
        assert kinds(await rig.facts(run.id)).count("run.finished") == 1
    assert row == (1,)
    assert len(model.requests) == 1


async def test_claims(tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = Puppet([say("a b")], gate=gate)
    async with open_rig(tmp_path, model, options=replace(QUICK, reconcile_s=60)) as rig:
        journal, me = rig.runs._journal, rig.runs._keeper.me.id
        run = await rig.ask()
        await model.reached.wait()
        assert await journal.claim(run.id, "wrk_other") == Busy(why="owned")
        assert await journal.claim("run_none", me) == Finished()
        again = await journal.claim(run.id, me)
        assert isinstance(again, Claim)
        assert (again.epoch, again.attempts) == (2, 2)
        old = replace(again, epoch=1)
        for doing in (journal.append(old, []), journal.release(old)):
            with pytest.raises(Fenced):
                await doing
        await journal.save_partial(old, b"{}")
        assert await journal.partial(run.id) != b"{}"
        gate.set()
        await journal.release(again)
        await rig.runs._engine.reconcile()
        while rig.runs._engine.find(run.id) is not None:
            await asyncio.sleep(0)
        await rig.runs._engine.reconcile()
        await rig.runs.wait(run.id)
        assert await journal.claim(run.id, me) == Finished()


async def test_a_second_settlement_is_impossible(tmp_path: Path) -> None:
    import sqlite3

    from wenfang.runs import sql

    async with open_rig(tmp_path, Puppet([say("x")])) as rig:
        run = await rig.do()
        with pytest.raises(sqlite3.IntegrityError):
            await rig.runs._db.write(lambda tx: sql.settle(tx.raw, run.id, 1, 2, estimated=False))
    assert Settlement(charge=1, refund=2, operator=0, estimated=False).charge == 1


async def test_submits_are_checked_where_they_are_written(tmp_path: Path) -> None:
    """Two processes may both have found the session free, or there."""
    gate = asyncio.Event()
    async with open_rig(tmp_path, Puppet([say("a b")], gate=gate)) as rig:
        new = NewRun(
            id="run_1",
            session_id="ses_none",
            user_id="local",
            request_id="r1",
            owner="w",
            deadline_at=None,
            reserve=1,
            title="t",
            facts=(),
        )
        with pytest.raises(Problem, match="session_not_found"):
            await rig.runs._journal.submit(new)
        run = await rig.ask(request_id="r1")
        mine = replace(new, session_id=rig.session.id)
        known, frames = await rig.runs._journal.submit(mine)
        assert (known.id, frames) == (run.id, ())
        with pytest.raises(Problem, match="run_active"):
            await rig.runs._journal.submit(replace(mine, request_id="r2"))
        gate.set()


async def test_a_try_that_was_given_up_is_void(tmp_path: Path) -> None:
    """FB02: what was seen of it is retracted, and it is not the user's to pay."""

    class Failing:
        name = "failing"

        async def stream(self, request: object):
            yield Delta(kind="text", text="partial")
            failure = Failure(kind="network", message="reset")
            yield Reset(attempt=2, failure=failure, usage=Usage(input=7))
            yield Delta(kind="text", text="whole")
            yield say("whole")

    async with open_rig(tmp_path, Failing()) as rig:
        run = await rig.ask()
        async with rig.runs.subscribe_run(run.id, 0) as frames:
            seen = [frame.type async for frame in frames]
        facts = await rig.facts(run.id)
        rows = dict(await rig.runs._db.read(lambda tx: tx.raw.execute("SELECT kind, amount FROM quota").fetchall()))  # fmt: skip
    assert [kind for kind in seen if kind.startswith(("step", "message"))] == [
        "step.started",
        "message.delta",
        "step.reset",
        "message.delta",
        "message.finished",
    ]
    assert facts[3]["reason"] == "network"
    assert facts[3]["attempt"] == 2
    assert rows["settle"] == -15


async def test_tools_show_progress(tmp_path: Path) -> None:
    @tool
    async def work(context: ToolContext) -> str:
        """Work."""
        context.update("half way", 0.5)
        while not seen:
            await asyncio.sleep(0)
        return "ok"

    seen: list[str] = []
    async with (
        open_rig(tmp_path, Puppet([call("work", "c1"), say("done")]), Toolbox([work])) as rig,
        rig.runs.subscribe(rig.project_id, 0) as frames,
    ):
        run = await rig.ask()
        async for frame in frames:
            if frame.type == "tool.progress":
                seen.append(frame.data.decode())
            if frame.type == "run.finished":
                break
    assert run.id in seen[0]
    assert "half way" in seen[0]


async def test_leaving_with_runs_that_wait(tmp_path: Path) -> None:
    """A run that is claimed while the process leaves is handed over at once."""
    counter = Counter()
    model = Puppet([call("fire", "c1"), say("done")])
    async with open_rig(tmp_path, model, counter.tools()) as rig:
        run = await rig.ask()
        leaving = asyncio.ensure_future(rig.runs.drain())
        await leaving
        assert rig.runs._engine._tasks == {}
    async with open_rig(tmp_path, model, counter.tools()) as rig:
        assert (await rig.runs.wait(run.id)).status == "done"
    assert counter.effects == ["fire:"]


async def test_many_facts_come_in_pages(tmp_path: Path) -> None:
    model = Puppet([say("x" * 300_000)])
    async with open_rig(tmp_path, model) as rig:
        first = await rig.do()
        second = await rig.do()
        seqs: list[int] = []
        async with rig.runs.subscribe(rig.project_id, 0) as frames:
            while len(seqs) < 11:
                seqs += [frame.seq or 0 for frame in await frames.batch()]
        assert seqs == list(range(1, 12))
        async with rig.runs.subscribe_run(second.id, 0) as frames:
            assert [frame.seq async for frame in frames] == list(range(7, 12))
        assert not (await rig.runs._journal.page(rig.project_id, 0)).complete
        assert await rig.runs.has_more(first.id, 5)
        assert not await rig.runs.has_more(first.id, 6)


async def test_names_of_text_block(tmp_path: Path) -> None:
    """An agent without instructions has no system message."""
    model = Puppet([say("x")])

    def make(context: object):
        from wenfang.core import native
        from wenfang.runs import AgentSpec

        return AgentSpec(client=model, tools=Toolbox(), dialect=native)

    async with open_rig(tmp_path, make) as rig:
        await rig.do("hello")
    assert [m.content for m in model.requests[0].messages] == [(Text(text="hello"),)]


async def test_an_invented_tool_is_answered_with_the_real_names(tmp_path: Path) -> None:
    model = Puppet([call("nope", "c1"), say("done")])
    async with open_rig(tmp_path, model, Counter().tools()) as rig:
        run = await rig.do()
        facts = await rig.facts(run.id)
    assert "look, put, fire" in model.requests[1].messages[-1].text  # type: ignore[union-attr]
    assert "tool.started" not in kinds(facts)
    assert kinds(facts).count("tool.finished") == 1


async def test_a_start_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def probe(name: str) -> None:
        if name == "reconcile.listed":
            raise Problem("database_locked", path="x")

    with pytest.raises(Problem, match="database_locked"):
        async with open_rig(tmp_path, Puppet([say("x")]), probe=probe):
            pass
    async with open_rig(tmp_path, Puppet([say("x")])) as rig:
        rows = await rig.runs._db.read(
            lambda tx: tx.raw.execute("SELECT id FROM workers").fetchall()
        )
        assert rows == [(rig.runs._keeper.me.id,)]


async def test_a_run_that_is_only_to_be_closed_needs_no_slot(tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = Puppet([say("a b")], gate=gate)
    async with open_rig(tmp_path, model, options=replace(QUICK, slots=1)) as rig:
        first, second = await many(rig, 2)
        await rig.runs._db.write(
            lambda tx: (
                tx.raw.execute("UPDATE runs SET stop_at = 1 WHERE id = ?", (second,)) and None
            )
        )
        assert (await rig.runs.wait(second)).status == "stopped"
        rig.runs._engine._begin(first)
        assert len(rig.runs._engine._tasks) == 1
        gate.set()
        assert (await rig.runs.wait(first)).status == "done"


async def test_after_a_write_that_failed_nothing_more_is_taken(tmp_path: Path) -> None:
    from wenfang.runs.facts import NoticeGiven
    from wenfang.runs.pen import Pen

    fact = NoticeGiven(level="info", code="c")

    class Broken:
        async def append(self, claim: object, entries: object) -> None:
            raise Problem("disk_full")

    pen = Pen(Broken(), None, lambda _: None, retry_s=())  # type: ignore[arg-type]
    pen.add([fact])
    while pen.failure is None:
        await asyncio.sleep(0)
    with pytest.raises(Problem, match="disk_full"):
        pen.add([fact])
    with pytest.raises(Problem, match="disk_full"):
        await pen.flush()
