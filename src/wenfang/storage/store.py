"""What a room sees of a database, whichever it is: transactions, and a lock by name.

SQLite (`Database`) and PostgreSQL (`wenfang.storage.postgres`) both are a `Store`. An operation is a
plain function of the transaction: no awaiting, no waiting, and nothing is changed but by the
transaction, because it may be carried out again after it was undone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

import sqlalchemy as sa

T = TypeVar("T")

LONGEST_WAIT_S = 10.0  # for a lock of another process, unless a caller has less time


class Tx(Protocol):
    """A transaction, for statements that every database understands."""

    @property
    def sa(self) -> sa.Connection: ...

    def lock(self, name: str) -> None:
        """Be the only one with the lock `name` until the end of this transaction. A transaction that
        has no other way to exclude others takes it before it reads what it is going to change."""
        ...


class OwnConnection(Protocol):
    """A connection for one thread that shares nothing with the others of its process."""

    def write(self, operation: Callable[[Tx], T]) -> T:
        """`Store.write` in the calling thread, which waits."""
        ...


class Store(Protocol):
    """Transactions of one database. `name` tells people which, without its password."""

    @property
    def name(self) -> str: ...

    @property
    def clock(self) -> Callable[[], float]:
        """Unix seconds, by the clock that all processes of this database go by."""
        ...

    async def read(self, operation: Callable[[Tx], T]) -> T:
        """Run `operation` on one state of the database; it changes nothing. Raises what it raised, or a
        `Problem` if the database failed."""
        ...

    async def write(self, operation: Callable[[Tx], T], *, wait_s: float = LONGEST_WAIT_S) -> T:
        """Run `operation` in a transaction; its result is there when it has been committed.

        It is carried out also if the caller is cancelled. Raises what it raised, or a `Problem`:
        "database_locked" if others held what it needs for longer than `wait_s`; then nothing was changed.
        """
        ...

    def connect(self, *, wait_s: float) -> AbstractContextManager[OwnConnection]:
        """A connection of one's own, which waits `wait_s` for a lock; entered and used in one thread."""
        ...
