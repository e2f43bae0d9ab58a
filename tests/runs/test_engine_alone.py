"""Who drives which run, decided without a database: the journal's answers are given."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.runs.rig import ALONE

from wenfang.runs import Runs
from wenfang.runs.engine import LocalEngine
from wenfang.runs.journal import Busy, Claimed, Finished, Orphan

pytestmark = pytest.mark.anyio

OWNED, HELD, OVER = Busy(why="owned"), Busy(why="user"), Finished()


@dataclass
class Stage:
    """What an engine stands on; `did` is what it did. A claim waits while `gates` has its run."""

    orphans: list[Orphan] = field(default_factory=list)
    answers: dict[str, Claimed] = field(default_factory=dict)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    did: list[str] = field(default_factory=list)
    slots: int = 2

    def __post_init__(self) -> None:
        journal = SimpleNamespace(claim=self.claim, orphans=self.listed)
        options = replace(ALONE, slots=self.slots)
        desk = SimpleNamespace(journal=journal, options=options, probe=self.did.append)
        keeper = SimpleNamespace(me=SimpleNamespace(id="me"), bury=self.bury)
        self.engine = LocalEngine(desk, keeper)  # type: ignore[arg-type]

    async def bury(self) -> None:
        self.did.append("bury")

    async def listed(self, worker: str) -> list[Orphan]:
        self.did.append(f"orphans of {worker}")
        return self.orphans

    async def claim(self, run_id: str, worker: str) -> Claimed:
        self.did.append(f"{worker} claims {run_id}")
        if run_id in self.gates:
            await self.gates[run_id].wait()
        return self.answers.get(run_id, OVER)

    @property
    def claims(self) -> list[str]:
        return [each.removeprefix("me claims ") for each in self.did if "claims" in each]

    @property
    def kept(self) -> dict[str, list[str]]:
        engine = self.engine
        every = {
            "waiting": engine._waiting,
            "held": engine._held,
            "tasks": engine._tasks,
            "drivers": engine._drivers,
            "specs": engine._specs,
        }
        return {name: list(each) for name, each in every.items() if each}

    def gate(self, *run_ids: str) -> None:
        self.gates |= {run_id: asyncio.Event() for run_id in run_ids}

    async def open(self, run_id: str) -> None:
        self.gates.pop(run_id).set()
        await turns()


async def turns(count: int = 8) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def orphan(run_id: str, **more: Any) -> Orphan:
    values = {"expired": False, "stop_requested": False, "newest_signal": 0}
    return Orphan(run_id=run_id, **{**values, **more})


async def test_a_start_buries_the_dead_and_takes_what_they_left() -> None:
    stage = Stage(orphans=[orphan("a"), orphan("b")])
    await stage.engine.start()
    await turns()
    assert stage.did[:3] == ["bury", "orphans of me", "reconcile.listed"]
    assert stage.claims == ["a", "b"]
    assert stage.kept == {}
    ticker = stage.engine._ticker
    assert ticker is not None
    assert not ticker.done()
    await turns()
    assert stage.did.count("bury") == 1
    await stage.engine.drain(0.0)
    await turns()
    assert ticker.cancelled()


@pytest.mark.parametrize(
    ("more", "needs_slot"),
    [({}, True), ({"stop_requested": True}, False), ({"expired": True}, False)],
)
async def test_what_is_only_to_be_closed_needs_no_slot(
    more: dict[str, bool], needs_slot: bool
) -> None:
    stage = Stage(slots=1)
    stage.gate("a")
    stage.engine.enqueue("a")
    stage.orphans = [orphan("b", **more)]
    await stage.engine.reconcile()
    await turns()
    assert stage.claims == (["a"] if needs_slot else ["a", "b"])
    await stage.open("a")
    assert stage.claims == ["a", "b"]
    assert stage.kept == {}


async def test_a_driver_is_told_what_others_asked_of_its_run() -> None:
    told: list[tuple[int, bool]] = []

    class Driver:
        def look(self, newest_signal: int, *, stop_requested: bool) -> None:
            told.append((newest_signal, stop_requested))

    stage = Stage(orphans=[orphan("a", newest_signal=3, stop_requested=True), orphan("b")])
    driver = stage.engine._drivers["a"] = Driver()  # type: ignore[assignment]
    assert stage.engine.find("a") is driver
    assert stage.engine.find("b") is None
    await stage.engine.reconcile()
    await turns()
    assert told == [(3, True)]
    assert stage.claims == ["b"]


async def test_no_more_than_the_slots_and_each_run_once() -> None:
    """Q1, Q4"""
    stage = Stage(slots=2)
    stage.gate("a", "b", "c", "d")
    for run_id in "abcdabcd":
        stage.engine.enqueue(run_id)
        await turns(1)
    await turns()
    assert stage.claims == ["a", "b"]
    assert stage.kept == {"waiting": ["c", "d"], "tasks": ["a", "b"]}
    stage.engine._begin("a")
    await stage.open("b")
    assert stage.claims == ["a", "b", "c"]
    for run_id in "acd":
        await stage.open(run_id)
    assert stage.claims == ["a", "b", "c", "d"]
    assert stage.kept == {}


async def test_a_run_of_a_user_who_has_enough_waits_for_another_to_end() -> None:
    stage = Stage(slots=4, answers={"b": HELD, "c": HELD})
    stage.gate("a")
    for run_id in "abc":
        stage.engine.enqueue(run_id)
    await turns()
    assert stage.kept == {"held": ["b", "c"], "tasks": ["a"]}
    stage.answers = {"c": HELD}
    stage.gate("b")
    await stage.open("a")
    assert stage.claims == ["a", "b", "c", "b", "c"]
    assert stage.kept == {"held": ["c"], "tasks": ["b"]}
    await stage.open("b")
    assert stage.claims == ["a", "b", "c", "b", "c", "c"]
    assert stage.kept == {"held": ["c"]}  # its own end wakes nobody
    stage.answers = {}
    stage.engine.enqueue("c")
    await turns()
    assert stage.kept == {}


async def test_a_held_run_that_was_found_free_wakes_the_others() -> None:
    """Looking again found it, not the end of another run here."""
    stage = Stage(slots=4, answers={"a": HELD, "b": HELD})
    for run_id in "ab":
        stage.engine.enqueue(run_id)
    await turns()
    stage.answers = {"b": HELD}
    stage.gate("a")
    stage.orphans = [orphan("a"), orphan("b")]
    await stage.engine.reconcile()
    await turns()
    assert stage.kept == {"held": ["b"], "tasks": ["a"]}
    stage.answers = {}
    await stage.open("a")
    assert stage.claims == ["a", "b"] * 2 + ["b"]
    assert stage.kept == {}


@pytest.mark.parametrize("answer", [OWNED, OVER])
async def test_nothing_is_kept_of_a_run_that_is_not_ours(answer: Claimed) -> None:
    stage = Stage(answers={"a": answer})
    stage.engine.enqueue("a", "spec")  # type: ignore[arg-type]
    assert stage.kept == {"tasks": ["a"], "specs": ["a"]}
    await turns()
    assert stage.claims == ["a"]
    assert stage.kept == {}


async def test_the_agent_of_a_held_run_is_kept_for_it() -> None:
    stage = Stage(answers={"a": HELD})
    stage.engine.enqueue("a", "spec")  # type: ignore[arg-type]
    await turns()
    assert stage.kept == {"held": ["a"], "specs": ["a"]}
    stage.engine.enqueue("a")
    await turns()
    assert stage.engine._specs == {"a": "spec"}


async def test_who_leaves_takes_nothing_more(caplog: pytest.LogCaptureFixture) -> None:
    left: list[str] = []
    stage = Stage(slots=1)
    stage.gate("a")
    stage.engine.enqueue("a")
    stage.engine.enqueue("b")
    stage.engine._drivers["a"] = SimpleNamespace(leave=lambda: left.append("a"))  # type: ignore[assignment]
    await turns()
    draining = asyncio.ensure_future(stage.engine.drain(60.0))
    await turns()
    assert (left, draining.done()) == (["a"], False)
    stage.engine.enqueue("c")
    stage.engine._begin("c")
    await stage.open("a")
    await draining
    assert stage.claims == ["a"]
    assert stage.kept == {"waiting": ["b"]}
    assert caplog.records == []


@pytest.mark.parametrize("how", ["cut", "fenced"])
async def test_what_is_cut(how: str) -> None:
    stage = Stage()
    stage.gate("a")
    stage.engine.enqueue("a")
    await turns()
    (task,) = stage.engine._tasks.values()
    if how == "cut":
        await stage.engine.drain(0.0)
    else:
        stage.engine.fence()
    await turns()
    assert task.cancelled()
    assert stage.kept == {}


async def test_a_run_that_cannot_be_driven_is_said(caplog: pytest.LogCaptureFixture) -> None:
    stage = Stage(answers={"a": "no claim"})  # type: ignore[dict-item]

    async def fail(run_id: str, worker: str) -> Claimed:
        raise ZeroDivisionError

    stage.engine._desk.journal.claim = fail  # type: ignore[method-assign]
    stage.engine.enqueue("a")
    await turns()
    (record,) = caplog.records
    assert (record.name, record.levelname, record.args) == ("wenfang.runs", "ERROR", ("a",))
    assert record.exc_info is not None
    assert stage.kept == {}


async def test_a_process_that_leaves_drains_its_engine_and_ends_its_streams() -> None:
    did: list[Any] = []

    async def drain(grace_s: float) -> None:
        did.append(grace_s)

    names = "projects project project_at projects_named rename_project delete_project restore_project sessions session"
    runs = Runs(
        None,  # type: ignore[arg-type]
        SimpleNamespace(hub=SimpleNamespace(close=lambda: did.append("closed"))),  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        SimpleNamespace(drain=drain),  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        SimpleNamespace(**dict.fromkeys(names.split())),  # type: ignore[arg-type]
    )
    await runs.drain()
    await runs.drain(grace_s=1.5)
    assert did == [5.0, "closed", 1.5, "closed"]


@pytest.mark.parametrize("order", ["bc", "cb"])
async def test_a_refusal_that_ends_beside_another_run_is_not_forgotten(order: str) -> None:
    """Both tasks end in one turn of the loop: the run that has to wait stays known."""
    stage = Stage(answers={"c": HELD})
    stage.gate("b", "c")
    for run_id in order:
        stage.engine.enqueue(run_id)
    await turns()
    for gate in stage.gates.values():
        gate.set()
    await turns()
    assert "c" in {run_id for runs in stage.kept.values() for run_id in runs}
