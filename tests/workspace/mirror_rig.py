"""A project in a real database and a real folder, that mirror each other."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from wenfang.storage import Database, Tx, files, open_database, projects
from wenfang.workspace.mirror import Action, Mirror, Synced, open_mirror
from wenfang.workspace.project import By, ProjectFiles

HOST = "desk"
DAY_S = 86_400.0


class Pair:
    """`author` and `ai` write in the project, `folder` is the other side."""

    def __init__(self, database: Database, folder: Path, project: str = "prj_1") -> None:
        self.database = database
        self.folder = folder
        self.project = project
        self.now = 20_000 * DAY_S  # 2024-10-04
        self.author = self.hand(By(actor="author"))
        self.ai = self.hand(By(actor="ai", run_id="run_1"))

    def hand(self, by: By) -> ProjectFiles:
        return ProjectFiles(self.database, self.project, by=by, clock=lambda: self.now)

    @asynccontextmanager
    async def opened(self, **more: Any) -> AsyncGenerator[Mirror]:
        options = {"host": HOST, "clock": lambda: self.now} | more
        async with open_mirror(self.database, self.project, self.folder, **options) as mirror:
            yield mirror

    async def sync(self) -> Synced:
        async with self.opened() as mirror:
            return await mirror.sync()

    async def planned(self) -> tuple[Action, ...]:
        async with self.opened(only_look=True) as mirror:
            return (await mirror.look()).actions

    async def in_project(self) -> dict[str, str | None]:
        """Texts by path; None for a folder."""
        return {
            each.path: None if each.hash is None else (await self.author.read(each.path)).text
            for each in await self.author.list()
        }

    def in_folder(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for each in self.folder.rglob("*"):
            path = each.relative_to(self.folder).as_posix()
            if not any(part.startswith(".") for part in path.split("/")):
                found[path] = None if each.is_dir() else each.read_bytes().decode()
        return found

    def put(self, path: str, text: str) -> None:
        """As an editor saves a file of the folder."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    async def versions(self, path: str) -> list[tuple[str, str, str]]:
        """Text, actor and change of each version, oldest first."""
        return [
            ((await self.author.read(path, each.n)).text, each.actor, each.change)
            for each in (await self.author.revisions(path))[::-1]
        ]

    def trash_of_folder(self) -> list[str]:
        items = (self.folder / ".wenfang" / "trash").glob("*/item")
        return sorted(each.read_text() for each in items if each.is_file())

    async def trash_of_project(self) -> list[str]:
        """Names of what is in it."""
        trashed = sa.select(files.c.name).where(files.c.trash_id.isnot(None))

        def read(tx: Tx) -> list[str]:
            return sorted(name for (name,) in tx.sa.execute(trashed))

        return await self.database.read(read)


@asynccontextmanager
async def open_pair(tmp: Path) -> AsyncGenerator[Pair]:
    folder = tmp / "folder"
    folder.mkdir(exist_ok=True)
    async with open_database(tmp / "data" / "wenfang.sqlite3") as database:
        row = {"managed": 1, "created_at": 0.0, "updated_at": 0.0}
        rows = [row | {"id": f"prj_{n}", "title": f"T{n}", "path": f"/{n}"} for n in (1, 2)]

        def begin(tx: Tx) -> None:
            tx.sa.execute(projects.insert().prefix_with("OR IGNORE"), rows)

        await database.write(begin)
        yield Pair(database, folder)
