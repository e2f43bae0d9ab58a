"""`WENFANG_DATABASE`: all commands work on a PostgreSQL database, and nobody is told its password."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import pytest
from tests.postgres import new_database

from wenfang.storage import FILE

from .conftest import Command

SECRET = "hush-hush"


@pytest.fixture
def url(postgres_server: str) -> Iterator[str]:
    """An empty database; the server asks for no password and is told one."""
    with new_database(postgres_server) as plain:
        parts = urlsplit(plain)
        where = f"{parts.username}:{SECRET}@{parts.hostname}:{parts.port or 5432}"
        yield urlunsplit(parts._replace(netloc=where)) if parts.hostname else plain


def test_every_command_uses_it(command: Command, url: str) -> None:
    env = {"WENFANG_DATABASE": url}
    told = command("run", "1+1", "--provider", "scripted", env=env)
    assert told.code == 0, told.err
    found = command("doctor", "--json", env=env)
    lines = [json.loads(line) for line in found.out.splitlines()]
    (database,) = [line for line in lines if line["name"] == "database"]
    name = urlsplit(url).path
    assert database["level"] == "ok"
    assert database["text"].endswith(name)
    name = "project"  # the folder that the run has made one of the projects
    (command.project / "a.md").write_text("text", "utf-8")
    book = command("export", "--format", "txt", "--project", name, "-o", "book.txt", env=env)
    assert book.code == 0, book.err
    for result in (told, found, book):
        assert SECRET not in result.out + result.err
    assert not (command.data / FILE).exists()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("mysql://me:hush-hush@host/x", "postgresql://"),
        ("postgresql://me:hush-hush@127.0.0.1:1/x", "127.0.0.1:1/x"),
        ("postgresql://me:hush-hush@127.0.0.1:99999/x", "not valid"),
    ],
)
def test_an_address_that_leads_nowhere_is_one_line(
    command: Command, address: str, words: str
) -> None:
    result = command("run", "x", "--provider", "scripted", env={"WENFANG_DATABASE": address})
    assert result.code == 5
    (line,) = result.err.splitlines()
    assert words in line
    assert SECRET not in line


def test_without_the_extra_it_says_what_to_install(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wenfang.storage.database.find_spec", lambda name: None)
    result = command(
        "run", "x", "--provider", "scripted", env={"WENFANG_DATABASE": "postgres://h/x"}
    )
    assert (result.code, "wenfang[postgres]" in result.err) == (5, True)
