"""list_files, read_file, write_file, edit_file: what a model sees and what the system learns."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from wenfang.core import (
    FileCreated,
    FileRead,
    FileWritten,
    Tool,
    Toolbox,
    ToolCall,
    ToolContext,
    ToolError,
    ToolOutput,
)
from wenfang.core.arguments import ArgumentError, bind
from wenfang.tools import make_file_tools
from wenfang.tools.texts import HeadAndTail
from wenfang.workspace import FolderFiles, Workspace, revision_of

CONTEXT = ToolContext(call_id="c1", key="k1", update=lambda text, fraction: None)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "a.csv").write_text("x,y\n1,2\n")
    (folder / "data" / "说明.txt").write_text("第一行\n第二行\n")
    (folder / "plan.md").write_text("# Plan\n\nOne.\nTwo.\n")
    return folder


@pytest.fixture
def tools(root: Path) -> Toolbox:
    return Toolbox(make_file_tools(FolderFiles(Workspace(root))))


async def run(made: Tool, **arguments: Any) -> ToolOutput:
    call = ToolCall(id="c1", name=made.name, arguments=arguments)
    output = await made.handler(CONTEXT, bind(made, call))
    assert isinstance(output, ToolOutput)
    return output


async def fails(made: Tool, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        await run(made, **arguments)
    assert "/tmp" not in str(caught.value)
    return str(caught.value)


def test_the_tools_and_what_they_declare(tools: Toolbox) -> None:
    assert {name: (each.access, each.mode, each.replay) for name, each in tools.items()} == {
        "list_files": ("read", "parallel", "read"),
        "read_file": ("read", "parallel", "read"),
        "write_file": ("write", "exclusive", "idempotent"),
        "edit_file": ("write", "exclusive", "unsafe"),
    }
    for spec in tools.specs:
        assert spec.description
        assert "path" in spec.patterns
        properties: Any = spec.parameters["properties"]
        assert all("description" in each for each in properties.values())


# list_files


@pytest.mark.anyio
async def test_list_says_how_many_first(tools: Toolbox) -> None:
    output = await run(tools["list_files"])
    assert output.content == (
        "The project: 1 file and 1 folder.\n"
        "data/\n"
        "plan.md (18 bytes)\n"
        "(Folders are not opened; list one by its path, or use recursive=true.)"
    )
    assert output.effects == ()
    assert (await run(tools["list_files"], path="data")).content == (
        "data: 2 files and 0 folders.\ndata/a.csv (8 bytes)\ndata/说明.txt (20 bytes)"
    )
    whole = await run(tools["list_files"], recursive=True)
    assert str(whole.content).splitlines() == [
        "The project: 3 files and 1 folder, counting everything inside.",
        *("data/", "data/a.csv (8 bytes)", "data/说明.txt (20 bytes)", "plan.md (18 bytes)"),
    ]
    assert whole.details == {
        "path": "",
        "files": 3,
        "folders": 1,
        "size_bytes": 46,
        "shown": 4,
        "truncated": False,
    }


@pytest.mark.anyio
async def test_list_of_an_empty_folder(tools: Toolbox, root: Path) -> None:
    (root / "empty").mkdir()
    content = (await run(tools["list_files"], folder="empty")).content
    assert content == "empty: no files and no folders (empty)."


@pytest.mark.anyio
async def test_list_is_cut_at_500_entries_and_counts_all(tools: Toolbox, root: Path) -> None:
    for number in range(600):
        (root / "data" / f"{number:03}.txt").write_text("")
    lines = str((await run(tools["list_files"], path="data")).content).splitlines()
    assert lines[0] == "data: 602 files and 0 folders."
    assert len(lines) == 502
    assert lines[-1] == "... 102 more not shown; list one folder at a time."


@pytest.mark.anyio
async def test_list_is_cut_at_50_kb(tools: Toolbox, root: Path) -> None:
    for number in range(450):
        (root / "data" / f"{number:03}{'长' * 60}.txt").write_text("")
    content = str((await run(tools["list_files"], path="data")).content)
    assert len(content.encode()) < 52_000
    assert "more not shown" in content


@pytest.mark.anyio
async def test_list_of_what_is_no_folder(tools: Toolbox) -> None:
    assert await fails(tools["list_files"], path="nothing") == (
        "There is no 'nothing' in the project. Call list_files to see what there is."
    )
    assert "not a folder" in await fails(tools["list_files"], path="plan.md")
    assert "'..'" in await fails(tools["list_files"], path="..")


# read_file


@pytest.mark.anyio
async def test_read_a_whole_file(tools: Toolbox, root: Path) -> None:
    output = await run(tools["read_file"], file_path="plan.md")
    assert output.content == "# Plan\n\nOne.\nTwo.\n"
    assert output.effects == (
        FileRead(path="plan.md", revision=revision_of((root / "plan.md").read_bytes())),
    )
    assert output.details == {
        "path": "plan.md",
        "first_line": 1,
        "last_line": 4,
        "total_lines": 4,
        "size_bytes": 18,
        "truncated": False,
    }


# lines of the file; offset, limit; what is shown, and the notice
RANGES = {
    "from": (["a", "b", "c"], {"offset": 2}, "b\nc\n"),
    "limit": (["a", "b", "c"], {"limit": 2}, "a\nb\n\n[Lines 1 to 2 of 3. To read on, call read_file with offset=3.]"),
    "middle": (["a", "b", "c"], {"offset": 2, "limit": 1}, "b\n\n[Lines 2 to 2 of 3. To read on, call read_file with offset=3.]"),
    "exact": (["a", "b"], {"offset": 1, "limit": 2}, "a\nb\n"),
    "last": (["a", "b"], {"offset": 2, "limit": 5}, "b\n"),
    "empty": ([], {}, "(The file is empty.)"),
    "empty-lines": (["", ""], {}, "\n\n"),
}  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize("row", RANGES.values(), ids=RANGES)
async def test_ranges(
    tools: Toolbox, root: Path, row: tuple[list[str], dict[str, int], str]
) -> None:
    lines, arguments, content = row
    (root / "x.txt").write_text("".join(f"{line}\n" for line in lines))
    assert (await run(tools["read_file"], path="x.txt", **arguments)).content == content


@pytest.mark.anyio
async def test_reading_in_parts_gives_the_whole(tools: Toolbox, root: Path) -> None:
    text = "".join(f"第 {number} 行：{'文' * (number % 90)}\n" for number in range(1, 5001))
    (root / "long.txt").write_text(text)
    parts: list[str] = []
    offset = 1
    for _ in range(50):
        output = await run(tools["read_file"], path="long.txt", offset=offset)
        content, _, notice = str(output.content).partition("\n[Lines")
        parts.append(content)
        assert len(content.encode()) <= 50 * 1024
        assert content.count("\n") <= 2000
        if not notice:
            break
        offset = int(notice.rpartition("offset=")[2].rstrip(".]"))
    assert "".join(parts) == text
    assert len(parts) > 5


@pytest.mark.anyio
async def test_reading_stops_at_2000_lines(tools: Toolbox, root: Path) -> None:
    (root / "long.txt").write_text("x\n" * 3000)
    for arguments in ({}, {"limit": 5000}):
        content = str((await run(tools["read_file"], path="long.txt", **arguments)).content)
        assert content.endswith(
            "[Lines 1 to 2000 of 3000. To read on, call read_file with offset=2001.]"
        )


@pytest.mark.anyio
async def test_a_line_that_is_too_long_is_cut_between_characters(
    tools: Toolbox, root: Path
) -> None:
    (root / "one.txt").write_text("a\n" + "长" * 40_000 + "\nend\n")
    first = await run(tools["read_file"], path="one.txt")
    assert str(first.content).endswith("To read on, call read_file with offset=2.]")
    content = str((await run(tools["read_file"], path="one.txt", offset=2)).content)
    text, _, notice = content.partition("\n[")
    assert set(text) == {"长"}
    assert 50 * 1024 - 3 < len(text.encode()) <= 50 * 1024
    assert notice == (
        "Line 2 of 3 is too long: only its first 50.0 KB are shown. Go on with offset=3.]"
    )
    (root / "only.txt").write_text("x" * 60_000)
    content = str((await run(tools["read_file"], path="only.txt")).content)
    assert content.endswith("[Line 1 of 1 is too long: only its first 50.0 KB are shown.]")


@pytest.mark.anyio
@pytest.mark.parametrize("extra", [0, 1, 2])
async def test_lines_at_the_limit(tools: Toolbox, root: Path, extra: int) -> None:
    (root / "edge.txt").write_text("x" * (50 * 1024 - 1 + extra) + "\nend")
    content = str((await run(tools["read_file"], path="edge.txt")).content)
    assert ("too long" in content) is (extra > 0)
    assert "offset=2" in content
    assert (await run(tools["read_file"], path="edge.txt", offset=2)).content == "end"


@pytest.mark.anyio
async def test_reading_past_the_end(tools: Toolbox, root: Path) -> None:
    assert await fails(tools["read_file"], path="plan.md", offset=5) == (
        "plan.md has 4 lines; offset 5 is past its end."
    )
    (root / "empty.txt").write_text("")
    assert "0 lines" in await fails(tools["read_file"], path="empty.txt", offset=2)


@pytest.mark.anyio
@pytest.mark.parametrize("arguments", [{"limit": 0}, {"offset": 0}, {"offset": -1}])
async def test_senseless_ranges(tools: Toolbox, arguments: dict[str, int]) -> None:
    with pytest.raises(ArgumentError, match="greater than or equal to 1"):
        await run(tools["read_file"], path="plan.md", **arguments)


@pytest.mark.anyio
async def test_line_ends_and_marks_are_not_shown(tools: Toolbox, root: Path) -> None:
    data = "\ufeff一\r\n二\r\n".encode()
    (root / "w.txt").write_bytes(data)
    output = await run(tools["read_file"], path="W.TXT")
    assert output.content == "一\n二\n"
    assert output.effects == (FileRead(path="w.txt", revision=revision_of(data)),)


@pytest.mark.anyio
@pytest.mark.parametrize("data", [b"a\0b", "价格".encode("gbk"), b"ok\n\xe4\xb8"])
async def test_what_is_no_text_is_not_read(tools: Toolbox, root: Path, data: bytes) -> None:
    (root / "x.bin").write_bytes(data)
    assert "not a UTF-8 text file" in await fails(tools["read_file"], path="x.bin")


@pytest.mark.anyio
async def test_a_large_file_is_not_loaded(tools: Toolbox, root: Path) -> None:
    with (root / "large.txt").open("wb") as file:
        for _ in range(40):
            file.write(b"line\n" * 200_000)
    content = str((await run(tools["read_file"], path="large.txt", offset=7_999_999)).content)
    assert content == "line\nline\n"


# write_file


@pytest.mark.anyio
async def test_write_reports_true_sizes_and_effects(tools: Toolbox, root: Path) -> None:
    output = await run(tools["write_file"], path="out/诗.txt", text="春眠\n不觉晓")
    data = "春眠\n不觉晓".encode()
    assert output.content == "Created out/诗.txt: 2 lines, 6 characters, 16 bytes."
    assert output.effects == (
        FileCreated(path="out/诗.txt", revision=revision_of(data), size_bytes=16),
    )
    again = await run(tools["write_file"], path="out/诗.txt", content="")
    assert again.content == "Replaced out/诗.txt: 0 lines, 0 characters, 0 bytes."
    assert again.effects == (
        FileWritten(
            path="out/诗.txt",
            revision=revision_of(b""),
            previous=revision_of(data),
            size_bytes=0,
        ),
    )
    assert (root / "out" / "诗.txt").read_bytes() == b""


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../x", "'..'"),
        ("/etc/x", "relative to the project"),
        (".git/config", "reserved"),
        ("data", "folder"),
        ("plan.md/x", "not a folder"),
        ("con", "device"),
    ],
)
async def test_write_stays_inside(tools: Toolbox, root: Path, path: str, words: str) -> None:
    assert words in await fails(tools["write_file"], path=path, content="x")
    assert sorted(os.listdir(root.parent)) == ["project"]


@pytest.mark.anyio
async def test_a_cancelled_write_is_done_and_says_so(
    tools: Toolbox, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, leave = threading.Event(), threading.Event()
    sync = os.fsync

    def slow(fd: int) -> None:
        entered.set()
        assert leave.wait(10)
        sync(fd)

    monkeypatch.setattr(os, "fsync", slow)
    task = asyncio.create_task(run(tools["write_file"], path="plan.md", content="new"))
    await asyncio.to_thread(entered.wait, 10)
    task.cancel()
    asyncio.get_running_loop().call_soon(leave.set)
    assert str((await task).content).startswith("Replaced plan.md")
    assert (root / "plan.md").read_text() == "new"


# edit_file


@pytest.mark.anyio
async def test_edit_changes_passages_and_shows_the_difference(tools: Toolbox, root: Path) -> None:
    before = (root / "plan.md").read_bytes()
    edits = [
        {"old_text": "Two.", "new_text": "2."},
        {"old_text": "One.", "new_text": "1."},
    ]
    output = await run(tools["edit_file"], path="plan.md", edits=edits)
    assert output.content == "Edited plan.md: 2 replacements made."
    after = (root / "plan.md").read_bytes()
    assert after == b"# Plan\n\n1.\n2.\n"
    assert output.effects == (
        FileWritten(
            path="plan.md",
            revision=revision_of(after),
            previous=revision_of(before),
            size_bytes=len(after),
        ),
    )
    assert isinstance(output.details, dict)
    assert output.details["diff"] == "@@ -1,4 +1,4 @@\n # Plan\n \n-One.\n-Two.\n+1.\n+2."


@pytest.mark.anyio
async def test_one_edit_instead_of_a_list_and_a_match_by_look(tools: Toolbox, root: Path) -> None:
    (root / "q.txt").write_text("他说“好”。\r\n再见\r\n")
    edit = {"old_text": '他说"好"。\n再见', "new_text": '他说"好"。\n回见'}
    output = await run(tools["edit_file"], path="q.txt", edits=edit)
    assert str(output.content).endswith("with other quotes, dashes or spaces than quoted: 1.")
    assert (root / "q.txt").read_bytes().decode() == "他说“好”。\r\n回见\r\n"


@pytest.mark.anyio
async def test_edits_that_cannot_be_made_change_nothing(tools: Toolbox, root: Path) -> None:
    edits = [
        {"old_text": "One.", "new_text": "1."},
        {"old_text": "Three.", "new_text": "3."},
    ]
    before = (root / "plan.md").read_bytes()
    assert "edit 2: old_text is not in the file" in await fails(
        tools["edit_file"], path="plan.md", edits=edits
    )
    assert (root / "plan.md").read_bytes() == before
    missing = await fails(tools["edit_file"], path="nope.md", edits=edits)
    assert missing.endswith("Call list_files to see what there is.")
    with pytest.raises(ArgumentError, match="at least 1 item"):
        await run(tools["edit_file"], path="plan.md", edits=[])
    with pytest.raises(ArgumentError, match="new_text"):
        await run(tools["edit_file"], path="plan.md", edits=[{"old_text": "One."}])


@pytest.mark.anyio
async def test_parallel_edits_are_all_kept(tools: Toolbox, root: Path) -> None:
    """engine.md C#10."""
    (root / "list.txt").write_text("".join(f"item {number:02};\n" for number in range(20)))
    await asyncio.gather(
        *(
            run(
                tools["edit_file"],
                path="list.txt",
                edits=[{"old_text": f"item {number:02};", "new_text": f"done {number:02};"}],
            )
            for number in range(20)
        )
    )
    assert (root / "list.txt").read_text() == "".join(f"done {n:02};\n" for n in range(20))


def test_head_and_tail() -> None:
    for pieces in (["abcdefghij"], list("abcdefghij"), ["abc", "defg", "hij"]):
        kept = HeadAndTail(6)
        for piece in pieces:
            kept.add(piece)
        assert kept.text() == "abc\n... (4 characters left out) ...\nhij"
    whole = HeadAndTail(6)
    whole.add("abcdef")
    assert whole.text() == "abcdef"
    assert HeadAndTail(6).text() == ""
