"""Who lives."""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
import subprocess
import threading
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from wenfang.problems import Problem
from wenfang.runs import lease
from wenfang.runs.lease import Identity, LeaseKeeper, birth, identify
from wenfang.storage import FILE, Database, OwnConnection, open_database

pytestmark = pytest.mark.anyio


def test_births() -> None:
    assert birth(os.getpid()) == identify("w").born
    assert birth(2**22 + 1) is None
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert birth(child.pid) is None  # it has ended, and nobody has looked yet
    child.wait()


def test_a_birth_is_the_time_the_process_began(tmp_path: Path) -> None:
    """Field 22 of proc(5), whatever name a program gives itself."""
    program = tmp_path / "a) S 1 (b"
    program.symlink_to("/bin/sleep")
    child = subprocess.Popen([program, "60"])
    try:
        while "a) S" not in (told := Path(f"/proc/{child.pid}/stat").read_text()):
            pass
        assert birth(child.pid) == told.split("b) ")[1].split()[22 - 3]
    finally:
        child.kill()
        child.wait()
    me = identify("w")
    assert (me.id, me.pid, me.host) == ("w", os.getpid(), socket.gethostname())


def test_a_system_that_does_not_tell_births(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "_PROC", Path("/nowhere"))
    assert birth(os.getpid()) == ""
    assert birth(2**22 + 1) is None

    def refuse(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert birth(1) == ""
    assert identify("w").born == ""


def keeper(database: Database, **more: object) -> LeaseKeeper:
    values = {
        "ttl_s": 15.0,
        "beat_s": 0.01,
        "clock": lambda: 1000.0,
        "monotonic": lambda: 0.0,
        "fenced": lambda: None,
    }
    return LeaseKeeper(database, more.pop("me", identify("wrk_1")), **{**values, **more})  # type: ignore[arg-type]


def rows(path: Path) -> list[tuple[str, float]]:
    connection = sqlite3.connect(path / FILE)
    try:
        return connection.execute("SELECT id, expires_at FROM workers ORDER BY id").fetchall()
    finally:
        connection.close()


async def test_it_beats_and_gives_up(tmp_path: Path) -> None:
    now = 1000.0
    async with open_database(tmp_path / FILE) as database:
        it = keeper(database, clock=lambda: now)
        await it.start()
        assert rows(tmp_path) == [("wrk_1", 1015.0)]
        now = 1007.0
        while rows(tmp_path) != [("wrk_1", 1022.0)]:
            await asyncio.sleep(0.005)
        await it.stop()
        assert rows(tmp_path) == []
        it._thread.join(timeout=10)  # type: ignore[union-attr]
        assert rows(tmp_path) == []


async def test_a_lapse_is_told_once_and_heals(tmp_path: Path) -> None:
    seconds = 0.0
    fenced: list[float] = []
    told = threading.Event()

    def on_fence() -> None:
        fenced.append(seconds)
        told.set()

    async with open_database(tmp_path / FILE) as database:
        it = keeper(database, monotonic=lambda: seconds, fenced=on_fence)
        await it.start()
        assert it.is_alive
        lock = sqlite3.connect(tmp_path / FILE, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        seconds = 11.9
        assert it.is_alive
        seconds = 12.1
        assert not it.is_alive
        await asyncio.to_thread(told.wait, 10)
        lock.execute("ROLLBACK")
        while not it.is_alive:
            await asyncio.sleep(0.005)
        assert fenced == [12.1]
        lock.close()
        await it.stop()


async def test_the_beat_goes_on_while_the_database_is_locked(tmp_path: Path) -> None:
    """A lapse is told once, however many beats fail, and the next one is told again."""
    seconds = 0.0
    asked = 0
    fenced: list[float] = []

    def monotonic() -> float:
        nonlocal asked
        asked += 1
        return seconds

    async def beats(count: int) -> None:
        until = asked + 2 * count  # each looks at the clock twice
        while asked < until:
            await asyncio.sleep(0.005)

    async with open_database(tmp_path / FILE) as database:
        it = keeper(database, monotonic=monotonic, fenced=lambda: fenced.append(seconds))
        await it.start()
        lock = sqlite3.connect(tmp_path / FILE, isolation_level=None)
        for lapse_at in (100.0, 200.0):
            lock.execute("BEGIN IMMEDIATE")
            await beats(2)
            seconds = lapse_at
            await beats(4)
            assert fenced[-1] == lapse_at
            assert not it.is_alive
            lock.execute("ROLLBACK")
            while not it.is_alive:
                await asyncio.sleep(0.005)
        assert fenced == [100.0, 200.0]
        lock.close()
        await it.stop()


@pytest.mark.parametrize(("seconds", "is_alive"), [(107.0, True), (107.9, True), (108.0, False)])
async def test_how_long_a_process_takes_itself_for_alive(
    tmp_path: Path, seconds: float, is_alive: bool
) -> None:
    """0.8 of ten seconds after it was made or has begun."""
    now = 100.0
    async with open_database(tmp_path / FILE) as database:
        it = keeper(database, monotonic=lambda: now, ttl_s=10.0, beat_s=60.0)
        now = seconds
        assert it.is_alive is is_alive
        await it.start()
        assert it.is_alive
        now += 8.0
        assert not it.is_alive
        await it.stop()


async def test_how_a_lease_is_kept(tmp_path: Path) -> None:
    """A thread that does not hold up the end of the process, on a connection that gives up waiting
    for a lock after half a beat."""
    waits: list[tuple[str, float]] = []

    class Heard:
        """A database that tells who connects to it, and how long they wait."""

        def __init__(self, database: Database) -> None:
            self.write, self.read, self._connect = database.write, database.read, database.connect

        def connect(self, *, wait_s: float) -> AbstractContextManager[OwnConnection]:
            waits.append((threading.current_thread().name, wait_s))
            return self._connect(wait_s=wait_s)

    async with open_database(tmp_path / FILE) as database:
        it = keeper(Heard(database), beat_s=0.02)  # type: ignore[arg-type]
        await it.start()
        thread = it._thread
        assert thread is not None
        assert (thread.daemon, thread.name) == (True, "wenfang-lease")
        await it.stop()
        assert not thread.is_alive()
    assert waits == [("wenfang-lease", 0.01)]


async def test_burying_leaves_the_living(tmp_path: Path) -> None:
    me = identify("me")
    dead = Identity(id="dead", host=me.host, pid=2**22 + 1, born="1")
    far = Identity(id="far", host="elsewhere", pid=me.pid, born=me.born)
    async with open_database(tmp_path / FILE) as database:
        it = keeper(database, me=me)
        for each in (me, dead, far):
            await keeper(database, me=each).renew()
        await it.bury()
        await it.bury()
        assert [name for name, _ in rows(tmp_path)] == ["far", "me"]


@pytest.mark.parametrize(("expires_in_s", "is_busy"), [(0.0, False), (0.5, True)])
async def test_a_process_of_another_host(
    tmp_path: Path, expires_in_s: float, is_busy: bool
) -> None:
    far = Identity(id="far", host="elsewhere", pid=1, born="1")
    async with open_database(tmp_path / FILE) as database:
        await keeper(database, me=far, ttl_s=expires_in_s).renew()
        it = keeper(database)
        if not is_busy:
            await it.start()
            assert [name for name, _ in rows(tmp_path)] == ["wrk_1"]
        else:
            with pytest.raises(Problem) as failure:
                await it.start()
            assert (failure.value.code, failure.value.params) == (
                "database_busy",
                {"host": "elsewhere"},
            )
            assert [name for name, _ in rows(tmp_path)] == ["far"]
        await it.stop()


async def test_the_dead_are_buried(tmp_path: Path) -> None:
    here = identify("x").host
    elsewhere = "elsewhere"
    everyone = [
        Identity(id="dead", host=here, pid=2**22 + 1, born="1"),
        Identity(id="reused", host=here, pid=os.getpid(), born="1"),
        Identity(id="expired", host=elsewhere, pid=1, born="1"),
        Identity(id="just expired", host=elsewhere, pid=2, born="1"),
    ]
    async with open_database(tmp_path / FILE) as database:
        for me in everyone:
            at = 985.0 if me.id == "just expired" else 900.0
            await keeper(database, me=me, clock=lambda at=at: at).renew()
        assert len(rows(tmp_path)) == 4
        it = keeper(database)
        await it.start()
        assert [name for name, _ in rows(tmp_path)] == ["wrk_1"]
        await it.stop()


async def test_stopping_on_a_broken_database_is_quiet(tmp_path: Path) -> None:
    async with open_database(tmp_path / FILE) as database:
        it = keeper(database)
        await it.start()
        raw = await database.write(lambda tx: tx.raw)
        raw.execute("PRAGMA query_only=1")
        await it.stop()
