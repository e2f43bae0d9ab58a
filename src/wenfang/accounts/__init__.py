"""Accounts: people, logins, API keys, members of projects, and the audit log (docs/rooms/accounts.md)."""

from .accounts import Accounts
from .secrets import new_setup_code
from .values import (
    LOCAL,
    SCOPES,
    ApiKey,
    AuditEntry,
    Caller,
    LoggedIn,
    Member,
    MemberRole,
    Right,
    Role,
    Scope,
    User,
)

__all__ = [
    "LOCAL",
    "SCOPES",
    "Accounts",
    "ApiKey",
    "AuditEntry",
    "Caller",
    "LoggedIn",
    "Member",
    "MemberRole",
    "Right",
    "Role",
    "Scope",
    "User",
    "new_setup_code",
]
