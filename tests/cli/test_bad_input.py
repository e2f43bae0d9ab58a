"""The table "Bad input": one line that says what, which value, what to do; non-zero; nothing written."""

from __future__ import annotations

import errno
import os
import socket
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Command, Result


def _no_model(command: Command) -> Result:
    return command("run", "x")


def _broken_env(command: Command) -> Result:
    return command("run", "x", env={"WENFANG_BASE_URL": "nowhere"})


def _bad_provider(command: Command) -> Result:
    return command("run", "x", "--provider", "nobody")


def _no_project(command: Command) -> Result:
    return command("run", "x", "--provider", "scripted", "--project", "missing/folder")


def _project_is_a_file(command: Command) -> Result:
    (command.project / "file").write_text("")
    return command("run", "x", "--provider", "scripted", "--project", "file")


def _no_task(command: Command) -> Result:
    return command("run", "  ", "--provider", "scripted")


def _empty_pipe(command: Command) -> Result:
    return command("run", "-", "--provider", "scripted")


def _port_taken(command: Command) -> Result:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        return command("serve", "--port", str(taken.getsockname()[1]))


def _foreign_host(command: Command) -> Result:
    return command("serve", "--host", "0.0.0.0", "--port", "0")


def _unknown_host(command: Command) -> Result:
    return command("serve", "--host", "no.such.host.invalid", "--port", "0")


def _serve_no_project(command: Command) -> Result:
    return command("serve", "--port", "0", "--project", "no/such/folder")


def _data_is_a_file(command: Command) -> Result:
    command.data.write_text("")
    return command("run", "x", "--provider", "scripted")


def _data_below_a_file(command: Command) -> Result:
    (command.project / "file").write_text("")
    return command("serve", "--port", "0", "--data", str(command.project / "file" / "data"))


def _settings_broken(command: Command) -> Result:
    command.data.mkdir()
    (command.data / "settings.json").write_text('{"provider": ')
    return command("run", "x")


def _import_no_project(command: Command) -> Result:
    return command("import", "a.txt", "--project", "no/such/folder")


def _import_no_file(command: Command) -> Result:
    return command("import", "no/such.txt")


def _import_a_folder(command: Command) -> Result:
    (command.project / "a").mkdir()
    return command("import", "a")


def _import_a_pdf(command: Command) -> Result:
    (command.project / "a.pdf").write_bytes(b"%PDF-1.4")
    return command("import", "a.pdf")


def _import_outside(command: Command) -> Result:
    (command.project / "a.txt").write_text("x")
    return command("import", "a.txt", "--folder", "../x")


def _export_no_project(command: Command) -> Result:
    return command("export", "--format", "txt", "--project", "no/such/folder")


def _export_nothing(command: Command) -> Result:
    return command("export", "--format", "txt")


def _export_no_path(command: Command) -> Result:
    (command.project / "a.txt").write_text("x")
    return command("export", "--format", "txt", "--path", "b.txt")


def _export_onto_a_file(command: Command) -> Result:
    (command.project / "a.txt").write_text("x")
    return command("export", "--format", "txt", "-o", "a.txt")


def _export_onto_a_folder(command: Command) -> Result:
    (command.project / "a.txt").write_text("x")
    return command("export", "--format", "txt", "-o", ".", "--force")


def _export_nowhere(command: Command) -> Result:
    (command.project / "a.txt").write_text("x")
    return command("export", "--format", "txt", "-o", "no/such/b.txt")


def _sync_no_folder(command: Command) -> Result:
    return command("sync", "no/such", "--project", "x")


def _sync_a_file(command: Command) -> Result:
    (command.project / "a.txt").write_text("x")
    return command("sync", "a.txt", "--project", "x")


def _sync_no_data(command: Command) -> Result:
    return command("sync", ".", "--project", "雨夜归人")


def _sync_no_name(command: Command) -> Result:
    return command("sync", ".")


def _sync_inside_data(command: Command) -> Result:
    (command.data / "projects").mkdir(parents=True)
    return command("sync", str(command.data / "projects"), "--project", "x")


def _sync_around_data(command: Command) -> Result:
    return command("sync", str(command.data.parent), "--project", "x")


def _database_broken(command: Command) -> Result:
    command.data.mkdir()
    (command.data / "wenfang.sqlite3").write_bytes(b"this is no database" * 100)
    return command("run", "x", "--provider", "scripted")


