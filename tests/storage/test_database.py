"""The database: opening, migrating, the threads, and what failures say."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from wenfang.problems import Problem
from wenfang.storage import FILE, Database, SqliteTx, open_database
from wenfang.storage.database import prepare
from wenfang.storage.migrate import REVISIONS, SCRIPTS
from wenfang.storage.problems import problem_of
from wenfang.storage.tables import metadata

pytestmark = pytest.mark.anyio

ADD = "INSERT INTO workers (id, host, pid, born, expires_at) VALUES (?, 'h', 1, '', 0)"


def add(name: str) -> object:
    return lambda tx: tx.raw.execute(ADD, (name,)) and name


def names(tx: SqliteTx) -> list[str]:
    return [row[0] for row in tx.raw.execute("SELECT id FROM workers ORDER BY id")]


async def test_a_new_database_has_the_tables_of_this_version(tmp_path: Path) -> None:
    async with open_database(tmp_path / "deep" / FILE) as database:

        def differences(tx: SqliteTx) -> object:
            return compare_metadata(MigrationContext.configure(tx.sa), metadata)

        assert await database.read(differences) == []
        settings = "journal_mode", "synchronous", "foreign_keys"
        found = [
            await database.write(lambda tx, s=s: tx.raw.execute(f"PRAGMA {s}").fetchone()[0])
            for s in settings
        ]
        assert found == ["wal", 2, 1]


def test_the_revisions_are_the_files() -> None:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    scripts = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(scripts)) == REVISIONS


async def test_opening_again_keeps_what_is_there(tmp_path: Path) -> None:
    for name in ("a", "b"):
        async with open_database(tmp_path / FILE) as database:
            await database.write(add(name))  # type: ignore[arg-type]
    async with open_database(tmp_path / FILE) as database:
        assert await database.read(names) == ["a", "b"]


def test_many_may_create_it_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(prepare, tmp_path / FILE) for _ in range(4)]:
            done.result()


def newer(path: Path) -> None:
    prepare(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url)")
    connection.close()


def garbage(path: Path) -> None:
    path.write_bytes(b"This is no database at all. " * 100)


def truncated(path: Path) -> None:
    prepare(path)
    path.write_bytes(path.read_bytes()[:5000])


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "code", "words"),
    [
        (newer, "database_newer", "9999"),
        (foreign, "database_broken", "another program"),
        (garbage, "database_broken", "no database"),
        (truncated, "database_broken", "damaged"),
        (folder, "data_unwritable", "cannot be opened"),
    ],
)
async def test_a_database_that_cannot_be_used(
    tmp_path: Path, damage, code: str, words: str
) -> None:
    path = tmp_path / FILE
    damage(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(Problem) as failure:
        async with open_database(path):
            pass
    assert failure.value.code == code
    assert words in failure.value.text()
    assert str(path) in failure.value.text()
    assert (path.read_bytes() if path.is_file() else b"") == before


async def test_a_data_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Problem) as failure:
        async with open_database(tmp_path / "file" / "data" / FILE):
            pass
    assert failure.value.code == "data_unwritable"


async def test_a_failed_migration_changes_nothing(tmp_path: Path, monkeypatch) -> None:
    def fail(connection: sa.Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE half (x)")
        raise KeyboardInterrupt

    monkeypatch.setattr("wenfang.storage.migrate._upgrade", fail)
    with pytest.raises(KeyboardInterrupt):
        prepare(tmp_path / FILE)
    monkeypatch.undo()
    prepare(tmp_path / FILE)
    with sqlite3.connect(tmp_path / FILE) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
    connection.close()
    assert "half" not in tables


async def test_an_unknown_failure_of_the_driver_is_not_hidden(tmp_path: Path, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise sqlite3.ProgrammingError("a bug")

    monkeypatch.setattr("wenfang.storage.database.migrate", fail)
    with pytest.raises(sqlite3.ProgrammingError):
        prepare(tmp_path / FILE)


def error_of(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (sqlite3.SQLITE_FULL, "disk_full"),
        (sqlite3.SQLITE_BUSY, "database_locked"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "database_locked"),
        (sqlite3.SQLITE_LOCKED, "database_locked"),
        (sqlite3.SQLITE_READONLY, "data_unwritable"),
        (sqlite3.SQLITE_READONLY_DBMOVED, "data_unwritable"),
        (sqlite3.SQLITE_CANTOPEN, "data_unwritable"),
        (sqlite3.SQLITE_PERM, "data_unwritable"),
        (sqlite3.SQLITE_CORRUPT, "database_broken"),
        (sqlite3.SQLITE_NOTADB, "database_broken"),
        (sqlite3.SQLITE_IOERR_WRITE, "database_broken"),
        (sqlite3.SQLITE_ERROR, None),
    ],
)
def test_result_codes(code: int, problem: str | None) -> None:
    for error in (error_of(code), sa.exc.OperationalError("SELECT", {}, error_of(code))):
        found = problem_of(error, Path("db"))
        assert (found.code if found else None) == problem
        assert found is None or found.text()


def test_other_errors_are_no_problem() -> None:
    assert problem_of(ValueError("x"), Path("db")) is None


async def held(database: Database) -> threading.Event:
    """Hold the writer, so that what comes next is one batch."""
    started, release = threading.Event(), threading.Event()

    def hold(_: SqliteTx) -> None:
        started.set()
        release.wait()

    task = asyncio.get_running_loop().create_task(database.write(hold))
    await asyncio.to_thread(started.wait)
    assert not task.done()
    return release


async def test_an_operation_that_fails_is_undone_alone(tmp_path: Path) -> None:
    def half(tx: SqliteTx) -> None:
        tx.raw.execute(ADD, ("half",))
        raise ValueError("no")

    async with open_database(tmp_path / FILE) as database:
        release = await held(database)
        batch = [database.write(op) for op in (add("a"), half, add("b"), add("a"))]  # type: ignore[arg-type]
        work = asyncio.gather(*batch, return_exceptions=True)
        await asyncio.sleep(0)
        release.set()
        a, failed, b, twice = await work
        assert (a, b) == ("a", "b")
        assert isinstance(failed, ValueError)
        assert isinstance(twice, sqlite3.IntegrityError)
        assert await database.read(names) == ["a", "b"]


async def test_a_full_disk_fails_the_batch_and_heals(tmp_path: Path) -> None:
    async with open_database(tmp_path / FILE) as database:
        raw = await database.write(lambda tx: tx.raw)
        pages = raw.execute("PRAGMA page_count").fetchone()[0]
        raw.execute(f"PRAGMA max_page_count = {pages}")
        release = await held(database)
        work = asyncio.gather(
            *(database.write(add(f"{n:03}" + "x" * 3000)) for n in range(50)),  # type: ignore[arg-type]
            return_exceptions=True,
        )
        await asyncio.sleep(0)
        release.set()
        done = await work
        codes = {each.code for each in done if isinstance(each, Problem)}
        assert codes == {"disk_full"}
        kept = await database.read(names)
        assert kept == [each for each in done if isinstance(each, str)]
        raw.execute("PRAGMA max_page_count = 100000")
        await database.write(add("later"))  # type: ignore[arg-type]


async def test_a_locked_database_is_said(tmp_path: Path) -> None:
    async with open_database(tmp_path / FILE) as database:
        other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Problem) as failure:
            await database.write(add("a"), wait_s=0)  # type: ignore[arg-type]
        assert failure.value.code == "database_locked"
        other.execute("ROLLBACK")
        other.close()
        assert await database.write(add("a")) == "a"  # type: ignore[arg-type]


async def test_TL_24_who_has_less_time_does_not_wait_with_the_others(tmp_path: Path) -> None:
    async with open_database(tmp_path / FILE) as database:
        other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        patient = asyncio.get_running_loop().create_task(database.write(add("a")))  # type: ignore[arg-type]
        hasty = database.write(add("b"), wait_s=0), database.write(add("c"), wait_s=0.3)  # type: ignore[arg-type]
        for work in hasty:  # the second comes while the writer waits already
            with pytest.raises(Problem) as failure:
                await work
            assert failure.value.code == "database_locked"
        assert not patient.done()
        other.execute("ROLLBACK")
        other.close()
        assert await patient == "a"
        assert await database.read(names) == ["a"]


async def test_what_is_queued_is_done_also_if_nobody_waits(tmp_path: Path) -> None:
    async with open_database(tmp_path / FILE) as database:
        release = await held(database)
        task = asyncio.get_running_loop().create_task(database.write(add("a")))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        release.set()
        await database.write(add("b"))  # type: ignore[arg-type]
        assert await database.read(names) == ["a", "b"]


async def test_closing_finishes_the_queue_and_takes_no_more(tmp_path: Path) -> None:
    async with open_database(tmp_path / FILE) as database:
        release = await held(database)
        work = [
            asyncio.get_running_loop().create_task(database.write(add(f"{n:03}")))  # type: ignore[arg-type]
            for n in range(300)
        ]
        await asyncio.sleep(0)
        release.set()
    assert await asyncio.gather(*work) == [f"{n:03}" for n in range(300)]
    with pytest.raises(RuntimeError, match="closed"):
        await database.write(add("late"))  # type: ignore[arg-type]
    await database.close()


def test_a_loop_that_is_gone_ends_the_thread(tmp_path: Path) -> None:
    """A program that dies without closing: the thread must not live on with its connection."""
    loop = asyncio.new_event_loop()
    release = threading.Event()

    async def leave() -> Database:
        prepare(tmp_path / FILE)
        database = Database(tmp_path / FILE)
        started = threading.Event()

        def hold(_: SqliteTx) -> None:
            started.set()
            release.wait()

        task = asyncio.ensure_future(database.write(hold))
        await asyncio.to_thread(started.wait)
        task.cancel()
        return database

    database = loop.run_until_complete(leave())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    release.set()
    database._writer._thread.join(timeout=10)
    assert not database._writer._thread.is_alive()
    database._reader._queue.put(None)
    database._reader._thread.join(timeout=10)


async def test_a_connection_of_ones_own(tmp_path: Path) -> None:
    """It undoes what fails, and waits for a lock as long as it was told."""
    async with open_database(tmp_path / FILE) as database:
        with database.connect(wait_s=0.02) as own:
            assert own.write(add("a")) == "a"  # type: ignore[arg-type]
            with pytest.raises(sqlite3.IntegrityError):
                own.write(add("a"))  # type: ignore[arg-type]
            assert own.write(names) == ["a"]
            lock = sqlite3.connect(tmp_path / FILE, isolation_level=None)
            lock.execute("BEGIN IMMEDIATE")
            with pytest.raises(Problem, match="database_locked"):
                own.write(names)
            lock.close()
            assert own.write(names) == ["a"]
