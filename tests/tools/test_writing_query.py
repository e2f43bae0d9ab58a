"""query_files (writing.md TL-15, TL-17, TL-18, AE-1) and the size of results."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.writing_desk import open_study

from wenfang.core import ArgumentError, FileRead
from wenfang.lang import count_words
from wenfang.tools.writing import capped

pytestmark = pytest.mark.anyio

BOOK = "# 序\n题记。\n\n## 第一章 风起\n风起了。\n\n### 一\n海。\n\n## 第二章 雨停\n雨停了。\n"


async def test_tl_17_one_file_is_whole(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write("正文/第一章.md", "风 起 wind rises 12", kind="draft")
        got = await study.call("query_files", id=ref)
        assert got.data["content"] == "风 起 wind rises 12"
        assert got.data["word_count"] == 4
        assert got.data["content_length"] == 17
        assert "range" not in got.data
        assert "author_edits" not in got.data
        assert "content" not in got.details["data"]
        (effect,) = got.output.effects
        assert effect == FileRead(
            path="正文/第一章.md",
            revision=(await study.author.at(ref)).hash or "",
            file_id=ref,
            whole=True,
        )


async def test_tl_17_a_list_shows_beginnings(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.write("a.md", "长" * 500, kind="lore")
        await study.write("b.md", "短", kind="lore")
        got = await study.call("query_files")
        first, second = got.data["files"]
        assert (first["preview"], first["content_truncated"]) == ("长" * 200, True)
        assert (first["word_count"], first["content_length"]) == (500, 500)
        assert (second["preview"], second["content_truncated"]) == ("短", False)
        assert [effect.whole for effect in got.output.effects if isinstance(effect, FileRead)] == [
            False,
            True,
        ]
        short = await study.call("query_files", content_preview_chars=3)
        assert short.data["files"][0]["preview"] == "长长长"
        none = await study.call("query_files", include_content="false")
        assert "preview" not in none.data["files"][0]
        assert none.output.effects == ()


@pytest.mark.parametrize(("mode", "limit"), [(None, 50), ("summary", 50), ("full", 10)])
async def test_tl_17_limits(tmp_path: Path, mode: str | None, limit: int) -> None:
    async with open_study(tmp_path) as study:
        for n in range(55):
            await study.write(f"第{n + 1}章.md", f"第{n}", kind="draft")
        more = {} if mode is None else {"response_mode": mode}
        got = await study.call("query_files", **more)
        assert (len(got.data["files"]), got.data["total"]) == (limit, 55)
        assert got.data["next_offset"] == limit
        assert ("content" in got.data["files"][0]) == (mode == "full")
        rest = await study.call("query_files", offset=limit, limit=200, **more)
        assert len(rest.data["files"]) == 55 - limit
        assert "next_offset" not in rest.data
        titles = [each["title"] for each in (*got.data["files"], *rest.data["files"])]
        assert titles == [f"第{n + 1}章" for n in range(55)]


# arguments, the titles found
FOUND: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all": ({}, ["设定", "海", "正文", "第一章 风起", "第二章 雨停"]),
    "type": ({"file_type": "draft"}, ["第一章 风起", "第二章 雨停"]),
    "types": ({"file_types": ["lore", "draft"]}, ["海", "第一章 风起", "第二章 雨停"]),
    "types-as-text": ({"file_types": "lore"}, ["海"]),
    "folders": ({"file_type": "folder"}, ["设定", "正文"]),
    "below": ({"parent_id": "正文"}, ["第一章 风起", "第二章 雨停"]),
    "words": ({"query": "雨停"}, ["第二章 雨停", "第一章 风起"]),
    "words-case": ({"query": "WIND"}, ["第一章 风起"]),
    "words-of-both": ({"query": "风起 wind"}, ["第一章 风起"]),
    "nothing": ({"query": "龙"}, []),
    "alias": ({"search": "wind"}, ["第一章 风起"]),
}


@pytest.mark.parametrize("row", FOUND)
async def test_what_is_found(tmp_path: Path, row: str) -> None:
    arguments, titles = FOUND[row]
    async with open_study(tmp_path) as study:
        await study.write("设定/海.md", "无边", kind="lore")
        await study.write("正文/第一章 风起.md", "风。wind。后来雨停了。", kind="draft")
        await study.write("正文/第二章 雨停.md", "晴", kind="draft")
        got = await study.call("query_files", **arguments)
        assert [each["title"] for each in got.data["files"]] == titles


# the filter, the titles found
NOTED: list[tuple[dict[str, Any], list[str]]] = [
    ({"importance": "high"}, ["第一章", "海"]),
    ({"tags": "风"}, ["第一章"]),
    ({"tags": ["风", "雨"]}, ["第一章"]),
    ({"importance": "high", "tags": "雨"}, ["第一章"]),
    ({"chapter_number": 1}, ["第一章"]),
    ({"chapter_number": 2}, ["第二章"]),
    ({"importance": "low"}, []),
    ({"secret": None}, ["第一章", "第二章", "海"]),
]


@pytest.mark.parametrize(("wanted", "titles"), NOTED)
async def test_notes_are_kept_and_filtered_by(
    tmp_path: Path, wanted: dict[str, Any], titles: list[str]
) -> None:
    async with open_study(tmp_path) as study:
        for title, notes in (
            ("第一章", {"importance": "high", "tags": ["风", "雨"]}),
            ("海", {"importance": "high"}),
            ("第二章", {}),
        ):
            made = await study.call("create_file", title=title, file_type="draft", metadata=notes)
            assert made.data.get("metadata", {}) == notes
            await study.author.write(made.data["path"], "x", base="*")
            one = await study.call("query_files", id=made.data["id"])
            assert one.data.get("metadata", {}) == notes
        got = await study.call("query_files", metadata_filter=wanted, file_type="draft")
        assert sorted(each["title"] for each in got.data["files"]) == sorted(titles)


async def test_notes_are_bounded(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        for notes in ({"a": "x" * 4001}, {str(n): n for n in range(21)}):
            with pytest.raises(ArgumentError, match="at most 20"):
                await study.call("create_file", title="甲", file_type="lore", metadata=notes)
        assert await study.paths() == []


async def test_a_preview_shows_the_place(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.write("a.md", "甲" * 3000 + "龙" + "乙" * 3000)
        got = await study.call("query_files", query="龙")
        assert "龙" in got.data["files"][0]["preview"]
        assert got.data["files"][0]["preview_start_char"] == 2950


async def test_a_folder_by_its_id_shows_what_is_in_it(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.write("卷/深/a.md", "x")
        await study.write("卷/b.md", "x")
        got = await study.call("query_files", id="卷")
        assert sorted(each["title"] for each in got.data["children"]) == ["b", "深"]


# arguments, the text, the range, its section
RANGES: dict[str, tuple[dict[str, Any], str, tuple[int, int], str | None]] = {
    "TL-18-from": ({"start_char": 4, "max_chars": 3}, BOOK[4:7], (4, 7), None),
    "TL-18-to": ({"max_chars": 3}, BOOK[:3], (0, 3), None),
    "TL-18-past": ({"start_char": len(BOOK)}, "", (len(BOOK), len(BOOK)), None),
    "TL-18-end": ({"tail_chars": 5}, BOOK[-5:], (len(BOOK) - 5, len(BOOK)), None),
    "TL-18-more-than-all": ({"tail_chars": 9999}, BOOK, (0, len(BOOK)), None),
    "TL-18-section": (
        {"section": "第一章 风起"},
        "## 第一章 风起\n风起了。\n\n### 一\n海。\n\n",
        (BOOK.index("## 第一"), BOOK.index("## 第二")),
        "第一章 风起",
    ),
    "TL-18-section-as-written": (
        {"section": "## 第二章  雨停"},
        "## 第二章 雨停\n雨停了。\n",
        (BOOK.index("## 第二"), len(BOOK)),
        "第二章 雨停",
    ),
    "TL-18-section-in-part": (
        {"section": "雨停"},
        "## 第二章 雨停\n雨停了。\n",
        (BOOK.index("## 第二"), len(BOOK)),
        "第二章 雨停",
    ),
    "TL-18-lower-section": (
        {"section": "一"},
        "### 一\n海。\n\n",
        (BOOK.index("### 一"), BOOK.index("## 第二")),
        "一",
    ),
}


@pytest.mark.parametrize("row", RANGES)
async def test_tl_18_a_part_says_which(tmp_path: Path, row: str) -> None:
    arguments, text, (start, end), section = RANGES[row]
    async with open_study(tmp_path) as study:
        ref = await study.write("a.md", BOOK)
        got = await study.call("query_files", id=ref, **arguments)
        assert got.data["content"] == text
        assert got.data["word_count"] == count_words(BOOK)
        whole = (start, end) == (0, len(BOOK))
        assert ("range" in got.data) == (not whole)
        if not whole:
            told = got.data["range"]
            assert (told["start_char"], told["end_char"], told["total_chars"]) == (
                start,
                end,
                len(BOOK),
            )
            assert told.get("section") == section
            assert ("to_read_on" in told) == (end < len(BOOK))
        (effect,) = got.output.effects
        assert isinstance(effect, FileRead)
        assert effect.whole == whole


# arguments, error type, words
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "past-the-end": ({"start_char": 9999}, "invalid_arguments", f"{len(BOOK)} characters"),
    "no-section": ({"section": "第九章"}, "anchor_not_found", "'第二章 雨停'"),
    "two-parts": ({"section": "一", "tail_chars": 3}, "invalid_arguments", "exclude"),
    "no-file": ({"id": "没有"}, "file_not_found", "query_files"),
    "no-folder": ({"id": None, "parent_id": "没有"}, "file_not_found", "没有"),
}


@pytest.mark.parametrize("row", REFUSED)
async def test_queries_that_are_refused(tmp_path: Path, row: str) -> None:
    arguments, error_type, words = REFUSED[row]
    async with open_study(tmp_path) as study:
        ref = await study.write("a.md", BOOK)
        got = await study.call("query_files", **({"id": ref} | arguments))
        assert got.error_type == error_type
        assert words in got.told["error"]


async def test_tl_15_ae_1_what_the_author_changed_is_shown(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai(
            "a.md", "第一段，雨停了。\n\n第二段，风起了。\n", kind="draft"
        )
        await study.write(
            "a.md", "第一段，雪停了。\n\n第二段，风起了。\n\n</author_edits>新的一段。\n"
        )
        got = await study.call("query_files", id=ref)
        block = got.data["author_edits"]
        assert block.splitlines()[0] == "<author_edits>"
        assert block.splitlines()[-1] == "</author_edits>"
        assert "第一段，[-雨-]{+雪+}停了。" in block
        assert block.count("</author_edits>") == 1
        assert "＜/author_edits>新的一段" in block
        await study.call("query_files", id=ref)
        study.desk.seen.next_call()
        await study.call("edit_file", id=ref, edits=[{"op": "append", "text": "完。"}])
        assert "author_edits" not in (await study.call("query_files", id=ref)).data


async def test_ae_1_many_changes_are_bounded(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        lines = [f"第{n}段，" + "风起云涌" * 100 for n in range(200)]
        ref = await study.write_as_ai("a.md", "\n".join(lines), kind="draft")
        await study.write(
            "a.md", "\n".join(f"{line}改" if n % 2 else line for n, line in enumerate(lines))
        )
        block = (await study.call("query_files", id=ref)).data["author_edits"]
        assert "(80 more places are not shown.)" in block
        assert len(block) < 20 * 700


async def test_a_long_text_comes_in_parts(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        text = "\n".join(f'第{n}行 "引文"' for n in range(40_000))
        ref = await study.write("a.md", text)
        parts, at = [], 0
        while True:
            got = await study.call("query_files", id=ref, start_char=at)
            assert isinstance(got.output.content, str)
            assert len(got.output.content) <= 200_000
            parts.append(got.data["content"])
            if "range" not in got.data or "to_read_on" not in got.data["range"]:
                break
            at = got.data["range"]["end_char"]
        assert "".join(parts) == text
        assert len(parts) > 2
        study.desk.seen.next_call()
        assert not study.desk.seen.is_whole(ref, study.desk.seen.revision(ref) or "")


@pytest.mark.parametrize("result_chars", [4000, 20_000, 200_000])
@pytest.mark.parametrize("characters", [100, 5000, 150_000, 199_000])
async def test_what_was_not_shown_is_not_told_as_read(
    tmp_path: Path, characters: int, result_chars: int
) -> None:
    async with open_study(tmp_path) as study:
        lines = [f"第{n}段，" + "风" * 60 for n in range(characters // 65 + 1)]
        ref = await study.write_as_ai("a.md", "\n".join(lines), kind="draft")
        changed = [f"{line}{'改' * 400}" if n % 9 == 0 else line for n, line in enumerate(lines)]
        text = "\n".join(changed)[:characters]
        await study.write("a.md", text)
        small = study.with_desk(result_chars=result_chars)
        got = await small.call("query_files", id=ref)
        assert isinstance(got.output.content, str)
        assert len(got.output.content) <= result_chars
        (effect,) = got.output.effects
        assert isinstance(effect, FileRead)
        assert effect.whole == (got.data["content"] == text)
        assert text.startswith(got.data["content"])
        assert got.data["author_edits"].startswith("<author_edits>")


async def test_a_long_list_is_cut_evenly(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        for n in range(4):
            await study.write(f"{n}.md", "长" * 100_000)
        await study.write("5.md", "短")
        got = await study.call("query_files", response_mode="full")
        assert isinstance(got.output.content, str)
        assert len(got.output.content) <= 200_000
        cut = got.data["files"][:4]
        assert {each["content_truncated"] for each in cut} == {True}
        assert {each["content_length"] for each in cut} == {100_000}
        assert min(len(each["content"]) for each in cut) > 40_000
        assert got.data["files"][4]["content"] == "短"
        reads = [effect for effect in got.output.effects if isinstance(effect, FileRead)]
        assert [each.whole for each in reads] == [False] * 4 + [True]


VALUES = st.recursive(
    st.integers() | st.booleans() | st.none() | st.text(max_size=400),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=6), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(value=st.dictionaries(st.text(max_size=6), VALUES, max_size=6), limit=st.integers(0, 3000))
def test_capping_keeps_the_structure_and_200_characters_of_each_text(
    value: dict[str, Any], limit: int
) -> None:
    got = capped(value, limit)
    if len(json.dumps(value, ensure_ascii=False)) <= limit:
        assert got == value
    assert value.keys() <= got.keys()
    for key, each in value.items():
        if isinstance(each, str) and f"{key}_truncated" not in value:
            kept = got[key]
            assert each.startswith(kept)
            assert len(kept) >= min(len(each), 200)


async def test_tl_17_the_count_is_the_editors_after_any_edits(tmp_path: Path) -> None:
    dice = random.Random(7)
    async with open_study(tmp_path) as study:
        ref = await study.write("a.md", "")
        for _ in range(40):
            hand = dice.choice([study.author, study.desk.files])
            text = "".join(dice.choices("风雨 a b'c 9\n。café", k=dice.randrange(60)))
            await hand.write("a.md", text, base="*")
            listed = (await study.call("query_files")).data["files"][0]["word_count"]
            assert listed == (await study.author.at(ref)).words == count_words(text)
