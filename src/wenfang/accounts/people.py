"""People: made by an admin, never deleted, because what they did keeps their name."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from wenfang.problems import Problem
from wenfang.storage import Store, Tx, api_keys, logins, users

from .rows import checked_name, find_user, key_of, note, user_of
from .secrets import Passwords, token_hash
from .throttle import forgive, login_limits, take
from .values import Caller, Role, User

_ADMINS = "accounts.admins"


class People:
    def __init__(
        self,
        store: Store,
        passwords: Passwords,
        *,
        clock: Callable[[], float],
        new_id: Callable[[str], str],
    ) -> None:
        self._store = store
        self._passwords = passwords
        self._clock = clock
        self._new_id = new_id

    async def any(self) -> bool:
        """Whether there are accounts at all."""
        return await self._store.read(_any)

    async def set_up(self, name: str, password: str, *, code: str, expected: str) -> User:
        """Make the first admin. `expected` is the code that was shown where the server was started.
        Raises Problem `setup_done`, `setup_code_wrong`, `password_weak`, `invalid_request`."""
        if await self.any():
            raise Problem("setup_done")
        if not hmac.compare_digest(code.strip().encode(), expected.encode()):
            raise Problem("setup_code_wrong")
        values = await self._new_user(name, password, "admin")

        def make(tx: Tx) -> User:
            tx.lock(_ADMINS)
            if _any(tx):
                raise Problem("setup_done")
            return self._insert(tx, values, by=values["id"])

        return await self._store.write(make)

    async def create(self, name: str, password: str, role: Role, *, by: Caller) -> User:
        """Raises Problem `user_exists`, `password_weak`, `invalid_request`."""
        values = await self._new_user(name, password, role)
        return await self._store.write(lambda tx: self._insert(tx, values, by=by.user_id))

    async def _new_user(self, name: str, password: str, role: Role) -> dict[str, Any]:
        name = checked_name(name)
        return {
            "id": self._new_id("usr"),
            "name": name,
            "name_key": key_of(name),
            "role": role,
            "password": await self._passwords.hash(password, name),
            "created_at": self._clock(),
            "disabled_at": None,
        }

    def _insert(self, tx: Tx, values: dict[str, Any], *, by: str) -> User:
        tx.lock(f"accounts.name:{values['name_key']}")
        same = sa.select(users.c.id).where(users.c.name_key == values["name_key"])
        if tx.sa.execute(same).first() is not None:
            raise Problem("user_exists", name=values["name"])
        tx.sa.execute(users.insert().values(values))
        note(tx, values["created_at"], by, "user.created", values["id"], values["role"])
        return user_of(find_user(tx, values["id"]))

    async def all(self) -> list[User]:
        """Oldest first."""
        ordered = sa.select(users).order_by(users.c.created_at, users.c.id)
        return await self._store.read(lambda tx: [user_of(row) for row in tx.sa.execute(ordered)])

    async def named(self, name: str) -> User:
        """Raises Problem `user_not_found`."""

        def find(tx: Tx) -> User:
            row = tx.sa.execute(sa.select(users).where(users.c.name_key == key_of(name))).first()
            if row is None:
                raise Problem("user_not_found", id=name)
            return user_of(row)

        return await self._store.read(find)

    async def change(
        self,
        user_id: str,
        *,
        role: Role | None = None,
        is_enabled: bool | None = None,
        by: Caller,
    ) -> User:
        """What is None stays. One who is disabled is logged out everywhere. Raises Problem
        `user_not_found`, `last_admin`."""

        def change(tx: Tx) -> User:
            tx.lock(_ADMINS)
            row, now = find_user(tx, user_id), self._clock()
            values: dict[str, Any] = {}
            if role is not None and role != row.role:
                values["role"] = role
                note(tx, now, by.user_id, "user.role", user_id, role)
            if is_enabled is not None and is_enabled != (row.disabled_at is None):
                values["disabled_at"] = None if is_enabled else now
                note(
                    tx, now, by.user_id, "user.enabled" if is_enabled else "user.disabled", user_id
                )
            if values:
                tx.sa.execute(users.update().where(users.c.id == user_id).values(values))
            if not tx.sa.execute(_ENABLED_ADMINS).first():
                raise Problem("last_admin")
            if is_enabled is False:
                tx.sa.execute(logins.delete().where(logins.c.user_id == user_id))
            return user_of(find_user(tx, user_id))

        return await self._store.write(change)

    async def set_password(self, user_id: str, password: str, *, by: Caller) -> None:
        """For one who forgot it: all logins and keys of the user end. Raises Problem `user_not_found`,
        `password_weak`."""
        row = await self._store.read(lambda tx: find_user(tx, user_id))
        kept = await self._passwords.hash(password, row.name)

        def change(tx: Tx) -> None:
            now = self._clock()
            tx.sa.execute(users.update().where(users.c.id == user_id).values(password=kept))
            tx.sa.execute(logins.delete().where(logins.c.user_id == user_id))
            live = (api_keys.c.user_id == user_id) & api_keys.c.revoked_at.is_(None)
            tx.sa.execute(api_keys.update().where(live).values(revoked_at=now))
            note(tx, now, by.user_id, "user.password_set", user_id)

        await self._store.write(change)

    async def change_password(self, user_id: str, old: str, new: str, *, keep: str) -> None:
        """For oneself; ends all logins but that with the token `keep`. Raises Problem `password_wrong`,
        `password_weak`, `login_throttled`."""
        limits = login_limits(user_id, "")
        wait_s = await self._store.write(lambda tx: take(tx, limits, self._clock()))
        if wait_s:
            raise Problem("login_throttled", seconds=wait_s)
        row = await self._store.read(lambda tx: find_user(tx, user_id))
        if not await self._passwords.is_right(old, row.password):
            raise Problem("password_wrong")
        kept = await self._passwords.hash(new, row.name)

        def change(tx: Tx) -> None:
            tx.sa.execute(users.update().where(users.c.id == user_id).values(password=kept))
            others = (logins.c.user_id == user_id) & (logins.c.hash != token_hash(keep))
            tx.sa.execute(logins.delete().where(others))
            forgive(tx, limits)
            note(tx, self._clock(), user_id, "user.password_changed", user_id)

        await self._store.write(change)


def _any(tx: Tx) -> bool:
    return tx.sa.execute(sa.select(users.c.id).limit(1)).first() is not None


_ENABLED_ADMINS = (
    sa.select(users.c.id).where(users.c.role == "admin", users.c.disabled_at.is_(None)).limit(1)
)
