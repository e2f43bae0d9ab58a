"""`--project` takes a folder, or a project of the data directory by its title or its id."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from wenfang.runs import AgentSpec, RunContext, Runs, open_runs
from wenfang.testing import Script, ScriptedServer, call, say
from wenfang.workspace.templates import find_template

from .conftest import Command

TITLE = "雨夜归人"
pytestmark = pytest.mark.anyio


def never(context: RunContext) -> AgentSpec:
    raise AssertionError(context)


def studio(command: Command, *titles: str) -> list[str]:
    """Make projects with a chapter each, as the studio does; their ids."""

    async def make() -> list[str]:
        async with open_runs(command.data, make_agent=never) as runs:
            return [await _make(runs, title) for title in titles]

    return asyncio.run(make())


async def _make(runs: Runs, title: str) -> str:
    template = find_template("novel", "zh")
    project = await runs.create_project(title, template=template)
    files = await runs.files(project.id)
    await files.write("正文/第一章 雨夜.md", "　　下雨了。\n", base=None)
    return project.id


@pytest.mark.parametrize("by", ["title", "id"])
def test_a_run_in_a_project_of_the_studio(command: Command, by: str) -> None:
    (project_id,) = studio(command, TITLE)
    name = TITLE if by == "title" else project_id
    asked = "读一下 正文/第一章 雨夜.md"
    result = command("run", asked, "--provider", "scripted", "--project", name)
    assert result.code == 0, result.err
    assert list(command.project.iterdir()) == []

    async def sessions() -> list[str]:
        async with open_runs(command.data, make_agent=never) as runs:
            return [each.title for each in await runs.sessions(project_id)]

    assert asyncio.run(sessions()) == [asked]


async def test_a_writer_s_steps_are_told_in_words(command: Command) -> None:
    """Not as the envelope that the model reads."""
    await asyncio.to_thread(studio, command, TITLE)
    replies = (
        call("delete_file", id="正文/第一章 雨夜.md"),
        call("create_file", title="第二章", file_type="draft"),
        say("<file>他回来了。</file>"),
        say("写好了。"),
    )
    async with ScriptedServer(Script(name="test", replies=replies)) as provider:
        flags = ("--base-url", provider.url, "--model", "scripted", "--project", TITLE)
        result = await asyncio.to_thread(command.process, "run", "写第二章", *flags)
        provider.check()
    assert (result.code, result.out) == (0, "写好了。\n")
    told = [line.strip() for line in result.err.splitlines() if line.strip()[:1] in "✓✗"]
    assert told == [
        "✗ 里面有你亲手写的文字，没有删除或替换。",
        "✓ 正文/第二章.md",
        "✓ 正文/第二章.md",
    ]
    assert "他回来了" not in result.out


def test_a_book_of_a_project_of_the_studio(command: Command, tmp_path: Path) -> None:
    studio(command, TITLE)
    result = command("export", "--format", "txt", "--project", TITLE, "--path", "正文")
    assert result.code == 0, result.err
    made = Path(result.out.strip())
    assert made.parent == command.project
    assert "下雨了。" in made.read_text("utf-8-sig")
    (tmp_path / "第二章.txt").write_text("他回来了。", "utf-8")
    source = str(tmp_path / "第二章.txt")
    brought = command("import", source, "--project", TITLE, "--folder", "正文")
    assert (brought.code, brought.out.strip()) == (0, "正文/第二章.md")

    async def facts() -> list[tuple[str, str, str]]:
        async with open_runs(command.data, make_agent=never) as runs:
            (project,) = await runs.projects_named(TITLE)
            files = await runs.files(project.id)
            (version,) = await files.revisions("正文/第二章.md")
            return [(version.actor, version.change, (await files.read("正文/第二章.md")).text)]

    assert asyncio.run(facts()) == [("author", "import", "他回来了。\n")]


# what is there, what was asked for, the words of the error
WRONG: dict[str, tuple[tuple[str, ...], str, str]] = {
    "nothing of that name": ((TITLE,), "雪夜", "no project of that name"),
    "two of that name": ((TITLE, TITLE), TITLE, "There are 2 projects called 雨夜归人"),
    "no data directory": ((), "雪夜", "no project of that name"),
    "no such folder": ((), "no/such/folder", "There is no project folder no/such/folder"),
}


@pytest.mark.parametrize("row", WRONG)
@pytest.mark.parametrize(
    "args", [("run", "x"), ("export", "--format", "txt"), ("import", "a.txt")], ids=lambda a: a[0]
)
def test_a_name_that_leads_nowhere(command: Command, row: str, args: tuple[str, ...]) -> None:
    titles, name, words = WRONG[row]
    if titles:
        studio(command, *titles)
    (command.project / "a.txt").write_text("x", "utf-8")
    before = command.data.exists()
    result = command(*args, "--project", name)
    assert (result.code, result.out) == (5, "")
    assert words in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert command.data.exists() == before
