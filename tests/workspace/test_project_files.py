"""Files of a project in the database: paths, revisions with authors, restoring, finding (design M8)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.workspace.stores import Home, add_projects

from wenfang.lang import count_words
from wenfang.storage import Store, blobs, files, revisions
from wenfang.workspace import WorkspaceError
from wenfang.workspace.project import By, Item, ProjectFiles

pytestmark = pytest.mark.anyio

AUTHOR, AI, SYSTEM = By(actor="author"), By(actor="ai", run_id="run_1"), By(actor="system")
WINDOW_S = 600


class Desk:
    """One project, with a hand for each kind of writer and a clock that is set."""

    def __init__(self, database: Store, **more: Any) -> None:
        self.database = database
        self.now = 1000.0
        self.author = self.hand(AUTHOR, **more)
        self.ai = self.hand(AI)

    def hand(self, by: By, project: str = "prj_1", **more: Any) -> ProjectFiles:
        return ProjectFiles(self.database, project, by=by, clock=lambda: self.now, **more)

    async def text(self, path: str, n: int | None = None) -> str:
        return (await self.author.read(path, n)).text

    async def versions(self, path: str) -> list[tuple[int, str, str]]:
        return [(r.n, r.actor, r.change) for r in await self.author.revisions(path)]

    async def paths(self) -> list[str]:
        return [each.path for each in await self.author.list()]


class Present:
    """Where the test that runs has its database."""

    home: Home


@pytest.fixture(autouse=True)
def _on_both_databases(home: Home) -> Iterator[None]:
    Present.home = home
    yield
    del Present.home


@asynccontextmanager
async def open_desk(tmp: Path, **more: Any) -> AsyncGenerator[Desk]:
    async with Present.home.open(tmp) as database:
        await add_projects(database)
        yield Desk(database, **more)


async def refused(work: Awaitable[Any], code: str) -> WorkspaceError:
    with pytest.raises(WorkspaceError) as caught:
        await work
    assert caught.value.code == code
    return caught.value


# Reading and writing


@pytest.mark.parametrize(
    "text",
    [
        "",
        "你好，世界。\r\n第二行\n",
        "\ufeff# 题\n",
        "a\rb\u2028c\u0085d",
        "𠮷😀" * 50,
        "x" * 300_000,
    ],
)
async def test_a_text_comes_back_as_it_was(tmp_path: Path, text: str) -> None:
    async with open_desk(tmp_path) as desk:
        saved = await desk.author.write("正文/第一章.md", text, base=None)
        content = await desk.author.read("正文/第一章.md")
        assert content.text == text
        assert content.item == saved.item
        assert (content.item.words, content.item.size_bytes) == (
            count_words(text),
            len(text.encode()),
        )
        assert saved.previous is None
        assert await desk.paths() == ["正文", "正文/第一章.md"]
        assert await desk.hand(AUTHOR, "prj_2").list() == []


@pytest.mark.parametrize("text", ["a\0b", "half \ud800"])
async def test_what_is_no_text_is_refused(tmp_path: Path, text: str) -> None:
    async with open_desk(tmp_path) as desk:
        await refused(desk.author.write("a.md", text, base=None), "file_not_text")
        assert await desk.paths() == []


async def test_a_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    async with open_desk(tmp_path, text_limit_bytes=10) as desk:
        await desk.author.write("a.md", "x" * 10, base=None)
        error = await refused(desk.author.write("a.md", "x" * 11, base="*"), "file_too_large")
        assert error.params["limit"] == 10
        assert await desk.text("a.md") == "x" * 10


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../a.md", "path_invalid"),
        ("/a.md", "path_invalid"),
        ("a\\b.md", "path_invalid"),
        ("", "path_invalid"),
        ("有/con", "path_invalid"),
        ("a:b", "path_invalid"),
        (".git/x", "path_invalid"),
        ("章.md/x.md", "path_invalid"),
        ("章.md", "revision_conflict"),
        ("章.MD", "revision_conflict"),
        ("夹", "revision_conflict"),
    ],
)
async def test_a_new_file_has_a_path_of_its_own(tmp_path: Path, path: str, code: str) -> None:
    async with open_desk(tmp_path) as desk:
        await desk.author.write("章.md", "x", base=None)
        await desk.author.create("夹", "folder")
        before = await desk.author.list()
        if path == "夹":  # a folder has no text to compare with
            await refused(desk.author.write(path, "y", base=None), "path_invalid")
        else:
            await refused(desk.author.write(path, "y", base=None), code)
        assert await desk.author.list() == before


async def test_a_write_compares_with_what_it_was_made_from(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        first = await desk.author.write("a.md", "one", base=None)
        second = await desk.ai.write("A.md", "two", base=first.item.hash)
        assert (second.previous, second.item.path) == (first.item.hash, "a.md")
        error = await refused(
            desk.author.write("a.md", "three", base=first.item.hash), "revision_conflict"
        )
        assert error.params["revision"] == second.item.hash
        await refused(desk.author.write("new.md", "x", base=first.item.hash), "revision_conflict")
        assert await desk.text("a.md") == "two"


async def test_a_change_is_made_again_if_the_file_moved_on(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        await desk.author.write("a.md", "one", base=None)
        loop = asyncio.get_running_loop()
        tries: list[str] = []

        def make(text: str) -> str:
            tries.append(text)
            if len(tries) == 1:
                other = desk.author.write("a.md", "two", base="*")
                asyncio.run_coroutine_threadsafe(other, loop).result()
            return text + "!"

        await desk.ai.change("a.md", make)
        assert tries == ["one", "two"]
        assert await desk.text("a.md") == "two!"
        with pytest.raises(ZeroDivisionError):
            await desk.ai.change("a.md", lambda _: str(1 / 0))
        assert await desk.text("a.md") == "two!"


async def test_a_file_that_never_rests_is_busy(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        await desk.author.write("a.md", "0", base=None)
        loop = asyncio.get_running_loop()

        def make(text: str) -> str:
            other = desk.author.write("a.md", f"{int(text) + 1}", base="*")
            asyncio.run_coroutine_threadsafe(other, loop).result()
            return "mine"

        await refused(desk.ai.change("a.md", make), "file_busy")
        assert await desk.text("a.md") == "5"


# Kinds, order, moving


async def test_new_files_are_what_their_folder_holds(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        await desk.author.create("人物", "folder", holds="character")
        await desk.author.create("人物/反派", "folder")
        kinds = {
            "人物/李青.md": "character",
            "人物/反派/赵四.md": "character",
            "说明.md": "document",
        }
        for path in kinds:
            await desk.author.write(path, "x", base=None)
        await desk.author.write("人物/笔记.md", "x", base=None, kind="snippet")
        found = {item.path: item.kind for item in await desk.author.list() if item.kind != "folder"}
        assert found == kinds | {"人物/笔记.md": "snippet"}


async def test_TL_7_chapters_stand_at_their_number(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        await desk.author.create("正文", "folder", holds="draft")
        for name in ("第十章 归", "第二章", "第1章 起.md", "后记", "Chapter 12", "附"):
            await desk.author.create(f"正文/{name}")
        order = [item.path[3:] for item in await desk.author.list()][1:]
        assert order == ["第1章 起.md", "第二章", "第十章 归", "后记", "Chapter 12", "附"]
        await desk.author.arrange("正文", ["附", "第二章"])
        order = [item.path[3:] for item in await desk.author.list()][1:]
        assert order == ["附", "第二章", "第1章 起.md", "第十章 归", "后记", "Chapter 12"]
        await refused(desk.author.arrange("正文", ["没有"]), "file_not_found")


async def test_a_move_keeps_id_and_history(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        item = (await desk.author.write("a/one.md", "text", base=None)).item
        await desk.author.write("a/two.md", "other", base=None)
        moved = await desk.author.move("a", "b/c")
        assert (moved.path, await desk.paths()) == ("b/c", ["b", "b/c", "b/c/one.md", "b/c/two.md"])
        assert (await desk.author.item("b/c/one.md")).id == item.id
        assert len(await desk.author.revisions("b/c/one.md")) == 1
        assert (await desk.author.move("b/c/one.md", "b/c/ONE.md")).path == "b/c/ONE.md"
        for path, to, code in [
            ("b/c/ONE.md", "b/c/two.md", "path_exists"),
            ("b", "b/c/d", "path_invalid"),
            ("none", "x", "file_not_found"),
            ("b/c/ONE.md", "b/c/two.md/x", "path_invalid"),
            ("b/c/ONE.md", "x?", "path_invalid"),
        ]:
            before = await desk.author.list()
            await refused(desk.author.move(path, to), code)
            assert await desk.author.list() == before


async def test_a_delete_can_be_undone(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        for path in ("a/one.md", "a/b/two.md", "three.md"):
            await desk.author.write(path, path, base=None)
        before = await desk.author.list()
        inner = await desk.author.delete("a/b")
        outer = await desk.author.delete("a")
        assert await desk.paths() == ["three.md"]
        await refused(desk.author.read("a/one.md"), "file_not_found")
        await refused(desk.author.restore(inner), "folder_not_found")
        await refused(desk.hand(AUTHOR, "prj_2").restore(outer), "trash_not_found")
        assert (await desk.author.restore(outer)).path == "a"
        assert await desk.paths() == ["a", "a/one.md", "three.md"]
        await desk.author.write("a/b", "in its place", base=None)
        await refused(desk.author.restore(inner), "path_exists")
        await desk.author.delete("a/b")
        await desk.author.restore(inner)
        await refused(desk.author.restore(inner), "trash_not_found")
        assert [i.path for i in await desk.author.list()] == [i.path for i in before]
        assert await desk.text("a/b/two.md") == "a/b/two.md"


# Revisions


async def test_VR_1_each_version_says_who_what_and_how_much(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        await desk.author.write("a.md", "一二三\nfour five\n", base=None)
        desk.now = 2000
        await desk.ai.write("a.md", "一二三\nsix\n七\n", base="*")
        desk.now = 2001
        await desk.author.restore_revision("a.md", 1)
        third, second, first = await desk.author.revisions("a.md")
    assert (first.n, first.parent, first.actor, first.change) == (1, None, "author", "create")
    assert (first.words, first.characters, first.lines_added, first.lines_removed) == (5, 14, 2, 0)
    assert (second.n, second.parent, second.actor, second.change) == (2, 1, "ai", "ai_edit")
    assert (second.words, second.lines_added, second.lines_removed) == (5, 2, 1)
    assert (second.run_id, second.opened_at, second.saved_at) == ("run_1", 2000, 2000)
    assert (third.change, third.origin, third.hash) == ("restore", 1, first.hash)
    assert first.run_id is third.run_id is second.origin is None


async def test_VR_2_at_the_limit_the_text_is_saved_all_the_same(tmp_path: Path) -> None:
    async with open_desk(tmp_path, limit=2) as desk:
        saved = None
        for n in range(1, 5):
            saved = await desk.author.write("a.md", f"text {n}", base="*")
            assert saved.revision == (n if n <= 2 else None)
            desk.now += WINDOW_S
        assert saved is not None
        assert await desk.text("a.md") == "text 4"
        assert await desk.versions("a.md") == [(2, "author", "edit"), (1, "author", "create")]
        # The agent's versions do not count, and what it overwrites is kept first (VR-4).
        await desk.ai.write("a.md", "of the agent", base="*")
        assert (await desk.versions("a.md"))[:2] == [
            (4, "ai", "ai_edit"),
            (3, "system", "auto_save"),
        ]
        assert await desk.text("a.md", 3) == "text 4"


@pytest.mark.parametrize(
    ("after_s", "between", "amended"),
    [
        (0, None, True),
        (WINDOW_S - 1, None, True),
        (WINDOW_S, None, False),
        (1, AI, False),
        (1, SYSTEM, False),
    ],
    ids=["at once", "just within", "too late", "an agent between", "the system between"],
)
async def test_VR_3_saves_within_the_window_are_one_version(
    tmp_path: Path, after_s: float, between: By | None, amended: bool
) -> None:
    async with open_desk(tmp_path) as desk:
        await desk.author.write("a.md", "one\n", base=None)
        if between is not None:
            await desk.hand(between).write("a.md", "two\n", base="*")
        desk.now += after_s
        saved = await desk.author.write("a.md", "one\nthree\n", base="*")
        newest = (await desk.author.revisions("a.md"))[0]
        assert saved.revision == newest.n == (1 if amended else 3 if between else 2)
        assert (newest.opened_at, newest.saved_at) == (1000 if amended else desk.now, desk.now)
        assert await desk.text("a.md", newest.n) == await desk.text("a.md") == "one\nthree\n"
        if amended:
            assert (newest.change, newest.words, newest.lines_added) == ("create", 2, 2)


async def test_VR_3_the_window_begins_with_the_version(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        numbers = []
        for n in range(7):
            saved = await desk.author.write("a.md", f"text {n}", base="*")
            numbers.append(saved.revision)
            desk.now += 200
        assert numbers == [1, 1, 1, 2, 2, 2, 3]
        # An amended version leaves no text behind that nothing refers to.
        kept = await desk.database.read(
            lambda tx: {row.hash for row in tx.sa.execute(blobs.select())}
        )
        used = await desk.database.read(
            lambda tx: {row.hash for row in tx.sa.execute(revisions.select())}
        )
        assert kept - used <= {(await desk.author.create("blank.md")).hash}


async def test_VR_4_a_restore_keeps_what_it_overwrites(tmp_path: Path) -> None:
    async with open_desk(tmp_path, limit=1) as desk:
        await desk.author.write("a.md", "recorded", base=None)
        desk.now += WINDOW_S
        await desk.author.write("a.md", "unrecorded", base="*")
        saved = await desk.author.restore_revision("a.md", 1)
        assert await desk.text("a.md") == "recorded"
        assert await desk.versions("a.md") == [(2, "system", "auto_save"), (1, "author", "create")]
        assert await desk.text("a.md", 2) == "unrecorded"
        assert saved.previous != saved.item.hash
        await refused(desk.author.restore_revision("a.md", 9), "revision_not_found")
        await refused(desk.author.read("a.md", 9), "revision_not_found")


async def test_VR_4_within_the_window_too_a_restored_text_is_a_version_of_its_own(
    tmp_path: Path,
) -> None:
    """VR-3 speaks of saves: what is restored, imported or merged hides no text that was there before it."""
    async with open_desk(tmp_path) as desk:
        await desk.ai.write("a.md", "one", base=None)
        await desk.author.write("a.md", "two", base="*")
        await desk.author.restore_revision("a.md", 1)
        assert [await desk.text("a.md", n) for n in (1, 2, 3)] == ["one", "two", "one"]
        await desk.author.write("a.md", "three", base="*")
        await desk.author.write("a.md", "four", base="*", change="merge")
        await desk.author.write("a.md", "five", base="*", change="import")
        assert [n for n, _, _ in await desk.versions("a.md")] == [6, 5, 4, 3, 2, 1]


async def test_the_same_text_again_is_no_version(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        first = await desk.ai.write("a.md", "text", base=None)
        again = await desk.ai.write("a.md", "text", base="*")
        assert (again.previous, again.revision) == (first.item.hash, 1)
        assert len(await desk.author.revisions("a.md")) == 1


@pytest.mark.parametrize(
    ("writes", "of_author"),
    [
        ([], False),
        ([(AI, "text")], False),
        ([(AUTHOR, "text")], True),
        ([(AUTHOR, "text"), (AI, "more")], False),
        ([(AI, "text"), (AUTHOR, "mine")], True),
        ([(AI, "text"), (AUTHOR, " \n")], False),
        ([(SYSTEM, "imported")], True),
    ],
)
async def test_AE_2_whose_text_it_is(
    tmp_path: Path, writes: list[tuple[By, str]], of_author: bool
) -> None:
    async with open_desk(tmp_path) as desk:
        await desk.author.create("a.md")
        for by, text in writes:
            await desk.hand(by).write("a.md", text, base="*")
        assert await desk.author.is_of_author("a.md") is of_author


async def test_AE_2_unrecorded_text_is_the_authors(tmp_path: Path) -> None:
    async with open_desk(tmp_path, limit=0) as desk:
        await desk.ai.write("a.md", "text", base=None)
        await desk.author.write("a.md", "mine", base="*")
        assert await desk.author.is_of_author("a.md")


async def test_AE_1_what_the_agent_wrote_last(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        await desk.author.write("a.md", "zero", base=None)
        assert await desk.author.last_text_of_ai("a.md") is None
        for by, text in [(AI, "one"), (AI, "two"), (AUTHOR, "three"), (AUTHOR, "four")]:
            await desk.hand(by).write("a.md", text, base="*")
        assert await desk.author.last_text_of_ai("a.md") == "two"


# Contents


async def test_versions_of_a_long_text_are_small(tmp_path: Path) -> None:
    chance = random.Random(7)
    text = "".join(chr(chance.randrange(0x4E00, 0x6000)) for _ in range(100_000))
    async with open_desk(tmp_path) as desk:
        texts = []
        for n in range(30):
            at = chance.randrange(len(text))
            text = f"{text[:at]}改{n}{text[at:]}"
            texts.append(text)
            await desk.ai.write("a.md", text, base="*")
        sizes = await desk.database.read(
            lambda tx: [len(row.data) for row in tx.sa.execute(blobs.select())]
        )
        assert sorted(sizes)[-1] > 100_000
        assert sorted(sizes)[-2] < 4_000
        found = [await desk.text("a.md", n) for n in range(1, 31)]
        assert found == texts


async def test_a_damaged_content_is_noticed(tmp_path: Path) -> None:
    text = "".join(random.Random(1).choices("abcdefgh", k=5000))
    async with open_desk(tmp_path) as desk:
        await desk.author.write("a.md", text, base=None)

        def damage(tx: Any) -> None:
            row = tx.sa.execute(blobs.select().where(blobs.c.size_bytes > 0)).one()
            data = bytearray(row.data)
            data[len(data) // 2] ^= 0xFF
            tx.sa.execute(blobs.update().where(blobs.c.hash == row.hash).values(data=bytes(data)))

        await desk.database.write(damage)
    from wenfang.workspace.project import blobs as module

    module._recent.clear()
    async with open_desk(tmp_path) as desk:
        await refused(desk.author.read("a.md"), "content_damaged")


# Finding


@pytest.mark.parametrize(
    ("phrase", "match_case", "expected"),
    [
        ("归来", False, [("一.md", 1, 3), ("二.md", 2, 1)]),
        ("RAIN", False, [("一.md", 2, 5), ("二.md", 2, 4)]),
        ("RAIN", True, [("二.md", 2, 4)]),
        ("İstanbul", False, [("二.md", 3, 1)]),
        ("nothing", False, []),
        ("", False, []),
    ],
)
async def test_find(
    tmp_path: Path, phrase: str, match_case: bool, expected: list[tuple[str, int, int]]
) -> None:
    async with open_desk(tmp_path) as desk:
        await desk.author.write("一.md", "雨夜归来\nthe rain fell\r\n", base=None)
        await desk.author.write("二.md", "无\n归来 RAIN\nİSTANBUL İstanbul", base=None)
        await desk.author.delete(
            (await desk.author.write("三.md", "归来 rain", base=None)).item.path
        )
        found = await desk.author.find(phrase, match_case=match_case)
    places = [(hit.path, hit.line, hit.column) for hit in found.hits]
    marked = {hit.excerpt[hit.start : hit.end] for hit in found.hits}
    assert {each.lower() for each in marked} <= {phrase.lower()}
    if phrase == "İstanbul":
        assert set(expected) <= set(places)
    else:
        assert places == expected
        assert (found.total, found.files) == (len(expected), len({path for path, *_ in expected}))


async def test_find_shows_the_place_and_counts_the_rest(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        await desk.author.write("a.md", f"{'x' * 100}目标{'y' * 100}\n" * 5, base=None)
        found = await desk.author.find("目标", limit=2)
    assert (len(found.hits), found.total) == (2, 5)
    hit = found.hits[1]
    assert hit.excerpt == "x" * 60 + "目标" + "y" * 60
    assert (hit.start, hit.end) == (60, 62)


async def test_find_marks_what_it_shows_of_a_phrase_of_two_lines(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        await desk.author.write("a.md", "x𠮷雨\r\n夜y", base=None)
        (hit,) = (await desk.author.find("雨\r\n夜")).hits
    assert (hit.line, hit.column, hit.excerpt) == (1, 3, "x𠮷雨")
    assert hit.excerpt[hit.start : hit.end] == "雨"


# Properties

TEXTS = st.text(st.sampled_from("ab 一二\n"), max_size=12)
QUIET = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@QUIET
@given(
    writes=st.lists(
        st.tuples(st.sampled_from([AUTHOR, AI, SYSTEM]), TEXTS, st.sampled_from([0, 300, 700])),
        max_size=12,
    )
)
def test_every_text_is_a_version_or_was_amended_by_its_author(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[By, str, int]]
) -> None:
    """Nothing that anyone wrote is lost: a text is in the history unless the same author saved again
    within the window."""

    async def check(desk: Desk) -> None:
        expected: list[str] = []
        window, newest = 0.0, None
        for by, text, pause in writes:
            desk.now += pause
            before = expected[-1] if expected else None
            if text == before:
                continue
            amends = by is newest is AUTHOR and desk.now - window < WINDOW_S
            if amends:
                expected[-1] = text
            else:
                expected.append(text)
                window, newest = desk.now, by
            await desk.hand(by).write("a.md", text, base="*")
        if expected:
            versions = await desk.author.revisions("a.md")
            found = [await desk.text("a.md", each.n) for each in reversed(versions)]
            assert found == expected
            assert await desk.text("a.md") == expected[-1]
            item = await desk.author.item("a.md")
            assert item.words == count_words(expected[-1]) == versions[0].words

    _in_a_desk(tmp_path_factory, check)


@QUIET
@given(
    plan=st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=2, max_size=14),
)
def test_two_writers_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, plan: list[tuple[bool, int]]
) -> None:
    """Whatever the order of reads and writes of two, each word is in the text that is there or in the
    writer's hands: a write on an old text is refused."""

    async def check(desk: Desk) -> None:
        item = (await desk.author.write("a.md", "", base=None)).item
        held: dict[bool, tuple[str, str]] = dict.fromkeys((True, False), (item.hash or "", ""))
        accepted: list[str] = []
        for n, (who, step) in enumerate(plan):
            hand = desk.author if who else desk.ai
            if step == 0:
                content = await hand.read("a.md")
                held[who] = (content.item.hash or "", content.text)
                continue
            base, text = held[who]
            word = f"w{n} "
            try:
                saved = await hand.write("a.md", text + word, base=base)
            except WorkspaceError as error:
                if error.code != "revision_conflict":
                    raise
                continue
            accepted.append(word)
            held[who] = (saved.item.hash or "", text + word)
        assert await desk.text("a.md") == "".join(accepted)

    _in_a_desk(tmp_path_factory, check)


