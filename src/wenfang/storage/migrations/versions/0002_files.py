"""Files of projects and their revisions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_LIVE = sa.text("trash_id IS NULL")


def upgrade() -> None:
    op.create_table(
        "blobs",
        sa.Column("hash", sa.Text, primary_key=True),
        sa.Column("base", sa.Text, sa.ForeignKey("blobs.hash")),
        sa.Column("size_bytes", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_blobs_base", "blobs", ["base"])
    op.create_table(
        "files",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("project_id", sa.Text, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("parent", sa.Text, nullable=False, server_default=""),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("name_key", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("holds", sa.Text),
        sa.Column("ord", sa.Integer, nullable=False),
        sa.Column("hash", sa.Text, sa.ForeignKey("blobs.hash")),
        sa.Column("size_bytes", sa.Integer, nullable=False, server_default="0"),
        sa.Column("words", sa.Integer, nullable=False, server_default="0"),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
        sa.Column("trash_id", sa.Text),
    )
    op.create_index(
        "files_by_name",
        "files",
        ["project_id", "parent", "name_key"],
        unique=True,
        sqlite_where=_LIVE,
        postgresql_where=_LIVE,
    )
    op.create_index("files_by_trash", "files", ["trash_id"])
    op.create_index("ix_files_hash", "files", ["hash"])
    op.create_table(
        "revisions",
        sa.Column("file_id", sa.Text, sa.ForeignKey("files.id"), primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True),
        sa.Column("parent", sa.Integer),
        sa.Column("hash", sa.Text, sa.ForeignKey("blobs.hash"), nullable=False),
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
    op.create_index("ix_revisions_hash", "revisions", ["hash"])
