"""Projects and sessions: rows, folders, and who is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.runs.rig import ALONE, Puppet, maker, migrated, say

from wenfang.problems import Problem
from wenfang.runs import FileChanged, Project, Runs, Session, open_runs, tell_files
from wenfang.storage import FILE, open_database
from wenfang.workspace import WorkspaceError
from wenfang.workspace.project import ProjectFiles

pytestmark = pytest.mark.anyio


@dataclass
class Shelf:
    runs: Runs
    model: Puppet
    now: float = 1000.0


@asynccontextmanager
async def open_shelf(data: Path, **more: Any) -> AsyncGenerator[Shelf]:
    migrated(data)
    model = Puppet([say("one two")], **more)
    shelf = Shelf(None, model)  # type: ignore[arg-type]
    async with open_runs(
        data, make_agent=maker(model), clock=lambda: shelf.now, options=ALONE
    ) as shelf.runs:
        yield shelf


async def test_a_project_from_its_making_to_its_trash(tmp_path: Path) -> None:
    async with open_shelf(tmp_path) as shelf:
        runs = shelf.runs
        made = await runs.create_project(" A\n book ")
        assert made == Project(
            id=made.id,
            title="A book",
            folder=None,
            template=None,
            created_at=1000.0,
            updated_at=1000.0,
            running=0,
        )
        assert made.id.startswith("prj_")
        other = await runs.create_project("Other")
        shelf.now = 1001.0
        renamed = await runs.rename_project(made.id, "B")
        assert renamed == replace(made, title="B", updated_at=1001.0)
        assert await runs.projects() == [renamed, other]  # the one that was used last is first
        shelf.now = 1002.0
        await runs.delete_project(made.id)
        rows = await runs._db.read(
            lambda tx: dict(tx.raw.execute("SELECT id, deleted_at FROM projects").fetchall())
        )
        assert rows == {made.id: 1002.0, other.id: None}
        assert await runs.projects() == [other]
        assert await runs.restore_project(made.id) == renamed
        assert await runs.restore_project(other.id) == other
        assert await runs.projects() == [renamed, other]


async def test_a_persons_own_folder(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    async with open_shelf(tmp_path / "data") as shelf:
        runs = shelf.runs
        own = await runs.create_project("  My\ttitle ", mine)
        assert own == Project(
            id=own.id,
            title="My title",
            folder=mine,
            template=None,
            created_at=1000.0,
            updated_at=1000.0,
            running=0,
        )
        assert own.id.startswith("prj_")
        await runs.delete_project(own.id)
        assert not (tmp_path / "data" / "trash").exists()
        await runs.restore_project(own.id)
        assert mine.is_dir()
        (tmp_path / "link").symlink_to(mine)
        assert await runs.project_at(tmp_path / "link") == own
        everything = await runs.project_at(Path("/"))
        assert (everything.title, everything.id[:4]) == ("/", "prj_")
        with pytest.raises(Problem) as failure:
            await runs.project_at(tmp_path / "none")
        assert failure.value.code == "project_path_missing"
        assert failure.value.params["path"] == str(tmp_path / "none")


@pytest.mark.parametrize(
    ("given", "kept"),
    [("x" * 200, "x" * 200), ("x" * 201, "x" * 200), (" a \n b ", "a b"), ("", "")],
)
async def test_titles(tmp_path: Path, given: str, kept: str) -> None:
    async with open_shelf(tmp_path) as shelf:
        project = await shelf.runs.create_project(given)
        session = await shelf.runs.create_session(project.id, given)
        assert (project.title, session.title) == (kept, kept)
        assert (await shelf.runs.rename_project(project.id, given)).title == kept
        assert (await shelf.runs.rename_session(session.id, given)).title == kept


async def test_the_files_of_a_deleted_project_come_back_with_it(tmp_path: Path) -> None:
    async with open_shelf(tmp_path) as shelf:
        made = await shelf.runs.create_project("A")
        await (await shelf.runs.files(made.id)).write("第一章.md", "雨。", base=None)
        await shelf.runs.delete_project(made.id)
        with pytest.raises(Problem) as gone:
            await shelf.runs.files(made.id)
        assert gone.value.code == "project_not_found"
        await shelf.runs.restore_project(made.id)
        read = await (await shelf.runs.files(made.id)).read("第一章.md")
        assert read.text == "雨。"


@pytest.mark.parametrize("place", ["projects", "trash"])
async def test_a_project_that_had_a_folder_moves_in(tmp_path: Path, place: str) -> None:
    """What older versions kept in folders of the data directory, also half moved, and twice."""
    old = tmp_path / place / "prj_old"
    (old / "正文").mkdir(parents=True)
    (old / "空").mkdir()
    (old / "正文/第一章.md").write_text("雨。\n")
    (old / "bin.dat").write_bytes(b"\0\1")
    async with open_shelf(tmp_path) as shelf:
        values = ("prj_old", "旧", str(tmp_path / "projects/prj_old"), 1.0, 1.0)
        statement = "INSERT INTO projects (id, title, path, managed, created_at, updated_at) VALUES (?, ?, ?, 1, ?, ?)"
        await shelf.runs._db.write(lambda tx: tx.raw.execute(statement, values) and None)
        files = shelf.runs._desk.shelf.files("prj_old", None, "author")
        await files.create_folder("正文")
    for _ in range(2):
        async with open_shelf(tmp_path) as shelf:
            assert (await shelf.runs.project("prj_old")).folder is None
            files = await shelf.runs.files("prj_old")
            paths = {each.path for each in (await files.listing()).entries}
            assert paths == {"正文", "正文/第一章.md", "空"}
            assert (await files.read("正文/第一章.md")).text == "雨。\n"
            await files.write("正文/第一章.md", "雨。\n", base="*")
    assert (old / "bin.dat").read_bytes() == b"\0\1"
    assert (old / "正文/第一章.md").read_text() == "雨。\n"


async def test_TL_24_a_text_that_is_busy_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*_: object, **__: object) -> None:
        raise WorkspaceError("file_busy", path="第一章.md")

    (tmp_path / "projects/prj_old").mkdir(parents=True)
    (tmp_path / "projects/prj_old/第一章.md").write_text("雨。\n")
    async with open_shelf(tmp_path) as shelf:
        values = ("prj_old", "旧", str(tmp_path / "projects/prj_old"), 1.0, 1.0)
        statement = "INSERT INTO projects (id, title, path, managed, created_at, updated_at) VALUES (?, ?, ?, 1, ?, ?)"
        await shelf.runs._db.write(lambda tx: tx.raw.execute(statement, values) and None)
    with monkeypatch.context() as patch:
        patch.setattr(ProjectFiles, "write", busy)
        with pytest.raises(Problem, match="database_locked"):
            async with open_shelf(tmp_path):
                pass
    async with open_shelf(tmp_path) as shelf:
        files = await shelf.runs.files("prj_old")
        assert (await files.read("第一章.md")).text == "雨。\n"


async def test_a_session_from_its_making_to_its_end(tmp_path: Path) -> None:
    async with open_shelf(tmp_path) as shelf:
        runs = shelf.runs
        project = await runs.create_project("A")
        foreign = await runs.create_session((await runs.create_project("B")).id)
        first = await runs.create_session(project.id)
        shelf.now = 1001.0
        second = await runs.create_session(project.id, "Second")
        assert second == Session(
            id=second.id,
            project_id=project.id,
            title="Second",
            created_at=1001.0,
            updated_at=1001.0,
            active_run=None,
        )
        assert second.id.startswith("ses_")
        assert await runs.sessions(project.id) == [second, first]
        shelf.now = 1002.0
        renamed = await runs.rename_session(first.id, "First")
        assert renamed == replace(first, title="First", updated_at=1002.0)
        assert await runs.session(first.id) == renamed
        assert await runs.session(second.id) == second
        assert await runs.sessions(project.id) == [renamed, second]
        shelf.now = 1003.0
        await runs.delete_session(first.id)
        rows = await runs._db.read(
            lambda tx: dict(tx.raw.execute("SELECT id, deleted_at FROM sessions").fetchall())
        )
        assert rows == {first.id: 1003.0, second.id: None, foreign.id: None}
        assert await runs.sessions(project.id) == [second]


async def test_other_tabs_are_told_of_sessions_at_once(tmp_path: Path) -> None:
    async with open_shelf(tmp_path) as shelf:
        runs = shelf.runs
        project = await runs.create_project("A")
        async with runs.subscribe(project.id, 0) as frames:

            async def told() -> list[tuple[str, str, bool, float]]:
                batch = await asyncio.wait_for(frames.batch(), 10)
                facts = [json.loads(frame.data) for frame in batch]
                return [(f["session_id"], f["title"], f["deleted"], f["ts"]) for f in facts]

            reading = asyncio.ensure_future(told())
            session = await runs.create_session(project.id, "S")
            assert await reading == [(session.id, "S", False, 1000.0)]
            shelf.now = 1001.0
            await runs.rename_session(session.id, "T")
            assert await told() == [(session.id, "T", False, 1001.0)]
            await runs.delete_session(session.id)
            assert await told() == [(session.id, "T", True, 1001.0)]


@pytest.mark.parametrize("status", ["queued", "running"])
async def test_what_has_an_active_run(tmp_path: Path, status: str) -> None:
    """It counts where it belongs, and holds its session and project; others are free."""
    gate = asyncio.Event()
    async with open_shelf(tmp_path, gate=gate) as shelf:
        runs = shelf.runs
        busy, free = [await runs.create_project(title) for title in ("busy", "free")]
        asked, idle = [await runs.create_session(busy.id) for _ in range(2)]
        run = await runs.submit(asked.id, "go")
        await shelf.model.reached.wait()
        change = "UPDATE runs SET status = ?"
        await runs._db.write(lambda tx: tx.raw.execute(change, (status,)) and None)
        assert {p.id: p.running for p in await runs.projects()} == {busy.id: 1, free.id: 0}
        active = {s.id: s.active_run for s in await runs.sessions(busy.id)}
        assert active == {asked.id: run.id, idle.id: None}
        for doing, params in (
            (runs.delete_project(busy.id), {"project_id": busy.id}),
            (runs.delete_session(asked.id), {"session_id": asked.id}),
            (runs.submit(asked.id, "more"), {"session_id": asked.id}),
        ):
            with pytest.raises(Problem) as failure:
                await doing
            assert (failure.value.code, failure.value.params) == ("run_active", params)
        await runs.delete_session(idle.id)
        await runs.delete_project(free.id)
        assert [p.id for p in await runs.projects()] == [busy.id]
        running = "UPDATE runs SET status = 'running'"
        await runs._db.write(lambda tx: tx.raw.execute(running) and None)
        gate.set()
        await runs.wait(run.id)
        await runs.delete_project(busy.id)


async def test_problems_name_what_is_not_there(tmp_path: Path) -> None:
    async with open_shelf(tmp_path) as shelf:
        runs = shelf.runs
        for doing, code, name in (
            (runs.project("prj_x"), "project_not_found", "prj_x"),
            (runs.restore_project("prj_x"), "project_not_found", "prj_x"),
            (runs.rename_project("prj_x", "t"), "project_not_found", "prj_x"),
            (runs.sessions("prj_x"), "project_not_found", "prj_x"),
            (runs.session("ses_x"), "session_not_found", "ses_x"),
            (runs.info("run_x"), "run_not_found", "run_x"),
            (runs.stop("run_x"), "run_not_found", "run_x"),
        ):
            with pytest.raises(Problem) as failure:
                await doing
            assert (failure.value.code, failure.value.params) == (code, {"id": name})


async def test_projects_by_id_and_by_title(tmp_path: Path) -> None:
    async with open_shelf(tmp_path) as shelf:
        runs = shelf.runs
        one, two, other = [await runs.create_project(title) for title in ("A", "A", "B")]
        assert await runs.projects_named(one.id) == [one]
        assert await runs.projects_named("A") == sorted([one, two], key=lambda each: each.id)
        assert await runs.projects_named("B") == [other]
        assert await runs.projects_named("C") == []
        third = await runs.create_project(other.id)  # an id is nobody's title before it is an id
        assert await runs.projects_named(other.id) == [other]
        await runs.delete_project(other.id)
        assert await runs.projects_named(other.id) == [third]


async def test_a_process_that_serves_nobody_tells_of_files(tmp_path: Path) -> None:
    async with open_shelf(tmp_path) as shelf, open_database(tmp_path / FILE) as another:
        project = await shelf.runs.create_project("A")
        changes = [
            FileChanged(path=path, change="written", by="author", revision="r")
            for path in ("a.md", "b.md")
        ]
        await tell_files(another, project.id, changes, now=1002.0)
        await tell_files(another, project.id, [], now=1003.0)
        async with shelf.runs.subscribe(project.id, after=0) as frames:
            told = [json.loads(frame.data) for frame in await frames.batch()]
        assert [(each["seq"], each["ts"], each["path"]) for each in told] == [
            (1, 1002.0, "a.md"),
            (2, 1002.0, "b.md"),
        ]
        with pytest.raises(Problem) as caught:
            await tell_files(another, "prj_x", changes, now=1004.0)
        assert caught.value.code == "project_not_found"
