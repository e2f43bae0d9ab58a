"""The database on a PostgreSQL server: opening, migrating, transactions, and what failures say."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from tests.postgres import Server, at, new_database, own_server, psql

from wenfang.problems import Problem
from wenfang.storage import Tx, projects, workers
from wenfang.storage.postgres import PostgresDatabase, open_postgres
from wenfang.storage.postgres.clock import ServerClock
from wenfang.storage.postgres.database import _SETTINGS
from wenfang.storage.postgres.problems import problem_of
from wenfang.storage.tables import metadata

pytestmark = pytest.mark.anyio


@pytest.fixture
def fresh_url(postgres_server: str) -> Iterator[str]:
    """The address of an empty database."""
    with new_database(postgres_server) as url:
        yield url


@pytest.fixture
def own() -> Iterator[Server]:
    """A server that may be stopped."""
    with own_server() as server:
        yield server


def add(name: str, at_s: float = 0):
    row = {"id": name, "host": "h", "pid": 1, "born": "", "expires_at": at_s}
    return lambda tx: tx.sa.execute(workers.insert(), row) and name


def names(tx: Tx) -> list[str]:
    return sorted(tx.sa.execute(sa.select(workers.c.id)).scalars())


async def clear(database: PostgresDatabase) -> None:
    await database.write(lambda tx: tx.sa.execute(workers.delete()) and None)


async def code_of(url: str) -> str:
    with pytest.raises(Problem) as failure:
        async with open_postgres(url):
            pass
    assert failure.value.text("zh") != failure.value.text("en")
    return failure.value.code


async def test_a_new_database_has_the_tables_of_this_version(fresh_url: str) -> None:
    async with open_postgres(fresh_url) as database:

        def differences(tx: Tx) -> object:
            return compare_metadata(MigrationContext.configure(tx.sa), metadata)

        assert await database.read(differences) == []
        assert await database.write(add("a")) == "a"
    async with open_postgres(fresh_url) as database:
        assert await database.read(names) == ["a"]


async def test_the_conditions_of_indexes_hold_there_too(postgres_url: str) -> None:
    async with open_postgres(postgres_url) as database:

        def conditions(tx: Tx) -> set[str]:
            index = sa.text("SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%WHERE%'")
            return {each.partition("WHERE ")[2] for each in tx.sa.execute(index).scalars()}

        assert await database.read(conditions) == {
            "(status = ANY (ARRAY['queued'::text, 'running'::text]))",
            "(kind = 'run.finished'::text)",
            "(trash_id IS NULL)",
        }


def test_many_processes_may_start_at_once(fresh_url: str, root: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from wenfang.storage.postgres import open_postgres\n"
        "async def main():\n"
        "    async with open_postgres(sys.argv[1]): pass\n"
        "asyncio.run(main())\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    started = [
        subprocess.Popen((sys.executable, "-c", program, fresh_url), cwd=root, env=environment)
        for _ in range(4)
    ]
    assert [process.wait(timeout=60) for process in started] == [0] * 4
    assert psql(fresh_url, "SELECT count(*) FROM alembic_version") == "1"


async def test_a_failed_migration_changes_nothing(fresh_url: str, monkeypatch) -> None:
    def fail(connection: sa.Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE half (x int)")
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("wenfang.storage.migrate._upgrade", fail)
        with pytest.raises(ZeroDivisionError):
            async with open_postgres(fresh_url):
                pass
    assert psql(fresh_url, "SELECT to_regclass('half') IS NULL") == "t"
    async with open_postgres(fresh_url) as database:
        assert await database.read(names) == []


async def test_a_database_that_cannot_be_used(fresh_url: str) -> None:
    assert await code_of(at(fresh_url, "nothing")) == "database_unreachable"
    psql(fresh_url, "CREATE TABLE bookmarks (url text)")
    assert await code_of(fresh_url) == "database_broken"
    assert psql(fresh_url, "SELECT to_regclass('workers') IS NULL") == "t"
    psql(fresh_url, "CREATE TABLE alembic_version (version_num text)")
    psql(fresh_url, "INSERT INTO alembic_version VALUES ('9999')")
    assert await code_of(fresh_url) == "database_newer"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://secret:secret@127.0.0.1:1/x",
        "postgresql://secret:secret@no-such-host.invalid/x",
        "mysql://secret:secret@127.0.0.1/x",
        "postgresql://secret:secret@127.0.0.1:999999/x",
        "postgresql://secret:secret@127.0.0.1:port/x",
        "postgresql://secret:secret@[::1/x",
        "secret",
    ],
)
async def test_an_address_that_leads_nowhere(url: str) -> None:
    with pytest.raises(Problem) as failure:
        async with open_postgres(url):
            pass
    assert failure.value.code == "database_unreachable"
    assert "secret:secret" not in failure.value.text()


async def test_a_database_that_may_only_be_read(postgres_url: str) -> None:
    async with open_postgres(postgres_url):
        pass
    more = "&" if "?" in postgres_url else "?"
    url = f"{postgres_url}{more}default_transaction_read_only=on"
    assert await code_of(url) == "database_unreachable"


# Transactions


async def test_an_operation_that_fails_is_undone(postgres_url: str) -> None:
    def half(tx: Tx) -> None:
        add("half")(tx)
        raise ValueError("no")

    async with open_postgres(postgres_url) as database:
        await clear(database)
        done = await asyncio.gather(
            *(database.write(each) for each in (add("a"), half, add("b"))), return_exceptions=True
        )
        assert (done[0], type(done[1]), done[2]) == ("a", ValueError, "b")
        with pytest.raises(sa.exc.IntegrityError):
            await database.write(add("a"))
        assert await database.read(names) == ["a", "b"]


async def test_a_read_sees_one_state_and_changes_nothing(postgres_url: str) -> None:
    async with open_postgres(postgres_url) as database, open_postgres(postgres_url) as other:
        await clear(database)
        loop = asyncio.get_running_loop()

        def twice(tx: Tx) -> tuple[list[str], list[str]]:
            before = names(tx)
            asyncio.run_coroutine_threadsafe(other.write(add("meanwhile")), loop).result(20)
            return before, names(tx)

        assert await database.read(twice) == ([], [])
        assert await database.read(names) == ["meanwhile"]
        with pytest.raises(Problem) as failure:
            await database.read(add("a"))
        assert "only be read" in failure.value.text()


async def test_an_operation_does_not_hold_up_the_callers_loop(postgres_url: str) -> None:
    async with open_postgres(postgres_url) as database:
        release = threading.Event()
        task = asyncio.create_task(database.write(lambda _: release.wait(20)))
        await asyncio.sleep(0)
        release.set()  # this loop runs while the operation computes
        assert await task


async def test_what_has_begun_is_done_also_if_nobody_waits(postgres_url: str) -> None:
    started, release = threading.Event(), threading.Event()

    def slow(tx: Tx) -> None:
        started.set()
        release.wait(20)
        add("a")(tx)

    async with open_postgres(postgres_url) as database:
        await clear(database)
        task = asyncio.create_task(database.write(slow))
        await asyncio.to_thread(started.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        release.set()
    async with open_postgres(postgres_url) as database:
        assert await database.read(names) == ["a"]


async def test_closing_finishes_what_has_begun_and_takes_no_more(postgres_url: str) -> None:
    async with open_postgres(postgres_url) as database:
        await clear(database)
        work = [asyncio.create_task(database.write(add(f"{n:03}"))) for n in range(60)]
        await asyncio.sleep(0)
    assert await asyncio.gather(*work) == [f"{n:03}" for n in range(60)]
    for late in (database.write(add("late")), database.read(names)):
        with pytest.raises(RuntimeError, match="closed"):
            await late
    await database.close()


async def test_the_same_lock_is_waited_for_and_another_is_not(postgres_url: str) -> None:
    async with open_postgres(postgres_url) as database, open_postgres(postgres_url) as other:
        started, release = threading.Event(), threading.Event()

        def hold(tx: Tx) -> None:
            tx.lock("one")
            started.set()
            release.wait(20)

        task = asyncio.create_task(database.write(hold))
        await asyncio.to_thread(started.wait, 20)
        await other.write(lambda tx: tx.lock("two"), wait_s=0)
        with pytest.raises(Problem) as failure:
            await other.write(lambda tx: tx.lock("one"), wait_s=0)
        assert failure.value.code == "database_locked"
        release.set()
        await task
        await other.write(lambda tx: tx.lock("one"), wait_s=0)


async def test_a_deadlock_is_done_again(postgres_url: str) -> None:
    """Two rows, taken in both orders: the server undoes one transaction, and it is carried out again."""
    async with open_postgres(postgres_url) as database, open_postgres(postgres_url) as other:
        await clear(database)
        for name in ("a", "b"):
            await database.write(add(name))
        both = threading.Barrier(2, timeout=20)
        runs: list[str] = []

        def touch(name: str, tx: Tx) -> None:
            values = {"expires_at": workers.c.expires_at + 1}
            tx.sa.execute(workers.update().where(workers.c.id == name).values(values))

        def crossing(*order: str):
            def run(tx: Tx) -> None:
                runs.append(order[0])
                touch(order[0], tx)
                if len(runs) <= 2:
                    both.wait()
                touch(order[1], tx)

            return run

        await asyncio.gather(database.write(crossing("a", "b")), other.write(crossing("b", "a")))
        rows = await database.read(lambda tx: list(tx.sa.execute(workers.select())))
        assert {row.expires_at for row in rows} == {2}
        assert len(runs) == 3


async def test_a_writer_that_stands_still_loses_its_locks_and_begins_again(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_SETTINGS, "idle_in_transaction_session_timeout", "200")
    async with open_postgres(postgres_url) as database, open_postgres(postgres_url) as other:
        await clear(database)
        started, release = threading.Event(), threading.Event()
        runs: list[list[str]] = []

        def stand(tx: Tx) -> None:
            tx.lock("one")
            runs.append(names(tx))
            add("a")(tx)
            started.set()
            release.wait(20)
            add("b")(tx)

        def take(tx: Tx) -> None:
            tx.lock("one")
            add("c")(tx)

        task = asyncio.create_task(database.write(stand))
        await asyncio.to_thread(started.wait, 20)
        await other.write(take)
        release.set()
        await task
        assert runs == [[], ["c"]]
        assert await database.read(names) == ["a", "b", "c"]


# Failures of the server


async def test_a_connection_of_ones_own(postgres_url: str) -> None:
    """For a thread of one's own: it undoes what fails, and waits for a lock as long as it was told."""
    async with open_postgres(postgres_url) as database:
        await clear(database)

        def work() -> list[str]:
            with database.connect(wait_s=0.05) as own:
                assert own.write(add("a")) == "a"
                with pytest.raises(sa.exc.IntegrityError):
                    own.write(add("a"))
                assert own.write(names) == ["a"]
                with open_lock(database, "held"), pytest.raises(Problem, match="database_locked"):
                    own.write(lambda tx: tx.lock("held"))
                own.write(lambda tx: tx.lock("held"))
                return own.write(names)

        assert await asyncio.to_thread(work) == ["a"]


