"""The tables, in SQLAlchemy Core, for SQLite and PostgreSQL (durable.md §3).

Times are Unix seconds. A project numbers its events densely (`pseq`, the id on every event stream),
and so does a run (`seq`); both numbers are given in the transaction that appends. Every change here
comes with a migration in `migrations/versions`; a test compares the two.
"""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()


def _unique_where(rows: str, name: str, *columns: str) -> sa.Index:
    """An index that is unique over some rows. SQLAlchemy loads a dialect as soon as an option names it
    (2 MB for PostgreSQL's), so the condition of the other databases is kept in `info`."""
    where = sa.text(rows)
    return sa.Index(name, *columns, unique=True, sqlite_where=where, info={"where": where})


projects = sa.Table(
    "projects",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("path", sa.Text, nullable=False, unique=True),
    sa.Column("managed", sa.Integer, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float, nullable=False),
    sa.Column("deleted_at", sa.Float),
    sa.Column("seq", sa.Integer, nullable=False, server_default="0"),
    sa.Column("template", sa.Text),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("project_id", sa.Text, sa.ForeignKey("projects.id"), nullable=False, index=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float, nullable=False),
    sa.Column("deleted_at", sa.Float),
)

ACTIVE = "status IN ('queued', 'running')"

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id"), nullable=False),
    sa.Column("project_id", sa.Text, sa.ForeignKey("projects.id"), nullable=False),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("request_id", sa.Text),
    sa.Column("begin_pseq", sa.Integer, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("usage", sa.Text),
    sa.Column("owner", sa.Text),
    sa.Column("epoch", sa.Integer, nullable=False, server_default="0"),
    sa.Column("seq", sa.Integer, nullable=False, server_default="0"),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("deadline_at", sa.Float),
    sa.Column("stop_at", sa.Float),
    sa.Column("newest_signal", sa.Integer, nullable=False, server_default="0"),
    sa.Column("next_signal", sa.Integer, nullable=False, server_default="1"),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("finished_at", sa.Float),
    sa.Index("runs_by_session", "session_id", "begin_pseq"),
    sa.Index("runs_by_request", "session_id", "request_id", unique=True),
    _unique_where(ACTIVE, "runs_active", "session_id"),
)

TERMINAL = "kind = 'run.finished'"

events = sa.Table(
    "events",
    metadata,
    sa.Column("project_id", sa.Text, sa.ForeignKey("projects.id"), nullable=False),
    sa.Column("pseq", sa.Integer, nullable=False),
    sa.Column("session_id", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id")),
    sa.Column("seq", sa.Integer),
    sa.Column("ts", sa.Float, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("project_id", "pseq", name="events_by_project"),
    sa.UniqueConstraint("run_id", "seq", name="events_by_run"),
    _unique_where(TERMINAL, "events_terminal", "run_id"),
)

signals = sa.Table(
    "signals",
    metadata,
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
)

workers = sa.Table(
    "workers",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("born", sa.Text, nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
)

quota = sa.Table(
    "quota",
    metadata,
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("amount", sa.Integer, nullable=False),
    sa.Column("estimated", sa.Integer, nullable=False, server_default="0"),
)

partials = sa.Table(
    "partials",
    metadata,
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("frames", sa.LargeBinary, nullable=False),
    sa.Column("updated_at", sa.Float, nullable=False),
)

blobs = sa.Table(
    "blobs",
    metadata,
    sa.Column("hash", sa.Text, primary_key=True),
    sa.Column("base", sa.Text, sa.ForeignKey("blobs.hash"), index=True),
    sa.Column("size_bytes", sa.Integer, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)

LIVE_FILE = "trash_id IS NULL"

files = sa.Table(
    "files",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("project_id", sa.Text, sa.ForeignKey("projects.id"), nullable=False),
    sa.Column("parent", sa.Text, nullable=False, server_default=""),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("name_key", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("holds", sa.Text),
    sa.Column("ord", sa.Integer, nullable=False),
    sa.Column("hash", sa.Text, sa.ForeignKey("blobs.hash"), index=True),
    sa.Column("size_bytes", sa.Integer, nullable=False, server_default="0"),
    sa.Column("words", sa.Integer, nullable=False, server_default="0"),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float, nullable=False),
    sa.Column("trash_id", sa.Text),
    _unique_where(LIVE_FILE, "files_by_name", "project_id", "parent", "name_key"),
    sa.Index("files_by_trash", "trash_id"),
)

revisions = sa.Table(
    "revisions",
    metadata,
    sa.Column("file_id", sa.Text, sa.ForeignKey("files.id"), primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("parent", sa.Integer),
    sa.Column("hash", sa.Text, sa.ForeignKey("blobs.hash"), nullable=False, index=True),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("change", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text),
    sa.Column("origin", sa.Integer),
    sa.Column("words", sa.Integer, nullable=False),
    sa.Column("characters", sa.Integer, nullable=False),
    sa.Column("lines_added", sa.Integer, nullable=False),
    sa.Column("lines_removed", sa.Integer, nullable=False),
    sa.Column("opened_at", sa.Float, nullable=False),
    sa.Column("saved_at", sa.Float, nullable=False),
)

mirrors = sa.Table(
    "mirrors",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("project_id", sa.Text, sa.ForeignKey("projects.id"), nullable=False),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("folder", sa.Text, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("synced_at", sa.Float, nullable=False),
    sa.UniqueConstraint("project_id", "host", "folder", name="mirrors_by_folder"),
)

mirrored = sa.Table(
    "mirrored",
    metadata,
    sa.Column("mirror_id", sa.Text, sa.ForeignKey("mirrors.id"), primary_key=True),
    sa.Column("path_key", sa.Text, primary_key=True),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("file_id", sa.Text),
    sa.Column("hash", sa.Text, sa.ForeignKey("blobs.hash"), index=True),
)

file_metadata = sa.Table(
    "file_metadata",
    metadata,
    sa.Column("file_id", sa.Text, sa.ForeignKey("files.id"), primary_key=True),
    sa.Column("data", sa.Text, nullable=False),
)

# People (room `accounts`). Secrets are kept as hashes only.

users = sa.Table(
    "users",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("name_key", sa.Text, nullable=False, unique=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("password", sa.Text, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("disabled_at", sa.Float),
)

logins = sa.Table(
    "logins",
    metadata,
    sa.Column("hash", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, sa.ForeignKey("users.id"), nullable=False, index=True),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("seen_at", sa.Float, nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
)

api_keys = sa.Table(
    "api_keys",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, sa.ForeignKey("users.id"), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("prefix", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False, unique=True),
    sa.Column("scopes", sa.Text, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("expires_at", sa.Float),
    sa.Column("seen_at", sa.Float),
    sa.Column("revoked_at", sa.Float),
)

members = sa.Table(
    "members",
    metadata,
    sa.Column("project_id", sa.Text, sa.ForeignKey("projects.id"), primary_key=True),
    sa.Column("user_id", sa.Text, sa.ForeignKey("users.id"), primary_key=True, index=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
)

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
)

attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("until", sa.Float, nullable=False),
)
