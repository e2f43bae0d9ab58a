"""edit_file and what the model has seen (writing.md TL-9 to TL-15, TL-23, TL-24, AE-1, VR-4)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.tools.writing_desk import Study, open_study

from wenfang.core import FileRead, FileWritten
from wenfang.tools.writing import Seen
from wenfang.workspace.project import FileLocks

pytestmark = pytest.mark.anyio

TEXT = "第一段，风起了。\n\n第二段，雨停了。\n\n第三段，风起了。\n"


async def edited(study: Study, ref: str, *edits: dict[str, Any], **more: Any) -> Any:
    return await study.call("edit_file", id=ref, edits=list(edits), **more)


# edits, the text afterwards
EDITS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "replace": ([{"op": "replace", "old": "雨停了", "new": "雪停了"}], TEXT.replace("雨", "雪")),
    "op-left-out": ([{"old": "雨停了", "new": "雪停了"}], TEXT.replace("雨", "雪")),
    "delete": ([{"op": "delete", "old": "，雨停了"}], TEXT.replace("，雨停了", "")),
    "empty-new-deletes": ([{"old": "，雨停了", "new": ""}], TEXT.replace("，雨停了", "")),
    "insert_after": (
        [{"op": "insert_after", "anchor": "雨停了。", "text": "天亮了。"}],
        TEXT.replace("雨停了。", "雨停了。天亮了。"),
    ),
    "insert_before": (
        [{"op": "insert_before", "anchor": "第二段", "text": "（"}],
        TEXT.replace("第二段", "（第二段"),
    ),
    "append": ([{"op": "append", "text": "完。"}], TEXT + "完。"),
    "prepend": ([{"op": "prepend", "text": "题记"}], "题记\n" + TEXT),
    "occurrence": ([{"old": "风起了", "new": "云起了", "occurrence": 2}], TEXT[:-5] + "云起了。\n"),
    "replace_all": (
        [{"old": "风起了", "new": "云起了", "replace_all": "true"}],
        TEXT.replace("风", "云"),
    ),
    "TL-2-not-all": (
        [{"old": "雨停了", "new": "雪停了", "replace_all": "false"}],
        TEXT.replace("雨", "雪"),
    ),
    "TL-9-fuzzy": ([{"old": "第二段 雨停了", "new": "第二段，雪停了"}], TEXT.replace("雨", "雪")),
    "TL-11-text-for-new": ([{"old": "雨停了", "text": "雪停了"}], TEXT.replace("雨", "雪")),
    "TL-11-content-for-new": ([{"old": "雨停了", "content": "雪停了"}], TEXT.replace("雨", "雪")),
    "TL-11-new_text": ([{"old": "雨停了", "new_text": "雪停了"}], TEXT.replace("雨", "雪")),
    "TL-11-replacement": ([{"old": "雨停了", "replacement": "雪停了"}], TEXT.replace("雨", "雪")),
    "TL-11-old_str": ([{"old_str": "雨停了", "new_str": "雪停了"}], TEXT.replace("雨", "雪")),
    "two": (
        [{"old": "雨停了", "new": "雪停了"}, {"op": "append", "text": "完。"}],
        TEXT.replace("雨", "雪") + "完。",
    ),
}


@pytest.mark.parametrize("row", EDITS)
async def test_edits(tmp_path: Path, row: str) -> None:
    edits, after = EDITS[row]
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("正文/第一章.md", TEXT, kind="draft")
        done = await edited(study, ref, *edits)
        assert await study.text(ref) == after
        assert done.data["edits_applied"] == len(edits)
        assert done.data["mutation_applied"] is True
        assert done.data["new_length"] == len(after)
        assert [each["success"] for each in done.data["details"]] == [True] * len(edits)
        assert done.effects == ["file_written 正文/第一章.md"]
        assert bool(done.data["warnings"]) == ("TL-11-" in row or "fuzzy" in row) or row.endswith(
            "old_str"
        )


# edits, error type, words of the text
FAILURES: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "TL-11-no-new": ([{"old": "雨停了"}], "invalid_edit", "new"),
    "TL-11-null-new": ([{"old": "雨停了", "new": None}], "invalid_edit", "new"),
    "TL-11-empty-insert": (
        [{"op": "insert_after", "anchor": "雨停了", "text": ""}],
        "invalid_edit",
        "text",
    ),
    "TL-11-empty-append": ([{"op": "append", "text": ""}], "invalid_edit", "text"),
    "TL-13-not-found": (
        [{"old": "海面上没有船", "new": "x"}],
        "anchor_not_found",
        "not in the file",
    ),
    "TL-9-ambiguous": ([{"old": "风起了", "new": "x"}], "anchor_ambiguous", "occurrence=2"),
    "TL-12-all-or-none": (
        [{"old": "雨停了", "new": "雪"}, {"old": "海面上没有船", "new": "x"}],
        "anchor_not_found",
        "send the whole list again",
    ),
    "same": ([{"old": "雨停了", "new": "雨停了"}], "invalid_edit", "same"),
}


@pytest.mark.parametrize("row", FAILURES)
async def test_edits_that_fail_change_nothing(tmp_path: Path, row: str) -> None:
    edits, error_type, words = FAILURES[row]
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("正文/第一章.md", TEXT, kind="draft")
        done = await edited(study, ref, *edits)
        assert done.error_type == error_type
        assert words in done.told["error"]
        assert done.output.effects == ()
        assert done.told["data"]["failed_edits"]
        assert await study.text(ref) == TEXT
        assert len(await study.versions("正文/第一章.md")) == 1


async def test_tl_12_the_others_are_made_if_asked(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", TEXT)
        done = await edited(
            study,
            ref,
            {"old": "雨停了", "new": "雪停了"},
            {"old": "海面上没有船", "new": "x"},
            continue_on_error="1",
        )
        assert (done.told["status"], done.error_type) == ("error", "anchor_not_found")
        assert done.output.is_error
        assert [each["success"] for each in done.told["data"]["details"]] == [True, False]
        assert await study.text(ref) == TEXT.replace("雨", "雪")
        assert done.effects == ["file_written a.md"]


async def test_tl_10_what_was_found_is_told(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", TEXT)
        done = await edited(study, ref, {"old": "第二段 雨停了", "new": "第二段，雪停了"})
        assert done.data["details"][0]["matched_original"] == "第二段，雨停了"
        assert "similar" in done.data["warnings"][0]


async def test_the_reference_may_be_an_id_a_path_or_a_path_without_its_ending(
    tmp_path: Path,
) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("正文/第一章.md", "甲", kind="draft")
        for count, each in enumerate((ref, "正文/第一章.md", "正文/第一章", "正文/第一章.MD"), 1):
            await edited(study, each, {"op": "append", "text": str(count)})
        assert (await study.text(ref)).split() == ["甲", "1", "2", "3", "4"]
        assert (
            await edited(study, "正文", {"op": "append", "text": "x"})
        ).error_type == "invalid_edit"
        for odd in (
            "第一章",
            "../正文/第一章.md",
            "/etc/passwd",
            "a\0b",
            "fil_1' OR '1'='1",
            "x" * 9999,
        ):
            got = await edited(study, odd, {"op": "append", "text": "x"})
            assert got.error_type == "file_not_found", odd
            assert len(got.told["error"]) < 700


@pytest.mark.parametrize("kind", ["draft", "script", "lore"])
async def test_tl_23_prose_takes_the_quotes_of_the_manuscript(tmp_path: Path, kind: str) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", "“早。”他说。\n", kind=kind)
        await edited(study, ref, {"op": "append", "text": '"晚。"她说。'})
        said = '"晚。"' if kind == "lore" else "“晚。”"
        assert await study.text(ref) == f"“早。”他说。\n{said}她说。"


async def test_tl_23_vr_4_what_no_version_holds_is_kept_first(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        limited = type(study.author)(
            study.database, "prj_1", by=study.author._by, clock=lambda: study.now, limit=1
        )
        await limited.write("a.md", "一", base=None, kind="draft")
        study.now += 10_000
        await limited.write("a.md", "二", base="*")  # saved, but no version holds it
        assert await study.versions("a.md") == [("author", "create")]
        await edited(study, "a.md", {"op": "append", "text": "三"})
        assert await study.versions("a.md") == [
            ("ai", "ai_edit"),
            ("system", "auto_save"),
            ("author", "create"),
        ]
        assert (await study.author.read("a.md", 2)).text == "二"


# TL-14


async def test_tl_14_a_read_is_known_from_the_next_turn_on(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", TEXT)
        await study.call("query_files", id=ref)
        study.desk.seen.next_call()
        await study.write("a.md", TEXT + "作者加的。\n")
        stale = await edited(study, ref, {"old": "雨停了", "new": "雪停了"})
        assert stale.error_type == "stale_content"
        assert await study.text(ref) == TEXT + "作者加的。\n"
        # In the same turn, the model wrote its next edit without the answer to this read.
        await study.call("query_files", id=ref)
        again = await edited(study, ref, {"old": "雨停了", "new": "雪停了"})
        assert again.error_type == "stale_content"
        study.desk.seen.next_call()
        assert (await edited(study, ref, {"old": "雨停了", "new": "雪停了"})).error_type is None
        assert await study.text(ref) == TEXT.replace("雨", "雪") + "作者加的。\n"


async def test_tl_14_a_part_tells_whether_it_is_stale(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", TEXT)
        await study.call("query_files", id=ref, start_char=0, max_chars=5)
        study.desk.seen.next_call()
        assert not study.desk.seen.is_whole(ref, study.desk.seen.revision(ref) or "")
        await study.write("a.md", TEXT + "作者加的。")
        assert (
            await edited(study, ref, {"op": "append", "text": "x"})
        ).error_type == "stale_content"


async def test_tl_14_ones_own_edits_are_known(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", TEXT)
        await study.call("query_files", id=ref)
        study.desk.seen.next_call()
        for n in range(3):
            assert (await edited(study, ref, {"op": "append", "text": f"{n}"})).error_type is None
        revision = (await study.author.at(ref)).hash or ""
        assert study.desk.seen.is_whole(ref, revision)


async def test_tl_14_what_was_never_read_is_found_by_its_words(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write("a.md", TEXT)
        assert (await edited(study, ref, {"old": "雨停了", "new": "雪停了"})).error_type is None


async def test_tl_14_stands_also_for_deleting(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("夹/a.md", TEXT, kind="lore")
        await study.call("query_files", id=ref)
        study.desk.seen.next_call()
        await study.write("夹/a.md", "作者的", kind="lore")
        for each in (ref, "夹"):
            got = await study.call("delete_file", id=each, recursive=True)
            assert got.error_type == "stale_content"
        assert await study.text(ref) == "作者的"


def read(revision: str, *, whole: bool = True) -> FileRead:
    return FileRead(path="a", revision=revision, file_id="F", whole=whole)


def wrote(previous: str, revision: str) -> FileWritten:
    return FileWritten(path="a", revision=revision, previous=previous, size_bytes=1, file_id="F")


# what happens ("|": the model is asked), the text it knows, whether all of it
SEEN: dict[str, tuple[list[Any], str | None, bool]] = {
    "TL-14-nothing": ([], None, False),
    "TL-14-not-yet": ([read("1")], None, False),
    "TL-14-then": ([read("1"), "|"], "1", True),
    "TL-14-part": ([read("1", whole=False), "|"], "1", False),
    "TL-14-part-of-a-known-whole": ([read("1"), "|", read("1", whole=False), "|"], "1", True),
    "TL-14-part-of-another-text": ([read("1"), "|", read("2", whole=False), "|"], "2", False),
    "TL-14-wrote-what-it-knew": ([read("1"), "|", wrote("1", "2")], "2", True),
    "TL-14-wrote-blindly": ([wrote("1", "2")], "2", False),
    "TL-14-read-and-wrote-in-one-turn": ([read("1"), wrote("1", "2"), "|"], "2", True),
    "TL-14-read-of-another-text-then-wrote": ([read("0"), wrote("1", "2"), "|"], "0", True),
    "TL-14-elsewhere": ([FileRead(path="a", revision="1"), "|"], None, False),
}


@pytest.mark.parametrize("row", SEEN)
def test_tl_14_seen(row: str) -> None:
    happened, revision, whole = SEEN[row]
    seen = Seen()
    for each in happened:
        if each == "|":
            seen.next_call()
        else:
            seen.observe(each)
    assert seen.revision("F") == revision
    assert revision is None or seen.is_whole("F", revision) == whole


# TL-15


async def test_tl_15_touching_what_the_author_wrote_is_told(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", TEXT, kind="draft")
        await study.write("a.md", TEXT.replace("雨停了", "大雨终于停了"))
        untouched = await edited(study, ref, {"old": "第一段", "new": "首段"})
        assert "author_edits_touched" not in untouched.data
        # The agent's own write is the last one now; the author's words before it are part of it.
        await study.write("a.md", (await study.text(ref)).replace("第三段", "末段"))
        await study.call("query_files", id=ref)
        study.desk.seen.next_call()
        touched = await edited(study, ref, {"old": "末段，", "new": "末段："})
        assert touched.data["author_edits_touched"] == ["末段，风起了。"]


async def test_tl_15_a_text_that_is_all_the_authors(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write("a.md", TEXT, kind="draft")
        done = await edited(study, ref, {"old": "雨停了", "new": "雪停了"})
        assert done.data["author_edits_touched"] == ["第二段，雨停了。"]


# TL-24


async def test_tl_24_a_file_that_is_held_is_busy(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", TEXT)
        study = study.with_desk(locks=FileLocks(wait_s=0.01))
        async with study.desk.locks.hold(ref, "a.md"):
            busy = await edited(study, ref, {"op": "append", "text": "x"})
            assert busy.error_type == "file_busy"
            assert (await study.call("query_files", id=ref)).error_type is None
        assert (await edited(study, ref, {"op": "append", "text": "x"})).error_type is None


async def test_tl_24_waits_half_a_second() -> None:
    loop = asyncio.get_running_loop()
    locks = FileLocks()
    async with locks.hold("F", "a.md"):
        began = loop.time()
        with pytest.raises(Exception, match="being changed"):
            async with locks.hold("F", "a.md"):
                raise AssertionError("held twice")
        assert 0.45 < loop.time() - began < 5
    async with locks.hold("F", "a.md"):
        pass


async def test_a_stopped_edit_is_told_as_made(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", TEXT)
        task = asyncio.create_task(edited(study, ref, {"op": "append", "text": "完。"}))
        for _ in range(20):
            await asyncio.sleep(0)
        task.cancel()
        done = await task
        assert done.effects == ["file_written a.md"]
        assert await study.text(ref) == TEXT + "完。"


async def test_words_added_count_what_was_put_in(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", TEXT, kind="draft")
        done = await edited(
            study,
            ref,
            {"op": "append", "text": "一二三 four five 6"},
            {"op": "delete", "old": "，雨停了"},
        )
        (effect,) = done.output.effects
        assert isinstance(effect, FileWritten)
        assert (effect.words_added, effect.kind, effect.file_id) == (5, "draft", ref)