@contextmanager
def open_lock(database: PostgresDatabase, name: str) -> Iterator[None]:
    """Hold a lock in another thread."""
    held, done = threading.Event(), threading.Event()

    def hold(tx: Tx) -> None:
        tx.lock(name)
        held.set()
        done.wait(10)

    def work() -> None:
        with database.connect(wait_s=1.0) as own:
            own.write(hold)

    thread = threading.Thread(target=work)
    thread.start()
    held.wait(10)
    try:
        yield
    finally:
        done.set()
        thread.join()


async def test_the_time_is_the_servers(postgres_url: str) -> None:
    """C1: what this machine takes the time to be is never asked."""
    async with open_postgres(postgres_url) as database:
        told = sa.text("SELECT EXTRACT(EPOCH FROM clock_timestamp())::float8")
        theirs = await database.read(lambda tx: tx.sa.execute(told).scalar_one())
        assert abs(database.clock() - theirs) < 5


def test_the_surest_answer_counts() -> None:
    now = 100.0
    clock = ServerClock(lambda: now)
    clock.hear(5000.0, asked_at=98.0)  # it was asked at 98, so that was the time at 99
    assert clock() == 5001.0
    now = 110.0
    clock.hear(9000.0, asked_at=100.0)  # five seconds unsure: worse than what is known
    assert clock() == 5011.0
    clock.hear(7000.0, asked_at=109.9)
    assert clock() == pytest.approx(7000.05)
    clock.hear(8000.0, asked_at=109.8)
    assert clock() == pytest.approx(7000.05)
    now = 310.0  # in the meantime both may have gone wrong by 0.2 s
    clock.hear(8000.0, asked_at=309.8)
    assert clock() == pytest.approx(8000.1)


