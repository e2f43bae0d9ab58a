"""Who may do what: people, their roles, and what a request is made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["admin", "member"]
"""An admin manages people and settings; what is in the projects of others stays closed to one."""

MemberRole: TypeAlias = Literal["owner", "editor", "viewer"]
Right: TypeAlias = Literal["view", "edit", "own"]
Scope: TypeAlias = Literal["read", "write", "admin"]
"""What an API key may be used for: look, change, manage. One does not include another."""

SCOPES: frozenset[Scope] = frozenset({"read", "write", "admin"})

RIGHTS: Mapping[MemberRole, frozenset[Right]] = MappingProxyType(
    {
        "owner": frozenset({"view", "edit", "own"}),
        "editor": frozenset({"view", "edit"}),
        "viewer": frozenset({"view"}),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who a request is from. `via` tells how that is known: a login's cookie, an API key, or that there
    are no accounts and whoever reaches this machine is its one user."""

    user_id: str
    name: str
    role: Role
    scopes: frozenset[Scope] = SCOPES
    via: Literal["local", "login", "key"] = "login"

    @property
    def is_admin(self) -> bool:
        return self.role == "admin"


LOCAL = Caller(user_id="local", name="", role="admin", via="local")


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Times are Unix seconds. A user with `disabled_at` can do nothing, and keeps what is theirs."""

    id: str
    name: str
    role: Role
    created_at: float
    disabled_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedIn:
    """A new login. `token` is shown once, here."""

    token: str
    user: User


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """`prefix` is how its secret begins, so that a person can tell keys apart."""

    id: str
    name: str
    prefix: str
    scopes: frozenset[Scope]
    created_at: float
    expires_at: float | None
    seen_at: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    user_id: str
    name: str
    role: MemberRole


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """`user_id` did `action` to `target`; `user` is the name, as far as there is one."""

    n: int
    at: float
    user_id: str
    user: str
    action: str
    target: str
    detail: str
    address: str
