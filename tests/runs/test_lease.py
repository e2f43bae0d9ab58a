"""Who lives."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import threading
from pathlib import Path

import pytest

from wenfang.runs import lease
from wenfang.runs.lease import Identity, LeaseKeeper, birth, identify
from wenfang.storage import FILE, Database, open_database

pytestmark = pytest.mark.anyio


def test_births() -> None:
    assert birth(os.getpid()) == identify("w").born
    assert birth(2**22 + 1) is None
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert birth(child.pid) is None  # it has ended, and nobody has looked yet
    child.wait()


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