async def test_a_server_that_goes_and_comes_back(own: Server) -> None:
    async with open_postgres(own.url) as database:
        await database.write(add("a"))
        own.stop()
        for work in (database.write(add("b")), database.read(names)):
            with pytest.raises(Problem) as failure:
                await work
            assert failure.value.code == "database_unreachable"
        own.start()
        assert await database.write(add("c")) == "c"
        assert await database.read(names) == ["a", "c"]
        own.stop("fast")
        own.start()
        assert await database.read(names) == ["a", "c"]  # the old connection was noticed


async def test_a_connection_that_is_cut_within_a_transaction_is_no_loss(postgres_url: str) -> None:
    async with open_postgres(postgres_url) as database:
        await clear(database)
        pids: list[int] = []

        def cut(tx: Tx) -> None:
            add("a")(tx)
            pids.append(tx.sa.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())
            if len(pids) == 1:
                psql(postgres_url, f"SELECT pg_terminate_backend({pids[0]}, 10000)")
            add("b")(tx)

        await database.write(cut)
        assert len(set(pids)) == 2
        assert await database.read(names) == ["a", "b"]


async def test_a_commit_that_nobody_answered_is_not_done_again(postgres_url: str) -> None:
    """It may have happened: only the caller knows whether doing it again is right."""
    async with open_postgres(postgres_url) as database:
        await clear(database)
        runs: list[int] = []

        def cut_at_the_end(tx: Tx) -> None:
            runs.append(tx.sa.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())
            psql(postgres_url, f"SELECT pg_terminate_backend({runs[-1]}, 10000)")

        with pytest.raises(Problem) as failure:
            await database.write(cut_at_the_end)
        assert failure.value.code == "database_unreachable"
        assert len(runs) == 1


