"""create_file and the guard of blank files (writing.md TL-1, TL-3 to TL-7, FC-14)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.tools.writing_desk import SCREENPLAY, Study, open_study

from wenfang.core import ArgumentError, FileCreated, FileDeleted, FileWritten
from wenfang.tools.writing import BlankGuard
from wenfang.workspace.project import root_folder_id

pytestmark = pytest.mark.anyio


async def fill(study: Study, ref: str, text: str = "风起了。") -> None:
    """What a codec does: the body is stored, and told of."""
    opened = await study.desk.files.opened(ref)
    saved = await study.desk.files.put(ref, text, base=opened.item.hash or "")
    study.desk.observe(
        FileWritten(
            path=saved.item.path,
            revision=saved.item.hash or "",
            previous=opened.item.hash or "",
            size_bytes=saved.item.size_bytes,
            file_id=saved.item.id,
        )
    )


async def test_tl_3_a_new_file_is_blank_and_in_the_folder_of_its_kind(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        made = await study.call("create_file", title="第三章 风起", file_type="draft")
        assert made.data["content"] == ""
        assert (made.data["title"], made.data["path"], made.data["order"]) == (
            "第三章 风起",
            "正文/第三章 风起.md",
            3,
        )
        assert "next_step" in made.data
        assert made.effects == ["file_created 正文/第三章 风起.md"]
        assert await study.paths() == ["正文", "正文/第三章 风起.md"]
        assert await study.text(made.data["id"]) == ""


async def test_tl_3_one_blank_file_at_a_time(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        first = await study.call("create_file", title="第一章", file_type="draft")
        second = await study.call("create_file", title="第二章", file_type="draft")
        assert second.error_type == "pending_empty_file_unwritten"
        assert "'第一章'" in second.told["error"]
        assert second.told["data"]["blocking_file"]["id"] == first.data["id"]
        assert second.details["user_message"] == "上一个新建的文件还没有写完。"
        assert second.output.effects == ()
        assert await study.paths() == ["正文", "正文/第一章.md"]
        await fill(study, first.data["id"])
        assert (
            await study.call("create_file", title="第二章", file_type="draft")
        ).error_type is None


async def test_tl_3_folders_need_no_text(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.call("create_file", title="第一章", file_type="draft")
        folder = await study.call("create_file", title="第一卷", file_type="folder")
        assert "content" not in folder.data
        again = await study.call("create_file", title="第一卷", file_type="folder")
        assert again.error_type == "title_taken"


async def test_tl_3_of_two_at_the_same_time_one_is_made(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        both = await asyncio.gather(
            *(study.call("create_file", title=title, file_type="draft") for title in ("甲", "乙"))
        )
        assert sorted(each.error_type or "" for each in both) == [
            "",
            "pending_empty_file_unwritten",
        ]
        assert len(await study.paths()) == 2


async def test_tl_3_a_create_that_fails_blocks_nothing(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        missing = await study.call(
            "create_file", title="甲", file_type="draft", parent_id="fil_none"
        )
        assert missing.error_type == "file_not_found"
        assert (await study.call("create_file", title="乙", file_type="draft")).error_type is None


@pytest.mark.parametrize("how", ["filled", "deleted", "deleted by its tool", "edited"])
async def test_tl_3_the_database_says_whether_it_is_still_blank(tmp_path: Path, how: str) -> None:
    async with open_study(tmp_path) as study:
        first = await study.call("create_file", title="第一章", file_type="draft")
        match how:
            case "filled":
                await study.author.write("正文/第一章.md", "作者写的。", base="*")
            case "deleted":
                await study.author.delete("正文/第一章.md")
            case "deleted by its tool":
                await study.call("delete_file", id=first.data["id"])
            case _:
                edits = [{"op": "append", "text": "风起。"}]
                await study.call("edit_file", id=first.data["id"], edits=edits)
        assert (
            await study.call("create_file", title="第二章", file_type="draft")
        ).error_type is None


async def test_tl_4_the_same_file_again(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        first = await study.call("create_file", title="第一章 风起", file_type="draft")
        again = await study.call("create_file", title=" 第一章　风起.md", file_type="draft")
        assert again.data == first.data
        assert again.output.effects == ()
        assert len(await study.paths()) == 2


async def test_tl_4_is_not_for_another_kind(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.call("create_file", title="老周", file_type="draft")
        other = await study.call("create_file", title="老周", file_type="character")
        assert other.error_type == "pending_empty_file_unwritten"


async def test_fc_14_only_its_own_text_frees_it() -> None:
    guard = BlankGuard()
    guard.observe(FileCreated(path="a.md", revision="0", size_bytes=0, file_id="F", kind="draft"))
    other = FileWritten(path="b.md", revision="2", previous="1", size_bytes=3, file_id="G")
    guard.observe(other)
    guard.observe(FileDeleted(path="b.md", file_id="G", kind="draft"))
    waiting = guard.newest()
    assert waiting is not None
    assert waiting.file_id == "F"
    guard.observe(FileWritten(path="a.md", revision="2", previous="0", size_bytes=3, file_id="F"))
    assert guard.newest() is None


async def test_a_blank_file_that_was_left_behind_is_taken(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        left = await study.write("正文/第一章.md", " \n", kind="draft")
        made = await study.call("create_file", title="第一章", file_type="draft")
        assert (made.data["id"], made.data["reused_existing"]) == (left, True)


@pytest.mark.parametrize("text", ["作者写的。", "AI"])
async def test_a_title_that_is_there_is_refused(tmp_path: Path, text: str) -> None:
    async with open_study(tmp_path) as study:
        write = study.write_as_ai if text == "AI" else study.write
        await write("正文/第一章.md", text, kind="draft")
        made = await study.call("create_file", title="第一章", file_type="draft")
        assert made.error_type == "title_taken"
        assert await study.text("正文/第一章") == text


# title, kind it is created with, kind of the file that is there, whether it is taken
EPISODES: dict[str, tuple[str, str, str | None, bool]] = {
    "TL-6-script": ("第2集", "script", "script", True),
    "TL-6-draft-asked": ("第2集", "draft", "script", True),
    "TL-6-draft-there": ("第2集", "script", "draft", True),
    "TL-6-document": ("第2集", "document", "document", True),
    "TL-6-lore": ("第2集", "lore", "script", False),
    "TL-6-another-title": ("第3集", "script", "script", False),
}


@pytest.mark.parametrize("row", EPISODES)
async def test_tl_6_an_episode_is_used_again(tmp_path: Path, row: str) -> None:
    title, kind, there, is_taken = EPISODES[row]
    async with open_study(tmp_path, SCREENPLAY) as study:
        old = await study.write_as_ai("剧本/第一季/第2集.md", "旧稿", kind=there)
        made = await study.call("create_file", title=title, file_type=kind)
        assert made.data.get("reused_existing", False) == is_taken
        assert (made.data["id"] == old) == is_taken
        if is_taken:
            assert made.data["original_content_length"] == 2
            assert made.data["content"] == ""
            assert (await study.author.at(old)).kind == "script"
            assert await study.text(old) == "旧稿"
            blocked = await study.call("create_file", title="第9集", file_type="script")
            assert blocked.error_type == "pending_empty_file_unwritten"
            await fill(study, old, "新稿")
            free = await study.call("create_file", title="第9集", file_type="script")
            assert free.error_type is None


async def test_tl_6_tl_16_never_an_authors(tmp_path: Path) -> None:
    async with open_study(tmp_path, SCREENPLAY) as study:
        old = await study.write_as_ai("剧本/第2集.md", "旧稿", kind="draft")
        await study.write("剧本/第2集.md", "作者改过的稿", kind="draft")
        made = await study.call("create_file", title="第2集", file_type="script")
        assert made.error_type == "author_edit_protected"
        assert (await study.author.at(old)).kind == "draft"
        assert await study.text(old) == "作者改过的稿"


async def test_tl_6_is_for_projects_with_a_folder_for_scripts(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.write_as_ai("正文/卷一/第2集.md", "旧稿", kind="draft")
        made = await study.call("create_file", title="第2集", file_type="draft")
        assert "reused_existing" not in made.data


# title, kind, the order asked for, the order it has behind a file at 7
ORDERS: list[tuple[str, str, int | None, int]] = [
    ("第三章 风起", "draft", None, 3),
    ("第三章 风起", "draft", 99, 3),
    ("Chapter 12: Rain", "draft", 1, 12),
    ("第十二章", "outline", 1, 12),
    ("第12集", "script", 1, 12),
    ("尾声", "draft", None, 8),
    ("尾声", "draft", 2, 2),
    ("第三章的人物", "character", None, 8),
    ("第三章", "character", 5, 5),
]


@pytest.mark.parametrize(("title", "kind", "order", "expected"), ORDERS)
async def test_tl_7_the_number_decides_the_order(
    tmp_path: Path, title: str, kind: str, order: int | None, expected: int
) -> None:
    async with open_study(tmp_path) as study:
        folder = await study.author.create("夹", "folder")
        await study.author.write("夹/第七章.md", "x", base=None, kind="draft")
        more = {} if order is None else {"order": order}
        made = await study.call("create_file", title=title, file_type=kind, parent_id="夹", **more)
        assert made.data["order"] == expected
        assert made.data["path"].startswith(folder.path)


async def test_tl_7_the_parent_is_a_folder_that_is_there(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        file = await study.write("注.md", "x")
        for parent in (file, "没有", "prj_1-none-folder", "../x", "prj_2-draft-folder"):
            made = await study.call("create_file", title="甲", file_type="draft", parent_id=parent)
            assert made.error_type in ("file_not_found", "invalid_arguments"), parent
        assert await study.paths() == ["注.md"]


@pytest.mark.parametrize("missing", ["never made", "in the trash", "another folder has its name"])
async def test_tl_7_folders_of_the_template_are_made_again(tmp_path: Path, missing: str) -> None:
    async with open_study(tmp_path) as study:
        wanted = root_folder_id("prj_1", "draft")
        if missing == "in the trash":
            await study.call("create_file", title="甲", file_type="draft")
            await study.author.delete("正文")
        if missing == "another folder has its name":
            await study.author.create("正文", "folder")
        made = await study.call("create_file", title="乙", file_type="draft", parent_id=wanted)
        assert made.data["path"] == "正文/乙.md"
        folder = next(each for each in await study.author.list() if each.path == "正文")
        assert (folder.id == wanted) == (missing != "another folder has its name")
        assert await study.paths() == ["正文", "正文/乙.md"]
        if missing != "another folder has its name":
            assert folder.holds == "draft"


async def test_tl_7_a_template_folder_may_have_another_name(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.call("create_file", title="甲", file_type="lore")
        await study.author.move("设定", "世界")
        study.desk.blanks.observe(
            FileDeleted(path="", file_id=(await study.author.at("世界/甲")).id, kind="lore")
        )
        made = await study.call("create_file", title="乙", file_type="lore")
        assert made.data["path"] == "世界/乙.md"


async def test_tl_7_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.write("正文", "我是一个文件")
        made = await study.call("create_file", title="甲", file_type="draft")
        assert made.error_type == "title_taken"
        assert await study.text("正文") == "我是一个文件"


async def test_tl_1_the_project_is_the_servers_to_say(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        theirs = study.hand(study.author._by, "prj_2")
        other = await theirs.write("秘密.md", "x", base=None)
        made = await study.call(
            "create_file", title="甲", file_type="draft", project_id="prj_2", user_id="u"
        )
        assert made.data["path"] == "正文/甲.md"
        assert [each.path for each in await theirs.list()] == ["秘密.md"]
        for name, more in (
            ("query_files", {}),
            ("delete_file", {"recursive": True}),
            ("rename_file", {"title": "乙"}),
            ("edit_file", {"edits": [{"op": "append", "text": "y"}]}),
        ):
            got = await study.call(name, id=other.item.id, project_id="prj_2", **more)
            assert got.error_type == "file_not_found", name
        inside = await study.call(
            "create_file", title="丙", file_type="folder", parent_id=other.item.id
        )
        assert inside.error_type == "file_not_found"
        assert [each.path for each in await theirs.list()] == ["秘密.md"]
        assert (await theirs.read("秘密.md")).text == "x"


async def test_what_is_no_argument_is_refused(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        with pytest.raises(ArgumentError, match="file_type"):
            await study.call("create_file", title="甲", file_type="novel")
        with pytest.raises(ArgumentError, match="unknown argument"):
            await study.call("create_file", title="甲", file_type="draft", colour="red")
