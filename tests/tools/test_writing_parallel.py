"""parallel_execute (writing.md TL-19, TL-20, TL-23, M2)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.tools.writing_desk import SCREENPLAY, Study, open_study

from wenfang.core import FileCreated, FileWritten
from wenfang.tools.writing import RESULT_CHARS

pytestmark = pytest.mark.anyio


def chapter(title: str, content: str = "风起了。", **more: Any) -> dict[str, Any]:
    params = {"title": title, "content": content, **more}
    return {"type": "write_chapter", "description": f"写{title}", "params": params}


async def run(study: Study, *tasks: dict[str, Any]) -> Any:
    return await study.call("parallel_execute", tasks=list(tasks))


async def test_tl_19_all_kinds_of_tasks(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("设定/海.md", "无边的海", kind="lore")
        gone = await study.write_as_ai("设定/山.md", "山", kind="lore")
        got = await run(
            study,
            chapter("第一章"),
            {
                "type": "edit_file",
                "params": {"file_id": ref, "edits": [{"old": "无边", "new": "蓝色"}]},
            },
            {"type": "delete_file", "params": {"id": gone}},
            {"type": "query_files", "params": {"id": ref}},
        )
        assert (got.data["completed"], got.data["failed"], got.data["any_failed"]) == (4, 0, False)
        assert [each["status"] for each in got.data["tasks"]] == ["completed"] * 4
        assert sorted(await study.paths()) == ["正文", "正文/第一章.md", "设定", "设定/海.md"]
        assert await study.text(ref) == "蓝色的海"
        kinds = sorted(effect.type for effect in got.output.effects)
        assert kinds == [
            "file_created",
            "file_deleted",
            "file_read",
            "file_written",
            "file_written",
        ]
        written = [each for each in got.output.effects if isinstance(each, FileWritten)]
        assert sorted(each.words_added for each in written) == [2, 3]
        assert study.desk.blanks.newest() is None
        assert [part for _, part in study.progress] == [0.25, 0.5, 0.75, 1.0]


async def test_tl_19_five_at_most(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        got = await run(study, *(chapter(f"第{n}章") for n in range(1, 8)))
        assert (got.data["total_tasks"], got.data["dropped_count"]) == (5, 2)
        assert got.data["requested_task_count"] == 7
        assert "not begun" in got.data["note"]
        assert len(await study.paths()) == 6


async def test_tl_19_two_at_a_time(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        running, most = 0, 0
        compose = study.desk.files.compose

        async def counted(*args: Any, **kwargs: Any) -> Any:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            try:
                return await compose(*args, **kwargs)
            finally:
                running -= 1

        study.desk.files.compose = counted  # type: ignore[method-assign]
        await run(study, *(chapter(f"第{n}章") for n in range(1, 6)))
        assert most == 2


async def test_tl_19_not_while_a_blank_file_waits(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.call("create_file", title="第一章", file_type="draft")
        got = await run(study, chapter("第二章"))
        assert got.error_type == "pending_empty_file_unwritten"
        assert "'第一章'" in got.told["error"]
        assert await study.paths() == ["正文", "正文/第一章.md"]


async def test_tl_19_what_failed_is_told_and_the_rest_is_done(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        own = await study.write("正文/第一章.md", "作者写的", kind="draft")
        got = await run(
            study,
            chapter("第二章"),
            {"type": "delete_file", "params": {"id": own}},
            {"type": "edit_file", "params": {"id": own}},
            chapter("第一章"),
            chapter("a/b"),
        )
        assert (got.told["status"], got.error_type) == ("error", "task_failed")
        assert got.output.is_error
        data = got.told["data"]
        assert (data["completed"], data["failed"], data["any_failed"]) == (1, 4, True)
        assert [each.get("error_type") for each in data["tasks"]] == [
            None,
            "author_edit_protected",
            "invalid_arguments",
            "title_taken",
            "invalid_title",
        ]
        assert await study.text("正文/第二章") == "风起了。"
        assert await study.text(own) == "作者写的"
        people = got.details["data"]["tasks"]
        assert people[1]["error"] == "里面有你亲手写的文字，没有删除或替换。"
        assert people[0]["result_preview"] == "正文/第二章.md"
        assert [type(each) for each in got.output.effects] == [FileCreated, FileWritten]


async def test_tl_19_two_edits_of_one_file_are_both_made(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", "甲乙")
        await study.call("query_files", id=ref)
        study.desk.seen.next_call()
        edits = [{"type": "edit_file", "params": {"id": ref, "edits": [{"op": "append", "text": t}]}}
                 for t in "丙丁戊"]  # fmt: skip
        got = await run(study, *edits)
        assert got.data["completed"] == 3
        assert sorted(await study.text(ref)) == sorted("甲乙\n丙\n丁\n戊")


@pytest.mark.parametrize(("count", "expected"), [(1, 160_000), (5, 32_000)])
async def test_tl_19_each_task_has_its_share_of_the_result(
    tmp_path: Path, count: int, expected: int
) -> None:
    async with open_study(tmp_path) as study:
        await study.write("a.md", "长" * 300_000)
        got = await run(study, *[{"type": "query_files", "params": {"id": "a"}}] * count)
        lengths = {len(each["result"]["content"]) for each in got.data["tasks"]}
        assert all(expected * 0.8 < length <= expected for length in lengths)
        assert len(got.output.content) <= RESULT_CHARS
        assert {each["result"]["range"]["total_chars"] for each in got.data["tasks"]} == {300_000}


async def test_tl_19_a_small_result_still_has_4000_characters_for_each(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        small = study.with_desk(result_chars=5000)
        await small.write("a.md", "长" * 300_000)
        got = await run(small, *[{"type": "query_files", "params": {}}] * 3)
        assert got.data["completed"] == 3


# the folder that is named, the kind that is given, the kind of the file
KINDS: dict[str, tuple[str | None, str | None, str]] = {
    "TL-20-character": ("人物", None, "character"),
    "TL-20-lore-below": ("设定/海", None, "lore"),
    "TL-20-outline": ("大纲", None, "outline"),
    "TL-20-draft": ("正文", None, "draft"),
    "TL-20-unknown-folder": ("杂", None, "draft"),
    "TL-20-no-folder": (None, None, "draft"),
    "TL-20-given": ("人物", "lore", "lore"),
}


@pytest.mark.parametrize("row", KINDS)
async def test_tl_20_the_folder_says_what_it_is(tmp_path: Path, row: str) -> None:
    folder, given, kind = KINDS[row]
    async with open_study(tmp_path) as study:
        await study.author.create("杂", "folder")
        await study.author.create("设定", "folder", holds="lore")
        await study.author.create("设定/海", "folder")
        more = {} if given is None else {"file_type": given}
        if folder is not None:
            more["parent_id"] = folder
        got = await run(study, chapter("第一章", **more))
        assert got.data["tasks"][0]["result"]["file_type"] == kind


async def test_tl_20_in_a_screenplay_it_is_a_script(tmp_path: Path) -> None:
    async with open_study(tmp_path, SCREENPLAY) as study:
        got = await run(study, chapter("第1集"))
        assert got.data["tasks"][0]["result"]["path"] == "剧本/第1集.md"
        assert got.data["tasks"][0]["result"]["file_type"] == "script"


async def test_tl_23_a_chapter_takes_the_quotes_of_those_beside_it(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.write("正文/第一章.md", "「早。」他说。「好。」\n", kind="draft")
        await run(study, chapter("第二章", '"晚。"她说。'), chapter("海", '"x"', file_type="lore"))
        assert await study.text("正文/第二章") == "「晚。」她说。"
        assert await study.text("设定/海") == '"x"'


async def test_a_blank_file_that_was_left_behind_is_filled(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        left = await study.write("正文/第一章.md", "", kind="draft")
        got = await run(study, chapter("第一章"))
        assert got.data["tasks"][0]["result"]["id"] == left
        assert await study.text(left) == "风起了。"


async def test_a_stopped_batch_finishes_what_it_began(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        task = asyncio.create_task(run(study, *(chapter(f"第{n}章") for n in range(1, 6))))
        while len(await study.paths()) < 2:
            await asyncio.sleep(0)
        task.cancel()
        got = await task
        data = got.told["data"]
        files = [path for path in await study.paths() if path.endswith(".md")]
        assert len(files) == data["completed"] < 5
        assert len([each for each in got.output.effects if isinstance(each, FileWritten)]) == len(
            files
        )
        stopped = [each for each in data["tasks"] if each["status"] == "failed"]
        assert {each["error_type"] for each in stopped} == {"tool_disabled"}