class DriverError(Exception):
    def __init__(self, sqlstate: str) -> None:
        super().__init__(sqlstate)
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("53100", "disk_full"),
        ("55P03", "database_locked"),
        ("40001", "database_locked"),
        ("40P01", "database_locked"),
        ("08006", "database_unreachable"),
        ("25006", "database_unreachable"),
        ("25P03", "database_unreachable"),
        ("28P01", "database_unreachable"),
        ("3D000", "database_unreachable"),
        ("42501", "database_unreachable"),
        ("53300", "database_unreachable"),
        ("57P01", "database_unreachable"),
        ("57P03", "database_unreachable"),
        ("58030", "database_broken"),
        ("XX001", "database_broken"),
        ("23505", None),
        ("42P01", None),
        ("", None),
    ],
)
def test_states(state: str, code: str | None) -> None:
    found = problem_of(sa.exc.DBAPIError("SELECT", {}, DriverError(state)), "h/db")
    assert (found.code if found else None) == code
    assert found is None or found.text()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "database_unreachable"),
        (TimeoutError(), "database_unreachable"),
        (ConnectionResetError(), "database_unreachable"),
        (sa.exc.TimeoutError("pool"), "database_locked"),
        (sa.exc.ArgumentError("a bug"), None),
        (ValueError("a bug"), None),
    ],
)
def test_other_errors(error: Exception, code: str | None) -> None:
    found = problem_of(error, "h/db")
    assert (found.code if found else None) == code


def test_who_uses_sqlite_loads_nothing_of_it() -> None:
    loads = (
        "import sys, wenfang.storage, wenfang.workspace.project\n"
        "print([m for m in sys.modules if 'asyncpg' in m or 'postgres' in m or m == 'greenlet'])"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        (sys.executable, "-c", loads), env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
    assert projects.metadata is metadata
