"""What every store of files keeps to, in the database and in a folder of the disk (`Files`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.workspace.stores import PROJECTS, Home, OneSqlite, add_projects

from wenfang.workspace import Files, FolderFiles, Workspace, WorkspaceError, revision_of
from wenfang.workspace.project import By, ProjectFiles

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def in_database(home: Home, tmp: Path, limit: int) -> AsyncGenerator[Files]:
    async with home.open(tmp) as database:
        await add_projects(database)
        yield ProjectFiles(
            database, PROJECTS[0], by=By(actor="author"), clock=lambda: 1.0, text_limit_bytes=limit
        )


@asynccontextmanager
async def in_folder(tmp: Path, limit: int) -> AsyncGenerator[Files]:
    yield FolderFiles(Workspace(tmp, text_limit_bytes=limit))


@pytest.fixture(params=["database", "postgres", "folder"])
async def files(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Files]:
    if request.param == "folder":
        store = in_folder(tmp_path, 1000)
    else:
        of_server = request.param == "postgres"
        home = request.getfixturevalue("on_postgres") if of_server else OneSqlite()
        store = in_database(home, tmp_path, 1000)
    async with store as opened:
        yield opened


async def refused(work: Awaitable[Any], code: str) -> WorkspaceError:
    with pytest.raises(WorkspaceError) as failure:
        await work
    assert failure.value.code == code
    return failure.value


async def paths(files: Files, path: str = "", *, recursive: bool = True) -> list[str]:
    return [each.path for each in (await files.listing(path, recursive=recursive)).entries]


async def test_a_text_from_its_first_word_to_the_trash(files: Files) -> None:
    saved = await files.write("正文/第一章.md", "\ufeff雨。\r\n", base=None)
    data = "\ufeff雨。\r\n".encode()
    assert (saved.previous, saved.hash, saved.item.size_bytes) == (
        None,
        revision_of(data),
        len(data),
    )
    read = await files.read("正文/第一章.md")
    assert (read.text, read.item.hash) == ("\ufeff雨。\r\n", saved.hash)
    conflict = await refused(files.write("正文/第一章.md", "x", base=None), "revision_conflict")
    assert conflict.params["revision"] == saved.hash
    changed = await files.change("正文/第一章.md", lambda text: text + "雪。")
    assert (changed.previous, changed.hash) == (saved.hash, revision_of(data + "雪。".encode()))
    await refused(files.write("正文/第一章.md", "x", base=saved.hash), "revision_conflict")
    await refused(files.write("没有.md", "x", base=saved.hash), "revision_conflict")
    await files.write("正文/第一章.md", "风。", base="*")
    moved = await files.move("正文/第一章.md", "旧/一.md")
    assert moved.path == "旧/一.md"
    trash = await files.delete("旧")
    await refused(files.read("旧/一.md"), "file_not_found")
    assert (await files.restore(trash)).path == "旧"
    assert (await files.read("旧/一.md")).text == "风。"
    await refused(files.restore(trash), "trash_not_found")


async def test_what_a_change_raises_leaves_the_file_as_it_is(files: Files) -> None:
    await files.write("a.md", "雨", base=None)

    def fail(text: str) -> str:
        raise ValueError(text)

    with pytest.raises(ValueError, match="雨"):
        await files.change("a.md", fail)
    assert (await files.read("a.md")).text == "雨"
    await refused(files.change("none.md", str), "file_not_found")


async def test_listings(files: Files) -> None:
    assert await paths(files) == []
    for path in ("第1章.md", "第2章.md", "第10章.md", "资料/年表.md", "资料/人物/李青.md"):
        await files.write(path, "雨", base=None)
    whole = await files.listing()
    assert [each.path for each in whole.entries] == [
        "第1章.md", "第2章.md", "第10章.md", "资料", "资料/人物", "资料/人物/李青.md", "资料/年表.md",
    ] or [each.path for each in whole.entries] == [
        "第1章.md", "第2章.md", "第10章.md", "资料", "资料/年表.md", "资料/人物", "资料/人物/李青.md",
    ]  # fmt: skip
    assert (whole.files, whole.folders, whole.size_bytes, whole.truncated) == (5, 2, 15, False)
    top = await files.listing(recursive=False)
    assert [each.path for each in top.entries] == ["第1章.md", "第2章.md", "第10章.md", "资料"]
    assert (top.files, top.folders) == (3, 1)
    below = await files.listing("资料", recursive=False)
    assert sorted(each.path for each in below.entries) == ["资料/人物", "资料/年表.md"]
    assert below.path == "资料"
    few = await files.listing(limit=2)
    assert (len(few.entries), few.truncated, few.files) == (2, True, 5)
    await refused(files.listing("没有"), "file_not_found")


async def test_reading_piece_by_piece(files: Files) -> None:
    await files.write("a.md", "雨" * 300, base=None)
    async with files.open("a.md") as file:
        assert file.entry.path == "a.md"
        assert await asyncio.to_thread(file.stream.read, 3) == "雨".encode()
        assert len(await asyncio.to_thread(file.stream.read)) == 897
    with pytest.raises(WorkspaceError, match=r"none\.md"):
        async with files.open("none.md"):
            pass


async def test_finding(files: Files) -> None:
    await files.write("第1章.md", "夜雨\n雨夜 RAIN", base=None)
    await files.write("第2章.md", "晴", base=None)
    found = await files.find("雨")
    assert (found.total, found.files) == (2, 1)
    assert [(hit.path, hit.line, hit.column) for hit in found.hits] == [
        ("第1章.md", 1, 2), ("第1章.md", 2, 1),
    ]  # fmt: skip
    assert (await files.find("rain")).total == 1
    assert (await files.find("rain", match_case=True)).total == 0
    assert len((await files.find("雨", limit=1)).hits) == 1


async def test_adding_never_touches_what_is_there(files: Files) -> None:
    await files.write("书.md", "旧", base=None)
    (one,) = await files.add("书.md", "新")
    assert (one.path, one.hash) == ("书 (2).md", revision_of("新".encode()))
    made = await files.add("书", {"01 一.md": "1", "02 二.md": "2"})
    again = await files.add("书", {"01 一.md": "3"})
    assert [each.path for each in (*made, *again)] == [
        "书/01 一.md",
        "书/02 二.md",
        "书 (2)/01 一.md",
    ]
    await refused(files.add("卷", {"1.md": "雨", "2.md": "雪" * 400}), "file_too_large")
    for name in ("a/b.md", "..", ".wenfang", ".git", "a\\b.md", "", "con"):
        await refused(files.add("卷", {"1.md": "雨", name: "雪"}), "path_invalid")
    assert "卷" not in await paths(files)
    assert (await files.read("书.md")).text == "旧"


REFUSED = {
    "a-way-out": ("../x.md", "path_invalid"),
    "absolute": ("/etc/x.md", "path_invalid"),
    "ours": (".wenfang/x.md", "path_invalid"),
    "a-device": ("con.md", "path_invalid"),
    "nothing": ("", "path_invalid"),
    "a-trailing-dot": ("a.", "path_invalid"),
    "a-control-character": ("a\n.md", "path_invalid"),
    "below-a-file": ("file.md/x.md", "path_invalid"),
    "a-folder": ("folder", "path_invalid"),
}


@pytest.mark.parametrize("row", REFUSED)
async def test_no_place_for_a_text(files: Files, row: str) -> None:
    path, code = REFUSED[row]
    await files.write("file.md", "x", base=None)
    await files.create_folder("folder")
    await refused(files.write(path, "x", base="*"), code)
    assert sorted(await paths(files)) == ["file.md", "folder"]


async def test_names_that_look_alike_are_one(files: Files) -> None:
    await files.write("Plan.md", "雨", base=None)
    assert (await files.read("plan.MD")).item.path == "Plan.md"
    await refused(files.write("PLAN.md", "x", base=None), "revision_conflict")
    assert (await files.move("plan.md", "PLAN.md")).path == "PLAN.md"
    await refused(files.create_folder("plan.md"), "path_exists")
    await files.write("b.md", "雪", base=None)
    await refused(files.move("b.md", "plan.md"), "path_exists")
    await files.create_folder("f")
    await refused(files.move("f", "f/g"), "path_invalid")


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "雨" * 334])
async def test_what_cannot_be_kept(files: Files, text: str) -> None:
    code = "file_too_large" if len(text) > 10 else "file_not_text"
    await refused(files.write("a.md", text, base="*"), code)
    await files.write("a.md", "雨", base=None)
    await refused(files.change("a.md", lambda _: text), code)
    assert (await files.read("a.md")).text == "雨"


async def test_versions_that_do_not_exist(files: Files) -> None:
    await files.write("a.md", "雨", base=None)
    await refused(files.read("a.md", 99), "revision_not_found")
    await refused(files.restore_revision("a.md", 99), "revision_not_found")
    await refused(files.revisions("none.md"), "file_not_found")


async def test_of_many_writers_of_one_text_one_wins(files: Files) -> None:
    saved = await files.write("a.md", "0", base=None)
    outcomes = await asyncio.gather(
        *(files.write("a.md", str(n), base=saved.hash) for n in range(1, 9)), return_exceptions=True
    )
    won = [each for each in outcomes if not isinstance(each, BaseException)]
    assert len(won) == 1
    assert {e.code for e in outcomes if isinstance(e, WorkspaceError)} == {"revision_conflict"}
    assert (await files.read("a.md")).item.hash == won[0].hash
    await asyncio.gather(*(files.change("a.md", lambda t: t + "x") for _ in range(4)))
    assert (await files.read("a.md")).text.endswith("xxxx")
