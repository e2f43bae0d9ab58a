"""The facade: people, logins, keys, members and the audit log of one database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from wenfang.core import new_id
from wenfang.problems import Problem
from wenfang.storage import Store, Tx, audit, users

from .keys import PREFIX, Keys
from .logins import Logins
from .membership import Membership
from .people import People
from .rows import entry_of, note
from .secrets import Passwords
from .throttle import HOUR_S, Limit, take
from .values import AuditEntry, Caller

_PAGE = 100


class Accounts:
    """`clock` gives Unix seconds; the database's own unless a test has another."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], float] | None = None,
        new_id: Callable[[str], str] = new_id,
    ) -> None:
        self._store = store
        self._clock = clock = clock or store.clock
        passwords = Passwords()
        self.people = People(store, passwords, clock=clock, new_id=new_id)
        self.logins = Logins(store, passwords, clock=clock)
        self.keys = Keys(store, clock=clock, new_id=new_id)
        self.membership = Membership(store, clock=clock)

    async def caller(self, token: str) -> Caller | None:
        """Who has this token, of a login or a key."""
        kind = self.keys if token.startswith(PREFIX) else self.logins
        return await kind.caller(token)

    async def spend(self, caller: Caller, what: str, per_hour: int) -> None:
        """Count that a user does `what`. Raises Problem `rate_limited` beyond `per_hour`."""
        limit = Limit(f"{what}:{caller.user_id}", per_hour, HOUR_S)
        wait_s = await self._store.write(lambda tx: take(tx, (limit,), self._clock()))
        if wait_s:
            raise Problem("rate_limited", seconds=wait_s, limit=per_hour)

    async def note(self, by: Caller, action: str, target: str, address: str = "") -> None:
        """Add to the audit log what was done elsewhere."""
        now = self._clock()
        await self._store.write(
            lambda tx: note(tx, now, by.user_id, action, target, address=address)
        )

    async def audit(self, before: int | None = None) -> list[AuditEntry]:
        """A page of the audit log, newest first, of entries with a number below `before`."""
        query: sa.Select[Any] = sa.select(audit, users.c.name.label("user")).outerjoin(
            users, users.c.id == audit.c.user_id
        )
        if before is not None:
            query = query.where(audit.c.n < before)
        page = query.order_by(audit.c.n.desc()).limit(_PAGE)

        def read(tx: Tx) -> list[AuditEntry]:
            return [entry_of(row) for row in tx.sa.execute(page)]

        return await self._store.read(read)