REFUSALS = ("path_exists", "path_invalid", "file_not_found", "folder_not_found", "trash_not_found")
NAMES = st.sampled_from(["a", "A", "b", "第一章", "第二章"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


@QUIET
@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("write"), PATHS, PATHS),
            st.tuples(st.just("folder"), PATHS, PATHS),
            st.tuples(st.just("move"), PATHS, PATHS),
            st.tuples(st.just("delete"), PATHS, PATHS),
            st.tuples(st.just("restore"), PATHS, PATHS),
        ),
        max_size=15,
    )
)
def test_the_tree_stays_a_tree(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    """After any steps every path leads to its file, no two names look alike, and no row is unreachable."""

    async def check(desk: Desk) -> None:
        trash: list[str] = []
        for step, path, to in steps:
            try:
                match step:
                    case "write":
                        await desk.author.write(path, path, base="*")
                    case "folder":
                        await desk.author.create(path, "folder")
                    case "move":
                        await desk.author.move(path, to)
                    case "delete":
                        trash.append(await desk.author.delete(path))
                    case _:
                        if trash:
                            await desk.author.restore(trash.pop())
            except WorkspaceError as error:
                if error.code not in REFUSALS:
                    raise
        items = await desk.author.list()
        assert len({item.path.lower() for item in items}) == len(items)
        for item in items:
            assert await desk.author.item(item.path) == item
            parent = item.path.rpartition("/")[0]
            assert not parent or (await desk.author.item(parent)).kind == "folder"
        live = files.select().where(files.c.trash_id.is_(None))
        rows = await desk.database.read(lambda tx: tx.sa.execute(live).all())
        assert {row.id for row in rows} == {item.id for item in items}

    _in_a_desk(tmp_path_factory, check)


def _in_a_desk(factory: pytest.TempPathFactory, check: Callable[[Desk], Awaitable[None]]) -> None:
    async def run() -> None:
        async with open_desk(factory.mktemp("desk")) as desk:
            await check(desk)

    asyncio.run(run())


def test_an_item_is_a_value() -> None:
    one = Item(id="f", path="a", kind="draft", position=1, hash="h", size_bytes=1, words=1, created_at=0, updated_at=0)  # fmt: skip
    assert hash(one) == hash(one)