def _database_newer(command: Command) -> Result:
    assert command("run", "1+1", "--provider", "scripted").code == 0
    with sqlite3.connect(command.data / "wenfang.sqlite3") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    return command("serve", "--port", "0")


ROWS: list[tuple[Callable[[Command], Result], tuple[str, ...]]] = [
    (_no_model, ("no model", "wenfang model pull", "WENFANG_BASE_URL", "scripted")),
    (_broken_env, ("WENFANG_BASE_URL", "http://")),
    (_bad_provider, ("--provider", "embedded")),
    (_no_project, ("missing/folder", "--project")),
    (_project_is_a_file, ("file", "--project")),
    (_no_task, ("nothing to do", "wenfang run")),
    (_empty_pipe, ("nothing to do",)),
    (_port_taken, ("Port ", "--port")),
    (_foreign_host, ("0.0.0.0", "--host 127.0.0.1")),
    (_unknown_host, ("no.such.host.invalid",)),
    (_serve_no_project, ("no/such/folder",)),
    (_data_is_a_file, ("data", "--data")),
    (_data_below_a_file, ("file/data", "--data")),
    (_settings_broken, ("settings.json",)),
    (_import_no_project, ("no/such/folder", "--project")),
    (_import_no_file, ("no/such.txt",)),
    (_import_a_folder, ("a ", "directory")),
    (_import_a_pdf, ("a.pdf", "PDF", "docx")),
    (_import_outside, ("../x", "..")),
    (_export_no_project, ("no/such/folder", "--project")),
    (_export_nothing, ("project", "write something")),
    (_export_no_path, ("b.txt",)),
    (_export_onto_a_file, ("a.txt", "-o", "--force")),
    (_export_onto_a_folder, (".", "directory", "-o")),
    (_export_nowhere, ("no/such/b.txt", "-o")),
    (_sync_no_folder, ("no/such", "create")),
    (_sync_a_file, ("a.txt",)),
    (_sync_no_data, ("雨夜归人", "--project", "--data")),
    (_sync_no_name, ("--project", "title")),
    (_sync_inside_data, ("projects", "data")),
    (_sync_around_data, ("data directory", "another folder")),
    (_database_broken, ("wenfang.sqlite3", "--data")),
    (_database_newer, ("9999", "upgrade")),
]


@pytest.mark.parametrize(("do", "words"), ROWS, ids=[do.__name__[1:] for do, _ in ROWS])
def test_one_line(
    command: Command, do: Callable[[Command], Result], words: tuple[str, ...]
) -> None:
    result = do(command)
    assert result.code == 5
    assert result.out == ""
    lines = result.err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EDQUOT, "disk is full"),
        (errno.EROFS, "Read-only file system"),
        (errno.EACCES, "Permission denied"),
    ],
)
def test_a_disk_that_takes_nothing(
    command: Command, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    result = command("run", "x", "--provider", "scripted")
    assert (result.code, len(result.err.splitlines())) == (5, 1)
    assert words in result.err
    assert list(command.data.iterdir()) == []


def test_a_place_where_nothing_can_be_made(command: Command) -> None:
    command.data.symlink_to("/proc/self")
    result = command("run", "x", "--provider", "scripted")
    assert (result.code, len(result.err.splitlines())) == (5, 1)


def test_nothing_is_written_for_a_bad_request(command: Command) -> None:
    _no_project(command)
    _no_task(command)
    _bad_provider(command)
    assert not command.data.exists()


@pytest.mark.parametrize(
    "args",
    [("nonsense",), ("run",), ("serve", "--port", "x"), ("serve", "--port", "70000"), ("run", "x", "--no")],
    ids=str,
)  # fmt: skip
def test_wrong_usage_is_2(command: Command, args: tuple[str, ...]) -> None:
    result = command(*args)
    assert result.code == 2
    assert "Traceback" not in result.err


def test_a_bug_is_one_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import wenfang.cli.run as r\ndef run(*a, **k): raise RuntimeError('secret')\nr.run = run\n"
    )
    result = command.process("run", "x", env={"PYTHONPATH": str(tmp_path)})
    assert result.code == 5
    assert result.err.splitlines() == [
        "Error: An internal error (RuntimeError); "
        "run it again with WENFANG_DEBUG=1 to see the details"
    ]
