"""A database on a PostgreSQL server, used like the one of a data directory.

What is written is one transaction at READ COMMITTED, where operations exclude each other by the locks
they take; what is read is one snapshot. A transaction that lost a clash with another, or its connection
before it was committed, is carried out again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from wenfang.problems import Problem

from ..migrate import HEAD, bring_up, revision_of
from ..store import LONGEST_WAIT_S, Tx
from ..tables import metadata
from .clock import ServerClock
from .loop import LoopThread
from .problems import is_clash, is_cut, problem_of

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

T = TypeVar("T")

_TRIES = 5
_CONNECTIONS = 8
_CONNECT_S = 10.0
_ANSWER_S = 60.0  # for one statement; longer than any wait for a lock
_FROZEN_MS = 30_000  # a process that stands still within a transaction loses it, and its locks
_SETTINGS = {
    "application_name": "wenfang",
    "idle_in_transaction_session_timeout": str(_FROZEN_MS),
    "jit": "off",  # compiling costs more than these statements
}
_READING = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
_WRITING = {"isolation_level": "READ COMMITTED", "postgresql_readonly": False}
_SCHEMA = "wenfang: tables"

# What begins a writing transaction: how long it waits for locks; the answer tells the server's time.
_BEGIN = sa.text(
    "SELECT set_config('lock_timeout', :wait, true), EXTRACT(EPOCH FROM clock_timestamp())::float8"
)
_LOCK = sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(sa.bindparam("name"), 0)))


@dataclass(frozen=True, slots=True)
class PostgresTx:
    """A transaction of one connection."""

    sa: sa.Connection

    def lock(self, name: str) -> None:
        """An advisory lock: it belongs to no row, so it waits for none of those who use rows."""
        self.sa.execute(_LOCK, {"name": name})


@dataclass(slots=True)
class _Attempt:
    """How far it came: what broke after `committing` may have been committed."""

    committing: bool = False


@dataclass(frozen=True, slots=True)
class _Own:
    """See `OwnConnection`."""

    run: Callable[[Callable[[Tx], Any]], Any]

    def write(self, operation: Callable[[Tx], T]) -> T:
        return self.run(operation)


class PostgresDatabase:
    """`write` and `read` run an operation on one of a few connections, in a thread of their own."""

    def __init__(self, url: str) -> None:
        self.name = self.server = _server_of(url)  # for people: without user and password
        self.clock = ServerClock()
        self._url = url
        self._engine = _engine(url, self.server)
        self._loop = LoopThread("wenfang-postgres")
        self._closed = False

    async def read(self, operation: Callable[[Tx], T]) -> T:
        return await self._run(operation, _READING, None)

    async def write(self, operation: Callable[[Tx], T], *, wait_s: float = LONGEST_WAIT_S) -> T:
        return await self._run(operation, _WRITING, wait_s)

    @contextmanager
    def connect(self, *, wait_s: float) -> Generator[_Own]:
        with asyncio.Runner() as runner:
            engine = _engine(self._url, self.server, connections=1)

            def run(operation: Callable[[Tx], Any]) -> Any:
                return runner.run(self._transact(engine, operation, _WRITING, wait_s))

            try:
                yield _Own(run)
            finally:
                runner.run(engine.dispose())

    async def prepare(self) -> None:
        """Bring the tables up to date; a second process waits for the first."""
        await self._loop.run(self._migrate())
        await self.write(lambda _: None)  # now the clock knows the server's time

    async def close(self) -> None:
        """Finish what has begun and give the connections back."""
        if not self._closed:
            self._closed = True
            await self._loop.drain()
            await self._loop.run(self._engine.dispose())
            await self._loop.close()

    async def _run(
        self, operation: Callable[[Tx], T], mode: dict[str, Any], wait_s: float | None
    ) -> T:
        if self._closed:
            raise RuntimeError("the database is closed")
        return await self._loop.run(self._transact(self._engine, operation, mode, wait_s))

    async def _transact(
        self,
        engine: AsyncEngine,
        operation: Callable[[Tx], T],
        mode: dict[str, Any],
        wait_s: float | None,
    ) -> T:
        for left in reversed(range(_TRIES)):
            attempt = _Attempt()
            try:
                async with engine.connect() as connection:
                    await connection.execution_options(**mode)
                    begin = None if wait_s is None else partial(_begin, self.clock, wait_s)
                    return await connection.run_sync(_operate, operation, begin, attempt)
            except (SQLAlchemyError, OSError) as error:
                again = is_clash(error) or (is_cut(error) and not attempt.committing)
                if not (again and left):
                    raise self._translate(error) from error
        raise AssertionError("unreachable")

    async def _migrate(self) -> None:
        try:
            async with self._engine.connect() as connection:
                await connection.run_sync(_bring_up, self.server)
        except (SQLAlchemyError, OSError) as error:
            raise self._translate(error) from error

    def _translate(self, error: Exception) -> Exception:
        return problem_of(error, self.server) or error


@asynccontextmanager
async def open_postgres(url: str) -> AsyncGenerator[PostgresDatabase]:
    """Open the database at `url` (`postgresql://user:password@host:port/name`, with libpq's options) and
    bring its tables up to date. The database itself must exist.

    Raises Problem `database_unreachable`, `database_broken`, `database_newer` or `database_locked`, and
    ImportError without the extra.
    """
    database = PostgresDatabase(url)
    try:
        await database.prepare()
        yield database
    finally:
        await database.close()


def _operate(
    connection: sa.Connection,
    operation: Callable[[Tx], T],
    begin: Callable[[sa.Connection], None] | None,
    attempt: _Attempt,
) -> T:
    with connection.begin():
        if begin is not None:
            begin(connection)
        result = operation(PostgresTx(connection))
        attempt.committing = True
    return result


def _begin(clock: ServerClock, wait_s: float, connection: sa.Connection) -> None:
    # No limit is written 0, so no time at all is the least there is.
    wait = str(max(1, round(wait_s * 1000)))
    asked_at = clock.monotonic()
    told = connection.execute(_BEGIN, {"wait": wait}).one()
    clock.hear(told[1], asked_at)


def _bring_up(connection: sa.Connection, server: str) -> None:
    with connection.begin():
        missing = revision_of(connection, server) != HEAD
        if missing:
            PostgresTx(connection).lock(_SCHEMA)
            bring_up(connection, server)
        connection.exec_driver_sql("DELETE FROM workers WHERE false")  # can it be written?


def _engine(url: str, server: str, *, connections: int = _CONNECTIONS) -> AsyncEngine:
    from sqlalchemy.ext.asyncio import create_async_engine

    asyncpg: Any = import_module("asyncpg")  # it has no types; who uses SQLite need not have it

    async def connect() -> Any:
        try:
            return await asyncpg.connect(
                url, timeout=_CONNECT_S, command_timeout=_ANSWER_S, server_settings=_SETTINGS
            )
        except (ValueError, OverflowError) as error:  # asyncpg's own, and ports that are none
            problem = "its address is not valid"
            raise Problem("database_unreachable", path=server, problem=problem) from error

    _name_conditions()
    return create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connect,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=LONGEST_WAIT_S,
    )


def _name_conditions() -> None:
    """Give PostgreSQL's dialect the conditions of indexes, which naming it in `tables` would load."""
    for table in metadata.tables.values():
        for index in table.indexes:
            if "where" in index.info:
                index.dialect_options["postgresql"]["where"] = index.info["where"]


def _server_of(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:  # half an address; connecting says so
        return ""
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}"
