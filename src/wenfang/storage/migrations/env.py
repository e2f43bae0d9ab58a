"""Alembic's entry: migrate the connection it was given, inside the caller's transaction."""

from __future__ import annotations

from alembic import context

from wenfang.storage.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,
)
context.run_migrations()
