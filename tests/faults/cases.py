"""The rows of durable.md §10 that concern one host, each a function that returns what went wrong."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from tests.faults import clients
from tests.faults.check import Journal, violations
from tests.faults.plan import EFFECTS, Plan
from tests.faults.process import OPTIONS, CrashAt, Process, start, worker

from wenfang.runs import Runs
from wenfang.storage import FILE


@dataclass(frozen=True, kw_only=True)
class Case:
    id: str
    about: str
    run: Callable[[Path, Random], list[str]]


PLAN = Plan(name="plan")
_SLOW = replace(PLAN, pace_s=0.02, words=8)


def killed_at(
    data: Path,
    name: str,
    plan: Plan,
    *,
    nth: int = 1,
    again: str | None = None,
    act: Callable[[Runs, list[str]], object] | None = None,
) -> list[str]:
    """Kill a worker at a place (and the next one at another), let a third finish, look."""
    first = worker(data, probe=CrashAt(name, nth), submit=[plan], act=act)  # type: ignore[arg-type]
    found = _expect_killed(first, name)
    if again is not None:
        worker(data, probe=CrashAt(again)).wait()
    return found + finish(data)


def finish(data: Path) -> list[str]:
    """Let a healthy worker end all runs; then everything must hold."""
    died = worker(data).wait()
    if died is None or died.code != 0:
        return [f"the healthy worker ended with {died}", *violations(data)]
    return violations(data)


def _expect_killed(process: Process, name: str) -> list[str]:
    died = process.wait()
    return [] if died is not None and died.killed else [f"{name} was not reached: {died}"]


def k1(data: Path, random: Random) -> list[str]:
    place = random.choice(["submit.before", "submit.before_commit", "submit.after"])
    found = killed_at(data, place, PLAN)
    journal = Journal(data)
    there = len(journal.runs)
    if there != (place == "submit.after") or len(journal.quota) != 3 * there:
        found.append(f"{place}: {there} runs and {len(journal.quota)} quota rows")
    return found


def k2(data: Path, random: Random) -> list[str]:
    worker(data, probe=CrashAt("claim.after"), submit=[PLAN]).wait()
    kills = random.randint(0, 3)
    for _ in range(kills):
        worker(data, probe=CrashAt("claim.after")).wait()
    counted = _rows(data, "SELECT attempts, epoch FROM runs")
    found = (
        [] if counted == [(kills + 1, kills + 1)] else [f"{kills + 1} claims counted as {counted}"]
    )
    return found + finish(data)


def k3(data: Path, random: Random) -> list[str]:
    place = random.choice(
        ["step.before_append", "step.after_append", "stream.middle", "message.before_append"]
    )
    again = random.choice([None, "stream.middle"])
    return killed_at(data, place, PLAN, nth=random.randint(1, 4), again=again)


def k4(data: Path, random: Random) -> list[str]:
    place = random.choice(
        [
            "tool.before_intent",
            "tool.after_intent",
            "effect.before",
            "effect.after",
            "tool.before_append",
        ]
    )
    nth = random.randint(1, 3)
    found = killed_at(data, place, PLAN, nth=nth, again=random.choice([None, "effect.before"]))
    journal = Journal(data)
    if nth > 1 and place == "effect.after":  # an idempotent call or a read runs again
        effects = journal.effects()
        if all(n == 1 for effect, n in effects.items() if not effect.startswith("fire")):
            found.append(f"nothing ran again: {effects}")
    return found


def k5(data: Path, random: Random) -> list[str]:
    place = random.choice(["save.before_rename", "save.after_rename"])
    plan = Plan(name="saver", steps=("save", "save"))
    return killed_at(data, place, plan, nth=random.randint(1, 2))


def k6(data: Path, random: Random) -> list[str]:
    place = random.choice(["finish.before", "finish.before_commit", "finish.after"])
    return killed_at(data, place, PLAN)


def k7(data: Path, random: Random) -> list[str]:
    """Kill between a signal's commit and its poke, or just after a steer was applied."""
    place = random.choice(
        ["stop.before_poke", "steer.before_poke", "append.before_commit:user.message"]
    )

    async def act(runs: Runs, ids: list[str]) -> None:
        await (runs.stop(ids[0]) if place.startswith("stop") else runs.steer(ids[0], "and this"))

    return killed_at(data, place, replace(_SLOW, pace_s=0.05), act=act)


def k9(data: Path, random: Random) -> list[str]:
    """Kill all processes at any time, several times."""
    plans = [Plan(name=f"run{n}", steps=_steps(random), pace_s=0.004) for n in range(6)]
    workers = [worker(data, submit=plans[:3]), worker(data, submit=plans[3:])]
    for _ in range(random.randint(1, 3)):
        time.sleep(random.uniform(0.05, 0.6))
        for each in workers:
            each.send(signal.SIGKILL)
        for each in workers:
            each.wait()
        workers = [worker(data), worker(data)]
    for each in workers:
        each.wait()
    return finish(data)


def _steps(random: Random) -> tuple[str, ...]:
    return tuple(random.choices(["fire", "put", "look", "save"], k=random.randint(0, 6)))


