"""What new projects begin with (writing.md §16, TL-7)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.workspace.mirror_rig import Pair, open_pair

from wenfang.lang import detect_language
from wenfang.problems import Language
from wenfang.storage import blobs, revisions
from wenfang.workspace import WorkspaceError
from wenfang.workspace.project import RootFolder, Seed, root_folder_id
from wenfang.workspace.templates import (
    TEMPLATES,
    Template,
    TemplateKey,
    find_template,
    mend_folders,
    plant,
    templates,
)

pytestmark = pytest.mark.anyio

LANGUAGES: tuple[Language, ...] = ("zh", "en")
EACH = [pytest.param(key, language, id=f"{key}-{language}") for key in TEMPLATES for language in LANGUAGES]  # fmt: skip


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncGenerator[Pair]:
    async with open_pair(tmp_path) as opened:
        yield opened


async def paths(pair: Pair) -> list[str]:
    return [each.path for each in await pair.author.list()]


async def refused(work: Any, code: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        await work
    assert caught.value.code == code


def test_the_kinds_that_are_offered() -> None:
    assert TEMPLATES == ("novel", "short_story", "screenplay", "report", "prd")
    for language in LANGUAGES:
        assert [(each.key, each.language) for each in templates(language)] == [
            (key, language) for key in TEMPLATES
        ]
        assert len({each.title for each in templates(language)}) == len(TEMPLATES)


@pytest.mark.parametrize("key", TEMPLATES)
def test_both_languages_have_the_same_folders_and_sheets(key: TemplateKey) -> None:
    shapes = [
        (
            [(folder.key, folder.holds) for folder in template.folders],
            [seed.folder for seed in template.seeds],
            [seed.text.count("\n#") for seed in template.seeds],
            [seed.text.count("\n|---") for seed in template.seeds],
        )
        for template in (find_template(key, language) for language in LANGUAGES)
    ]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize(("key", "language"), EACH)
def test_the_texts_are_worth_opening(key: TemplateKey, language: Language) -> None:
    template = find_template(key, language)
    for text in (template.title, template.description, *(seed.text for seed in template.seeds)):
        assert detect_language(text) == language
    ends = "。" if language == "zh" else "."
    assert template.description.count(ends) == 1
    assert template.description.endswith(ends)
    assert len(template.description) <= 120
    for seed in template.seeds:
        assert seed.text.startswith("# ")
        assert seed.text.endswith("\n")
        assert len(seed.text) > 100
        assert not [line for line in seed.text.split("\n") if line != line.rstrip()]


@pytest.mark.parametrize(("key", "language"), EACH)
async def test_TL_7_plant(pair: Pair, key: TemplateKey, language: Language) -> None:
    template = find_template(key, language)
    opens = await plant(pair.author, template)
    assert (await pair.author.read(opens)).text in {seed.text for seed in template.seeds}
    items = await pair.author.list()
    roots = [each for each in items if "/" not in each.path]
    assert [(each.id, each.path, each.kind, each.holds) for each in roots] == [
        (f"prj_1-{folder.key}-folder", folder.name, "folder", folder.holds)
        for folder in template.folders
    ]
    names = {folder.key: folder for folder in template.folders}
    texts = {
        f"{names[seed.folder].name}/{seed.name}": (seed.text, names[seed.folder].holds)
        for seed in template.seeds
    }
    found = {each.path: each for each in items if "/" in each.path}
    assert {path: ((await pair.author.read(path)).text, found[path].kind) for path in found} == texts  # fmt: skip
    assert all(each.words for each in found.values())


async def planted(pair: Pair, language: Language = "zh") -> Template:
    template = find_template("novel", language)
    await plant(pair.author, template)
    return template


async def test_AE_2_what_was_planted_is_nobody_s_until_somebody_writes_in_it(pair: Pair) -> None:
    template = await planted(pair)
    assert await pair.versions(template.opens) == [
        ((await pair.author.read(template.opens)).text, "system", "create")
    ]
    assert not await pair.author.is_of_author(template.opens)
    await pair.ai.write(template.opens, "# 新的大纲\n", base="*")
    assert not await pair.author.is_of_author(template.opens)
    await pair.author.write(template.opens, "# 我的大纲\n", base="*")
    assert await pair.author.is_of_author(template.opens)
    assert [actor for _, actor, _ in await pair.versions(template.opens)] == ["system", "ai", "author"]  # fmt: skip


async def test_AE_2_what_an_author_wrote_in_a_planted_text_is_protected_without_a_version(
    pair: Pair,
) -> None:
    template = await planted(pair)
    hand = pair.hand(pair.author._by)
    hand._keeper._limit = 0
    await hand.write(template.opens, "我的", base="*")
    assert len(await pair.versions(template.opens)) == 1
    assert await pair.author.is_of_author(template.opens)


async def test_all_or_nothing(pair: Pair) -> None:
    template = find_template("novel", "zh")
    last = template.seeds[-1]
    name = next(each.name for each in template.folders if each.key == last.folder)
    await pair.author.write(f"{name}/{last.name}", "mine", base=None)

    async def rows() -> list[int]:
        counts = [sa.select(sa.func.count()).select_from(table) for table in (revisions, blobs)]
        return await pair.database.read(lambda tx: [tx.sa.execute(c).scalar_one() for c in counts])

    before, counted = await paths(pair), await rows()
    await refused(plant(pair.author, template), "path_exists")
    assert await paths(pair) == before
    assert await rows() == counted


async def test_a_file_in_the_place_of_a_root_folder(pair: Pair) -> None:
    await pair.author.write("大纲", "mine", base=None)
    await refused(plant(pair.author, find_template("novel", "zh")), "path_exists")
    assert await paths(pair) == ["大纲"]


async def test_a_template_is_planted_once(pair: Pair) -> None:
    template = await planted(pair)
    before = await paths(pair)
    await refused(plant(pair.author, template), "path_exists")
    assert await paths(pair) == before


async def test_TL_7_root_folders_that_are_missing_are_made_again(pair: Pair) -> None:
    template = await planted(pair)
    trash_id = await pair.author.delete("角色")
    await mend_folders(pair.author, template)
    again = await pair.author.item("角色")
    assert (again.id, again.holds) == ("prj_1-character-folder", "character")
    assert [path for path in await paths(pair) if path.startswith("角色")] == ["角色"]
    await refused(pair.author.restore(trash_id), "path_exists")
    await pair.author.move("角色", "新角色")
    restored = await pair.author.restore(trash_id)
    assert restored.id != again.id
    assert "角色/主角.md" in await paths(pair)
    assert (await pair.author.item("新角色")).id == again.id


async def test_TL_7_deleted_and_mended_again_and_again(pair: Pair) -> None:
    template = await planted(pair)
    trashed: list[str] = []
    for _ in range(3):
        trashed.append(await pair.author.delete("设定"))
        await mend_folders(pair.author, template)
    assert (await pair.author.item("设定")).id == "prj_1-lore-folder"
    await pair.author.delete("设定")
    assert (await pair.author.restore(trashed[0])).path == "设定"
    assert "设定/文风约定.md" in await paths(pair)


async def test_TL_7_a_folder_that_was_renamed_is_not_missing(pair: Pair) -> None:
    template = await planted(pair)
    await pair.author.move("设定", "世界观")
    before = await paths(pair)
    await mend_folders(pair.author, template)
    assert await paths(pair) == before


async def test_TL_7_a_folder_of_the_same_name_is_taken_as_it_is(pair: Pair) -> None:
    await pair.author.create("大纲", "folder")
    mine = await pair.author.item("大纲")
    template = await planted(pair)
    assert (await pair.author.item("大纲")).id == mine.id
    assert (await pair.author.item(template.opens)).kind == "document"


async def test_two_projects_do_not_share_their_folders(pair: Pair) -> None:
    await planted(pair)
    other = Pair(pair.database, pair.folder, "prj_2")
    await planted(other)
    assert (await other.author.item("大纲")).id == root_folder_id("prj_2", "outline")


async def test_a_seed_that_cannot_be_kept_plants_nothing(pair: Pair) -> None:
    folders = [RootFolder(key="a", name="a", holds="outline")]
    for seed, code in (
        (Seed(folder="a", name="..", text="x"), "path_invalid"),
        (Seed(folder="a", name="x:y", text="x"), "path_invalid"),
        (Seed(folder="a", name="x", text="a\0"), "file_not_text"),
    ):
        await refused(pair.author.plant(folders, [seed]), code)
        assert await paths(pair) == []


async def test_a_planted_project_mirrors_a_folder(pair: Pair) -> None:
    template = await planted(pair)
    await pair.sync()
    pair.put(template.opens, "# 在文件夹里写的\n")
    await pair.sync()
    assert await pair.author.is_of_author(template.opens)
    assert await pair.planned() == ()
