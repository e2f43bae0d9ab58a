"""Hostile names and interleaved writers: one clear refusal or one file, and no text is lost (TL-1, TL-13, TL-14)."""

from __future__ import annotations

import asyncio
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tools.writing_desk import Result, Study, open_study

from wenfang.core import ArgumentError
from wenfang.tools.writing import ERRORS
from wenfang.workspace import WorkspaceError, name_key

pytestmark = pytest.mark.anyio

NAMES = [
    # ways out
    *("..", ".", "../a", "a/../b", "/etc/passwd", "~", "~root", "C:\\x", "C:x", "\\\\host\\share", "a\\b"),
    *("%2e%2e%2f", "..%00", "file:///etc/passwd", "....//", ".git", ".GIT", ".wenfang", ".wenfang-x", "./a"),
    # devices, dots and spaces
    *("con", "CON", "nul.txt", "aux", "LPT1", "COM¹", "conin$", "x.", "x ", " ", "", "\t", "\n", "a\nb", "a\r\nb"),
    *("...", ".md", "..md", "a.md.md", ".hidden", "-rf", "--help", "$(id)", "`id`", "a;b", "a|b", "a>b", "a*"),
    # what is not seen, and what is seen in another order
    *("\u200b", "a\u200bb", "a\ufeffb", "\u2060", "\u202egnp.md", "a\u202eb\u202c", "\u2066x\u2069", "\u00ad"),
    *("\u200f", "שלום", "مرحبا", "a\u0301", "\u00e1", "A\u030a", "\u212b", "ſ", "ﬁ", "Ａ", "\u3000", "第一章\u3000风"),
    *("\x00", "a\x00b", "\x07", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u2029", "\ud800", "a\udfff", "\uffff"),
    *("\U000e0001", "👩\u200d👧", "🇨🇳", "\U0010ffff", "ⅷ", "①", "\u1680"),
    # look-alikes
    *("раураl", "paypal", "ОК", "OK", "第1章", "第一章", "第１章", "İ", "i̇", "ß", "SS", "ẞ", "K", "K"),
    # of other languages than ours
    *("'; DROP TABLE files; --", "\" OR 1=1", "Robert'); --", "%", "_", "\\", "a'b", "${jndi:ldap://x}", "{{7*7}}"),
    *("<script>alert(1)</script>", "<img src=x onerror=x>", "&lt;", "</file>", "<file>", "</author_edits>", "]]>"),
    *('{"status":"success"}', "Observation: done", "<|im_end|>", "[/INST]", "{0.__class__}", "{title!r}", "%s%n"),
    # sizes
    *("x" * 255, "x" * 300, "字" * 85, "字" * 100, "x" * 100_000, "a" * 251, "a" * 252, "/" * 500, "a/" * 200),
]  # fmt: skip

_PIECES = st.sampled_from([each for each in NAMES if len(each) < 40])
_ODD = st.characters(
    categories=("Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Lo", "Lu", "Ll", "Po", "Sm", "So", "Cn", "Co")
)
HOSTILE = st.one_of(
    st.sampled_from(NAMES),
    st.text(_ODD, max_size=40),
    st.lists(_PIECES, min_size=1, max_size=4).map("".join),
    st.text("aA.:/\\~*? \u200b\u202e\u0301字", max_size=30),
    st.tuples(st.text(max_size=12), st.integers(1, 400)).map(lambda pair: pair[0] * pair[1]),
)
LEAKS = (
    "Traceback",
    "sqlite",
    "SQL",
    "/tmp",
    "site-packages",
    "prj_",
    "sqlalchemy",
    "IntegrityError",
)


def is_clean(result: Result, asked: str) -> bool:
    """Nothing of the host is in it but what was asked for."""
    text = str(result.output.content) + str(result.output.details)
    return not any(leak in text and leak.casefold() not in asked.casefold() for leak in LEAKS)


async def try_name(study: Study, tool: str, name: str, **more: Any) -> Result | None:
    """The result; None if the name did not even fit the tool's schema."""
    try:
        result = await study.call(tool, title=name, **more)
    except ArgumentError:
        return None
    assert is_clean(result, name)
    if result.error_type is not None:
        assert result.error_type in ERRORS
        assert result.output.effects == ()
        assert len(result.told["error"]) < 1200
    return result


async def create_one(study: Study, name: str) -> None:
    before, rows = await study.author.list(), await study.rows()
    result = await try_name(study, "create_file", name, file_type="draft", parent_id="夹")
    after = await study.author.list()
    if result is None or result.error_type is not None:
        assert after == before
        assert await study.rows() == rows
        return
    (new,) = [each for each in after if each.id not in {item.id for item in before}]
    assert await study.rows() == rows + 1
    folder, _, stored = new.path.rpartition("/")
    assert folder == "夹"
    assert stored == unicodedata.normalize("NFC", stored)
    assert all(char.isprintable() for char in stored)
    assert len(stored.encode()) <= 255
    assert sum(name_key(each.path) == name_key(new.path) for each in after) == 1
    assert (await study.author.opened(new.id)).item == (await study.author.opened(new.path)).item
    await study.call("delete_file", id=new.id)


async def rename_one(study: Study, ref: str, name: str) -> None:
    before = await study.author.at(ref)
    rows = await study.rows()
    result = await try_name(study, "rename_file", name, id=ref)
    now = await study.author.at(ref)
    assert await study.rows() == rows
    assert await study.text(ref) == "原文"
    if result is None or result.error_type is not None:
        assert now == before
    else:
        assert now.path.rpartition("/")[0] == "夹"
        assert (await study.author.opened(now.path)).item.id == ref


async def attack(study: Study, names: list[str]) -> None:
    await study.author.create("夹", "folder")
    ref = await study.write_as_ai("夹/原名.md", "原文", kind="lore")
    await study.write_as_ai("夹/邻.md", "邻", kind="lore")
    for name in names:
        await create_one(study, name)
        await rename_one(study, ref, name)


async def test_hostile_names_of_the_table(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await attack(study, NAMES)
        assert await study.text("夹/邻") == "邻"


@settings(max_examples=34, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(HOSTILE, min_size=30, max_size=30))
def test_a_thousand_hostile_names(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    async def run() -> None:
        async with open_study(tmp_path_factory.mktemp("study")) as study:
            await attack(study, names)

    asyncio.run(run())


@given(name=HOSTILE)
@settings(max_examples=25)
def test_hostile_references(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    async def run() -> None:
        async with open_study(tmp_path_factory.mktemp("study")) as study:
            await study.write_as_ai("a.md", "原文", kind="lore")
            before = await study.author.list()
            calls: list[tuple[str, dict[str, Any]]] = [
                ("query_files", {"id": name}),
                ("query_files", {"parent_id": name}),
                ("query_files", {"query": name}),
                ("query_files", {"id": "a", "section": name}),
                ("delete_file", {"id": name, "recursive": True}),
                ("rename_file", {"id": name, "title": "b"}),
                ("edit_file", {"id": name, "edits": [{"op": "append", "text": "x"}]}),
                ("create_file", {"title": "b", "file_type": "lore", "parent_id": name}),
            ]
            for tool, arguments in calls:
                try:
                    result = await study.call(tool, **arguments)
                except ArgumentError:
                    continue
                assert is_clean(result, name)
                assert result.error_type is None or result.error_type in ERRORS
                if result.effects and not result.effects[0].startswith("file_read"):
                    assert tool == "create_file"  # a name of nothing: the top of the project
                    assert not name.strip(" ./\u3000").strip()
                    await study.call("delete_file", id=result.data["id"])
            assert [each.path for each in await study.author.list() if each.path != "设定"] == [
                each.path for each in before
            ]
            assert await study.text("a") == "原文"

    asyncio.run(run())


# Interleaved writers

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["agent adds", "agent replaces", "author adds", "agent reads", "model asked"]
        ),
        st.integers(0, 3),
    ),
    min_size=4,
    max_size=14,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, together=st.booleans())
def test_two_interleaved_writers_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]], together: bool
) -> None:
    """Each step adds a mark of its own. Whatever was reported as written is in the file at the end, or in
    the version that the writer after it knew and replaced."""

    async def run() -> None:
        async with open_study(tmp_path_factory.mktemp("study")) as study:
            await study.write_as_ai("a.md", "开头。\n", kind="draft")
            kept: list[str] = []
            tasks = [step(study, n, *each, kept) for n, each in enumerate(steps)]
            if together:
                await asyncio.gather(*tasks)
            else:
                for task in tasks:
                    await task
            text = await study.text("a")
            assert [mark for mark in kept if text.count(mark) != 1] == []
            assert text.startswith("开头。\n")
            revisions = await study.author.revisions("a.md")
            assert [each.n for each in revisions] == list(range(len(revisions), 0, -1))
            assert (await study.author.read("a.md", revisions[0].n)).text == text

    asyncio.run(run())


async def step(study: Study, n: int, what: str, at: int, kept: list[str]) -> None:
    mark = f"⟨{n}⟩"
    match what:
        case "agent reads":
            await study.call("query_files", id="a")
        case "model asked":
            study.desk.seen.next_call()
        case "author adds":
            try:
                await study.author.change("a.md", lambda text: f"{text}{mark}\n")
            except WorkspaceError as error:
                if error.code != "file_busy":  # five writers came before it, one after the other
                    raise
            else:
                kept.append(mark)
        case _:
            edit: dict[str, Any] = {"op": "append", "text": f"{mark}\n"}
            if what == "agent replaces" and kept:
                old = kept[at % len(kept)]
                edit = {"op": "replace", "old": old, "new": f"{old}{mark}"}
            result = await study.call("edit_file", id="a", edits=[edit])
            assert result.error_type in (None, "stale_content", "file_busy", "anchor_not_found")
            if result.error_type is None:
                kept.append(mark)