def z1(data: Path, random: Random) -> list[str]:
    """Freeze the owner, take over, wake it."""
    plan = replace(_SLOW, steps=_steps(random) or ("fire",))
    return _frozen(
        data, plan, lambda: _epochs(data) == [1] and len(_events(data)) > random.randint(2, 6)
    )


def z2(data: Path, random: Random) -> list[str]:
    """Freeze between the intent and the effect of an unsafe tool."""

    def freeze(name: str) -> None:
        if name == "tool.after_intent":
            os.kill(os.getpid(), signal.SIGSTOP)

    found = _frozen(data, Plan(name="frozen", steps=("fire",)), lambda: False, probe=freeze)
    results = [e for e in _events(data) if e == "tool.finished"]
    return found if len(results) == 1 else [*found, f"{len(results)} results"]


def _frozen(
    data: Path, plan: Plan, is_time: Callable[[], bool], probe: Callable[[str], None] | None = None
) -> list[str]:
    zombie = worker(data, submit=[plan], **({"probe": probe} if probe else {}))  # type: ignore[arg-type]
    _until(lambda: is_time() or _is_stopped(zombie.pid))
    _freeze(zombie, data)
    other = worker(data)
    died = other.wait()
    zombie.send(signal.SIGCONT)
    woken = zombie.wait()
    found = [] if died is not None and died.code == 0 else [f"the other worker ended with {died}"]
    if woken is None or woken.code != 0:
        found.append(f"the woken worker ended with {woken}")
    return found + finish(data)


