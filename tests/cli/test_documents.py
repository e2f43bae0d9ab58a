"""`wenfang import` and `wenfang export` (writing.md UI-7, UI-11)."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from wenfang.cli import documents
from wenfang.workspace.documents import ImportLimits

from .conftest import Command

BOOK = "第一章 雨夜\n\n　　下雨了。\n\n第二章 归人\n\n他回来了。\n"
PATHS = ["雨夜归人/01 第一章 雨夜.md", "雨夜归人/02 第二章 归人.md"]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the project."""
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


def files(folder: Path) -> list[str]:
    return sorted(
        each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()
    )


@pytest.mark.parametrize("encoding", ["utf-8", "gbk", "utf-16"])
def test_UI_7_import(command: Command, outside: Path, encoding: str) -> None:
    (outside / "雨夜归人.txt").write_text(BOOK, encoding)
    result = command("import", str(outside / "雨夜归人.txt"))
    assert (result.code, result.out.splitlines()) == (0, PATHS)
    assert files(command.project) == PATHS
    assert "2 new files" in result.err
    assert not command.data.exists()


def test_UI_7_several_files_into_a_folder_of_another_project(
    command: Command, outside: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (outside / "a.txt").write_text("雨。", "utf-8")
    with zipfile.ZipFile(outside / "b.zip", "w") as package:
        package.writestr("c.md", "雪。")
    args = ("import", str(outside / "a.txt"), str(outside / "b.zip"))
    result = command(*args, "--project", str(other), "--folder", "草稿")
    assert (result.code, result.out.splitlines()) == (0, ["草稿/a.md", "草稿/c.md"])
    assert files(other) == ["草稿/a.md", "草稿/c.md"]
    again = command(*args, "--project", str(other), "--folder", "草稿")
    assert again.out.splitlines() == ["草稿/a (2).md", "草稿/c (2).md"]


def test_one_bad_file_stops_no_other(command: Command, outside: Path) -> None:
    (outside / "a.pdf").write_bytes(b"%PDF-1.4")
    (outside / "b.txt").write_text("雨。", "utf-8")
    result = command("import", str(outside / "a.pdf"), str(outside / "b.txt"), "--lang", "zh")
    assert (result.code, result.out.splitlines()) == (3, ["b.md"])
    assert "错误：a.pdf 是 PDF 文件" in result.err


def test_import_as_json(command: Command, outside: Path) -> None:
    (outside / "a.docx").write_text("雨。", "utf-8")
    (outside / "b.pdf").write_bytes(b"%PDF-1.4")
    names = [str(outside / "a.docx"), str(outside / "b.pdf")]
    result = command("import", *names, "--json", "--lang", "zh")
    assert (result.code, result.err) == (3, "")
    first, second = map(json.loads, result.out.splitlines())
    assert first["name"] == names[0]
    assert first["files"] == [{"path": "a.md", "size_bytes": 7}]
    assert first["problems"] == second["files"] == second["warnings"] == []
    (warning,) = first["warnings"]
    assert (warning["code"], warning["params"]) == (
        "type_differs",
        {"named": "docx", "found": "txt"},
    )
    assert "已按内容读取" in warning["message"]
    assert [each["code"] for each in second["problems"]] == ["document_unsupported"]


def test_a_file_above_the_limit(
    command: Command, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "DEFAULT_LIMITS", ImportLimits(max_bytes=10))
    (outside / "a.txt").write_text("x" * 11)
    result = command("import", str(outside / "a.txt"))
    assert result.code == 5
    assert "11 bytes, the limit is 10" in result.err
    assert files(command.project) == []


@pytest.fixture
def written(command: Command) -> Command:
    for path, text in zip(PATHS, ("# 第一章 雨夜\n\n下雨了。\n", "# 第二章 归人\n\n他回来了。\n"), strict=True):  # fmt: skip
        file = command.project / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    return command


@pytest.mark.parametrize("to", ["txt", "md", "docx", "epub", "zip"])
def test_UI_11_export_stands_next_to_the_project(written: Command, to: str) -> None:
    result = written("export", "--format", to)
    file = written.project.parent / f"project.{to}"
    assert (result.code, result.out, result.err) == (0, f"{file}\n", "")
    assert file.read_bytes()
    assert files(written.project) == PATHS
    assert file.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_UI_11_export_comes_back(written: Command, outside: Path, tmp_path: Path) -> None:
    back = tmp_path / "back"
    back.mkdir()
    for to in ("txt", "md", "docx", "epub"):
        file = outside / f"x.{to}"
        assert written("export", "--format", to, "--path", "雨夜归人", "-o", str(file)).code == 0
        assert (
            written("import", str(file), "--project", str(back), "--folder", to).out.splitlines()
        ) == [f"{to}/{path}" for path in PATHS]


def test_UI_11_export_as_json(written: Command, outside: Path) -> None:
    file = outside / "x.txt"
    result = written("export", "--format", "txt", "-o", str(file), "--json")
    assert json.loads(result.out) == {"path": str(file), "size_bytes": file.stat().st_size}


def test_nothing_is_overwritten_without_force(written: Command, outside: Path) -> None:
    file = outside / "x.txt"
    file.write_text("mine")
    refused = written("export", "--format", "txt", "-o", str(file))
    assert (refused.code, refused.out, file.read_text()) == (5, "", "mine")
    assert written("export", "--format", "txt", "-o", str(file), "--force").code == 0
    assert file.read_text("utf-8-sig").startswith("project\n")
    assert files(outside) == ["x.txt"]


def test_a_link_that_leads_nowhere_is_something_that_exists(
    written: Command, outside: Path
) -> None:
    (outside / "x.txt").symlink_to(outside / "y.txt")
    assert written("export", "--format", "txt", "-o", str(outside / "x.txt")).code == 5
    assert files(outside) == []


def test_an_export_that_fails_leaves_nothing(
    written: Command, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    result = written("export", "--format", "zip", "-o", str(outside / "x.zip"))
    assert (result.code, result.out) == (5, "")
    assert "No space left" in result.err
    assert len(result.err.splitlines()) == 1
    assert files(outside) == []


@pytest.mark.parametrize(
    "args", [("import",), ("export",), ("export", "--format", "pdf")], ids=str
)  # fmt: skip
def test_wrong_usage(command: Command, args: tuple[str, ...]) -> None:
    assert command(*args).code == 2
