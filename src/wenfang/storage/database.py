"""The database of a data directory: SQLite in WAL mode, one writer thread and one reader thread.

A commit is synced to disk (`synchronous=FULL`) before anyone hears of it. The file must lie on a
local disk, never on a network share.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from wenfang.problems import Problem

from .migrate import migrate, revision_of
from .problems import problem_of
from .store import LONGEST_WAIT_S, Store
from .thread import DatabaseThread, SqliteTx

T = TypeVar("T")

FILE = "wenfang.sqlite3"
_SLICE_MS = 20  # how long the writer waits for a lock before it looks who still has time


@dataclass(frozen=True, slots=True)
class _Own:
    """See `OwnConnection`."""

    connection: sa.Connection
    translate: Callable[[Exception], Exception]

    def write(self, operation: Callable[[SqliteTx], T]) -> T:
        try:
            return run_now(self.connection, operation)
        except (sqlite3.Error, DBAPIError) as error:
            raise self.translate(error) from error


class Database:
    """`write` and `read` run an operation on the writer's and the reader's thread. A read sees one
    state of the database from its begin to its end."""

    clock = staticmethod(time.time)

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        self._engine = _engine(path)
        self._writer = self._thread("wenfang-writer", "BEGIN IMMEDIATE", self._connect_in_slices)
        self._reader = self._thread("wenfang-reader", "BEGIN", self._engine.connect)

    async def read(self, operation: Callable[[SqliteTx], T]) -> T:
        return await self._reader.run(operation)

    async def write(
        self, operation: Callable[[SqliteTx], T], *, wait_s: float = LONGEST_WAIT_S
    ) -> T:
        return await self._writer.run(operation, wait_s=wait_s)

    @contextmanager
    def connect(self, *, wait_s: float) -> Generator[_Own]:
        with self._engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")
            yield _Own(connection, self._translate)

    async def close(self) -> None:
        await self._writer.close()
        await self._reader.close()

    def _connect_in_slices(self) -> sa.Connection:
        connection = self._engine.connect()
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {_SLICE_MS}")
        return connection

    def _thread(
        self,
        name: str,
        begin: Literal["BEGIN IMMEDIATE", "BEGIN"],
        connect: Callable[[], sa.Connection],
    ) -> DatabaseThread:
        return DatabaseThread(name, connect, begin=begin, translate=self._translate)

    def _translate(self, error: Exception) -> Exception:
        return problem_of(error, self.path) or error


@asynccontextmanager
async def open_database(path: Path) -> AsyncGenerator[Database]:
    """Open or create the database at `path` and bring its tables up to date.

    Raises Problem `data_unwritable`, `disk_full`, `database_broken`, `database_newer` or
    `database_locked`; then nothing was changed.
    """
    await asyncio.to_thread(prepare, path)
    database = Database(path)
    try:
        yield database
    finally:
        await database.close()


def open_store(address: Path | str) -> AbstractAsyncContextManager[Store]:
    """The database at `address`: the URL of a server's (`open_postgres`), or the path of a file
    (`open_database`)."""
    if "://" not in str(address):
        return open_database(Path(address))
    if find_spec("asyncpg") is None:
        problem = "the extra is missing: pip install 'wenfang[postgres]'"
        raise Problem("database_unreachable", path="PostgreSQL", problem=problem)
    from .postgres import open_postgres  # only its users load it

    return open_postgres(str(address))


def prepare(path: Path) -> None:
    """Create the file if it is missing and migrate it."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _engine(path, pragmas=()).connect() as connection:
            revision_of(connection, path)  # another program's file is not even switched to WAL
        with _engine(path).connect() as connection:
            migrate(connection, path)
            connection.exec_driver_sql("DELETE FROM workers WHERE 0")  # can it be written?
    except OSError as error:
        why = error.strerror or "unknown error"
        raise Problem("data_unwritable", path=str(path.parent), problem=why) from error
    except (sqlite3.Error, DBAPIError) as error:
        problem = problem_of(error, path)
        if problem is None:
            raise
        raise problem from error


_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")


def _engine(path: Path, pragmas: Sequence[str] = _PRAGMAS) -> sa.Engine:
    def connect() -> sqlite3.Connection:
        raw = sqlite3.connect(
            path, timeout=LONGEST_WAIT_S, isolation_level=None, check_same_thread=False
        )
        for pragma in pragmas:
            raw.execute(f"PRAGMA {pragma}")
        return raw

    return sa.create_engine(
        "sqlite://", creator=connect, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT"
    )


def run_now(connection: sa.Connection, operation: Callable[[SqliteTx], T]) -> T:
    """Run an operation in a transaction of its own, in the calling thread."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    raw.execute("BEGIN IMMEDIATE")
    try:
        result = operation(SqliteTx(raw, connection))
    except BaseException:
        raw.execute("ROLLBACK")
        raise
    raw.execute("COMMIT")
    return result
