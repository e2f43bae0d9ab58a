"""A project with an author, an agent's desk and its tools, for the tests of the writing tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from wenfang.core import ToolCall, ToolContext, ToolOutput, bind
from wenfang.storage import Database, files, open_database, projects
from wenfang.tools.writing import Desk, make_writing_tools
from wenfang.workspace.project import By, FileLocks, Manuscript, RootFolder

NOVEL = (
    RootFolder(key="lore", name="设定", holds="lore"),
    RootFolder(key="character", name="人物", holds="character"),
    RootFolder(key="outline", name="大纲", holds="outline"),
    RootFolder(key="draft", name="正文", holds="draft"),
)
SCREENPLAY = (
    RootFolder(key="outline", name="大纲", holds="outline"),
    RootFolder(key="script", name="剧本", holds="script"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a call said: the envelope, and all of the output."""

    output: ToolOutput
    told: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        assert self.told["status"] == "success", self.told
        return self.told["data"]

    @property
    def error_type(self) -> str | None:
        return self.told.get("error_type")

    @property
    def details(self) -> dict[str, Any]:
        assert isinstance(self.output.details, dict)
        return self.output.details

    @property
    def effects(self) -> list[str]:
        return [f"{each.type} {each.path}" for each in self.output.effects]


class Study:
    """An author and an agent at the same project."""

    def __init__(self, database: Database, roots: Sequence[RootFolder], **more: Any) -> None:
        self.database = database
        self.now = 1000.0
        self.progress: list[tuple[str, float | None]] = []
        self.author = self.hand(By(actor="author"))
        self.system = self.hand(By(actor="system"))
        self.desk = Desk(
            files=self.hand(By(actor="ai", run_id="run_1")),
            roots=roots,
            locks=FileLocks(wait_s=30.0),  # a busy machine is no failure
            **more,
        )
        self._calls = 0

    def hand(self, by: By, project: str = "prj_1") -> Manuscript:
        return Manuscript(self.database, project, by=by, clock=lambda: self.now)

    def with_desk(self, **changes: Any) -> Study:
        """The same project with another desk."""
        other = Study(self.database, self.desk.roots)
        other.desk = replace(other.desk, **changes)
        return other

    async def call(self, name: str, **arguments: Any) -> Result:
        """One call, as the loop makes it. Raises `ArgumentError` for what does not fit the tool."""
        tools = {tool.name: tool for tool in make_writing_tools(self.desk)}
        self._calls += 1
        call = ToolCall(id=f"call_{self._calls}", name=name, arguments=arguments)
        context = ToolContext(
            call_id=call.id,
            key=call.id,
            update=lambda text, part: self.progress.append((text, part)),
        )
        output = await tools[name].handler(context, bind(tools[name], call))
        assert isinstance(output, ToolOutput)
        assert isinstance(output.content, str)
        return Result(output=output, told=json.loads(output.content))

    async def write(self, path: str, text: str, **more: Any) -> str:
        """A file of the author's; its id."""
        return (await self.author.write(path, text, base="*", **more)).item.id

    async def write_as_ai(self, path: str, text: str, **more: Any) -> str:
        return (await self.desk.files.write(path, text, base="*", **more)).item.id

    async def text(self, ref: str) -> str:
        return (await self.author.opened(ref)).text

    async def paths(self) -> list[str]:
        return [each.path for each in await self.author.list()]

    async def versions(self, path: str) -> list[tuple[str, str]]:
        return [(each.actor, each.change) for each in await self.author.revisions(path)]

    async def rows(self) -> int:
        """All rows of files, those in the trash included."""
        return await self.database.read(lambda tx: len(tx.sa.execute(files.select()).all()))


@cache
def new_database() -> bytes:
    """A database with the tables of this version: making one takes longer than most tests."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "wenfang.sqlite3"

        async def make() -> None:
            async with open_database(path):
                pass

        thread = Thread(target=lambda: asyncio.run(make()))
        thread.start()
        thread.join()
        return path.read_bytes()


@asynccontextmanager
async def open_study(
    tmp: Path, roots: Sequence[RootFolder] = NOVEL, **more: Any
) -> AsyncGenerator[Study]:
    (tmp / "wenfang.sqlite3").write_bytes(new_database())
    async with open_database(tmp / "wenfang.sqlite3") as database:
        row = {"title": "t", "managed": 1, "created_at": 0.0, "updated_at": 0.0}
        rows = [row | {"id": f"prj_{n}", "path": f"/{n}"} for n in (1, 2)]
        await database.write(
            lambda tx: tx.sa.execute(projects.insert().prefix_with("OR IGNORE"), rows) and None
        )
        yield Study(database, roots, **more)
