"""A project's database on SQLite and on PostgreSQL, for tests that hold on both."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa

from wenfang.storage import FILE, Store, Tx, open_database, projects
from wenfang.storage.postgres import open_postgres

KINDS = ("sqlite", "postgres")
PROJECTS = ("prj_1", "prj_2")


class Home(Protocol):
    """Where the databases of the tests are."""

    def open(self, folder: Path) -> AbstractAsyncContextManager[Store]:
        """The database that belongs to a folder; a new folder finds an empty one."""
        ...

    def address(self, folder: Path) -> str:
        """What `open_at` of another process takes."""
        ...


def open_at(address: str) -> AbstractAsyncContextManager[Store]:
    """The database at an address: a path or a URL."""
    return open_postgres(address) if "://" in address else open_database(Path(address))


async def add_projects(store: Store) -> None:
    """Two projects, unless they are there."""

    def add(tx: Tx) -> None:
        known = set(tx.sa.execute(sa.select(projects.c.id)).scalars())
        row = {"title": "t", "managed": 1, "created_at": 0.0, "updated_at": 0.0}
        for project in PROJECTS:
            if project not in known:
                tx.sa.execute(projects.insert(), row | {"id": project, "path": f"/{project}"})

    await store.write(add)


def wipe(tx: Tx) -> None:
    """Empty every table."""
    for table in reversed(projects.metadata.sorted_tables):
        tx.sa.execute(table.delete())


class OnePostgres:
    """One database for all folders, one after the other: a new folder finds it empty."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._folder: Path | None = None

    @asynccontextmanager
    async def open(self, folder: Path) -> AsyncGenerator[Store]:
        async with open_postgres(self.url) as database:
            if folder != self._folder:
                await database.write(wipe)
                self._folder = folder
            yield database

    def address(self, folder: Path) -> str:
        return self.url


class OneSqlite:
    """A database file in each folder."""

    @asynccontextmanager
    async def open(self, folder: Path) -> AsyncGenerator[Store]:
        async with open_database(folder / FILE) as database:
            yield database

    def address(self, folder: Path) -> str:
        return str(folder / FILE)
