"""Who may do what in a project. A project without members was made on the server's own machine, and
belongs to the admins."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from wenfang.problems import Problem
from wenfang.storage import Store, Tx, members, users

from .rows import check_project, find_user, is_nobodys, note, role_in
from .values import RIGHTS, Caller, Member, MemberRole, Right


class Membership:
    def __init__(self, store: Store, *, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    async def rights(self, caller: Caller, project_id: str) -> frozenset[Right]:
        """What `caller` may do there; nothing for a stranger."""

        def look(tx: Tx) -> frozenset[Right]:
            role = role_in(tx, project_id, caller.user_id)
            if role is None and caller.is_admin and is_nobodys(tx, project_id):
                role = "owner"
            return RIGHTS[role] if role else frozenset()

        return await self._store.read(look)

    async def visible(self, caller: Caller) -> Callable[[str], bool]:
        """Whether `caller` may see the project with an id: one question for a whole list."""
        mine = sa.select(members.c.project_id).where(members.c.user_id == caller.user_id)

        def look(tx: Tx) -> tuple[set[str], set[str]]:
            owned = set(tx.sa.execute(mine).scalars())
            if not caller.is_admin:
                return owned, set()
            return owned, set(tx.sa.execute(sa.select(members.c.project_id)).scalars())

        owned, anybodys = await self._store.read(look)
        return lambda key: key in owned or (caller.is_admin and key not in anybodys)

    async def all(self, project_id: str) -> list[Member]:
        """Owners first, then by name."""
        query = (
            sa.select(members.c.user_id, users.c.name, members.c.role)
            .join(users, users.c.id == members.c.user_id)
            .where(members.c.project_id == project_id)
        )
        found = await self._store.read(
            lambda tx: [
                Member(user_id=row.user_id, name=row.name, role=row.role)
                for row in tx.sa.execute(query)
            ]
        )
        order = list(RIGHTS)
        return sorted(found, key=lambda each: (order.index(each.role), each.name.casefold()))

    def begin(self, tx: Tx, project_id: str, user_id: str) -> None:
        """Whoever makes a project owns it, from the transaction on that makes it."""
        now = self._clock()
        tx.sa.execute(
            members.insert().values(
                project_id=project_id, user_id=user_id, role="owner", created_at=now
            )
        )

    async def put(self, by: Caller, project_id: str, user_id: str, role: MemberRole) -> None:
        """Add a member, or change a member's role. Raises Problem `user_not_found`, `last_owner`."""

        def put(tx: Tx) -> None:
            check_project(tx, project_id)
            tx.lock(f"accounts.members:{project_id}")
            find_user(tx, user_id)
            now, known = self._clock(), role_in(tx, project_id, user_id)
            here = (members.c.project_id == project_id) & (members.c.user_id == user_id)
            if known is None:
                tx.sa.execute(
                    members.insert().values(
                        project_id=project_id, user_id=user_id, role=role, created_at=now
                    )
                )
            else:
                tx.sa.execute(members.update().where(here).values(role=role))
            _check_owned(tx, project_id)
            note(tx, now, by.user_id, "member.put", project_id, f"{user_id} {role}")

        await self._store.write(put)

    async def remove(self, by: Caller, project_id: str, user_id: str) -> None:
        """Also oneself. Raises Problem `member_not_found`, `last_owner`."""

        def remove(tx: Tx) -> None:
            tx.lock(f"accounts.members:{project_id}")
            here = (members.c.project_id == project_id) & (members.c.user_id == user_id)
            if tx.sa.execute(members.delete().where(here)).rowcount == 0:
                raise Problem("member_not_found", id=user_id)
            _check_owned(tx, project_id)
            note(tx, self._clock(), by.user_id, "member.removed", project_id, user_id)

        await self._store.write(remove)


def _check_owned(tx: Tx, project_id: str) -> None:
    owner = (members.c.project_id == project_id) & (members.c.role == "owner")
    if tx.sa.execute(sa.select(members.c.user_id).where(owner).limit(1)).first() is None:
        raise Problem("last_owner")
