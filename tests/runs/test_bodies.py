"""A reply that is cut off while it writes a file: no word is lost, none is overwritten (FC-9, FC-12)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runs.rig import ALONE, Rig, open_rig

from wenfang.core import Delta, ModelError, ModelRequest, Toolbox
from wenfang.core.models import ModelEvent
from wenfang.runs.bodies import Unfinished, keep_unfinished, unfinished_bodies
from wenfang.runs.codec import encode
from wenfang.runs.facts import BlockDelta, NoticeGiven
from wenfang.tools import make_file_tools
from wenfang.workspace import FolderFiles, Saved, Workspace, WorkspaceError

pytestmark = pytest.mark.anyio

PLACES = ("database", "folder")
TEXT = "　　夜色渐深，他推开了那扇沉重的门。\n　　没有人。"


def arguments(text: str, path: str | None = "第一章.md", *, ends: bool = False) -> str:
    """The arguments of a call as far as they came."""
    head = "" if path is None else f'"path": {json.dumps(path, ensure_ascii=False)}, '
    body = json.dumps(text, ensure_ascii=False)
    return (
        f'{{{head}"content": {body}' + ("}" if ends else "")[:1]
        if ends
        else f'{{{head}"content": {body[:-1]}'
    )


@dataclass
class Writer:
    """A model that writes a call and is then cut off: it waits for ever, or fails."""

    arguments: str
    failure: ModelError | None = None
    tool: str = "write_file"
    name: str = "writer"
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        del request
        for at in range(0, len(self.arguments), 7):
            piece = self.arguments[at : at + 7]
            yield Delta(kind="call", text=piece, index=0, name=self.tool)
        self.reached.set()
        if self.failure is not None:
            raise self.failure
        await asyncio.Event().wait()


def tools(folder: Path) -> Toolbox:
    return Toolbox(make_file_tools(FolderFiles(Workspace(folder))))


async def texts(rig: Rig) -> dict[str, str]:
    files = await rig.runs.files(rig.project_id)
    paths = [each.path for each in (await files.listing()).entries]
    return {path: (await files.read(path)).text for path in paths}


async def told(rig: Rig, run_id: str) -> list[tuple[str, ...]]:
    """What the journal says of files, and the end."""
    found: list[tuple[str, ...]] = []
    for fact in await rig.facts(run_id):
        if fact["type"] == "file.changed":
            found.append((fact["change"], fact["path"], fact["by"]))
        elif fact["type"] == "notice":
            found.append((fact["code"], fact["params"].get("path", "")))
    return found


# what is there, what arrived, what is there afterwards, what was told
ROWS: dict[str, tuple[dict[str, str], str, dict[str, str], list[tuple[str, ...]]]] = {
    "FC-12-a-new-file": (
        {}, arguments(TEXT), {"第一章.md": TEXT},
        [("created", "第一章.md", "ai"), ("body_kept", "第一章.md")],
    ),
    "FC-12-a-blank-file": (
        {"第一章.md": " \n"}, arguments(TEXT), {"第一章.md": TEXT},
        [("written", "第一章.md", "ai"), ("body_kept", "第一章.md")],
    ),
    "FC-9-a-file-with-a-text": (
        {"第一章.md": "旧的。"}, arguments(TEXT), {"第一章.md": "旧的。", "第一章（未写完）.md": TEXT},
        [("created", "第一章（未写完）.md", "ai"), ("body_kept", "第一章（未写完）.md")],
    ),
    "FC-9-all-of-it-arrived-but-the-call-was-never-made": (
        {"第一章.md": "旧的。"}, arguments(TEXT, ends=True), {"第一章.md": "旧的。", "第一章（未写完）.md": TEXT},
        [("created", "第一章（未写完）.md", "ai"), ("body_kept", "第一章（未写完）.md")],
    ),
    "FC-9-a-second-time": (
        {"a.md": "old", "a (unfinished).md": "older"}, arguments("new words", "a.md"),
        {"a.md": "old", "a (unfinished).md": "older", "a (unfinished) (2).md": "new words"},
        [("created", "a (unfinished) (2).md", "ai"), ("body_kept", "a (unfinished) (2).md")],
    ),
    "FC-12-the-same-text": ({"第一章.md": TEXT}, arguments(TEXT), {"第一章.md": TEXT}, []),
    "FC-12-the-name-was-still-to-come": (
        {}, arguments(TEXT, None), {"未命名.md": TEXT},
        [("created", "未命名.md", "ai"), ("body_kept", "未命名.md")],
    ),
    "FC-12-a-name-that-cannot-be-used": (
        {}, arguments("words", "../../x.md"), {"Untitled.md": "words"},
        [("created", "Untitled.md", "ai"), ("body_kept", "Untitled.md")],
    ),
    "FC-12-nothing-but-blanks": ({}, arguments("　\n"), {}, []),
    "FC-12-not-a-text-yet": ({}, '{"path": "a.md", "con', {}, []),
    "FC-12-no-arguments": ({}, "{", {}, []),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("row", ROWS)
async def test_a_stop_keeps_what_was_written(tmp_path: Path, place: str, row: str) -> None:
    before, written, after, facts = ROWS[row]
    model = Writer(written)
    folder = tmp_path / "mine"
    folder.mkdir()
    async with open_rig(tmp_path / "data", model, tools(folder), options=ALONE) as rig:
        if place == "folder":
            project = await rig.runs.project_at(folder)
            rig = Rig(rig.runs, await rig.runs.create_session(project.id))
        files = await rig.runs.files(rig.project_id)
        for path, text in before.items():
            await files.write(path, text, base=None)
        run = await rig.ask()
        await model.reached.wait()
        await rig.runs.stop(run.id)
        assert (await rig.runs.wait(run.id)).status == "stopped"
        assert await texts(rig) == after
        assert await told(rig, run.id) == facts
        assert (await rig.facts(run.id))[-1]["type"] == "run.finished"


async def test_a_failure_keeps_what_was_written(tmp_path: Path) -> None:
    model = Writer(arguments(TEXT), failure=ModelError("refused", "no more"))
    async with open_rig(tmp_path, model, tools(tmp_path), options=ALONE) as rig:
        run = await rig.ask()
        assert (await rig.runs.wait(run.id)).status == "failed"
        assert await texts(rig) == {"第一章.md": TEXT}
        files = await rig.runs.files(rig.project_id)
        (version,) = await files.revisions("第一章.md")
        assert (version.actor, version.run_id) == ("ai", run.id)


async def test_a_deadline_keeps_what_was_written(tmp_path: Path) -> None:
    model = Writer(arguments(TEXT))
    async with open_rig(tmp_path, model, tools(tmp_path), options=ALONE) as rig:
        run = await rig.runs.submit(rig.session.id, "write", deadline_s=0.3)
        end = await rig.runs.wait(run.id)
        assert (end.status, end.reason) == ("expired", "deadline")
        assert await texts(rig) == {"第一章.md": TEXT}


async def test_a_process_that_died_keeps_what_was_written(tmp_path: Path) -> None:
    """The run was stopped while nobody drove it: whoever closes it knows the text from the journal."""
    model = Writer(arguments(TEXT))
    options = replace(ALONE, partial_s=0.0, delta_s=0.0)
    async with open_rig(tmp_path, model, tools(tmp_path), options=options) as rig:
        run = await rig.ask()
        await model.reached.wait()
        while not (await rig.runs._db.read(lambda tx: tx.raw.execute("SELECT frames FROM partials").fetchall())):  # fmt: skip
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)
        rig.runs._engine.fence()
        while run.id in rig.runs._engine._tasks:
            await asyncio.sleep(0.001)
        assert await texts(rig) == {}
        await rig.runs._journal.stop(run.id, None)  # type: ignore[arg-type]
        await rig.runs._engine.reconcile()
        assert (await rig.runs.wait(run.id)).status == "stopped"
        kept = (await texts(rig))["第一章.md"]
        assert kept
        assert TEXT.startswith(kept)
        assert ("body_kept", "第一章.md") in await told(rig, run.id)


async def test_TL_24_a_file_that_is_busy_is_waited_for(tmp_path: Path) -> None:
    class Busy(FolderFiles):
        tries = 0

        async def write(self, path: str, text: str, *, base: str | None, **more: Any) -> Saved:
            self.tries += 1
            if self.tries <= 3:
                raise WorkspaceError("file_busy", path=path)
            return await super().write(path, text, base=base, **more)

    files = Busy(Workspace(tmp_path))
    facts = await keep_unfinished(files, [Unfinished(file="第一章.md", text=TEXT)])
    assert [fact.code for fact in facts if isinstance(fact, NoticeGiven)] == ["body_kept"]
    assert (await files.read("第一章.md")).text == TEXT


async def test_other_tools_have_no_texts(tmp_path: Path) -> None:
    model = Writer('{"path": "a.md", "content": "wo', tool="read_file")
    async with open_rig(tmp_path, model, tools(tmp_path), options=ALONE) as rig:
        run = await rig.ask()
        await model.reached.wait()
        await rig.runs.stop(run.id)
        await rig.runs.wait(run.id)
        assert await texts(rig) == {}


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=60), st.integers(0, 400), st.booleans())
def test_what_was_shown_is_what_is_kept(text: str, cut: int, ascii_only: bool) -> None:
    """Wherever the arguments are cut, what is kept is the beginning of what was meant."""
    whole = json.dumps({"path": "a.md", "content": text}, ensure_ascii=ascii_only)
    delta = BlockDelta(
        step=1, message_id="m", attempt=1, kind="call", index=0, off=0, text=whole[:cut], name="write_file",
    )  # fmt: skip
    bodies = unfinished_bodies([encode(delta)])
    kept = bodies[0].text if bodies else ""
    assert text.startswith(kept)
    if cut >= len(whole) and text.strip():
        assert bodies == [Unfinished(file="a.md", text=text)]


def _delta(
    text: str, *, kind: Any = "call", name: str | None = "write_file", index: int = 0
) -> bytes:
    return encode(
        BlockDelta(
            step=1,
            message_id="m",
            attempt=1,
            kind=kind,
            index=index,
            off=0,
            text=text,
            name=name,
        )
    )


def test_FC_12_what_is_no_text_hides_none_behind_it() -> None:
    frames = [
        _delta("words to the person", kind="text", name=None),
        _delta('{"expression": "1+1', name="calculator", index=1),
        _delta(arguments("　\n"), index=2),
        _delta(arguments("kept"), index=3),
    ]
    assert unfinished_bodies(frames) == [Unfinished(file="第一章.md", text="kept")]


async def test_FC_12_a_text_that_cannot_be_kept_does_not_take_others_with_it(
    tmp_path: Path,
) -> None:
    class Files(FolderFiles):
        """A disk on which nothing can be made whose name begins with a."""

        async def write(self, path: str, text: str, *, base: str | None) -> Saved:
            if path.startswith("a"):
                raise WorkspaceError("disk_full")
            return await super().write(path, text, base=base)

    bodies = [Unfinished(file="a.md", text="one"), Unfinished(file="b.md", text="two")]
    facts = await keep_unfinished(Files(Workspace(tmp_path)), bodies)
    codes = [fact.code for fact in facts if isinstance(fact, NoticeGiven)]
    assert codes == ["disk_full", "body_kept"]
    assert (tmp_path / "b.md").read_text("utf-8") == "two"
