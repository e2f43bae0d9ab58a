"""API keys: for programs, each with its own scopes and end; shown once, kept as a hash."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import sqlalchemy as sa

from wenfang.problems import Problem
from wenfang.storage import Store, Tx, api_keys, users

from .rows import checked_name, note
from .secrets import new_token, token_hash
from .values import SCOPES, ApiKey, Caller, Scope

PREFIX = "wf_"
_SHOWN = len(PREFIX) + 6
_MOST = 50
_SEEN_EVERY_S = 300.0


class Keys:
    def __init__(
        self, store: Store, *, clock: Callable[[], float], new_id: Callable[[str], str]
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    async def create(
        self, by: Caller, name: str, scopes: Iterable[Scope], expires_at: float | None
    ) -> tuple[ApiKey, str]:
        """The key and its secret. Nobody can give a scope that they do not have. Raises Problem
        `invalid_request`, `forbidden`, `too_many_keys`."""
        name, wanted, now = checked_name(name), frozenset(scopes), self._clock()
        if not wanted:
            raise Problem("invalid_request", field="scopes", problem="must name at least one")
        if expires_at is not None and expires_at <= now:
            raise Problem("invalid_request", field="expires_at", problem="must be in the future")
        if not wanted <= by.scopes or ("admin" in wanted and not by.is_admin):
            raise Problem("forbidden")
        secret = PREFIX + new_token()
        key_id, kept = self._new_id("key"), " ".join(sorted(wanted))
        values = {
            "id": key_id,
            "user_id": by.user_id,
            "name": name,
            "prefix": secret[:_SHOWN],
            "hash": token_hash(secret),
            "scopes": kept,
            "created_at": now,
            "expires_at": expires_at,
        }

        def make(tx: Tx) -> ApiKey:
            tx.lock(f"accounts.keys:{by.user_id}")
            if len(tx.sa.execute(_live(by.user_id)).all()) >= _MOST:
                raise Problem("too_many_keys", limit=_MOST)
            tx.sa.execute(api_keys.insert().values(values))
            note(tx, now, by.user_id, "key.created", key_id, kept)
            row = tx.sa.execute(sa.select(api_keys).where(api_keys.c.id == key_id)).one()
            return _key(row)

        return await self._store.write(make), secret

    async def all(self, user_id: str) -> list[ApiKey]:
        """Those that were not revoked, newest first."""
        mine = _live(user_id).order_by(api_keys.c.created_at.desc(), api_keys.c.id)
        return await self._store.read(lambda tx: [_key(row) for row in tx.sa.execute(mine)])

    async def revoke(self, by: Caller, key_id: str) -> None:
        """Raises Problem `key_not_found`."""

        def revoke(tx: Tx) -> None:
            mine = (api_keys.c.id == key_id) & (api_keys.c.user_id == by.user_id)
            live = mine & api_keys.c.revoked_at.is_(None)
            now = self._clock()
            if tx.sa.execute(api_keys.update().where(live).values(revoked_at=now)).rowcount == 0:
                raise Problem("key_not_found", id=key_id)
            note(tx, now, by.user_id, "key.revoked", key_id)

        await self._store.write(revoke)

    async def caller(self, secret: str) -> Caller | None:
        """Who has this key; None if it is none, was revoked or has expired."""
        now = self._clock()
        mine = api_keys.c.hash == token_hash(secret)
        ends = api_keys.c.expires_at
        valid = mine & api_keys.c.revoked_at.is_(None) & (ends.is_(None) | (ends > now))
        query = sa.select(
            users.c.id, users.c.name, users.c.role, api_keys.c.scopes, api_keys.c.seen_at
        )
        found = query.join(users, users.c.id == api_keys.c.user_id).where(
            valid, users.c.disabled_at.is_(None)
        )
        row = await self._store.read(lambda tx: tx.sa.execute(found).first())
        if row is None:
            return None
        if row.seen_at is None or now - row.seen_at > _SEEN_EVERY_S:
            seen = api_keys.update().where(mine).values(seen_at=now)
            await self._store.write(lambda tx: tx.sa.execute(seen) and None)
        return Caller(
            user_id=row.id, name=row.name, role=row.role, scopes=_scopes(row.scopes), via="key"
        )


def _live(user_id: str) -> sa.Select[Any]:
    mine = (api_keys.c.user_id == user_id) & api_keys.c.revoked_at.is_(None)
    return sa.select(api_keys).where(mine)


def _scopes(kept: str) -> frozenset[Scope]:
    return frozenset(each for each in SCOPES if each in kept.split())


def _key(row: Any) -> ApiKey:
    return ApiKey(
        id=row.id,
        name=row.name,
        prefix=row.prefix,
        scopes=_scopes(row.scopes),
        created_at=row.created_at,
        expires_at=row.expires_at,
        seen_at=row.seen_at,
    )
