"""Driving a run: what is told at once, what is written before what, and what is left behind. Nobody
looks again in these tests, unless they say so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.runs.rig import (
    ALONE,
    Counter,
    Puppet,
    Rig,
    call,
    kinds,
    maker,
    migrated,
    open_rig,
    say,
)

from wenfang.core import Delta, Failure, Limits, Reset, Toolbox, Usage, tool
from wenfang.problems import Problem
from wenfang.runs import AgentSpec, FileChanged, RunContext, open_runs
from wenfang.runs.driver import Driver
from wenfang.runs.lease import Identity, identify

pytestmark = pytest.mark.anyio

GONE = Identity(id="wrk_gone", host=identify("x").host, pid=2**22 + 1, born="0")


async def ended(rig: Rig, run_id: str) -> None:
    """Wait until a run is not driven here any more."""
    while run_id in rig.runs._engine._tasks:
        await asyncio.sleep(0.001)


async def rows(rig: Rig, statement: str) -> list[Any]:
    return await rig.runs._db.read(lambda tx: tx.raw.execute(statement).fetchall())


# What is told


async def test_a_run_is_seen_as_it_goes(tmp_path: Path) -> None:
    counter = Counter()
    model = Puppet([call("look", "c1", "Let me see."), say("All done now.")])
    async with open_rig(tmp_path, model, counter.tools(), options=ALONE) as rig:
        async with rig.runs.subscribe(rig.project_id, 1) as frames:
            run = await rig.ask()
            seen: list[dict[str, Any]] = []
            async for frame in frames:
                seen.append(json.loads(frame.data))
                if frame.type == "run.finished":
                    break
        facts = await rig.facts(run.id)
        assert (await rig.runs.wait(run.id)).status == "done"
    assert [fact for fact in seen if fact["seq"]] == facts
    words: dict[str, str] = {}
    for fact in seen:
        if fact["type"] == "message.delta":
            written = words.setdefault(fact["message_id"], "")
            assert fact["off"] == len(written)
            words[fact["message_id"]] += fact["text"]
        elif fact["type"] == "message.finished":  # all was told before
            texts = [b["text"] for b in fact["message"]["content"] if b["type"] == "text"]
            assert words.pop(fact["message_id"]) == "".join(texts)
    assert words == {}
    assert [fact["message_id"][:4] for fact in facts if "message_id" in fact] == ["msg_"] * 5
    assert run.id.startswith("run_")
    assert rig.runs._keeper.me.id.startswith("wrk_")


async def test_what_a_person_does_is_told_at_once(tmp_path: Path) -> None:
    async with (
        open_rig(tmp_path, Puppet([say("x")]), options=ALONE) as rig,
        rig.runs.subscribe(rig.project_id, 1) as frames,
    ):
        waiting = asyncio.ensure_future(frames.batch())
        await asyncio.sleep(0)
        change = FileChanged(path="a.md", change="written", by="author", revision="r")
        assert await rig.runs.record_file_change(rig.project_id, change) == 2
        (frame,) = await waiting
        told = json.loads(frame.data)
        assert (frame.seq, told["path"], told["session_id"]) == (2, "a.md", "")


async def test_held_back_words_come_before_the_fact_that_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a finished message, and of a try that was given up. A fast block is read with pauses."""

    class Failing:
        name = "failing"

        async def stream(self, request: object):
            for at, word in enumerate(("a", "b", "c")):
                yield Delta(kind="text", text=word, index=at // 2)
            failure = Failure(kind="network", message="reset")
            yield Reset(attempt=2, failure=failure, usage=Usage(input=7))
            yield Delta(kind="text", text="x")
            yield Delta(kind="text", text="y")
            yield say("xy")

    paused: list[float] = []
    sleep = asyncio.sleep

    async def quick(seconds: float) -> None:
        if seconds == 77.0:
            paused.append(seconds)
            seconds = 0
        await sleep(seconds)

    monkeypatch.setattr(asyncio, "sleep", quick)
    options = replace(ALONE, delta_s=77.0)
    async with (
        open_rig(tmp_path, Failing(), options=options) as rig,
        rig.runs.subscribe(rig.project_id, 1) as frames,
    ):
        await rig.ask()
        seen: list[str] = []
        async for frame in frames:
            fact = json.loads(frame.data)
            seen.append(fact["text"] if frame.type == "message.delta" else frame.type)
            if frame.type == "run.finished":
                break
    monkeypatch.undo()
    assert seen[2:] == [
        "step.started",
        "a",
        "b",
        "c",
        "step.reset",
        "xy",
        "message.finished",
        "run.finished",
    ]
    assert paused == [77.0, 77.0]  # after b and y


@pytest.mark.parametrize("text", ["", " \n"])
async def test_no_words_are_no_request(tmp_path: Path, text: str) -> None:
    model = Puppet([say("one two")], gate=asyncio.Event())
    async with open_rig(tmp_path, model, options=ALONE) as rig:
        run = await rig.ask()
        await model.reached.wait()
        other = await rig.runs.create_session(rig.project_id)
        for doing in (rig.runs.submit(other.id, text), rig.runs.steer(run.id, text)):
            with pytest.raises(Problem) as failure:
                await doing
            assert (failure.value.code, failure.value.params) == ("empty_request", {})
        assert await rows(rig, "SELECT id, newest_signal FROM runs") == [(run.id, 0)]


# What is written before what


async def test_intents_are_in_the_journal_before_their_effects(tmp_path: Path) -> None:
    found: dict[str, list[str]] = {}

    async def note(name: str) -> None:
        found[name] = kinds(await rig.facts())[-2:]

    @tool(access="exec")
    async def fire() -> str:
        """Fire."""
        await note("tool")
        return "ok"

    async def answer(name: str, reply: Any) -> Any:
        await note(name)
        return reply

    model = Puppet(
        [
            lambda _: answer("first", call("fire", "c1")),
            lambda _: answer("second", say("done")),
        ]
    )
    async with open_rig(tmp_path, model, Toolbox([fire]), options=ALONE) as rig:
        run = await rig.do()
        started = next(f for f in await rig.facts(run.id) if f["type"] == "tool.started")
    assert found == {
        "first": ["user.message", "step.started"],
        "tool": ["message.finished", "tool.started"],
        "second": ["tool.finished", "step.started"],
    }
    values = ("call_id", "name", "args", "access", "replay")
    assert [started[name] for name in values] == ["c1", "fire", {}, "exec", "unsafe"]


async def test_what_a_run_reserves_and_for_whom(tmp_path: Path) -> None:
    async with open_rig(tmp_path, Puppet([say("x")]), options=ALONE) as rig:
        await rig.do()
        assert await rows(rig, "SELECT user_id, deadline_at FROM runs") == [("local", None)]
        sums = "SELECT amount FROM quota WHERE kind = 'reserve'"
        assert await rows(rig, sums) == [(200_000,)]
    spec = {"limits": Limits(tokens=5000)}
    now = 1000.0
    async with open_rig(
        tmp_path, Puppet([say("x")]), spec=spec, options=ALONE, clock=lambda: now
    ) as rig:
        await rig.do(deadline_s=30)
        assert await rows(rig, f"{sums} ORDER BY amount") == [(5000,), (200_000,)]
        assert await rows(rig, "SELECT MAX(deadline_at) FROM runs") == [(1030.0,)]


@pytest.mark.parametrize(
    ("of_the_room", "of_the_run", "deadline_at"),
    [(None, None, None), (50.0, None, 1050.0), (50.0, 0.5, 1000.5), (None, 20.0, 1020.0)],
)
async def test_deadlines(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    of_the_room: float | None,
    of_the_run: float | None,
    deadline_at: float | None,
) -> None:
    """When the run is cut, by the clock of the room; the timer ends with the run."""
    timers: list[tuple[float, float, asyncio.TimerHandle | None]] = []
    deadline = Driver._deadline

    def spy(self: Driver) -> asyncio.TimerHandle | None:
        loop = asyncio.get_running_loop()
        before = loop.time()
        timer = deadline(self)
        timers.append((before, loop.time(), timer))
        return timer

    monkeypatch.setattr(Driver, "_deadline", spy)
    options = replace(ALONE, deadline_s=of_the_room)
    async with open_rig(tmp_path, Puppet([say("x")]), options=options, clock=lambda: 1000.0) as rig:
        run = await rig.do(deadline_s=of_the_run)
        await ended(rig, run.id)
        assert await rows(rig, "SELECT deadline_at FROM runs") == [(deadline_at,)]
    ((before, after, timer),) = timers
    if deadline_at is None:
        assert timer is None
        return
    assert timer is not None
    left_s = deadline_at - 1000.0
    assert before + left_s <= timer.when() <= after + left_s
    assert timer.cancelled()


async def test_what_is_said_at_a_limit(tmp_path: Path) -> None:
    spec = {"limits": Limits(model_calls=1)}
    model = Puppet([call("look", "c1", "Looking."), say("So far.")])
    async with open_rig(tmp_path, model, Counter().tools(), spec=spec, options=ALONE) as rig:
        run = await rig.do()
        facts = await rig.facts(run.id)
        (notice,) = [f for f in facts if f["type"] == "notice"]
        (said,) = [f for f in facts if f.get("source") == "limit"]
    assert (notice["level"], notice["code"], notice["params"]) == (
        "info",
        "limit_reached",
        {"reason": "max_steps"},
    )
    assert said["message_id"].startswith("msg_")


async def test_what_a_past_run_did_does_not_count(tmp_path: Path) -> None:
    """Limits, steps and answers are those of the newest run of a session."""
    spec = {"limits": Limits(model_calls=2)}
    model = Puppet([call("look", "c1", "Looking."), say("Found.")])
    async with open_rig(tmp_path, model, Counter().tools(), spec=spec, options=ALONE) as rig:
        for _ in range(3):
            run = await rig.do()
            last = (await rig.facts(run.id))[-1]
            assert (run.status, last["steps"], last["tool_calls"]) == ("done", 2, 1)
            assert run.usage == Usage(input=20, output=10)


# Stop and steer


async def test_a_stop_is_heard_at_once(tmp_path: Path) -> None:
    model = Puppet([say("one two")], gate=asyncio.Event())
    async with open_rig(tmp_path, model, options=ALONE) as rig:
        run = await rig.ask()
        await model.reached.wait()
        asked = await rig.runs.stop(run.id)
        assert (asked.id, asked.status) == (run.id, "running")
        assert (await rig.runs.wait(run.id)).status == "stopped"


async def test_a_stop_in_the_journal_is_heard_with_the_next_fact(tmp_path: Path) -> None:
    """Another process wrote it and could not tell."""
    counter = Counter(hold=asyncio.Event())
    model = Puppet([call("look", "c1"), say("never")])
    async with open_rig(tmp_path, model, counter.tools(), options=ALONE) as rig:
        run = await rig.ask()
        await counter.entered.wait()
        await rig.runs._journal.stop(run.id, None)  # type: ignore[arg-type]
        counter.hold.set()  # type: ignore[union-attr]
        assert (await rig.runs.wait(run.id)).status == "stopped"
    assert len(model.requests) <= 2


async def test_a_queued_run_that_is_stopped_is_seen_to_end(tmp_path: Path) -> None:
    gate = asyncio.Event()
    options = replace(ALONE, slots=1)
    async with open_rig(tmp_path, Puppet([say("a b")], gate=gate), options=options) as rig:
        first = await rig.ask()
        other = await rig.runs.create_session(rig.project_id)
        queued = await rig.runs.submit(other.id, "later")
        waiting = asyncio.ensure_future(rig.runs.wait(queued.id))
        await asyncio.sleep(0.01)
        await rig.runs.stop(queued.id)
        assert (await waiting).status == "stopped"
        last = (await rig.facts(queued.id))[-1]
        assert (last["steps"], last["tool_calls"], last["answer"]) == (0, 0, "")
        gate.set()
        assert (await rig.runs.wait(first.id)).status == "done"


async def test_a_run_that_nobody_drives_is_closed_when_it_is_stopped(tmp_path: Path) -> None:
    """Its lease lapsed here, and nobody has looked again yet."""
    model = Puppet([say("one two")], gate=asyncio.Event())
    async with open_rig(tmp_path, model, options=ALONE) as rig:
        run = await rig.ask()
        await model.reached.wait()
        driver = rig.runs._engine.find(run.id)
        rig.runs._engine.fence()
        await ended(rig, run.id)
        assert rig.runs._engine.find(run.id) is None
        assert driver is not None
        assert rig.runs._hub.live(rig.project_id, run.id) is None
        assert (await rig.runs.info(run.id)).status == "running"
        await rig.runs.stop(run.id)
        assert (await rig.runs.wait(run.id)).status == "stopped"


async def test_words_are_told_to_the_driver(tmp_path: Path) -> None:
    model = Puppet([say("one two")], gate=asyncio.Event())
    async with open_rig(tmp_path, model, options=ALONE) as rig:
        run = await rig.ask()
        await model.reached.wait()
        told = await rig.runs.steer(run.id, "more")
        assert (told.id, told.status) == (run.id, "running")
        driver = rig.runs._engine.find(run.id)
        assert driver is not None
        assert driver._steering.newest == 1
        assert not driver._abort.requested
        model.gate.set()  # type: ignore[union-attr]
        assert (await rig.runs.wait(run.id)).status == "done"
    assert len(model.requests) == 2


# Who drives what


async def many(rig: Rig, count: int) -> list[str]:
    sessions = [await rig.runs.create_session(rig.project_id) for _ in range(count)]
    return [(await rig.runs.submit(session.id, "go")).id for session in sessions]


async def idle(rig: Rig) -> None:
    """Nothing is kept of runs that are over."""
    engine = rig.runs._engine
    while engine._tasks:
        await asyncio.sleep(0.001)
    kept = (list(engine._waiting), engine._held, engine._drivers, engine._specs)
    assert kept == ([], {}, {}, {})


@pytest.mark.parametrize("limits", [{"slots": 1}, {"user_runs": 1}, {"slots": 3, "user_runs": 2}])
async def test_who_ends_lets_the_next_begin(tmp_path: Path, limits: dict[str, int]) -> None:
    options = replace(ALONE, **limits)  # type: ignore[arg-type]
    async with open_rig(tmp_path, Puppet([say("x")]), options=options) as rig:
        for run_id in await many(rig, 5):
            assert (await rig.runs.wait(run_id)).status == "done"
        await idle(rig)


async def test_runs_that_were_held_go_on_one_after_another(tmp_path: Path) -> None:
    """Another process had its user's only place; looking again finds it free."""
    options = replace(ALONE, user_runs=1)
    model = Puppet([say("a b")], gate=asyncio.Event())
    async with (
        open_rig(tmp_path, model, options=options) as a,
        open_rig(tmp_path, Puppet([say("x")]), options=options) as b,
    ):
        (first,) = await many(a, 1)
        await model.reached.wait()
        later = await many(b, 3)
        engine = b.runs._engine
        while engine._tasks:
            await asyncio.sleep(0.001)
        assert list(engine._held) == later
        model.gate.set()  # type: ignore[union-attr]
        assert (await a.runs.wait(first)).status == "done"
        await engine.reconcile()
        for run_id in later:
            assert (await b.runs.wait(run_id)).status == "done"
        await idle(b)


async def test_a_run_waits_once_however_often_it_is_delivered(tmp_path: Path) -> None:
    """Q1"""
    options = replace(ALONE, slots=1)
    model = Puppet([say("a b")], gate=asyncio.Event())
    async with open_rig(tmp_path, model, options=options) as rig:
        first, second, third = await many(rig, 3)
        engine = rig.runs._engine
        for run_id in (first, second, third, second, first):
            engine.enqueue(run_id)
        await engine.reconcile()
        assert list(engine._waiting) == [second, third]
        assert list(engine._tasks) == [first]
        model.gate.set()  # type: ignore[union-attr]
        for run_id in (first, second, third):
            assert (await rig.runs.wait(run_id)).status == "done"
        spec = rig.runs._desk.make_agent(None)  # type: ignore[arg-type]
        engine.enqueue(first, spec)
        await idle(rig)
    assert len(model.requests) == 3


async def test_a_run_of_another_process_is_left_alone(tmp_path: Path) -> None:
    model = Puppet([say("a b")], gate=asyncio.Event())
    async with (
        open_rig(tmp_path, model, options=ALONE) as a,
        open_rig(tmp_path, Puppet([say("x")]), options=ALONE) as b,
    ):
        run = await a.ask()
        await model.reached.wait()
        b.runs._engine.enqueue(run.id, b.runs._desk.make_agent(None))  # type: ignore[arg-type]
        await idle(b)
        model.gate.set()  # type: ignore[union-attr]
        assert (await a.runs.wait(run.id)).status == "done"


async def test_agents_are_made_once_for_a_run_and_again_for_a_takeover(tmp_path: Path) -> None:
    contexts: list[RunContext] = []
    model = Puppet([say("one two")], gate=asyncio.Event())

    def make(context: RunContext) -> AgentSpec:
        contexts.append(context)
        return maker(model)(context)

    async with open_rig(tmp_path, make, options=ALONE) as rig:
        run = await rig.ask("what was asked")
        await model.reached.wait()
        assert len(contexts) == 1
        rig.runs._engine.fence()
        await ended(rig, run.id)
        model.gate.set()  # type: ignore[union-attr]
        await rig.runs._engine.reconcile()
        assert (await rig.runs.wait(run.id)).status == "done"
    first, second = contexts
    assert first == second
    assert first.files is not second.files
    assert (first.run_id, first.text, first.user_id) == (run.id, "what was asked", "local")


async def test_an_agent_that_cannot_be_made_again_is_an_error(tmp_path: Path) -> None:
    model = Puppet([say("one two")], gate=asyncio.Event())
    refused = False

    def make(context: RunContext) -> AgentSpec:
        if refused:
            raise Problem("model_unavailable", why="gone")
        return maker(model)(context)

    async with open_rig(tmp_path, make, options=ALONE) as rig:
        run = await rig.ask()
        await model.reached.wait()
        rig.runs._engine.fence()
        await ended(rig, run.id)
        refused = True
        await rig.runs._engine.reconcile()
        done = await rig.runs.wait(run.id)
        (notice,) = [f for f in await rig.facts(run.id) if f["type"] == "notice"]
    assert (done.status, done.reason) == ("failed", "provider_error")
    assert (notice["level"], notice["code"], notice["params"]) == (
        "error",
        "model_unavailable",
        {"why": "gone"},
    )


async def test_what_the_dead_left_is_taken_over_at_the_start(tmp_path: Path) -> None:
    model = Puppet([say("one two")], gate=asyncio.Event())
    async with open_rig(tmp_path, model, me=GONE, options=ALONE) as rig:
        run = await rig.ask()
        await model.reached.wait()
        await rig.runs.drain(grace_s=0.0)
        rig.runs._keeper.me = replace(GONE, id="wrk_other")  # its lease stays
    async with open_rig(tmp_path, Puppet([say("x")]), options=ALONE) as rig:
        assert (await rig.runs.wait(run.id)).status == "done"


async def test_who_dies_while_another_lives_is_found_by_looking_again(tmp_path: Path) -> None:
    options = replace(ALONE, lease_ttl_s=3600.0)
    model = Puppet([say("one two")], gate=asyncio.Event())
    async with open_rig(tmp_path, Puppet([say("x")]), options=options) as rig:
        async with open_rig(tmp_path, model, me=GONE, options=options) as other:
            run = await other.ask()
            await model.reached.wait()
            other.runs._engine.fence()
            await ended(other, run.id)
            other.runs._keeper.me = replace(GONE, id="wrk_other")  # its lease stays
        await rig.runs._engine.reconcile()
        assert (await rig.runs.wait(run.id)).status == "done"


async def test_how_often_it_looks_again(tmp_path: Path) -> None:
    looked: list[str] = []

    def probe(name: str) -> None:
        if name == "reconcile.listed":
            looked.append(name)

    async with open_rig(tmp_path, Puppet([say("x")]), options=ALONE, probe=probe) as rig:
        await rig.do()
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(looked) == 1


async def test_an_id_that_is_used_again_after_a_takeover_has_its_own_intent(
    tmp_path: Path,
) -> None:
    stuck = Counter(hold=asyncio.Event())
    script = [call("put", "c1", note="a"), call("put", "c1", note="b"), say("done")]
    async with open_rig(tmp_path, Puppet(script), stuck.tools(), options=ALONE) as rig:
        run = await rig.ask()
        await stuck.entered.wait()
        rig.runs._engine.fence()
        await ended(rig, run.id)
        stuck.hold = None
        await rig.runs._engine.reconcile()
        assert (await rig.runs.wait(run.id)).status == "done"
        facts = await rig.facts(run.id)
    assert stuck.effects == ["put:a", "put:a", "put:b"]
    assert [f["args"]["note"] for f in facts if f["type"] == "tool.started"] == ["a", "b"]


# What is said in the log


@pytest.mark.parametrize("what", ["run", "database"])
async def test_what_goes_wrong_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    """And tried again."""
    failures = 1
    wanted = {"run": "claim.after", "database": "reconcile.listed"}[what]
    started = False

    def probe(name: str) -> None:
        nonlocal failures
        if started and name == wanted and failures:
            failures -= 1
            raise Problem("database_locked", path="x")

    options = replace(ALONE, reconcile_s=0.01)
    async with open_rig(tmp_path, Puppet([say("x")]), options=options, probe=probe) as rig:
        started = True
        run = await rig.do()
        assert run.status == "done"
        while failures:
            await asyncio.sleep(0.001)
    (record,) = [each for each in caplog.records if each.name == "wenfang.runs"]
    assert (record.levelname, record.args) == {
        "run": ("ERROR", (run.id,)),
        "database": ("WARNING", ("database_locked",)),
    }[what]
    assert (record.exc_info is not None) is (what == "run")


# Leaving


async def test_who_leaves_gives_its_runs_back(tmp_path: Path) -> None:
    """Nobody owns them, the try does not count, and all it did is written down."""
    counter = Counter(hold=asyncio.Event())
    model = Puppet([call("fire", "c1"), say("never")])
    async with open_rig(tmp_path, model, counter.tools(), options=ALONE) as rig:
        run = await rig.ask()
        await counter.entered.wait()
        ticker = rig.runs._engine._ticker
        waiting = asyncio.ensure_future(rig.runs.wait(run.id))
        leaving = asyncio.ensure_future(rig.runs.drain())
        await asyncio.sleep(0)
        counter.hold.set()  # type: ignore[union-attr]
        await leaving
        assert (await waiting).status == "running"  # streams end with the process
        assert kinds(await rig.facts(run.id))[-1] == "tool.finished"
        assert await rows(rig, "SELECT owner, status, attempts FROM runs") == [(None, "running", 0)]
        assert ticker is not None
        assert ticker.cancelled()
        other = await rig.runs.create_session(rig.project_id)
        late = await rig.runs.submit(other.id, "nobody is here")
        rig.runs._engine.enqueue(late.id)
        rig.runs._engine._begin(late.id)
        assert rig.runs._engine._tasks == {}
        assert not rig.runs._engine._waiting
    assert len(model.requests) == 1


async def test_what_is_cut_is_given_back_too(tmp_path: Path) -> None:
    model = Puppet([say("one two")], gate=asyncio.Event())
    async with open_rig(tmp_path, model, options=ALONE) as rig:
        run = await rig.ask()
        await model.reached.wait()
        task = rig.runs._engine._tasks[run.id]
        await rig.runs.drain(grace_s=0.0)
        assert task.cancelled()
        assert rig.runs._hub.live(rig.project_id, run.id) is None
        rows_ = await rows(rig, "SELECT owner, status FROM runs")
        assert rows_ == [(None, "running")]


async def test_nothing_goes_on_behind_a_closed_door(tmp_path: Path) -> None:
    migrated(tmp_path)
    before = asyncio.all_tasks()
    model = Puppet([say("one two")], gate=asyncio.Event())
    async with open_runs(tmp_path, make_agent=maker(model), options=ALONE) as runs:
        project = await runs.create_project("A")
        session = await runs.create_session(project.id)
        await runs.submit(session.id, "go")
        await model.reached.wait()
        drain: Callable[..., Any] = runs.drain
        runs.drain = lambda: drain(grace_s=0.0)  # type: ignore[method-assign]
    assert runs._engine._tasks == {}
    for _ in range(3):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before
