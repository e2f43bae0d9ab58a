"""`wenfang users`: people, from the machine that has the database. For the first admin without a browser, and
for an admin who forgot the password."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from wenfang.accounts import LOCAL, Accounts, Role, User
from wenfang.problems import Problem
from wenfang.settings import data_dir, open_data_dir
from wenfang.storage import open_store

from .language import Say
from .loop import make_runner
from .project import address_of

T = TypeVar("T")


def list_users(say: Say, *, data: Path | None, as_json: bool) -> None:
    people = _with_accounts(data, lambda accounts: accounts.people.all())
    if not people and not as_json:
        print(say("users.none"), file=sys.stderr)  # noqa: T201
    for each in people:
        state = "" if each.disabled_at is None else f"  ({say('users.disabled')})"
        _tell(_encoded(each) if as_json else f"{each.name}  {each.role}{state}")


def add(say: Say, name: str, *, role: Role, data: Path | None) -> None:
    password = _ask_password(say)
    made = _with_accounts(data, lambda each: each.people.create(name, password, role, by=LOCAL))
    _tell(say("users.added", name=made.name, role=made.role))


def set_password(say: Say, name: str, *, data: Path | None) -> None:
    password = _ask_password(say)

    async def change(accounts: Accounts) -> User:
        user = await accounts.people.named(name)
        await accounts.people.set_password(user.id, password, by=LOCAL)
        return user

    _tell(say("users.password_set", name=_with_accounts(data, change).name))


def change(
    say: Say,
    name: str,
    *,
    data: Path | None,
    role: Role | None = None,
    is_enabled: bool | None = None,
) -> None:
    async def change(accounts: Accounts) -> User:
        user = await accounts.people.named(name)
        return await accounts.people.change(user.id, role=role, is_enabled=is_enabled, by=LOCAL)

    changed = _with_accounts(data, change)
    state = say("users.enabled" if changed.disabled_at is None else "users.disabled")
    _tell(f"{changed.name}  {changed.role}  ({state})")


def _with_accounts(data: Path | None, work: Callable[[Accounts], Awaitable[T]]) -> T:
    folder = data_dir(data)
    open_data_dir(folder)

    async def run() -> T:
        async with open_store(address_of(folder)) as store:
            return await work(Accounts(store))

    with make_runner() as runner:
        return runner.run(run())


def _ask_password(say: Say) -> str:
    """From the keyboard, twice and unseen; a program writes one line to standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass(say("users.ask_password"))
    if getpass.getpass(say("users.ask_again")) != password:
        raise Problem("invalid_request", field="password", problem=say("users.differ"))
    return password


def _encoded(user: User) -> str:
    return json.dumps(
        {
            "id": user.id,
            "name": user.name,
            "role": user.role,
            "created_at": user.created_at,
            "enabled": user.disabled_at is None,
        },
        ensure_ascii=False,
    )


def _tell(text: str) -> None:
    print(text, flush=True)  # noqa: T201
