"""Rows as values, and the finding of them."""

from __future__ import annotations

import unicodedata
from typing import Any

import sqlalchemy as sa

from wenfang.problems import Problem
from wenfang.storage import Tx, audit, members, projects, users

from .values import AuditEntry, MemberRole, User

LONGEST_NAME = 100


def key_of(name: str) -> str:
    """Two names that a person would take for the same have the same key."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def checked_name(name: str) -> str:
    """Raises Problem `invalid_request`."""
    name = unicodedata.normalize("NFC", name).strip()
    if not key_of(name) or len(name) > LONGEST_NAME or not name.isprintable():
        words = f"must be one line of 1 to {LONGEST_NAME} visible characters"
        raise Problem("invalid_request", field="name", problem=words)
    return name


def user_of(row: Any) -> User:
    return User(
        id=row.id,
        name=row.name,
        role=row.role,
        created_at=row.created_at,
        disabled_at=row.disabled_at,
    )


def find_user(tx: Tx, user_id: str) -> Any:
    """The row. Raises Problem `user_not_found`."""
    row = tx.sa.execute(sa.select(users).where(users.c.id == user_id)).one_or_none()
    if row is None:
        raise Problem("user_not_found", id=user_id)
    return row


def role_in(tx: Tx, project_id: str, user_id: str) -> MemberRole | None:
    mine = (members.c.project_id == project_id) & (members.c.user_id == user_id)
    role: MemberRole | None = tx.sa.execute(sa.select(members.c.role).where(mine)).scalar()
    return role


def is_nobodys(tx: Tx, project_id: str) -> bool:
    """Whether a project has no members: it was made on the server's own machine."""
    found = sa.select(members.c.user_id).where(members.c.project_id == project_id).limit(1)
    return tx.sa.execute(found).first() is None


def check_project(tx: Tx, project_id: str) -> None:
    """Raises Problem `project_not_found`."""
    here = (projects.c.id == project_id) & projects.c.deleted_at.is_(None)
    if tx.sa.execute(sa.select(projects.c.id).where(here)).first() is None:
        raise Problem("project_not_found", id=project_id)


def note(
    tx: Tx, now: float, user_id: str, action: str, target: str, detail: str = "", address: str = ""
) -> None:
    """Add to the audit log, in the transaction of what it tells of."""
    tx.sa.execute(
        audit.insert().values(
            at=now, user_id=user_id, action=action, target=target, detail=detail, address=address
        )
    )


def entry_of(row: Any) -> AuditEntry:
    return AuditEntry(
        n=row.n,
        at=row.at,
        user_id=row.user_id,
        user=row.user or "",
        action=row.action,
        target=row.target,
        detail=row.detail,
        address=row.address,
    )
