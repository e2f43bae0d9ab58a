"""The journal, projects and sessions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ACTIVE = sa.text("status IN ('queued', 'running')")
_TERMINAL = sa.text("kind = 'run.finished'")


def upgrade() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False, unique=True),
        sa.Column("managed", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
        sa.Column("deleted_at", sa.Float),
        sa.Column("seq", sa.Integer, nullable=False, server_default="0"),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("project_id", sa.Text, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
        sa.Column("deleted_at", sa.Float),
    )
    op.create_index("ix_sessions_project_id", "sessions", ["project_id"])
    _runs()
    _events()
    op.create_table(
        "signals",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("born", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Float, nullable=False),
    )
    op.create_table(
        "quota",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("amount", sa.Integer, nullable=False),
        sa.Column("estimated", sa.Integer, nullable=False, server_default="0"),
    )
    op.create_table(
        "partials",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("frames", sa.LargeBinary, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
    )


def _runs() -> None:
    op.create_table(
        "runs",
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
    )
    op.create_index("runs_by_session", "runs", ["session_id", "begin_pseq"])
    op.create_index("runs_by_request", "runs", ["session_id", "request_id"], unique=True)
    op.create_index(
        "runs_active",
        "runs",
        ["session_id"],
        unique=True,
        sqlite_where=_ACTIVE,
        postgresql_where=_ACTIVE,
    )


def _events() -> None:
    op.create_table(
        "events",
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
    )
    op.create_index(
        "events_terminal",
        "events",
        ["run_id"],
        unique=True,
        sqlite_where=_TERMINAL,
        postgresql_where=_TERMINAL,
    )
