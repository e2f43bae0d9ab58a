"""The example tasks and how they are judged; and, if the model is there, the two of the README."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from tests.core.scripted import FakeModel, Hang, calls, says
from tests.core.virtual_time import seconds_of

from wenfang.cli.evals import Result, Task, eval_tasks, load_suite, missing, summarize
from wenfang.core import Agent, Delta, schema_steps
from wenfang.models.local import LocalModel, LocalModelError, LocalServer, default_store, find_model
from wenfang.problems import Problem
from wenfang.tools import calculator, make_file_tools
from wenfang.workspace import FolderFiles, Workspace

SUITE = Path(__file__).parents[2] / "examples" / "tasks.toml"


def test_there_are_ten_tasks_in_each_language() -> None:
    suite = load_suite(SUITE)
    assert [task.language for task in suite.tasks] == ["en"] * 10 + ["zh"] * 10
    assert {tool for task in suite.tasks for tool in task.tools} == {
        "list_files",
        "read_file",
        "calculator",
    }


@pytest.mark.parametrize("task", load_suite(SUITE).tasks, ids=lambda task: task.id)
def test_repeating_the_question_is_no_answer(task: Task) -> None:
    assert missing(task, task.prompt, set(task.tools)) != ()


def test_files_that_tasks_name_are_there() -> None:
    suite = load_suite(SUITE)
    names = {p.relative_to(suite.project).as_posix() for p in suite.project.rglob("*.*")}
    for task in suite.tasks:
        named = {name for name in names if "/" in name and name in task.prompt}
        assert named or "read_file" not in task.tools, task.id


JUDGED = [
    ([270], "It is 270.", True),
    ([270], "It is 270.00 dollars", True),
    ([1806], "worth 1,806 together", True),
    ([1806], "worth 11806", False),
    ([70], "270", False),
    ([0.5], "0.5", True),
    ([5], "0.5", False),
    ([6, 150], "6 个文件，乘以 25 等于 150。", True),
    ([6, 150], "等于 150", False),
    ([[6, "six"]], "Six files", True),
    (["Tom Becker"], "TOM BECKER leads", True),
    (["17:30"], "17:00", False),
]


@pytest.mark.parametrize(("expect", "answer", "right"), JUDGED)
def test_how_answers_are_judged(expect: list, answer: str, right: bool) -> None:
    task = Task(id="en-x", prompt="?", expect=expect)
    assert (missing(task, answer, set()) == ()) is right


def test_tools_must_have_been_used() -> None:
    task = Task(id="en-x", prompt="?", expect=[1], tools=["calculator", "read_file"])
    assert missing(task, "1", {"calculator"}) == ("read_file",)


@pytest.mark.anyio
async def test_a_run_over_a_suite(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.txt").write_text("7")
    (tmp_path / "tasks.toml").write_text(
        'project = "p"\n[[task]]\nid = "en-1"\nprompt = "a?"\nexpect = [7]\ntools = ["read_file"]\n'
        '[[task]]\nid = "zh-1"\nprompt = "b?"\nexpect = ["八"]\n'
    )
    heard: list[Result] = []
    folders: list[Path] = []
    ticks = count()

    def make_agent(project: Path) -> Agent:
        folders.append(project)
        write = ("write_file", {"path": "a.txt", "text": "gone", "content": "gone"})
        replies = [calls(("read_file", {"path": "a.txt"}), write), says("It says 7.")]
        return Agent(FakeModel(*replies), make_file_tools(FolderFiles(Workspace(project))))

    summaries = await eval_tasks(
        load_suite(tmp_path / "tasks.toml"),
        make_agent,
        runs=2,
        on_result=heard.append,
        clock=lambda: float(next(ticks)),
    )
    assert [(r.run, r.task.id, r.is_right, r.missing) for r in heard] == [
        (1, "en-1", True, ()),
        (1, "zh-1", False, ("八",)),
        (2, "en-1", True, ()),
        (2, "zh-1", False, ("八",)),
    ]
    assert [s.as_json() for s in summaries] == [
        {
            "run": run,
            "right": 1,
            "total": 2,
            "languages": {"en": [1, 1], "zh": [0, 1]},
            "seconds_per_task": 1.0,
            "output_tokens": 14,
        }
        for run in (1, 2)
    ]
    assert json.loads(json.dumps(heard[0].as_json()))["answer"] == "It says 7."
    assert len(set(folders)) == 4
    assert not any(folder.exists() for folder in folders)
    assert (tmp_path / "p" / "a.txt").read_text() == "7"


def test_a_task_that_takes_too_long_is_stopped_and_not_right(tmp_path: Path) -> None:
    """What it had said by then does not count, and the next task has its own time."""
    (tmp_path / "p").mkdir()
    (tmp_path / "tasks.toml").write_text(
        'project = "p"\n'
        '[[task]]\nid = "en-1"\nprompt = "a?"\nexpect = [7]\n'
        '[[task]]\nid = "en-2"\nprompt = "b?"\nexpect = [7]\n'
    )
    slow = [Delta(kind="text", text="It says 7.", index=0), Hang()]
    model = FakeModel(slow, says("It says 7."))
    heard: list[Result] = []

    async def work() -> None:
        await eval_tasks(
            load_suite(tmp_path / "tasks.toml"),
            lambda _: Agent(model, []),
            runs=1,
            limit_s=30,
            on_result=heard.append,
        )

    assert seconds_of(work()) == (None, pytest.approx(30))
    assert [(r.task.id, r.answer, r.reason, r.is_right) for r in heard] == [
        ("en-1", "It says 7.", "deadline", False),
        ("en-2", "It says 7.", "completed", True),
    ]


def test_an_empty_run_counts_nothing() -> None:
    assert summarize(1, []).total == 0


BROKEN = {
    "no file": (None, "No such file"),
    "no TOML": ("project =", "at line 1|Invalid value"),
    "no UTF-8": (b"\xff", "utf-8"),
    "no tasks": ('project = "."', "task: Field required"),
    "bad id": ('project="."\n[[task]]\nid="x"\nprompt="?"\nexpect=[1]', "task.0.id"),
    "nothing expected": (
        'project="."\n[[task]]\nid="en-1"\nprompt="?"\nexpect=[]',
        "task.0.expect",
    ),
    "unknown key": ('project="."\n[[task]]\nid="en-1"\nprompt="?"\nexpect=[1]\nx=1', "task.0.x"),
    "twice": (
        'project="."\n' + '[[task]]\nid="en-1"\nprompt="?"\nexpect=[1]\n' * 2,
        "two tasks have the id en-1",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_suite_is_one_problem(tmp_path: Path, name: str) -> None:
    content, words = BROKEN[name]
    path = tmp_path / "tasks.toml"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(Problem) as caught:
        load_suite(path)
    assert caught.value.code == "script_invalid"
    assert any(each in str(caught.value.params["problem"]) for each in words.split("|"))


def test_a_missing_project_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text('project="none"\n[[task]]\nid="en-1"\nprompt="?"\nexpect=[1]')
    with pytest.raises(Problem) as caught:
        load_suite(path)
    assert caught.value.code == "project_path_missing"


@pytest.mark.model
@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.anyio
async def test_the_embedded_model_does_the_tasks_of_the_readme(tmp_path: Path) -> None:
    try:
        file = find_model(default_store())
    except LocalModelError:
        pytest.skip("the embedded model is not in the cache")
    server = LocalServer(file.path, log=tmp_path / "model.log")
    suite = load_suite(SUITE)
    tasks = tuple(task for task in suite.tasks if task.id in ("en-01", "zh-01"))

    def make_agent(project: Path) -> Agent:
        tools = (*make_file_tools(FolderFiles(Workspace(project)))[:2], calculator)
        return Agent(LocalModel(server), tools, dialect=schema_steps)

    try:
        results: list[Result] = []
        suite = type(suite)(project=suite.project, tasks=tasks)
        await eval_tasks(suite, make_agent, runs=1, on_result=results.append)
    finally:
        await server.aclose()
    assert [(r.task.id, r.missing) for r in results] == [("en-01", ()), ("zh-01", ())]
