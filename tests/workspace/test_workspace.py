"""The files of a project: what can be done with them, and what cannot be reached."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenfang.workspace import Workspace, WorkspaceError, revision_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "faq.txt").write_text("a seat costs 9\n")
    (folder / "数据.csv").write_text("姓名,分数\n")
    (tmp_path / "outside.txt").write_text("secret")
    return folder


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace(root)


def code(action: Callable[[], Any]) -> str:
    with pytest.raises(WorkspaceError) as caught:
        action()
    assert "/tmp" not in str(caught.value)
    return caught.value.code


# Reading


def test_list_counts_everything_and_shows_what_was_asked_for(
    workspace: Workspace, root: Path
) -> None:
    for name in ("b.txt", "A.txt", "c.txt"):
        (root / name).write_text("12345")
    listing = workspace.list()
    assert [entry.path for entry in listing.entries] == [
        "A.txt",
        "b.txt",
        "c.txt",
        "docs",
        "数据.csv",
    ]
    assert (listing.files, listing.folders, listing.truncated) == (4, 1, False)
    whole = workspace.list(recursive=True, limit=2)
    assert [entry.path for entry in whole.entries] == ["A.txt", "b.txt"]
    assert (whole.files, whole.folders, whole.truncated, whole.complete) == (5, 1, True, True)
    assert whole.size_bytes == 15 + 15 + 14
    assert [entry.path for entry in workspace.list("docs").entries] == ["docs/faq.txt"]
    assert workspace.list("DOCS").path == "docs"


def test_list_leaves_out_what_cannot_be_opened(workspace: Workspace, root: Path) -> None:
    os.symlink(root.parent / "outside.txt", root / "link.txt")
    os.symlink(root.parent, root / "up")
    os.mkfifo(root / "pipe")
    (root / ".git").mkdir()
    (root / ".wenfang").mkdir()
    (root / ".wenfang-tmp_1").write_text("")
    (Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.txt"))).write_text("")
    (root / ".gitignore").write_text("")
    entries = workspace.list(recursive=True).entries
    assert [entry.path for entry in entries] == [
        *(".gitignore", "docs", "docs/faq.txt", "数据.csv"),
    ]


def test_list_of_no_folder(workspace: Workspace) -> None:
    assert code(lambda: workspace.list("missing")) == "file_not_found"
    assert code(lambda: workspace.list("docs/faq.txt")) == "path_invalid"


def test_a_very_large_tree_is_counted_up_to_a_bound(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wenfang.workspace.workspace._SCAN_LIMIT", 3)
    for folder in "abcd":
        (root / folder / "deep").mkdir(parents=True)
    listing = workspace.list(recursive=True)
    assert listing.truncated
    assert not listing.complete


def test_text_keeps_its_bytes(workspace: Workspace, root: Path) -> None:
    data = "\ufeff一\r\n二\r\n三\n".encode()
    (root / "a.md").write_bytes(data)
    file = workspace.read_text("a.md")
    assert file.text.encode() == data
    assert (file.newline, file.revision, file.size_bytes) == ("\r\n", revision_of(data), len(data))
    workspace.write_text("a.md", file.text, base=file.revision)
    assert (root / "a.md").read_bytes() == data
    assert workspace.read_bytes("a.md")[0] == data


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"a\x00b", "binary"), ("价格".encode("gbk"), "byte 1"), (b"ok \xff", "byte 4")],
)
def test_what_is_no_text_is_refused_and_never_rewritten(
    workspace: Workspace, root: Path, data: bytes, words: str
) -> None:
    (root / "x").write_bytes(data)
    assert workspace.read_bytes("x")[0] == data
    for action in (
        lambda: workspace.read_text("x"),
        lambda: workspace.write_text("x", "new", base="*"),
        lambda: workspace.change_text("x", lambda text: text + "new"),
    ):
        with pytest.raises(WorkspaceError, match=words) as caught:
            action()
        assert caught.value.code == "file_not_text"
    assert (root / "x").read_bytes() == data


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_text_that_could_not_be_read_again_is_not_written(workspace: Workspace, text: str) -> None:
    assert code(lambda: workspace.write_text("new.md", text, base=None)) == "file_not_text"
    assert code(lambda: workspace.read_text("new.md")) == "file_not_found"


def test_size_limit(root: Path) -> None:
    workspace = Workspace(root, text_limit_bytes=10)
    assert code(lambda: workspace.read_text("docs/faq.txt")) == "file_too_large"
    assert code(lambda: workspace.write_text("n.txt", "一二三四", base=None)) == "file_too_large"
    assert workspace.write_text("n.txt", "一二三1", base=None).entry.size_bytes == 10
    with workspace.open("docs/faq.txt") as file:
        assert file.stream.read() == b"a seat costs 9\n"
        assert file.entry.size_bytes == 15


# Changing


def test_write_compares_revisions(workspace: Workspace, root: Path) -> None:
    first = workspace.write_text("a/b/c.md", "one", base=None)
    assert (first.previous, first.entry.path) == (None, "a/b/c.md")
    assert first.revision == first.entry.revision == revision_of(b"one")
    second = workspace.write_text("a/b/c.md", "two", base=first.revision)
    assert second.previous == first.revision
    for base in (None, first.revision):
        with pytest.raises(WorkspaceError) as caught:
            workspace.write_text("a/b/c.md", "three", base=base)
        assert caught.value.code == "revision_conflict"
        assert caught.value.params["revision"] == second.revision
    assert workspace.write_text("a/b/c.md", "four", base="*").previous == second.revision
    assert (root / "a/b/c.md").read_text() == "four"


@pytest.mark.parametrize("path", ["gone.md", "gone/gone.md"])
def test_a_file_that_was_deleted_meanwhile_is_a_conflict(
    workspace: Workspace, root: Path, path: str
) -> None:
    with pytest.raises(WorkspaceError) as caught:
        workspace.write_text(path, "x", base=revision_of(b"x"))
    assert caught.value.code == "revision_conflict"
    assert caught.value.params["revision"] == ""
    assert not (root / "gone").exists()


def test_write_keeps_the_mode_and_leaves_nothing_behind(workspace: Workspace, root: Path) -> None:
    (root / "run.sh").write_text("a")
    (root / "run.sh").chmod(0o750)
    workspace.write_text("run.sh", "b", base="*")
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o750
    assert sorted(os.listdir(root)) == ["docs", "run.sh", "数据.csv"]


def test_a_file_marked_read_only_is_left_alone(workspace: Workspace, root: Path) -> None:
    (root / "fixed.txt").write_text("a")
    (root / "fixed.txt").chmod(0o444)
    assert code(lambda: workspace.write_text("fixed.txt", "b", base="*")) == "read_only"
    assert sorted(os.listdir(root)) == ["docs", "fixed.txt", "数据.csv"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [(errno.ENOSPC, "disk_full"), (errno.EDQUOT, "disk_full"), (errno.EROFS, "read_only")],
)
def test_a_failed_write_changes_nothing(
    workspace: Workspace,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    expected: str,
) -> None:
    def fail(fd: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    assert code(lambda: workspace.write_text("docs/faq.txt", "x", base="*")) == expected
    assert (root / "docs/faq.txt").read_text() == "a seat costs 9\n"
    assert os.listdir(root / "docs") == ["faq.txt"]


def test_a_file_that_may_not_be_read(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str, *args: Any) -> tuple[int, os.stat_result]:
        raise PermissionError(errno.EACCES, "denied")

    monkeypatch.setattr("wenfang.workspace.workspace.open_regular", fail)
    with pytest.raises(WorkspaceError, match="may not be read") as caught:
        workspace.read_text("docs/faq.txt")
    assert caught.value.code == "path_invalid"


def test_an_unknown_failure_of_the_disk_stays_what_it_is(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(fd: int) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="broken"):
        workspace.write_text("docs/faq.txt", "x", base="*")


def test_folders(workspace: Workspace, root: Path) -> None:
    entry = workspace.create_folder("a/b")
    assert (entry.path, entry.kind, entry.size_bytes) == ("a/b", "folder", 0)
    assert (root / "a/b").is_dir()
    assert code(lambda: workspace.create_folder("A/B")) == "path_exists"
    assert code(lambda: workspace.create_folder("docs/faq.txt/x")) == "path_invalid"


def test_move(workspace: Workspace, root: Path) -> None:
    assert workspace.move("docs/faq.txt", "help/new/faq.md").path == "help/new/faq.md"
    assert (root / "help/new/faq.md").read_text() == "a seat costs 9\n"
    assert workspace.move("HELP", "docs/help").kind == "folder"
    assert workspace.move("docs/help/new/faq.md", "docs/help/new/FAQ.md").path.endswith("FAQ.md")
    assert os.listdir(root / "docs/help/new") == ["FAQ.md"]
    assert code(lambda: workspace.move("数据.csv", "docs")) == "path_exists"
    assert code(lambda: workspace.move("数据.csv", "DOCS/help/NEW/faq.MD")) == "path_exists"
    assert code(lambda: workspace.move("missing", "x")) == "file_not_found"
    assert code(lambda: workspace.move("docs", "docs/inner/x")) == "path_invalid"
    assert sorted(os.listdir(root / "docs")) == ["help"]


def test_delete_and_restore(workspace: Workspace, root: Path) -> None:
    trash_id = workspace.delete("docs")
    assert not (root / "docs").exists()
    assert [entry.path for entry in workspace.list(recursive=True).entries] == ["数据.csv"]
    assert workspace.restore(trash_id).path == "docs"
    assert (root / "docs/faq.txt").read_text() == "a seat costs 9\n"
    assert os.listdir(root / ".wenfang/trash") == []
    assert code(lambda: workspace.restore(trash_id)) == "trash_not_found"
    for bad in ("", "..", "trash_../../docs", "trash_00"):
        assert code(lambda bad=bad: workspace.restore(bad)) == "trash_not_found"


def test_restore_never_overwrites_and_makes_folders_again(workspace: Workspace, root: Path) -> None:
    trash_id = workspace.delete("docs/faq.txt")
    workspace.write_text("docs/faq.txt", "new", base=None)
    assert code(lambda: workspace.restore(trash_id)) == "path_exists"
    workspace.delete("docs")
    assert workspace.restore(trash_id).path == "docs/faq.txt"
    assert (root / "docs/faq.txt").read_text() == "a seat costs 9\n"


# Staying inside

ESCAPES = {
    "parent": "../outside.txt",
    "parent-inside": "docs/../../outside.txt",
    "parent-harmless": "docs/../docs/faq.txt",
    "absolute": "/etc/passwd",
    "home": "~/x",
    "drive": "C:/x",
    "drive-relative": "c:x",
    "backslash": "docs\\faq.txt",
    "backslash-parent": "..\\outside.txt",
    "nul": "docs/faq.txt\0.md",
    "newline": "docs/\nfaq.txt",
    "surrogate": "docs/\ud800",
    "link-file": "link.txt",
    "link-folder": "up/outside.txt",
    "link-inside": "alias/faq.txt",
    "git": ".git/hooks/pre-commit",
    "git-upper": ".GIT/config",
    "git-deep": "docs/.git/config",
    "ours": ".wenfang/trash/x",
    "ours-wide": ".WenFang/x",
    "long-name": "a" * 256,
    "long-name-cjk": "长" * 86,
    "long-path": "/".join(["a" * 200] * 6),
    "deep": "/".join("a" * 40),
    "empty": "",
    "dot": "./.",
    "pipe": "pipe",
    "folder": "docs",
}


@pytest.fixture
def hostile(workspace: Workspace, root: Path) -> Workspace:
    os.symlink(root.parent / "outside.txt", root / "link.txt")
    os.symlink(root.parent, root / "up")
    os.symlink("docs", root / "alias")
    os.mkfifo(root / "pipe")
    (root / ".git").mkdir()
    return workspace


@pytest.mark.parametrize("path", ESCAPES.values(), ids=ESCAPES)
def test_paths_that_lead_nowhere(hostile: Workspace, root: Path, path: str) -> None:
    before = snapshot(root.parent)
    assert code(lambda: hostile.read_text(path)) in ("path_invalid", "file_not_found")
    assert code(lambda: hostile.write_text(path, "x", base="*")) == "path_invalid"
    assert code(lambda: hostile.change_text(path, lambda text: "x")) in (
        *("path_invalid", "file_not_found"),
    )
    assert snapshot(root.parent) == before


@pytest.mark.parametrize(
    "path", [p for name, p in ESCAPES.items() if name not in ("pipe", "folder")]
)
def test_places_that_nothing_is_moved_to(hostile: Workspace, root: Path, path: str) -> None:
    before = snapshot(root.parent)
    assert code(lambda: hostile.move("docs/faq.txt", path)) in ("path_invalid", "path_exists")
    assert code(lambda: hostile.create_folder(path)) in ("path_invalid", "path_exists")
    assert snapshot(root.parent) == before


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


NEW_NAMES = {
    "device": "con",
    "device-extension": "docs/NUL.txt",
    "device-digit": "com¹.md",
    "trailing-dot": "a.",
    "trailing-space": "a ",
    "leading-space": " a",
    "question": "why?.md",
    "colon": "a:b",
    "pipe": "a|b",
    "zero-width": "fa\u200bq.txt",
    "right-to-left": "faq\u202etxt.md",
    "bom": "\ufeffa.md",
    "wide-space": "a\u3000b.md",
}


@pytest.mark.parametrize("path", NEW_NAMES.values(), ids=NEW_NAMES)
def test_names_that_are_not_created(workspace: Workspace, root: Path, path: str) -> None:
    before = snapshot(root)
    assert code(lambda: workspace.write_text(path, "x", base=None)) == "path_invalid"
    assert code(lambda: workspace.create_folder(path)) == "path_invalid"
    assert code(lambda: workspace.move("docs/faq.txt", path)) == "path_invalid"
    assert snapshot(root) == before


def test_odd_names_that_exist_can_be_opened(workspace: Workspace, root: Path) -> None:
    for name in ("why?.md", "con", "day 1: x"):
        (root / name).write_text("x")
        assert workspace.read_text(name).text == "x"
        workspace.write_text(name, "y", base="*")
        assert workspace.restore(workspace.delete(name)).path == name


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Plan.md", "plan.MD"),
        ("é.md", "e\u0301.md"),
        ("e\u0301.md", "é.md"),
        ("Straße.md", "STRASSE.md"),
        ("Ω.md", "\u2126.md"),
    ],
)
def test_a_look_alike_is_the_same_file(
    workspace: Workspace, root: Path, stored: str, asked: str
) -> None:
    (root / stored).write_text("one")
    assert workspace.read_text(asked).path == stored
    assert code(lambda: workspace.write_text(asked, "two", base=None)) == "revision_conflict"
    assert workspace.write_text(asked, "two", base="*").entry.path == stored
    assert len(os.listdir(root)) == 3
    assert (root / stored).read_text() == "two"


def test_two_look_alikes_are_told_apart_or_refused(workspace: Workspace, root: Path) -> None:
    (root / "a.md").write_text("lower")
    (root / "A.md").write_text("upper")
    (root / "ä.MD").write_text("")
    (root / "a\u0308.md").write_text("")
    assert workspace.read_text("a.md").text == "lower"
    assert workspace.read_text("A.md").text == "upper"
    assert code(lambda: workspace.read_text("Ä.md")) == "path_invalid"


def test_new_names_are_stored_composed(workspace: Workspace, root: Path) -> None:
    workspace.write_text("cafe\u0301/e\u0301.md", "x", base=None)
    assert (root / "café/é.md").exists()


@given(
    st.lists(st.sampled_from(["..", ".", "", "docs", "up", "a", "\\", "\0", "/"]), max_size=6),
)
def test_no_path_reaches_outside(parts: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder) / "in"
        (inside / "docs").mkdir(parents=True)
        os.symlink("..", inside / "up")
        workspace = Workspace(inside)
        try:
            workspace.write_text("/".join(parts), "x", base=None)
        except WorkspaceError as error:
            assert error.code in ("path_invalid", "path_exists")  # noqa: PT017
        assert os.listdir(folder) == ["in"]


def test_a_link_swapped_in_during_the_walk_leads_nowhere(root: Path) -> None:
    """A folder is replaced by a link to the outside, over and over, while a file in it is changed."""
    target = root.parent / "target"
    target.mkdir()
    (target / "faq.txt").write_text("outside")
    workspace = Workspace(root)
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            os.rename(root / "docs", root / "real")
            os.symlink(target, root / "docs")
            os.unlink(root / "docs")
            os.rename(root / "real", root / "docs")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(300):
            try:
                workspace.change_text("docs/faq.txt", lambda text: text + "x")
            except WorkspaceError as error:
                assert error.code in ("path_invalid", "file_not_found")  # noqa: PT017
    finally:
        done.set()
        thread.join()
    assert os.listdir(target) == ["faq.txt"]
    assert (target / "faq.txt").read_text() == "outside"


def test_a_missing_project(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "missing")
    assert code(lambda: workspace.list()) == "file_not_found"
    assert code(lambda: workspace.write_text("a", "x", base=None)) == "file_not_found"


# One at a time (engine.md C#10)


def test_parallel_changes_are_all_kept(root: Path) -> None:
    os.symlink(root, root.parent / "same")
    (root / "log.txt").write_text("")
    workspaces = [Workspace(root), Workspace(root.parent / "same")]

    def add(number: int) -> None:
        workspaces[number % 2].change_text("log.txt", lambda text: f"{text}{number}\n")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(40)))
    assert sorted(map(int, (root / "log.txt").read_text().split())) == list(range(40))


def test_changes_of_other_processes_wait(root: Path) -> None:
    script = (
        "import sys; from wenfang.workspace import Workspace; w = Workspace(sys.argv[1])\n"
        "for i in range(20): w.change_text('log.txt', lambda text: text + sys.argv[2] + '\\n')"
    )
    (root / "log.txt").write_text("")
    children = [
        subprocess.Popen([sys.executable, "-c", script, str(root), str(number)])
        for number in range(2)
    ]
    assert [child.wait() for child in children] == [0, 0]
    assert sorted((root / "log.txt").read_text().split()) == ["0"] * 20 + ["1"] * 20


def test_only_one_of_two_writers_with_the_same_base_wins(workspace: Workspace) -> None:
    base = workspace.read_text("docs/faq.txt").revision

    def save(text: str) -> str:
        try:
            workspace.write_text("docs/faq.txt", text, base=base)
        except WorkspaceError as error:
            return error.code
        return "saved"

    with ThreadPoolExecutor(4) as pool:
        results = sorted(pool.map(save, ["a", "b", "c", "d"]))
    assert results == ["revision_conflict"] * 3 + ["saved"]


def test_a_change_that_raises_leaves_the_file(workspace: Workspace, root: Path) -> None:
    def fail(text: str) -> str:
        raise ValueError(text)

    with pytest.raises(ValueError, match="a seat"):
        workspace.change_text("docs/faq.txt", fail)
    assert (root / "docs/faq.txt").read_text() == "a seat costs 9\n"
    assert code(lambda: workspace.change_text("missing.md", str)) == "file_not_found"
