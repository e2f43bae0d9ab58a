"""The facade: what the server and the command line see."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from tests.runs.rig import QUICK, USAGE, Counter, Puppet, call, kinds, maker, open_rig, say

from wenfang.core import (
    Failure,
    FileCreated,
    FileRead,
    FileWritten,
    Hooks,
    Limits,
    Toolbox,
    ToolOutput,
    Usage,
    tool,
)
from wenfang.problems import Problem
from wenfang.runs import FileChanged, open_runs
from wenfang.storage import FILE
from wenfang.workspace import WorkspaceError

pytestmark = pytest.mark.anyio


async def test_a_run_from_words_to_answer(tmp_path: Path) -> None:
    counter = Counter()
    model = Puppet([call("look", "c1", "Let me see.", note="a"), say("All done.")])
    async with open_rig(tmp_path, model, counter.tools()) as rig:
        run = await rig.do("count the files")
        facts = await rig.facts(run.id)
    assert (run.status, run.reason, run.usage) == ("done", "completed", Usage(input=20, output=10))
    assert kinds(facts) == [
        "run.started",
        "user.message",
        "step.started",
        "message.finished",
        "tool.started",
        "tool.finished",
        "step.started",
        "message.finished",
        "run.finished",
    ]
    assert [fact["seq"] for fact in facts] == list(range(2, 11))
    assert facts[0]["model"] == "puppet"
    assert facts[-1]["answer"] == "All done."
    assert facts[-1]["steps"] == 2
    assert facts[-1]["tool_calls"] == 1
    assert counter.effects == ["look:a"]


async def test_a_session_remembers(tmp_path: Path) -> None:
    model = Puppet([say("First."), say("Second.")])
    async with open_rig(tmp_path, model) as rig:
        await rig.do("one")
        await rig.do("two")
    texts = [m.text if hasattr(m, "text") else m.content for m in model.requests[1].messages]
    assert texts == ["Work.", "one", "First.", "two"]
    first, second = (request.messages for request in model.requests)
    assert list(second[: len(first)]) == list(first)  # request n is a prefix of request n+1


async def test_the_title_of_a_session_is_what_was_said_first(tmp_path: Path) -> None:
    async with open_rig(tmp_path, Puppet([say("ok")])) as rig:
        await rig.do("  write\n a poem " + "x" * 100)
        await rig.do("another")
        (session,) = await rig.runs.sessions(rig.project_id)
    assert session.title == ("write a poem " + "x" * 100)[:60]
    assert session.active_run is None


async def test_one_run_at_a_time_and_the_same_request_once(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with open_rig(tmp_path, Puppet([say("ok then")], gate=gate)) as rig:
        run = await rig.ask("one", request_id="r1")
        assert (await rig.ask("one", request_id="r1")).id == run.id
        with pytest.raises(Problem) as failure:
            await rig.ask("two")
        assert failure.value.code == "run_active"
        for doing in (
            rig.runs.delete_session(rig.session.id),
            rig.runs.delete_project(rig.project_id),
        ):
            with pytest.raises(Problem, match="run_active"):
                await doing
        assert (await rig.runs.project(rig.project_id)).running == 1
        assert (await rig.runs.session(rig.session.id)).active_run == run.id
        gate.set()
        await rig.runs.wait(run.id)
        again = await rig.ask("one", request_id="r1")
        assert again.id == run.id
        assert again.is_finished


async def test_two_submits_at_once_give_one_run(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with open_rig(tmp_path, Puppet([say("ok then")], gate=gate)) as rig:
        done = await asyncio.gather(*(rig.ask(f"t{n}") for n in range(5)), return_exceptions=True)
        codes = [each.code for each in done if isinstance(each, Problem)]
        assert codes == ["run_active"] * 4
        gate.set()


async def test_the_same_request_at_once_gives_one_run(tmp_path: Path) -> None:
    async with open_rig(tmp_path, Puppet([say("ok")])) as rig:
        done = await asyncio.gather(*(rig.ask("t", request_id="r") for _ in range(5)))
        assert len({run.id for run in done}) == 1
        await rig.runs.wait(done[0].id)


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_nothing_to_do(tmp_path: Path, text: str) -> None:
    async with open_rig(tmp_path, Puppet([say("ok")])) as rig:
        with pytest.raises(Problem, match="empty_request"):
            await rig.ask(text)
        run = await rig.do("x")
        with pytest.raises(Problem, match="empty_request"):
            await rig.runs.steer(run.id, text)


async def test_unknown_things(tmp_path: Path) -> None:
    async with open_rig(tmp_path, Puppet([say("ok")])) as rig:
        runs = rig.runs
        for doing, code in [
            (runs.submit("ses_x", "hi"), "session_not_found"),
            (runs.session("ses_x"), "session_not_found"),
            (runs.rename_session("ses_x", "t"), "session_not_found"),
            (runs.delete_session("ses_x"), "session_not_found"),
            (runs.snapshot(rig.project_id, "ses_x"), "session_not_found"),
            (runs.create_session("prj_x"), "project_not_found"),
            (runs.sessions("prj_x"), "project_not_found"),
            (runs.project("prj_x"), "project_not_found"),
            (runs.rename_project("prj_x", "t"), "project_not_found"),
            (runs.delete_project("prj_x"), "project_not_found"),
            (runs.restore_project("prj_x"), "project_not_found"),
            (runs.snapshot("prj_x", "ses_x"), "project_not_found"),
            (
                runs.record_file_change(
                    "prj_x", FileChanged(path="a", change="created", by="author")
                ),
                "project_not_found",
            ),
            (runs.info("run_x"), "run_not_found"),
            (runs.stop("run_x"), "run_not_found"),
            (runs.steer("run_x", "hi"), "run_not_found"),
            (runs.wait("run_x"), "run_not_found"),
            (runs.has_more("run_x", 0), "run_not_found"),
        ]:
            with pytest.raises(Problem) as failure:
                await doing
            assert failure.value.code == code
            assert failure.value.text()
        with pytest.raises(Problem, match="project_not_found"):
            async with runs.subscribe("prj_x", 0):
                pass


async def test_a_model_that_is_not_there_refuses_the_submit(tmp_path: Path) -> None:
    def make(_: object) -> None:
        raise Problem("model_unavailable", why="no model")

    async with open_rig(tmp_path, make) as rig:
        with pytest.raises(Problem, match="model_unavailable"):
            await rig.ask("hi")
        assert (await rig.runs.session(rig.session.id)).active_run is None


async def test_stop_while_the_model_speaks(tmp_path: Path) -> None:
    model = Puppet([say("one two three")], gate=asyncio.Event())
    async with open_rig(tmp_path, model) as rig:
        run = await rig.ask()
        await model.reached.wait()
        await rig.runs.stop(run.id)
        await rig.runs.stop(run.id)
        ended = await rig.runs.wait(run.id)
        assert (ended.status, ended.reason) == ("stopped", "cancelled_by_user")
        assert await rig.runs.stop(run.id) == ended
        facts = await rig.facts(run.id)
    assert kinds(facts)[-2:] == ["message.finished", "run.finished"]
    assert kinds(facts).count("run.finished") == 1
    assert facts[-1]["answer"] == "one"
    assert facts[-2]["message"]["stop"] == "aborted"


async def test_stop_in_a_hung_tool_pairs_the_call_and_the_session_goes_on(tmp_path: Path) -> None:
    """FB14"""
    counter = Counter(hold=asyncio.Event())
    model = Puppet([call("fire", "c1", "Firing."), say("done")])
    async with open_rig(tmp_path, model, counter.tools()) as rig:
        run = await rig.ask("first words")
        await counter.entered.wait()
        await rig.runs.stop(run.id)
        ended = await rig.runs.wait(run.id)
        assert ended.status == "stopped"
        counter.hold = None
        model.script = [say("And now?")]
        await rig.do("second words")
    messages = model.requests[-1].messages
    assert [m.role for m in messages] == ["system", "user", "assistant", "tool_result", "user"]
    assert messages[3].error_type == "aborted"  # type: ignore[union-attr]
    assert messages[1].text == "first words"  # type: ignore[union-attr]


async def test_stop_a_run_that_waits_for_room(tmp_path: Path) -> None:
    gate = asyncio.Event()
    options = replace(QUICK, slots=1)
    async with open_rig(tmp_path, Puppet([say("a b")], gate=gate), options=options) as rig:
        first = await rig.ask()
        other = await rig.runs.create_session(rig.project_id)
        queued = await rig.runs.submit(other.id, "later")
        await rig.runs.steer(queued.id, "and this")
        assert queued.status == "queued"
        stopped = await rig.runs.stop(queued.id)
        assert stopped.status == "stopped"
        facts = await rig.facts(queued.id)
        assert kinds(facts) == ["run.started", "user.message", "user.message", "run.finished"]
        assert facts[2]["text"] == "and this"
        gate.set()
        assert (await rig.runs.wait(first.id)).status == "done"
        assert (await rig.runs.info(queued.id)).status == "stopped"


async def test_steer_is_read_before_the_next_request(tmp_path: Path) -> None:
    counter = Counter(hold=asyncio.Event())
    model = Puppet([call("look", "c1"), say("Yes.")])
    async with open_rig(tmp_path, model, counter.tools()) as rig:
        run = await rig.ask()
        await counter.entered.wait()
        assert (await rig.runs.steer(run.id, "shorter")).status == "running"
        await rig.runs.steer(run.id, "in English")
        counter.hold.set()  # type: ignore[union-attr]
        await rig.runs.wait(run.id)
        facts = await rig.facts(run.id)
        with pytest.raises(Problem, match="run_finished"):
            await rig.runs.steer(run.id, "too late")
    assert [m.text for m in model.requests[1].messages[-2:]] == ["shorter", "in English"]  # type: ignore[union-attr]
    steers = [fact for fact in facts if fact.get("source") == "steer"]
    assert [(fact["text"], fact["signal"]) for fact in steers] == [
        ("shorter", 1),
        ("in English", 2),
    ]


async def test_steer_while_the_answer_is_given_is_answered_too(tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = Puppet([say("one two"), say("And that.")], gate=gate)
    async with open_rig(tmp_path, model) as rig:
        run = await rig.ask()
        await model.reached.wait()
        await rig.runs.steer(run.id, "more")
        gate.set()
        await rig.runs.wait(run.id)
        facts = await rig.facts(run.id)
    assert facts[-1]["answer"] == "And that."
    assert kinds(facts).count("user.message") == 2


async def test_a_steer_that_comes_while_the_run_ends_is_answered(tmp_path: Path) -> None:
    """The run has its answer; the words are in the database before its last fact."""
    late: list[str] = []

    async def steer_late(_: object) -> None:
        late.append(run.id)
        if len(late) > 3:
            return
        await rig.runs._journal.steer(run.id, "wait!")  # another process: nobody tells the driver

    spec = {"hooks": Hooks(after_turn=steer_late)}
    gate = asyncio.Event()
    async with open_rig(tmp_path, Puppet([say("one"), say("two")], gate=gate), spec=spec) as rig:
        run = await rig.ask()
        gate.set()
        await rig.runs.wait(run.id)
        facts = await rig.facts(run.id)
    assert [fact["text"] for fact in facts if fact.get("source") == "steer"] == ["wait!"] * 3
    assert facts[-1]["steps"] == 4
    assert kinds(facts).count("run.finished") == 1


async def test_words_from_another_process_at_the_very_end(tmp_path: Path) -> None:
    """Nothing is appended any more that could tell the driver of them."""
    late = 0

    def probe(name: str) -> None:
        nonlocal late
        if name == "finish.before" and late < 2:
            late += 1
            with sqlite3.connect(tmp_path / FILE) as other:
                other.execute("UPDATE runs SET newest_signal = newest_signal + 1")
                other.execute(
                    "INSERT INTO signals SELECT id, newest_signal, 'steer', 'late', 0 FROM runs"
                )
            other.close()

    model = Puppet([say("one"), say("two"), say("three")])
    async with open_rig(tmp_path, model, probe=probe) as rig:
        run = await rig.do()
        facts = await rig.facts(run.id)
    assert facts[-1]["answer"] == "three"
    assert [f["signal"] for f in facts if f.get("source") == "steer"] == [1, 2]


async def test_words_that_come_while_a_run_fails_are_kept(tmp_path: Path) -> None:
    failing = say("partial", error=Failure(kind="fatal", message="x"))
    model = Puppet([replace(failing, stop="error"), say("never")])

    def probe(name: str) -> None:
        if name == "finish.before":
            with sqlite3.connect(tmp_path / FILE) as other:
                other.execute("UPDATE runs SET newest_signal = 1")
                other.execute("INSERT INTO signals SELECT id, 1, 'steer', 'late', 0 FROM runs")
            other.close()

    async with open_rig(tmp_path, model, probe=probe) as rig:
        run = await rig.do()
        facts = await rig.facts(run.id)
    assert (run.status, run.reason) == ("failed", "provider_error")
    assert [f["type"] for f in facts[-2:]] == ["user.message", "run.finished"]
    assert facts[-2]["text"] == "late"
    assert len(model.requests) == 1


async def test_deadline_while_the_model_speaks(tmp_path: Path) -> None:
    model = Puppet([say("one two")], gate=asyncio.Event())
    async with open_rig(tmp_path, model) as rig:
        run = await rig.ask(deadline_s=60)
        await model.reached.wait()
        rig.runs._engine.find(run.id)._expire()  # type: ignore[union-attr]
        ended = await rig.runs.wait(run.id)
        facts = await rig.facts(run.id)
    assert (ended.status, ended.reason) == ("expired", "deadline")
    assert facts[-1]["answer"] == "one"


async def test_a_deadline_comes_by_itself(tmp_path: Path) -> None:
    model = Puppet([say("one two")], gate=asyncio.Event())
    async with open_rig(tmp_path, model) as rig:
        assert (await rig.do(deadline_s=0.05)).status == "expired"


async def test_deadline_while_waiting_for_room(tmp_path: Path) -> None:
    gate = asyncio.Event()
    options = replace(QUICK, slots=1, deadline_s=0.05)
    async with open_rig(tmp_path, Puppet([say("a b")], gate=gate), options=options) as rig:
        await rig.ask(deadline_s=60.0)
        other = await rig.runs.create_session(rig.project_id)
        queued = await rig.runs.submit(other.id, "later")
        ended = await rig.runs.wait(queued.id)
        assert (ended.status, ended.reason) == ("expired", "deadline")
        gate.set()


async def test_a_limit_gives_a_partial_result(tmp_path: Path) -> None:
    counter = Counter()
    spec = {"limits": Limits(model_calls=1)}
    model = Puppet([call("look", "c1", "Looking."), say("So far.")])
    async with open_rig(tmp_path, model, counter.tools(), spec=spec) as rig:
        run = await rig.do()
        facts = await rig.facts(run.id)
    assert (run.status, run.reason) == ("partial", "max_steps")
    assert "notice" in kinds(facts)
    assert facts[-1]["answer"] == "So far."


async def test_files_of_tools_and_of_people_are_told(tmp_path: Path) -> None:
    @tool(access="write", replay="idempotent")
    async def write() -> ToolOutput:
        """Write."""
        new = FileCreated(path="a.md", revision="r1", size_bytes=1)
        old = FileWritten(path="b.md", revision="r3", previous="r2", size_bytes=1)
        return ToolOutput(content="ok", effects=(FileRead(path="c", revision="r"), new, old))

    async with open_rig(
        tmp_path, Puppet([call("write", "c1"), say("ok")]), Toolbox([write])
    ) as rig:
        run = await rig.do()
        change = FileChanged(path="a.md", change="written", by="author", revision="r9")
        seq = await rig.runs.record_file_change(rig.project_id, change)
        facts = await rig.facts()
    changes = [fact for fact in facts if fact["type"] == "file.changed"]
    assert [(c["path"], c["change"], c["by"], c["run_id"]) for c in changes] == [
        ("a.md", "created", "ai", run.id),
        ("b.md", "written", "ai", run.id),
        ("a.md", "written", "author", ""),
    ]
    assert changes[-1]["seq"] == seq == facts[-1]["seq"]


async def test_projects_and_their_folders(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    async with open_runs(tmp_path / "data", make_agent=maker(Puppet([say("x")]))) as runs:
        made = await runs.create_project("  A\nbook ")
        assert (made.title, made.folder) == ("A book", None)
        await (await runs.files(made.id)).write("a.txt", "x", base=None)
        (mine / "b.txt").write_text("y")
        own = await runs.project_at(mine)
        assert (own.title, own.folder) == ("mine", mine)
        assert (await (await runs.files(own.id)).read("b.txt")).text == "y"
        assert (await runs.project_at(mine)).id == own.id
        assert (await runs.create_project("Other", mine)).id == own.id
        for path in (tmp_path / "none", mine / "b.txt"):
            with pytest.raises(Problem, match="project_path_missing"):
                await runs.project_at(path)
            with pytest.raises(Problem, match="project_path_missing"):
                await runs.create_project("x", path)
        assert (await runs.rename_project(made.id, "B")).title == "B"
        await runs.delete_project(made.id)
        await runs.delete_project(own.id)
        assert await runs.projects() == []
        assert (mine / "b.txt").exists()
        with pytest.raises(Problem, match="project_not_found"):
            await runs.delete_project(made.id)
        assert (await runs.restore_project(made.id)).title == "B"
        assert (await (await runs.files(made.id)).read("a.txt")).text == "x"
        assert (await runs.restore_project(made.id)).id == made.id
        assert (await runs.project_at(mine)).id == own.id
        assert {p.id for p in await runs.projects()} == {made.id, own.id}


async def test_a_project_whose_folder_is_gone_can_be_deleted_and_restored(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    async with open_runs(tmp_path / "data", make_agent=maker(Puppet([say("x")]))) as runs:
        own = await runs.project_at(mine)
        mine.rmdir()
        with pytest.raises(WorkspaceError) as gone:
            await (await runs.files(own.id)).listing()
        assert gone.value.code == "file_not_found"
        await runs.delete_project(own.id)
        await runs.restore_project(own.id)


async def test_sessions(tmp_path: Path) -> None:
    async with open_rig(tmp_path, Puppet([say("x")])) as rig:
        runs = rig.runs
        second = await runs.create_session(rig.project_id, "Second")
        assert (await runs.rename_session(second.id, "2nd")).title == "2nd"
        await runs.delete_session(second.id)
        assert [s.id for s in await runs.sessions(rig.project_id)] == [rig.session.id]
        with pytest.raises(Problem, match="session_not_found"):
            await runs.submit(second.id, "hi")
        facts = await rig.facts()
    assert [(f["type"], f["title"], f["deleted"]) for f in facts[1:]] == [
        ("session.changed", "Second", False),
        ("session.changed", "2nd", False),
        ("session.changed", "2nd", True),
    ]


async def test_snapshot_pages_and_the_running_message(tmp_path: Path) -> None:
    gate = asyncio.Event()
    gate.set()
    model = Puppet([say("one two")], gate=gate)
    async with open_rig(tmp_path, model) as rig:
        for n in range(52):
            await rig.do(f"t{n}")
        whole = await rig.runs.snapshot(rig.project_id, rig.session.id)
        first = json.loads(whole.frames[0])
        texts = [f["text"] for f in map(json.loads, whole.frames) if f["type"] == "user.message"]
        assert (whole.more, texts[0], texts[-1], len(texts)) == (True, "t2", "t51", 50)
        earlier = await rig.runs.snapshot(rig.project_id, rig.session.id, before=first["seq"])
        texts = [f["text"] for f in map(json.loads, earlier.frames) if f["type"] == "user.message"]
        assert (earlier.more, texts) == (False, ["t0", "t1"])
        assert whole.partials == ()
        gate.clear()
        model.reached.clear()
        await rig.ask()
        await model.reached.wait()
        while not (taken := await rig.runs.snapshot(rig.project_id, rig.session.id)).partials:
            await asyncio.sleep(0)
        (partial,) = map(json.loads, taken.partials)
        assert (partial["type"], partial["off"], partial["text"]) == ("message.delta", 0, "one")
        gate.set()


async def test_ready(tmp_path: Path) -> None:
    async with open_rig(tmp_path, Puppet([say("x")])) as rig:
        await rig.runs.check()
        raw = await rig.runs._db.write(lambda tx: tx.raw)
        raw.execute("PRAGMA query_only=1")
        with pytest.raises(Problem, match="data_unwritable"):
            await rig.runs.check()
        raw.execute("PRAGMA query_only=0")
        await rig.runs.check()


async def test_usage_of_a_run_counts_each_reply_once(tmp_path: Path) -> None:
    async with open_rig(tmp_path, Puppet([say("x")])) as rig:
        assert (await rig.do()).usage == USAGE


@pytest.mark.parametrize("after", [-1, 99])
async def test_numbers_that_are_not_there(tmp_path: Path, after: int) -> None:
    async with open_rig(tmp_path, Puppet([say("x")])) as rig:
        run = await rig.do()
        for opened in (
            rig.runs.subscribe(rig.project_id, after),
            rig.runs.subscribe_run(run.id, after),
        ):
            with pytest.raises(Problem) as failure:
                async with opened:
                    pass
            assert failure.value.code == "invalid_request"


async def test_a_session_of_another_project(tmp_path: Path) -> None:
    async with open_rig(tmp_path, Puppet([say("x")])) as rig:
        other = await rig.runs.create_project("Other")
        with pytest.raises(Problem, match="session_not_found"):
            await rig.runs.snapshot(other.id, rig.session.id)
