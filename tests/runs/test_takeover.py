"""A process dies, another goes on (durable.md §8). Death is played here: the tasks end without writing
and the lease names a process that is not there. Real deaths are in `tests/faults`."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.runs.rig import QUICK, Counter, Puppet, Rig, call, calls, kinds, open_rig, say

from wenfang.core import Toolbox, ToolContext, tool
from wenfang.problems import Problem
from wenfang.runs.lease import Identity, identify
from wenfang.storage import FILE, open_database

pytestmark = pytest.mark.anyio

HERE = identify("x").host
GONE = Identity(id="wrk_gone", host=HERE, pid=2**22 + 1, born="0")


async def die(rig: Rig) -> None:
    rig.runs._engine._closing = True
    ticker = rig.runs._engine._ticker
    assert ticker is not None
    ticker.cancel()
    tasks = list(rig.runs._engine._tasks.values())
    rig.runs._engine.fence()
    await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def mortal(data: Path, client: Any, tools: Any = None, **more: Any) -> AsyncGenerator[Rig]:
    """A process that is dead at the end of the block and leaves its lease."""
    async with open_rig(data, client, tools, me=GONE, **more) as rig:
        yield rig
        await die(rig)
        rig.runs._keeper.me = replace(GONE, id="wrk_other")  # its lease stays


def once(facts: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = [fact for fact in facts if fact["type"] == kind]
    return found


async def test_a_request_without_a_reply_is_sent_again(tmp_path: Path) -> None:
    slow = Puppet([say("one two three four")], gate=asyncio.Event())
    async with mortal(tmp_path, slow) as rig:
        run = await rig.ask()
        await slow.reached.wait()
        while not await rig.runs._journal.partial(run.id):
            await asyncio.sleep(0)
    async with open_rig(tmp_path, Puppet([say("answer")])) as rig:
        ended = await rig.runs.wait(run.id)
        facts = await rig.facts(run.id)
    assert (ended.status, ended.reason) == ("done", "completed")
    assert kinds(facts)[2:] == ["step.started", "step.reset", "step.started", "message.finished", "run.finished"]  # fmt: skip
    reset = once(facts, "step.reset")
    assert reset["reason"] == "takeover"
    assert reset["message_id"] == facts[2]["message_id"] != facts[4]["message_id"]
    assert reset["usage"]["estimated"]
    assert reset["usage"]["output"] == 1
    assert ended.usage.input == reset["usage"]["input"] + 10
    assert facts[2]["step"] == facts[4]["step"] == 1


@pytest.mark.parametrize(("name", "runs_twice"), [("look", True), ("put", True), ("fire", False)])
async def test_a_call_without_a_result(tmp_path: Path, name: str, runs_twice: bool) -> None:
    """The table of classes: read and idempotent run again, unsafe never."""
    stuck = Counter(hold=asyncio.Event())
    async with mortal(tmp_path, Puppet([call(name, "c1", note="a")]), stuck.tools()) as rig:
        run = await rig.ask()
        await stuck.entered.wait()
        await rig.written(run.id, "tool.started")
    counter = Counter()
    model = Puppet([call(name, "c1", note="a"), say("done")])
    async with open_rig(tmp_path, model, counter.tools()) as rig:
        assert (await rig.runs.wait(run.id)).status == "done"
        facts = await rig.facts(run.id)
    assert len(counter.effects) == runs_twice
    assert kinds(facts).count("tool.started") == 1
    result = once(facts, "tool.finished")["result"]
    assert result["error_type"] == (None if runs_twice else "interrupted")
    assert len(model.requests) == 1  # the call itself is never asked for again
    told = model.requests[0].messages[-1]
    assert told.call_id == "c1"  # type: ignore[union-attr]
    assert ("unknown" in told.text) is not runs_twice  # type: ignore[union-attr]


async def test_a_reply_that_only_read_may_be_asked_for_again(tmp_path: Path) -> None:
    """It dies at once: the reply waited for the next intent. What was shown of it is retracted."""
    stuck = Counter(hold=asyncio.Event())
    look = call("look", "c1", note="a")
    model = Puppet([replace(look, content=(*say("I look").content, *look.content)), say("done")])
    async with mortal(tmp_path, model, stuck.tools()) as rig:
        run = await rig.ask()
        await stuck.entered.wait()
    async with open_rig(tmp_path, model, Counter().tools()) as rig:
        assert (await rig.runs.wait(run.id)).status == "done"
        facts = await rig.facts(run.id)
    reset = once(facts, "step.reset")
    assert reset["message_id"] == facts[2]["message_id"]
    assert kinds(facts).count("message.finished") == 2
    assert kinds(facts).count("tool.started") == kinds(facts).count("tool.finished") == 1


async def test_a_call_that_runs_again_has_the_same_key(tmp_path: Path) -> None:
    keys: list[str] = []
    entered, hold = asyncio.Event(), asyncio.Event()

    @tool(access="write", replay="idempotent")
    async def put(context: ToolContext) -> str:
        """Put."""
        keys.append(context.key)
        entered.set()
        await hold.wait()
        return "ok"

    model = Puppet([call("put", "c1"), say("done")])
    async with mortal(tmp_path, model, Toolbox([put])) as rig:
        run = await rig.ask()
        await entered.wait()
    hold.set()
    async with open_rig(tmp_path, model, Toolbox([put])) as rig:
        await rig.runs.wait(run.id)
    assert keys == [f"{run.id}:c1"] * 2


async def test_results_that_are_there_are_kept_and_stand_in_call_order(tmp_path: Path) -> None:
    stuck = Counter()

    async def hold_the_first(request: Any) -> Any:
        return batch

    batch = calls(("put", "c1", {"note": "1"}), ("look", "c2", {"note": "2"}), ("fire", "c3", {"note": "3"}))  # fmt: skip
    hold = asyncio.Event()
    seen: list[str] = []

    @tool(access="write", replay="idempotent")
    async def put(note: str) -> str:
        """Put."""
        seen.append(note)
        await hold.wait()
        return "put late"

    tools = stuck.tools()
    mixed = Toolbox([put, tools["look"], tools["fire"]])
    async with mortal(tmp_path, Puppet([batch]), mixed) as rig:
        run = await rig.ask()
        while kinds(await rig.facts(run.id)).count("tool.finished") < 2:
            await asyncio.sleep(0)
    hold.set()
    model = Puppet([batch, say("done")])
    async with open_rig(tmp_path, model, mixed) as rig:
        await rig.runs.wait(run.id)
        facts = await rig.facts(run.id)
    assert stuck.effects == ["look:2", "fire:3"]
    assert seen == ["1", "1"]
    assert [m.call_id for m in model.requests[0].messages[-3:]] == ["c1", "c2", "c3"]  # type: ignore[union-attr]
    assert [f["call_id"] for f in facts if f["type"] == "tool.finished"] == ["c2", "c3", "c1"]
    assert facts[-1]["tool_calls"] == 3


async def test_an_answer_that_is_there_needs_no_further_request(tmp_path: Path) -> None:
    def probe(name: str) -> None:
        if name == "finish.before_commit":
            raise sqlite3.OperationalError("the process dies here")

    async with mortal(tmp_path, Puppet([say("The answer.")]), probe=probe) as rig:
        run = await rig.ask()
        while kinds(await rig.facts(run.id))[-1] != "message.finished":
            await asyncio.sleep(0)
    model = Puppet([say("another")])
    async with open_rig(tmp_path, model) as rig:
        assert (await rig.runs.wait(run.id)).status == "done"
        facts = await rig.facts(run.id)
    assert model.requests == []
    assert facts[-1]["answer"] == "The answer."


async def test_stopped_while_nobody_drove_it(tmp_path: Path) -> None:
    """T1 during takeover: calls are paired, the request is void, one terminal."""
    stuck = Counter(hold=asyncio.Event())
    batch = calls(("put", "c1", {}), ("fire", "c2", {}))
    async with mortal(tmp_path, Puppet([batch]), stuck.tools()) as rig:
        run = await rig.ask()
        while len(stuck.effects) < 2:
            await asyncio.sleep(0)
        await die(rig)
        await rig.runs._journal.stop(run.id, None)  # type: ignore[arg-type]
    async with open_rig(tmp_path, Puppet([say("no")]), Counter().tools()) as rig:
        ended = await rig.runs.wait(run.id)
        facts = await rig.facts(run.id)
    assert (ended.status, ended.reason) == ("stopped", "cancelled_by_user")
    assert kinds(facts)[-3:] == ["tool.finished", "tool.finished", "run.finished"]
    assert {f["result"]["error_type"] for f in facts if f["type"] == "tool.finished"} == {"interrupted"}  # fmt: skip


async def test_expired_while_nobody_drove_it(tmp_path: Path) -> None:
    slow = Puppet([say("one two")], gate=asyncio.Event())
    now = 1000.0
    async with mortal(tmp_path, slow, clock=lambda: now) as rig:
        run = await rig.ask(deadline_s=10)
        await slow.reached.wait()
    now = 1011.0
    model = Puppet([say("no")])
    async with open_rig(tmp_path, model, clock=lambda: now) as rig:
        ended = await rig.runs.wait(run.id)
        facts = await rig.facts(run.id)
        rows = await rig.runs._db.read(lambda tx: tx.raw.execute("SELECT kind, amount FROM quota").fetchall())  # fmt: skip
    assert ended.status == "expired"
    assert model.requests == []
    assert kinds(facts)[-2:] == ["step.reset", "run.finished"]
    assert sorted(kind for kind, _ in rows) == ["refund", "reserve", "settle"]
    assert sum(amount for _, amount in rows) == 0


async def test_a_run_that_kills_its_worker_is_given_up(tmp_path: Path) -> None:
    """Q3"""
    slow = Puppet([say("one two")], gate=asyncio.Event())
    async with mortal(tmp_path, slow) as rig:
        run = await rig.ask()
        await slow.reached.wait()
    for _ in range(4):
        slow.reached.clear()
        async with mortal(tmp_path, slow) as rig:
            await slow.reached.wait()
    async with open_rig(tmp_path, slow) as rig:
        ended = await rig.runs.wait(run.id)
        facts = await rig.facts(run.id)
    assert (ended.status, ended.reason) == ("failed", "interrupted")
    assert len(slow.requests) == 5
    assert kinds(facts).count("step.reset") == 5
    assert facts[-1]["type"] == "run.finished"


async def test_a_finished_step_resets_the_count(tmp_path: Path) -> None:
    counter = Counter()
    script = [call("look", f"c{n}", note=str(n)) for n in range(8)]
    gate = asyncio.Event()
    model = Puppet([*(replace(c, content=(*say("a b").content, *c.content)) for c in script), say("done")])  # fmt: skip
    model.gate = gate
    async with mortal(tmp_path, model, counter.tools()) as rig:
        run = await rig.ask()
        await model.reached.wait()
    for lived in range(1, 8):
        gate.clear()
        async with mortal(tmp_path, model, counter.tools()) as rig:
            gate.set()
            await rig.written(run.id, "message.finished", lived)
    gate.set()
    async with open_rig(tmp_path, model, counter.tools()) as rig:
        assert (await rig.runs.wait(run.id)).status == "done"
    assert sorted(set(counter.effects)) == [f"look:{n}" for n in range(8)]


async def test_no_model_for_a_takeover(tmp_path: Path) -> None:
    slow = Puppet([say("one two")], gate=asyncio.Event())
    async with mortal(tmp_path, slow) as rig:
        run = await rig.ask()
        await slow.reached.wait()

    def make(_: object) -> Any:
        raise Problem("model_unavailable", why="gone")

    async with open_rig(tmp_path, make) as rig:
        ended = await rig.runs.wait(run.id)
        facts = await rig.facts(run.id)
    assert (ended.status, ended.reason) == ("failed", "provider_error")
    notice = once(facts, "notice")
    assert (notice["code"], notice["params"]) == ("model_unavailable", {"why": "gone"})


async def test_steers_survive(tmp_path: Path) -> None:
    slow = Puppet([say("one two")], gate=asyncio.Event())
    async with mortal(tmp_path, slow) as rig:
        run = await rig.ask()
        await slow.reached.wait()
        await rig.runs.steer(run.id, "remember")
    model = Puppet([say("done")])
    async with open_rig(tmp_path, model) as rig:
        await rig.runs.wait(run.id)
        facts = await rig.facts(run.id)
    assert [f["signal"] for f in facts if f.get("source") == "steer"] == [1]
    assert model.requests[0].messages[-1].text == "remember"  # type: ignore[union-attr]


async def test_a_queued_run_of_the_dead_is_driven(tmp_path: Path) -> None:
    gate = asyncio.Event()
    options = replace(QUICK, slots=1)
    async with mortal(tmp_path, Puppet([say("a b")], gate=gate), options=options) as rig:
        first = await rig.ask()
        other = await rig.runs.create_session(rig.project_id)
        second = await rig.runs.submit(other.id, "later")
    async with open_rig(tmp_path, Puppet([say("x")])) as rig:
        for run in (first, second):
            assert (await rig.runs.wait(run.id)).status == "done"


async def test_leaving_hands_over_at_a_step_boundary(tmp_path: Path) -> None:
    counter = Counter(hold=asyncio.Event())
    model = Puppet([call("fire", "c1"), say("done")])
    async with open_rig(tmp_path, model, counter.tools()) as rig:
        run = await rig.ask()
        await counter.entered.wait()
        leaving = asyncio.get_running_loop().create_task(rig.runs.drain())
        await asyncio.sleep(0)
        assert not leaving.done()
        counter.hold.set()  # type: ignore[union-attr]
        await leaving
        facts = await rig.facts(run.id)
        assert kinds(facts)[-1] == "tool.finished"
        other = await rig.runs.create_session(rig.project_id)
        left = await rig.runs.submit(other.id, "nobody is here")
    async with open_rig(tmp_path, model, counter.tools()) as rig:
        assert (await rig.runs.wait(run.id)).status == "done"
        assert (await rig.runs.wait(left.id)).status == "done"
        facts = await rig.facts(run.id)
    assert counter.effects[0] == "fire:"
    assert kinds(facts).count("tool.started") == 1
    assert once(facts, "tool.finished")["result"]["error_type"] is None


async def test_leaving_cuts_what_takes_too_long(tmp_path: Path) -> None:
    slow = Puppet([say("one two")], gate=asyncio.Event())
    async with open_rig(tmp_path, slow) as rig:
        run = await rig.ask()
        await slow.reached.wait()
        await rig.runs.drain(grace_s=0.0)
        assert (await rig.runs.info(run.id)).status == "running"
    async with open_rig(tmp_path, Puppet([say("done")])) as rig:
        assert (await rig.runs.wait(run.id)).status == "done"
        assert "step.reset" in kinds(await rig.facts(run.id))


async def test_two_processes_on_one_database_drive_each_run_once(tmp_path: Path) -> None:
    model = Puppet([say("one")])
    async with open_rig(tmp_path, model) as a, open_rig(tmp_path, model) as b:
        sessions = [await a.runs.create_session(a.project_id) for _ in range(6)]
        runs = [
            await (a, b)[n % 2].runs.submit(session.id, "go") for n, session in enumerate(sessions)
        ]
        for n, run in enumerate(runs):
            ended = await (b, a)[n % 2].runs.wait(run.id)  # seen from the other process
            assert ended.status == "done"
    assert len(model.requests) == 6


async def test_stop_and_steer_from_another_process(tmp_path: Path) -> None:
    counter = Counter(hold=asyncio.Event())
    model = Puppet([call("look", "c1"), say("one two")])
    async with open_rig(tmp_path, model, counter.tools()) as a, open_rig(tmp_path, model) as b:
        run = await a.ask()
        await counter.entered.wait()
        await b.runs.steer(run.id, "from afar")
        while a.runs._engine.find(run.id)._steering.newest < 1:  # type: ignore[union-attr]
            await asyncio.sleep(0.005)
        model.gate = asyncio.Event()
        model.reached.clear()
        counter.hold.set()  # type: ignore[union-attr]
        await model.reached.wait()
        assert model.requests[1].messages[-1].text == "from afar"  # type: ignore[union-attr]
        await b.runs.stop(run.id)
        assert (await b.runs.wait(run.id)).status == "stopped"


async def test_another_host_is_refused_while_it_lives(tmp_path: Path) -> None:
    now = 1000.0
    elsewhere = Identity(id="wrk_far", host="elsewhere", pid=os.getpid(), born="1")
    async with mortal(tmp_path, Puppet([say("x")]), clock=lambda: now) as rig:
        rig.runs._keeper.me = elsewhere
        await rig.runs._keeper.renew()
    with pytest.raises(Problem) as failure:
        async with open_rig(tmp_path, Puppet([say("x")]), clock=lambda: now):
            pass
    assert failure.value.code == "database_busy"
    assert "elsewhere" in failure.value.text()
    now += 16
    async with open_rig(tmp_path, Puppet([say("x")]), clock=lambda: now) as rig:
        assert (await rig.do()).status == "done"


async def test_a_lapsed_lease_stops_the_work_and_the_worker_takes_it_up_again(
    tmp_path: Path,
) -> None:
    """Z3: the process was frozen; what it did is fenced off, then it claims its own run anew."""
    seconds = 0.0
    gate = asyncio.Event()
    model = Puppet([say("one two")], gate=gate)
    async with open_rig(tmp_path, model, monotonic=lambda: seconds) as rig:
        run = await rig.ask()
        await model.reached.wait()
        first = rig.runs._engine.find(run.id)
        seconds = 100.0
        while len(model.requests) < 2:
            await asyncio.sleep(0.005)
        assert rig.runs._engine.find(run.id) is not first
        gate.set()
        assert (await rig.runs.wait(run.id)).status == "done"
        facts = await rig.facts(run.id)
    assert kinds(facts).count("step.reset") == 1
    assert kinds(facts).count("message.finished") == 1


async def test_a_zombie_is_fenced(tmp_path: Path) -> None:
    """Z1: it wakes after its run was taken over; nothing of it is written."""
    gate = asyncio.Event()
    zombie = Puppet([say("zombie words")], gate=gate)
    async with open_rig(tmp_path, zombie, me=GONE, options=replace(QUICK, reconcile_s=60, beat_s=60)) as old:  # fmt: skip
        run = await old.ask()
        await zombie.reached.wait()
        async with open_rig(tmp_path, Puppet([say("living")])) as rig:
            assert (await rig.runs.wait(run.id)).status == "done"
        gate.set()
        while old.runs._engine.find(run.id) is not None:
            await asyncio.sleep(0)
        facts = await old.facts(run.id)
    assert facts[-1]["answer"] == "living"
    assert kinds(facts).count("run.finished") == 1
    assert kinds(facts).count("message.finished") == 1


@pytest.mark.parametrize("failures", [1, 2])
async def test_a_write_that_fails_is_repeated_not_the_tool(tmp_path: Path, failures: int) -> None:
    """FB15"""
    counter = Counter()
    left = failures

    def probe(name: str) -> None:
        nonlocal left
        if name.startswith("append.before_commit:") and counter.effects and left:
            left -= 1
            raise Problem("disk_full")

    model = Puppet([call("fire", "c1"), say("done")])
    async with open_rig(tmp_path, model, counter.tools(), probe=probe) as rig:
        assert (await rig.do()).status == "done"
    assert counter.effects == ["fire:"]
    assert left == 0


@pytest.mark.parametrize("kind", ["message.finished", "tool.finished", "tool.started"])
async def test_no_fact_is_left_out_of_the_journal(tmp_path: Path, kind: str) -> None:
    """A write that fails in a way nobody foresaw: later facts do not go in without the earlier ones."""
    counter = Counter()
    left = 1

    def probe(name: str) -> None:
        nonlocal left
        if name == f"append.before_commit:{kind}" and left:
            left -= 1
            raise RuntimeError("a bug in the store")

    model = Puppet([call("fire", "c1"), call("fire", "c2"), say("done")])
    async with open_rig(tmp_path, model, counter.tools(), probe=probe) as rig:
        run = await rig.do()
        facts = await rig.facts(run.id)
    assert left == 0
    assert run.status == "done"
    steps = [fact["step"] for fact in facts if fact["type"] == "message.finished"]
    assert steps == sorted(set(steps))
    told = [fact["call_id"] for fact in facts if fact["type"] == "tool.finished"]
    assert told == ["c1", "c2"]
    assert kinds(facts)[-1] == "run.finished"


async def test_a_database_that_fails_for_long_ends_no_run(tmp_path: Path) -> None:
    """An error that escapes the driver leaves the run to be claimed again, by the same worker."""
    counter = Counter()
    failed = 0

    def probe(name: str) -> None:
        nonlocal failed
        if name.startswith("append.before_commit:") and counter.effects and failed < 4:
            failed += 1
            raise Problem("disk_full")

    model = Puppet([call("fire", "c1"), say("done")])
    async with open_rig(tmp_path, model, counter.tools(), probe=probe) as rig:
        run = await rig.do()
        facts = await rig.facts(run.id)
    assert run.status == "done"
    assert counter.effects == ["fire:"]
    assert once(facts, "tool.finished")["result"]["error_type"] == "interrupted"


async def test_a_terminal_that_cannot_be_written_comes_later(tmp_path: Path) -> None:
    failed = 0

    def probe(name: str) -> None:
        nonlocal failed
        if name == "finish.before_commit" and failed < 5:
            failed += 1
            raise Problem("disk_full")

    async with open_rig(tmp_path, Puppet([say("ok")]), probe=probe) as rig:
        run = await rig.do()
        facts = await rig.facts(run.id)
        rows = await rig.runs._db.read(
            lambda tx: tx.raw.execute("SELECT kind FROM quota").fetchall()
        )
    assert run.status == "done"
    assert kinds(facts).count("run.finished") == 1
    assert len(rows) == 3


async def test_an_agent_that_cannot_be_made_is_given_up_after_its_attempts(tmp_path: Path) -> None:
    slow = Puppet([say("one two")], gate=asyncio.Event())
    async with mortal(tmp_path, slow) as rig:
        run = await rig.ask()
        await slow.reached.wait()

    def make(_: object) -> Any:
        raise ZeroDivisionError("a bug")

    async with open_rig(tmp_path, make) as rig:
        ended = await rig.runs.wait(run.id)
    assert (ended.status, ended.reason) == ("failed", "interrupted")


async def test_reconciling_goes_on_when_the_database_fails(tmp_path: Path) -> None:
    failing = True

    def probe(name: str) -> None:
        if name == "reconcile.listed" and failing and started:
            raise Problem("database_locked", path="x")

    started = False
    async with open_rig(tmp_path, Puppet([say("ok")]), probe=probe) as rig:
        started = True
        await asyncio.sleep(0.05)
        failing = False
        assert (await rig.do()).status == "done"
        assert rig.runs._engine._ticker is not None
        assert not rig.runs._engine._ticker.done()


async def test_the_lease_of_a_live_process_is_left_alone(tmp_path: Path) -> None:
    async with open_rig(tmp_path, Puppet([say("x")])) as rig:
        await rig.runs._keeper.bury()
        rows = await rig.runs._db.read(
            lambda tx: tx.raw.execute("SELECT id FROM workers").fetchall()
        )
        assert rows == [(rig.runs._keeper.me.id,)]
    async with open_database(tmp_path / FILE) as database:
        assert (
            await database.read(lambda tx: tx.raw.execute("SELECT id FROM workers").fetchall())
            == []
        )
