"""`wenfang sync`: a project in the database and a plain folder."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import sqlite3
import time
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from wenfang.cli.words import WORDS
from wenfang.storage import FILE, Tx, open_database, projects
from wenfang.workspace import Workspace, WorkspaceError
from wenfang.workspace.mirror import Reason
from wenfang.workspace.project import By, ProjectFiles

from .conftest import Command, Result

ROWS = (("prj_1", "雨夜归人", None), ("prj_2", "Twice", None), ("prj_3", "Twice", None), ("prj_4", "Gone", 1.0), ("prj_5", "Own", None))  # fmt: skip


def in_project(command: Command, work: Callable[[ProjectFiles], Awaitable[Any]]) -> Any:
    """Do something in the project `prj_1`, as a server on the same data directory would."""

    async def run() -> Any:
        async with open_database(command.data / FILE) as database:

            def begin(tx: Tx) -> None:
                rows = [
                    {"id": name, "title": title, "path": name, "managed": name != "prj_5",
                     "created_at": 0.0, "updated_at": 0.0, "deleted_at": deleted}
                    for name, title, deleted in ROWS
                ]  # fmt: skip
                tx.sa.execute(projects.insert().prefix_with("OR IGNORE"), rows)

            await database.write(begin)
            by = By(actor="ai")
            return await work(ProjectFiles(database, "prj_1", by=by, clock=time.time))

    return asyncio.run(run())


def write(command: Command, path: str, text: str) -> None:
    in_project(command, lambda files: files.write(path, text, base="*"))


def texts(command: Command) -> dict[str, str]:
    async def read(files: ProjectFiles) -> dict[str, str]:
        items = [each for each in await files.list() if each.hash is not None]
        return {each.path: (await files.read(each.path)).text for each in items}

    return in_project(command, read)


@pytest.fixture
def filled(command: Command) -> Command:
    """A project with two files; the project folder of the fixture is the mirror."""
    write(command, "大纲.md", "一\n\n二\n\n三\n")
    write(command, "正文/第一章.md", "雨")
    return command


def folder(command: Command) -> dict[str, str]:
    return {
        each.relative_to(command.project).as_posix(): each.read_text("utf-8")
        for each in command.project.rglob("*.md")
        if ".wenfang" not in each.parts
    }


def test_by_title_then_without_a_name(filled: Command) -> None:
    result = filled("sync", ".", "--project", "雨夜归人")
    assert (result.code, result.out.splitlines()) == (
        0,
        ["new folder on the disk: 正文", "to the folder: 大纲.md", "to the folder: 正文/第一章.md"],
    )  # fmt: skip
    assert result.err == "Synced (changes: 3, conflicts: 0, not done: 0).\n"
    assert folder(filled) == texts(filled)
    (filled.project / "正文/第二章.md").write_text("雪", "utf-8")
    again = filled("sync", ".", "--lang", "zh")
    assert (again.code, again.out) == (0, "写入项目：正文/第二章.md\n")
    assert texts(filled)["正文/第二章.md"] == "雪"
    last = filled("sync", str(filled.project))
    assert (last.code, last.out, last.err) == (0, "", "Both sides are the same.\n")


def test_each_change_has_a_line(filled: Command) -> None:
    for name in ("a", "b", "c", "d"):
        write(filled, f"{name}.md", name)
    assert filled("sync", ".", "--project", "prj_1").code == 0
    root = filled.project
    (root / "a.md").rename(root / "aa.md")
    (root / "b.md").unlink()
    (root / "new").mkdir()
    in_project(filled, lambda files: files.move("c.md", "cc.md"))
    in_project(filled, lambda files: files.delete("d.md"))
    write(filled, "大纲.md", "壹\n\n二\n\n三\n")
    (root / "大纲.md").write_text("一\n\n二\n\n叁\n", "utf-8")
    planned = filled("sync", ".", "--dry-run")
    lines = [
        "changed on both sides: 大纲.md",
        "new folder in the project: new",
        "renamed in the folder: c.md -> cc.md",
        "renamed in the project: a.md -> aa.md",
        "to the folder's trash (.wenfang/trash): d.md",
        "to the project's trash: b.md",
    ]
    assert sorted(planned.out.splitlines()) == lines
    assert planned.err == "Nothing was written; changes to make: 6.\n"
    assert (root / "b.md").exists() is False
    assert "b.md" in texts(filled)
    done = filled("sync", ".")
    assert done.code == 0
    lines[0] = "merged what both changed: 大纲.md"
    assert sorted(done.out.splitlines()) == sorted(lines)
    assert folder(filled) == texts(filled)


def test_a_conflict_is_told_and_leaves_with_3(filled: Command) -> None:
    filled("sync", ".", "--project", "prj_1")
    write(filled, "正文/第一章.md", "风")
    (filled.project / "正文/第一章.md").write_text("雪", "utf-8")
    result = filled("sync", ".", "--lang", "zh")
    assert result.code == 3
    assert result.out.startswith(
        "两边改了同一处，两份都保留：正文/第一章.md；文件夹的一份在 正文/第一章 (conflict 2"
    )
    assert sorted(folder(filled).values()) == sorted(texts(filled).values())
    assert {"风", "雪"} <= {*folder(filled).values()}
    assert filled("sync", ".").code == 0


def test_json(filled: Command) -> None:
    (filled.project / "a.png").write_bytes(b"\0")
    result = filled("sync", ".", "--project", "prj_1", "--json")
    assert (result.code, result.err) == (0, "")
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert lines == [
        {"action": "folder", "side": "folder", "path": "正文", "result": "done"},
        {"action": "put", "side": "folder", "path": "大纲.md", "result": "done"},
        {"action": "put", "side": "folder", "path": "正文/第一章.md", "result": "done"},
        {"left": "a.png", "reason": "not_text"},
        {"changes": 3, "conflicts": 0, "failed": 0},
    ]
    dry = filled("sync", ".", "--dry-run", "--json")
    assert json.loads(dry.out.splitlines()[-1]) == {"changes": 0, "conflicts": 0, "failed": 0}


def test_what_is_left_alone_is_told_and_cannot_steer_the_terminal(filled: Command) -> None:
    (filled.project / "a\x9b31m\u202e.png").write_bytes(b"\0")
    (filled.project / "link.md").symlink_to("b.md")
    result = filled("sync", ".", "--project", "prj_1")
    assert result.code == 0
    assert "Left alone: link.md (it is a link)" in result.err
    assert not {"\x9b", "\u202e"} & {*result.out, *result.err}


def test_every_reason_has_words() -> None:
    assert {f"sync.left.{reason}" for reason in Reason.__args__} <= set(WORDS)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Twice", ("Twice", "prj_2, prj_3")),
        ("prj_4", ("prj_4", "--data")),
        ("Gone", ("Gone",)),
        ("twice", ("twice",)),
        ("prj_2", ("prj_1", "--project")),
        ("Own", ("Own", "folder")),
    ],
)  # fmt: skip
def test_a_project_that_cannot_be_meant(filled: Command, name: str, words: tuple[str, ...]) -> None:
    filled("sync", ".", "--project", "prj_1")
    before = folder(filled)
    result = filled("sync", ".", "--project", name)
    assert (result.code, result.out, len(result.err.splitlines())) == (5, "", 1)
    assert all(word in result.err for word in words)
    assert folder(filled) == before


def test_a_dry_run_leaves_no_trace(filled: Command) -> None:
    assert filled("sync", ".", "--project", "prj_1", "--dry-run").code == 0
    assert os.listdir(filled.project) == []
    assert filled("sync", ".").code == 5


def test_a_full_disk_is_one_line(filled: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise WorkspaceError("disk_full")

    monkeypatch.setattr(Workspace, "write_text", full)
    result = filled("sync", ".", "--project", "prj_1")
    assert (result.code, len(result.err.splitlines())) == (5, 1)
    assert "disk is full" in result.err


def test_what_cannot_be_done_is_told_and_leaves_with_3(filled: Command) -> None:
    filled("sync", ".", "--project", "prj_1")
    (filled.project / "大纲.md").chmod(0o444)
    write(filled, "大纲.md", "新")
    result = filled("sync", ".")
    assert (result.code, result.out) == (3, "")
    assert "大纲.md" in result.err
    assert "not done: 1" in result.err
    as_json = filled("sync", ".", "--json")
    assert json.loads(as_json.out.splitlines()[0])["code"] == "read_only"


def on_a_terminal(command: Command, *args: str) -> str:
    """What a person sees on a terminal."""
    main, other = pty.openpty()
    process = command.popen(*args, stdout=other, stderr=other, env=command.env | {"TERM": "xterm"})
    os.close(other)
    shown = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(main)
    assert process.wait(30) == 0, shown
    return shown.decode()


def test_progress_on_a_terminal(filled: Command) -> None:
    for n in range(60):
        (filled.project / f"{n}.md").write_text(str(n))
    shown = on_a_terminal(filled, "sync", ".", "--project", "prj_1")
    assert "Syncing" in shown
    assert "to the project: 59.md" in shown
    assert "Synced (changes: 63" in shown


def test_two_processes_do_not_sync_one_folder_at_once(filled: Command) -> None:
    import fcntl

    filled("sync", ".", "--project", "prj_1")
    with (filled.project / ".wenfang/mirror").open() as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        result: Result = filled("sync", ".")
    assert (result.code, result.out) == (5, "")
    assert "Another sync" in result.err


def test_a_killed_sync_goes_on(filled: Command) -> None:
    """`kill -9` in the middle; then both sides become the same, and nothing comes twice."""
    for n in range(200):
        (filled.project / f"{n}.md").write_text(f"text {n}" * 50)
    process = filled.popen("sync", ".", "--project", "prj_1")
    assert process.stdout
    assert process.stdout.readline()
    process.kill()
    process.wait(30)
    process.communicate()
    assert filled("sync", ".", "--project", "prj_1").code == 0
    assert folder(filled) == texts(filled)
    assert len(folder(filled)) == 202


def test_a_project_of_an_earlier_version_moves_in_first(filled: Command) -> None:
    """Its texts were in a folder of the data directory."""
    old = filled.data / "projects/prj_2"
    old.mkdir(parents=True)
    (old / "旧.md").write_text("旧", "utf-8")

    async def outdate() -> None:
        async with open_database(filled.data / FILE) as database:
            mine = projects.c.id == "prj_2"
            values = {"path": str(old)}
            await database.write(
                lambda tx: tx.sa.execute(projects.update().where(mine).values(values)) and None
            )

    asyncio.run(outdate())
    assert filled("sync", ".", "--project", "prj_2").code == 0
    assert folder(filled) == {"旧.md": "旧"}


def test_an_open_studio_is_told(filled: Command) -> None:
    """One fact for each change of the project; what changed in the folder is nobody's news there."""
    filled("sync", ".", "--project", "prj_1")
    root = filled.project
    (root / "大纲.md").write_text("一\n\n二\n\n叁\n", "utf-8")
    write(filled, "大纲.md", "壹\n\n二\n\n三\n")
    (root / "正文/第一章.md").rename(root / "正文/第二章.md")
    (root / "new").mkdir()
    (root / "new/x.md").write_text("x")
    filled("sync", ".")
    (root / "new/x.md").write_text("y")
    write(filled, "大纲.md", "其他")
    (root / "大纲.md").write_text("别的", "utf-8")
    filled("sync", ".")
    (root / "new/x.md").unlink()
    filled("sync", ".")
    with sqlite3.connect(filled.data / FILE) as database:
        rows = database.execute("SELECT pseq, kind, body FROM events ORDER BY pseq").fetchall()
    database.close()
    assert [(n, kind) for n, kind, _ in rows] == [(n, "file.changed") for n in range(1, 8)]
    told = [json.loads(body) for _, _, body in rows]
    (beside,) = [path for path in texts(filled) if "conflict" in path]
    assert sorted((each["change"], each["path"], each.get("to")) for each in told) == sorted(
        [
            ("written", "大纲.md", None),
            ("renamed", "正文/第一章.md", "正文/第二章.md"),
            ("created", "new", None),
            ("created", "new/x.md", None),
            ("written", "new/x.md", None),
            ("created", beside, None),
            ("deleted", "new/x.md", None),
        ]
    )
    assert {each["by"] for each in told} == {"author"}
    (merged,) = [each for each in told if each["path"] == "大纲.md"]
    assert merged["revision"] == sha256("壹\n\n二\n\n叁\n".encode()).hexdigest()


def test_what_was_done_before_a_failure_is_told(
    filled: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled("sync", ".", "--project", "prj_1")
    (filled.project / "a").mkdir()
    write(filled, "大纲.md", "新")

    def full(*_: object, **__: object) -> None:
        raise WorkspaceError("disk_full")

    monkeypatch.setattr(Workspace, "write_text", full)
    assert filled("sync", ".").code == 5
    with sqlite3.connect(filled.data / FILE) as database:
        assert database.execute("SELECT count(*) FROM events").fetchone() == (1,)
    database.close()


def test_a_path_is_what_was_given(filled: Command, tmp_path: Path) -> None:
    """A link to the folder is the folder."""
    filled("sync", ".", "--project", "prj_1")
    (tmp_path / "link").symlink_to(filled.project)
    result = filled("sync", str(tmp_path / "link"))
    assert (result.code, result.err) == (0, "Both sides are the same.\n")
