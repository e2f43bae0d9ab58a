"""Logging in and out. A login is a random token in a cookie, of which the database has the hash."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from wenfang.problems import Problem
from wenfang.storage import Store, Tx, logins, users

from .rows import key_of, note, user_of
from .secrets import Passwords, new_token, token_hash
from .throttle import forgive, login_limits, take
from .values import Caller, LoggedIn

LASTS_S = 30 * 86400.0  # since it was used last
_SEEN_EVERY_S = 300.0  # a login that is used is not written at each request
_LONGEST_AGENT = 200


class Logins:
    def __init__(self, store: Store, passwords: Passwords, *, clock: Callable[[], float]) -> None:
        self._store = store
        self._passwords = passwords
        self._clock = clock

    async def log_in(self, name: str, password: str, *, address: str, agent: str) -> LoggedIn:
        """Raises Problem `login_failed`, the same whatever was wrong, or `login_throttled`."""
        limits = login_limits(key_of(name), address)
        wait_s = await self._store.write(lambda tx: take(tx, limits, self._clock()))
        if wait_s:
            raise Problem("login_throttled", seconds=wait_s)
        named = sa.select(users).where(
            users.c.name_key == key_of(name), users.c.disabled_at.is_(None)
        )
        row = await self._store.read(lambda tx: tx.sa.execute(named).first())
        if not await self._passwords.is_right(password, row.password if row else None) or not row:
            await self._store.write(
                lambda tx: note(
                    tx, self._clock(), "", "login.failed", key_of(name)[:100], "", address
                )
            )
            raise Problem("login_failed")
        renewed = None
        if self._passwords.is_outdated(row.password):
            renewed = await self._passwords.hash(password, row.name)
        token = new_token()

        def begin(tx: Tx) -> LoggedIn:
            now = self._clock()
            forgive(tx, limits)
            # The password may have been changed, or the user disabled, while it was looked at.
            same = (users.c.id == row.id) & (users.c.password == row.password)
            mine = same & users.c.disabled_at.is_(None)
            known = tx.sa.execute(sa.select(users).where(mine).with_for_update()).first()
            if known is None:
                raise Problem("login_failed")
            if renewed is not None:
                tx.sa.execute(users.update().where(mine).values(password=renewed))
            tx.sa.execute(logins.delete().where(logins.c.expires_at <= now))
            tx.sa.execute(
                logins.insert().values(
                    hash=token_hash(token),
                    user_id=row.id,
                    created_at=now,
                    seen_at=now,
                    expires_at=now + LASTS_S,
                    address=address,
                    agent=agent[:_LONGEST_AGENT],
                )
            )
            note(tx, now, row.id, "login", row.id, "", address)
            return LoggedIn(token=token, user=user_of(known))

        return await self._store.write(begin)

    async def caller(self, token: str) -> Caller | None:
        """Who has this login; None if there is none (any more)."""
        now = self._clock()
        mine = logins.c.hash == token_hash(token)
        live = mine & (logins.c.expires_at > now) & users.c.disabled_at.is_(None)
        query = sa.select(users.c.id, users.c.name, users.c.role, logins.c.seen_at)
        found = query.join(users, users.c.id == logins.c.user_id).where(live)
        row = await self._store.read(lambda tx: tx.sa.execute(found).first())
        if row is None:
            return None
        if now - row.seen_at > _SEEN_EVERY_S:
            seen = logins.update().where(mine).values(seen_at=now, expires_at=now + LASTS_S)
            await self._store.write(lambda tx: tx.sa.execute(seen) and None)
        return Caller(user_id=row.id, name=row.name, role=row.role, via="login")

    async def log_out(self, token: str) -> None:
        """Also fine if there is no such login."""
        mine = logins.c.hash == token_hash(token)
        await self._store.write(lambda tx: tx.sa.execute(logins.delete().where(mine)) and None)