def _freeze(process: Process, data: Path) -> None:
    """Stop a process, but not inside a commit: SQLite's lock would stay with it and hold up everyone
    (a limit of one file for several processes, see docs/rooms/storage.md)."""
    while True:
        process.send(signal.SIGSTOP)
        _until(lambda: _is_stopped(process.pid))  # until then it could still begin one
        connection = sqlite3.connect(data / FILE, timeout=0.2, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
            return
        except sqlite3.OperationalError:
            process.send(signal.SIGCONT)
        finally:
            connection.close()


def z3(data: Path, random: Random) -> list[str]:
    """Block the event loop for longer than the lease while another process looks for work."""
    block_s = OPTIONS.lease_ttl_s * random.choice([0.5, 1.5])
    plan = Plan(name="blocked", steps=("block",), block_s=block_s)
    blocked = worker(data, submit=[plan])
    _until(lambda: (data / EFFECTS).exists())
    other = worker(data)
    found = [
        f"a worker ended with {d}" for d in (blocked.wait(), other.wait()) if d is None or d.code
    ]
    return found + finish(data)


def q1(data: Path, random: Random) -> list[str]:
    """Deliver a run again and again, in two processes, and after its end."""
    deliveries = random.randint(2, 50)

    async def act(runs: Runs, ids: list[str]) -> None:
        engine = runs._engine
        for _ in range(deliveries):
            engine.enqueue(ids[0])
            await engine.reconcile()
        await runs.wait(ids[0])
        for _ in range(deliveries):
            engine.enqueue(ids[0])
        await engine.reconcile()

    first = worker(data, submit=[PLAN], act=act)
    others = [worker(data) for _ in range(2)]
    found = [
        f"a worker ended with {d}" for d in (p.wait() for p in (first, *others)) if not d or d.code
    ]
    found += finish(data)
    if _epochs(data) != [1]:
        found.append(f"claimed {_epochs(data)} times")
    if any(n > 1 for n in Journal(data).effects().values()):
        found.append("something happened twice")
    return found


def t1(data: Path, random: Random) -> list[str]:
    """Stop while queued, in a model stream, in a hung tool, during a takeover, twice, after the end."""
    when = random.choice(["queued", "stream", "hung", "late", "takeover", "elsewhere"])
    if when in ("takeover", "elsewhere"):
        found = _stop_elsewhere(data, dies=when == "takeover")
    else:
        found = _stop_here(data, when)
    found += finish(data)
    statuses = {row["status"] for row in Journal(data).runs.values()}
    if statuses != {"done" if when == "late" else "stopped"}:
        found.append(f"{when}: {statuses}")
    if when == "hung" and _is_there(int((data / "child.pid").read_text())):
        found.append("the tool's process outlived the stop")
    return found


def _stop_here(data: Path, when: str) -> list[str]:
    plans = {"hung": Plan(name="hung", steps=("hang",)), "late": PLAN}
    plan = plans.get(when, replace(_SLOW, pace_s=0.2))
    submit = [plan, replace(PLAN, name="second")] if when == "queued" else [plan]

    async def act(runs: Runs, ids: list[str]) -> None:
        if when == "hung":
            while not (data / "child.pid").exists():
                await asyncio.sleep(0.005)
        elif when == "late":
            await runs.wait(ids[0])
        elif when == "stream":
            await _has_step(runs, ids[0])
        for run_id in reversed(ids):
            await asyncio.gather(runs.stop(run_id), runs.stop(run_id))
            await runs.wait(run_id)
            assert (await runs.stop(run_id)).is_finished

    options = replace(OPTIONS, slots=1) if when == "queued" else OPTIONS
    died = worker(data, submit=submit, act=act, options=options).wait()
    return [] if died is not None and died.code == 0 else [f"{when}: the worker ended with {died}"]


def _stop_elsewhere(data: Path, *, dies: bool) -> list[str]:
    """Another process asks for the stop; the owner is alive, or dead."""
    owner = worker(data, submit=[replace(_SLOW, pace_s=0.2)])
    _until(lambda: "step.started" in _events(data))
    if dies:
        owner.send(signal.SIGKILL)
        owner.wait()
    worker(data, act=_stop_all).wait()
    died = owner.wait()
    return [] if dies or (died is not None and died.code == 0) else [f"the owner ended with {died}"]


async def _has_step(runs: Runs, run_id: str) -> None:
    info = await runs.info(run_id)
    while len((await runs.snapshot(info.project_id, info.session_id)).frames) < 3:
        await asyncio.sleep(0.005)


async def _stop_all(runs: Runs, _: list[str]) -> None:
    rows = await runs._db.read(lambda tx: tx.raw.execute("SELECT id FROM runs").fetchall())
    for (run_id,) in rows:
        await runs.stop(run_id)


def t2(data: Path, random: Random) -> list[str]:
    """A deadline passes in the queue, in the model, in a tool, with the owner dead."""
    where = random.choice(["queue", "model", "tool", "dead"])
    plan = Plan(name="hung", steps=("hang",)) if where == "tool" else replace(_SLOW, pace_s=0.5)
    options = replace(OPTIONS, slots=1) if where == "queue" else OPTIONS

    async def act(runs: Runs, ids: list[str]) -> None:
        if where == "dead":
            await _has_step(runs, ids[0])
            os.kill(os.getpid(), signal.SIGKILL)
        if where == "queue":
            late = await start(runs, replace(PLAN, name="late"), deadline_s=0.2)
            await runs.wait(late)
            await runs.stop(ids[0])

    deadline_s = None if where == "queue" else 0.4
    first = worker(data, submit=[plan], act=act, options=options, deadline_s=deadline_s)
    died = first.wait()
    if where == "dead":
        time.sleep(0.4)
    found = finish(data)
    if died is None or (died.code != 0 and where != "dead"):
        found.append(f"{where}: the worker ended with {died}")
    statuses = sorted(row["status"] for row in Journal(data).runs.values())
    if statuses != (["expired", "stopped"] if where == "queue" else ["expired"]):
        found.append(f"{where}: {statuses}")
    return found


def _in_process(
    case: Callable[[Path, Random], object],
) -> Callable[[Path, Random], list[str]]:
    """A case about readers: it runs in a process of its own and writes down what is wrong."""

    def run(data: Path, random: Random) -> list[str]:
        report = data / "report.txt"

        async def main() -> None:
            found = await case(data, random)  # type: ignore[misc]
            report.write_text("\n".join(found))

        died = Process(main).wait()
        if died is None or died.code != 0:
            return [f"the process ended with {died}"]
        return [line for line in report.read_text().split("\n") if line] + finish(data)

    return run


def _rows(data: Path, statement: str) -> list[tuple[object, ...]]:
    with suppress(sqlite3.OperationalError):
        connection = sqlite3.connect(data / FILE)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()
    return []


def _epochs(data: Path) -> list[object]:
    return [row[0] for row in _rows(data, "SELECT epoch FROM runs")]


def _events(data: Path) -> list[object]:
    return [row[0] for row in _rows(data, "SELECT kind FROM events WHERE run_id IS NOT NULL")]


def _until(is_true: Callable[[], bool], within_s: float = 30.0) -> None:
    until = time.monotonic() + within_s
    while not is_true() and time.monotonic() < until:
        time.sleep(0.003)


def _is_stopped(pid: int) -> bool:
    """Whether all threads of a process are; a signal takes a moment to reach each of them."""
    stats = [each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(stat.rpartition(")")[2].split()[0] in "TZ" for stat in stats)


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


CASES = (
    Case(id="K1", about="kill before, in and after the submit", run=k1),
    Case(id="K2", about="kill after the claim", run=k2),
    Case(id="K3", about="kill around a model request", run=k3),
    Case(id="K4", about="kill around a tool's effect", run=k4),
    Case(id="K5", about="kill while a file is written", run=k5),
    Case(id="K6", about="kill before, in and after the end", run=k6),
    Case(id="K7", about="kill around a signal", run=k7),
    Case(id="K9", about="kill all processes", run=k9),
    Case(id="Z1", about="freeze the owner, take over, wake it", run=z1),
    Case(id="Z2", about="freeze between intent and effect", run=z2),
    Case(id="Z3", about="block the event loop", run=z3),
    Case(id="Q1", about="deliver a run many times", run=q1),
    Case(id="S1", about="readers drop and come back", run=_in_process(clients.s1)),
    Case(id="S2", about="slow and stuck readers, a thousand of them", run=_in_process(clients.s2)),
    Case(id="S3", about="deltas lost, doubled, out of order", run=_in_process(clients.s3)),
    Case(id="T1", about="stop at any time", run=t1),
    Case(id="T2", about="a deadline at any time", run=t2),
)
