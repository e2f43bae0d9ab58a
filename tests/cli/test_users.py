"""`wenfang users`, and what `wenfang serve --accounts` prints."""

from __future__ import annotations

import getpass
import io
import json
import re
import sys
from collections.abc import Iterator

import httpx2 as httpx
import pytest
from tests.accounts.conftest import CHEAP

from wenfang.accounts import secrets

from .conftest import Command

WORD = "correct horse battery\n"


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_hasher", lambda: CHEAP)


def listed(command: Command) -> dict[str, tuple[str, bool]]:
    lines = command("users", "list", "--json").out.splitlines()
    users = [json.loads(line) for line in lines]
    return {each["name"]: (each["role"], each["enabled"]) for each in users}


def test_people_come_and_change(command: Command) -> None:
    assert "wenfang users add" in command("users", "list").err
    made = command("users", "add", "Ada", "--admin", typed=WORD)
    assert (made.code, made.out) == (0, "Made Ada (admin)\n")
    assert command("users", "add", "小明", typed=WORD).code == 0
    assert command("users", "role", "小明", "admin").out == "小明  admin  (enabled)\n"
    assert command("users", "disable", "ada").code == 0
    assert listed(command) == {"Ada": ("admin", False), "小明": ("admin", True)}
    assert command("users", "list").out == "Ada  admin  (disabled)\n小明  admin\n"
    assert command("users", "enable", "Ada").code == 0
    assert command("users", "password", "Ada", typed="new " + WORD).code == 0
    assert listed(command) == {"Ada": ("admin", True), "小明": ("admin", True)}


@pytest.mark.parametrize(
    ("args", "typed", "said"),
    [
        (("add", "ADA"), WORD, "ADA"),
        (("add", "Bob"), "short\n", "10 to 1000"),
        (("add", "Bob"), "", "10 to 1000"),
        (("add", "  "), WORD, "name"),
        (("password", "Eve"), WORD, "Eve"),
        (("role", "Eve", "admin"), "", "Eve"),
        (("disable", "Ada"), "", "admin who can log in"),
        (("role", "Ada", "member"), "", "admin who can log in"),
    ],
)
def test_what_cannot_be(command: Command, args: tuple[str, ...], typed: str, said: str) -> None:
    command("users", "add", "Ada", "--admin", typed=WORD)
    result = command("users", *args, typed=typed)
    assert result.code == 5
    assert said in result.err
    assert len(result.err.splitlines()) == 1
    assert listed(command) == {"Ada": ("admin", True)}


def test_a_password_is_typed_twice(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    typed: Iterator[str] = iter(["correct horse battery", "correct horse bakery"])
    monkeypatch.setattr(getpass, "getpass", lambda _: next(typed))
    monkeypatch.setattr(io, "StringIO", Terminal)  # what the command gets as standard input
    result = command("users", "add", "Ada")
    assert result.code == 5
    assert "the two differ" in result.err
    assert sys.stdin is not None


def test_the_first_admin_is_made_with_the_code_of_the_terminal(command: Command) -> None:
    serving = command.popen("serve", "--accounts", "--port", "0")
    try:
        assert serving.stdout is not None
        lines = [serving.stdout.readline() for _ in range(3)]
        url = lines[0].split()[-1]
        found = re.search(r"set-up code ([0-9a-f-]+)", lines[2])
        assert found is not None, lines
        body = {"name": "Ada", "password": WORD, "code": found[1]}
        made = httpx.post(f"{url}/api/account/setup", json=body)
        assert (made.status_code, made.json()["role"]) == (200, "admin")
        assert httpx.get(f"{url}/api/projects").status_code == 401
    finally:
        serving.terminate()
        serving.communicate(timeout=20)
    assert listed(command) == {"Ada": ("admin", True)}
    again = command.popen("serve", "--port", "0")  # people stay, also without the flag
    try:
        assert again.stdout is not None
        url = again.stdout.readline().split()[-1]
        assert httpx.get(f"{url}/api/projects").status_code == 401
    finally:
        again.terminate()
        again.communicate(timeout=20)


def test_a_public_address_that_is_none(command: Command) -> None:
    result = command("serve", "--port", "0", "--public-url", "wenfang.example.org")
    assert result.code == 5
    assert "--public-url" in result.err
