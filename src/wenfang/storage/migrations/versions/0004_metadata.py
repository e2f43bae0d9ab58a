"""What a crew notes about a file beside its text."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "file_metadata",
        sa.Column("file_id", sa.Text, sa.ForeignKey("files.id"), primary_key=True),
        sa.Column("data", sa.Text, nullable=False),
    )
