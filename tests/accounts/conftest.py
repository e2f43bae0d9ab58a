"""Accounts on both databases, with a clock of their own and passwords that are cheap to hash."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from wenfang.accounts import Accounts, secrets
from wenfang.storage import (
    FILE,
    Store,
    Tx,
    api_keys,
    attempts,
    audit,
    logins,
    members,
    open_database,
    projects,
    users,
)
from wenfang.storage.postgres import open_postgres

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_hasher", lambda: CHEAP)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=("sqlite", "postgresql"))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty database; on PostgreSQL the module's own, which is emptied for the next test."""
    if request.param == "sqlite":
        async with open_database(tmp_path / FILE) as database:
            yield database
        return
    async with open_postgres(request.getfixturevalue("postgres_url")) as database:
        yield database
        await database.write(_empty)


def _empty(tx: Tx) -> None:
    for table in (attempts, audit, members, api_keys, logins, users, projects):
        tx.sa.execute(table.delete())


@pytest.fixture
def accounts(store: Store, clock: Clock) -> Accounts:
    return Accounts(store, clock=clock)
