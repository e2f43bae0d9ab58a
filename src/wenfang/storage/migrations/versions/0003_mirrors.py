"""Folders that mirror projects, and what each held when it was synced last."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "mirrors",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("project_id", sa.Text, sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("folder", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("synced_at", sa.Float, nullable=False),
        sa.UniqueConstraint("project_id", "host", "folder", name="mirrors_by_folder"),
    )
    op.create_table(
        "mirrored",
        sa.Column("mirror_id", sa.Text, sa.ForeignKey("mirrors.id"), primary_key=True),
        sa.Column("path_key", sa.Text, primary_key=True),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("file_id", sa.Text),
        sa.Column("hash", sa.Text, sa.ForeignKey("blobs.hash")),
    )
    op.create_index("ix_mirrored_hash", "mirrored", ["hash"])
