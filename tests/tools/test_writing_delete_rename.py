"""delete_file and rename_file (writing.md TL-2, TL-8, TL-16, AE-2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.tools.writing_desk import Study, open_study

from wenfang.core import ArgumentError
from wenfang.storage import blobs
from wenfang.workspace.project import By

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("word", [False, "false", "False", "0", 0, "", "no", "off", None])
async def test_tl_2_what_says_no_deletes_no_tree(tmp_path: Path, word: Any) -> None:
    async with open_study(tmp_path) as study:
        await study.write_as_ai("夹/a.md", "x", kind="lore")
        got = await study.call("delete_file", id="夹", recursive=word)
        assert got.error_type == "folder_not_empty"
        assert await study.paths() == ["夹", "夹/a.md"]


@pytest.mark.parametrize("word", [True, "true", "True", "1", 1, "yes"])
async def test_tl_2_what_says_yes_does(tmp_path: Path, word: Any) -> None:
    async with open_study(tmp_path) as study:
        await study.write_as_ai("夹/a.md", "x", kind="lore")
        got = await study.call("delete_file", id="夹", recursive=word)
        assert [each["title"] for each in got.data["deleted"]] == ["夹", "a"]
        assert got.effects == ["file_deleted 夹", "file_deleted 夹/a.md"]
        assert await study.paths() == []


@pytest.mark.parametrize("word", ["maybe", "2", 2, [], {"a": 1}])
async def test_tl_2_what_says_neither_is_refused(tmp_path: Path, word: Any) -> None:
    async with open_study(tmp_path) as study:
        await study.write_as_ai("夹/a.md", "x", kind="lore")
        with pytest.raises(ArgumentError, match="recursive"):
            await study.call("delete_file", id="夹", recursive=word)


async def test_an_empty_folder_and_a_file_need_no_leave(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.author.create("夹", "folder")
        file = await study.write_as_ai("a.md", "x", kind="draft")
        assert (await study.call("delete_file", id="夹")).effects == ["file_deleted 夹"]
        assert (await study.call("delete_file", id=file)).effects == ["file_deleted a.md"]
        assert (await study.call("delete_file", id=file)).error_type == "file_not_found"


# who wrote, one after the other (A author, I agent, S system); kind; whether it is deleted
WRITERS: dict[str, tuple[str, str, bool]] = {
    "TL-16-authors": ("A", "draft", False),
    "TL-16-authors-script": ("A", "script", False),
    "TL-16-agents": ("I", "draft", True),
    "TL-16-changed-by-the-author": ("IA", "draft", False),
    "TL-16-changed-by-the-agent-last": ("AI", "draft", True),
    "AE-2-a-templates": ("S", "draft", True),
    "AE-2-kept-by-the-system": ("AS", "draft", False),
    "TL-16-no-body": ("A", "lore", True),
    "TL-16-no-body-outline": ("IA", "outline", True),
}


async def write_by(study: Study, path: str, writers: str, kind: Any) -> str:
    ref = ""
    for count, who in enumerate(writers, 1):
        hands = {"A": study.author, "I": study.desk.files, "S": study.system}
        ref = (await hands[who].write(path, f"第{count}稿", base="*", kind=kind)).item.id
    return ref


@pytest.mark.parametrize("row", WRITERS)
@pytest.mark.parametrize("how", ["itself", "its folder"])
async def test_tl_16_an_authors_body_is_not_deleted(tmp_path: Path, row: str, how: str) -> None:
    writers, kind, is_deleted = WRITERS[row]
    async with open_study(tmp_path) as study:
        ref = await write_by(study, "夹/深/a.md", writers, kind)
        await study.write_as_ai("夹/b.md", "y", kind="draft")
        before = await study.paths()
        target = ref if how == "itself" else "夹"
        got = await study.call("delete_file", id=target, recursive=True)
        if is_deleted:
            assert got.error_type is None
            return
        assert got.error_type == "author_edit_protected"
        assert "夹/深/a.md" in got.told["error"]
        assert got.details["user_message"] == "里面有你亲手写的文字，没有删除或替换。"
        assert got.output.effects == ()
        assert await study.paths() == before


async def test_tl_16_a_blank_file_of_the_author_is_nobodys_text(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await write_by(study, "a.md", "A", "draft")
        ref = await study.write("a.md", "\n")
        assert (await study.call("delete_file", id=ref)).error_type is None


async def test_tl_16_what_cannot_be_found_out_is_kept(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", "很长的正文。" * 400, kind="draft")
        damage = blobs.update().values(data=b"broken")
        await study.database.write(lambda tx: tx.sa.execute(damage) and None)
        from wenfang.workspace.project import blobs as contents

        contents._recent.clear()
        got = await study.call("delete_file", id=ref)
        assert got.error_type == "author_edit_protected"
        assert await study.paths() == ["a.md"]


async def test_tl_16_more_than_can_be_checked_is_kept(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.desk.files.create("夹", "folder")
        for n in range(501):
            await study.desk.files.create(f"夹/{n}.md", "draft")
        got = await study.call("delete_file", id="夹", recursive=True)
        assert got.error_type == "author_edit_protected"
        assert len(await study.paths()) == 502
        await study.call("delete_file", id="夹/0")
        assert (await study.call("delete_file", id="夹", recursive=True)).error_type is None


async def test_tl_16_a_door_that_the_author_opens_by_hand(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write("a.md", "作者", kind="draft")
        free = study.with_desk(overwrite_author_text=True)
        assert (await free.call("delete_file", id=ref)).error_type is None


async def test_tl_8_renaming_keeps_id_and_text(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("正文/第一章.md", "风", kind="draft")
        got = await study.call("rename_file", id=ref, title="第九章 海")
        assert (got.data["id"], got.data["path"], got.data["order"]) == (
            ref,
            "正文/第九章 海.md",
            9,
        )
        assert got.data["previous_title"] == "第一章"
        assert got.effects == ["file_renamed 正文/第九章 海.md"]
        assert await study.text(ref) == "风"
        assert len(await study.versions("正文/第九章 海.md")) == 1


@pytest.mark.parametrize("title", ["第二章", "第二章.md", "第二章.MD", " 第二章 "])
async def test_tl_8_a_title_that_the_folder_has_is_refused(tmp_path: Path, title: str) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("正文/第一章.md", "风", kind="draft")
        await study.write_as_ai("正文/第二章.md", "海", kind="draft")
        await study.write_as_ai("别处/第三章.md", "山", kind="draft")
        got = await study.call("rename_file", id=ref, title=title)
        if title == "第二章.MD":  # another name, as it says an ending that is not the files' own
            assert got.data["path"] == "正文/第二章.MD.md"
        else:
            assert got.error_type == "title_taken"
            assert await study.text("正文/第一章") == "风"
        assert (await study.call("rename_file", id=ref, title="第三章")).error_type is None


async def test_renaming_to_the_same_name_in_another_spelling(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("plan.md", "x")
        await study.write_as_ai("zz.md", "x")
        got = await study.call("rename_file", id=ref, title="Plan")
        assert (got.data["path"], got.data["order"]) == ("Plan.md", 1)
        assert (await study.call("rename_file", id=ref, title="Plan")).error_type is None


async def test_renaming_a_folder_and_a_file_of_another_format(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write("夹/旧.txt", "x")
        assert (await study.call("rename_file", id="夹", title="卷一")).data["path"] == "卷一"
        got = await study.call("rename_file", id=ref, title="新")
        assert got.data["path"] == "卷一/新.txt"


async def test_a_renamed_blank_file_still_waits_under_its_new_name(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        made = await study.call("create_file", title="甲", file_type="draft")
        await study.call("rename_file", id=made.data["id"], title="乙")
        got = await study.call("create_file", title="丙", file_type="draft")
        assert "'乙'" in got.told["error"]


async def test_system_writes_are_versions_of_their_own(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        assert study.system._by == By(actor="system")
        await write_by(study, "a.md", "SIA", "draft")
        assert [actor for actor, _ in await study.versions("a.md")] == ["author", "ai", "system"]
