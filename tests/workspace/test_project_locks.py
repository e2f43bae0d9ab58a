"""Several processes at the files of one project, on both databases (TL-24)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.workspace.stores import PROJECTS, Home, add_projects

from wenfang.storage import Store, Tx, blobs, files, revisions
from wenfang.workspace import WorkspaceError
from wenfang.workspace.project import By, ProjectFiles

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
REFUSALS = {"path_exists", "path_invalid", "file_not_found", "folder_not_found", "trash_not_found"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    process: asyncio.subprocess.Process

    async def line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return json.loads(await self.process.stdout.readline())

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")

    async def rest(self) -> list[dict[str, Any]]:
        """What it did until it ended well."""
        assert self.process.stdout is not None
        lines = (await self.process.stdout.read()).decode().splitlines()
        assert await self.process.wait() == 0
        return [json.loads(line) for line in lines]


@asynccontextmanager
async def worker(address: str, work: str, name: str, count: int = 0) -> AsyncGenerator[Worker]:
    command = (sys.executable, "-m", "tests.workspace.hammer", address, work, name, str(count))
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**24,
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        yield Worker(process=process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def together(address: str, work: str, count: int) -> list[list[dict[str, Any]]]:
    """Two processes do the same work at the same time; what each of them did."""
    async with worker(address, work, "x", count) as one, worker(address, work, "y", count) as two:
        one.go()
        two.go()
        return list(await asyncio.gather(one.rest(), two.rest()))


@asynccontextmanager
async def open_files(home: Home, folder: Path) -> AsyncGenerator[tuple[Store, ProjectFiles]]:
    async with home.open(folder) as store:
        await add_projects(store)
        yield store, ProjectFiles(store, PROJECTS[0], by=By(actor="system"), clock=lambda: 1000.0)


async def deadlocks(store: Store) -> int:
    """How many the server had to break up; SQLite has none."""

    def ask(tx: Tx) -> int:
        if tx.sa.dialect.name == "sqlite":
            return 0
        tx.sa.exec_driver_sql("SELECT pg_stat_force_next_flush()")
        ask = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        return tx.sa.exec_driver_sql(ask).scalar_one()

    return await store.read(ask)


async def check(store: Store) -> None:
    """Every file is reached, no two names look alike, every text and every version can be read."""
    seen: set[str] = set()
    for project in PROJECTS:
        hand = ProjectFiles(store, project, by=By(actor="system"), clock=lambda: 1000.0)
        items = await hand.list()
        assert len({item.path.lower() for item in items}) == len(items)
        for item in items:
            parent = item.path.rpartition("/")[0]
            assert not parent or (await hand.item(parent)).kind == "folder"
            if item.kind != "folder":
                assert (await hand.read(item.path)).item == item
                versions = await hand.revisions(item.path)
                assert [each.n for each in versions] == list(range(len(versions), 0, -1))
                for each in versions:
                    await hand.read(item.path, each.n)
        seen |= {item.id for item in items}
    live = sa.select(files.c.id).where(files.c.trash_id.is_(None))
    assert set(await store.read(lambda tx: tx.sa.execute(live).scalars().all())) == seen


async def unused(store: Store) -> int:
    """How many contents nothing refers to, but for the blank one."""
    used = sa.union(
        sa.select(files.c.hash).where(files.c.hash.is_not(None)),
        sa.select(revisions.c.hash),
        sa.select(blobs.c.base).where(blobs.c.base.is_not(None)),
    )
    left = sa.select(sa.func.count()).where(blobs.c.hash.not_in(used), blobs.c.size_bytes > 0)
    return await store.read(lambda tx: tx.sa.execute(left).scalar_one())


async def test_TL_24_one_winner_for_each_text_and_nothing_lost(home: Home, tmp_path: Path) -> None:
    async with open_files(home, tmp_path) as (store, hand):
        await hand.write("a.md", "", base=None)
        done = await together(home.address(tmp_path), "append", 60)
        words = [[each["word"] for each in one if "word" in each] for one in done]
        assert [len(each) for each in words] == [60, 60]
        bases = Counter(each["base"] for one in done for each in one if "base" in each)
        assert set(bases.values()) == {1}
        written = (await hand.read("a.md")).text.split()
        assert sorted(written) == sorted(word.strip() for each in words for word in each)
        for each in words:
            mine = [word.strip() for word in each]
            assert [word for word in written if word in mine] == mine
        assert await deadlocks(store) == 0
        await check(store)


async def test_TL_24_one_folder_takes_each_name_once(home: Home, tmp_path: Path) -> None:
    async with open_files(home, tmp_path) as (store, hand):
        one, two = await together(home.address(tmp_path), "create", 60)
        made = [each["made"] for each in one + two if "made" in each]
        assert sorted(made) == list(range(60))
        refused = Counter(each["refused"] for each in one + two if "refused" in each)
        assert refused == {"revision_conflict": 60}
        items = [item for item in await hand.list() if item.kind != "folder"]
        assert sorted(item.position for item in items) == list(range(1, 61))
        assert await deadlocks(store) == 0
        await check(store)


async def test_TL_24_a_tree_stays_a_tree_whoever_moves_in_it(home: Home, tmp_path: Path) -> None:
    async with open_files(home, tmp_path) as (store, _):
        one, two = await together(home.address(tmp_path), "rearrange", 60)
        done = one + two
        assert len(done) == 2 * 3 * 60
        assert {each["refused"] for each in done if "refused" in each} <= REFUSALS
        assert await deadlocks(store) == 0
        await check(store)


async def test_a_text_that_many_files_share_is_there_for_all(home: Home, tmp_path: Path) -> None:
    """A content is dropped by one file while another begins to use it, also in another project."""
    async with open_files(home, tmp_path) as (store, _):
        one, two = await together(home.address(tmp_path), "share", 60)
        done = one + two
        assert len(done) == 2 * 3
        for each in done:
            hand = ProjectFiles(
                store, PROJECTS[each["project"]], by=By(actor="system"), clock=lambda: 1000.0
            )
            assert (await hand.read(each["path"])).text == each["text"]
        assert await deadlocks(store) == 0
        assert await unused(store) <= 6  # texts that two left at the same moment
        await check(store)


async def test_the_same_texts_in_another_order_are_no_deadlock(home: Home, tmp_path: Path) -> None:
    async with open_files(home, tmp_path) as (store, _):
        one, two = await together(home.address(tmp_path), "bring", 3)
        assert len(one) == len(two) == 3
        assert await deadlocks(store) == 0
        await check(store)


async def test_TL_24_who_waits_too_long_is_told_and_a_killed_writer_leaves_nothing(
    home: Home, tmp_path: Path
) -> None:
    async with open_files(home, tmp_path) as (store, hand):
        before = (await hand.write("a.md", "whole", base=None)).item
        async with worker(home.address(tmp_path), "stay", "a.md") as other:
            other.go()
            assert await other.line() == {"inside": True}
            began = time.monotonic()
            with pytest.raises(WorkspaceError) as caught:
                await hand.write("a.md", "mine", base=before.hash)
            waited_s = time.monotonic() - began
            assert (caught.value.code, caught.value.params["path"]) == ("file_busy", "a.md")
            assert 0.4 < waited_s < 5
            assert (await hand.read("a.md")).item == before  # who reads does not wait
            other.process.send_signal(signal.SIGKILL)
            await other.process.wait()
            saved = await asyncio.wait_for(_until_free(hand, before.hash or ""), 20)
        assert saved.previous == before.hash
        assert (await hand.read("a.md")).text == "mine"
        assert [each.actor for each in await hand.revisions("a.md")] == ["system", "system"]
        await check(store)


async def _until_free(hand: ProjectFiles, base: str) -> Any:
    while True:
        try:
            return await hand.write("a.md", "mine", base=base)
        except WorkspaceError as error:
            if error.code != "file_busy":
                raise


async def test_TL_24_other_files_do_not_wait_on_postgresql(
    on_postgres: Home, tmp_path: Path
) -> None:
    """A text that is being written holds up its own file only, and what removes it."""
    async with open_files(on_postgres, tmp_path) as (_, hand):
        await hand.write("a.md", "whole", base=None)
        await hand.write("夹/b.md", "other", base=None)
        async with worker(on_postgres.address(tmp_path), "stay", "a.md") as other:
            other.go()
            assert await other.line() == {"inside": True}
            await hand.write("夹/b.md", "written", base="*")
            await hand.write("夹/c.md", "made", base=None)
            await hand.move("夹/b.md", "d.md")
            await hand.arrange("夹", ["c.md"])
            for work in (hand.move("a.md", "e.md"), hand.delete("a.md")):
                with pytest.raises(WorkspaceError, match="being changed"):
                    await work
            other.go()
            assert await other.rest() == []
        assert (await hand.read("a.md")).text == "half"
        assert (await hand.read("d.md")).text == "written"


async def test_new_files_of_other_projects_do_not_wait_on_postgresql(
    on_postgres: Home, tmp_path: Path
) -> None:
    """Every file begins with the blank text; nobody holds it for himself."""
    async with open_files(on_postgres, tmp_path) as (_, hand):
        await hand.write("a.md", "first", base=None)
        async with worker(on_postgres.address(tmp_path), "stay_late", "b.md") as other:
            other.go()
            assert await other.line() == {"inside": True}
            await hand.write("b.md", "mine", base=None)
            await hand.create("c.md")
            await hand.write("c.md", "", base="*")
