"""Bringing a database to the tables of this version."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from wenfang.problems import Problem

REVISIONS = (
    "0001",
    "0002",
    "0003",
    "0004",
    "0005",
    "0006",
)  # oldest first; a test compares them with the files
HEAD = REVISIONS[-1]
SCRIPTS = Path(__file__).parent / "migrations"


def migrate(connection: sa.Connection, path: Path) -> None:
    """Apply what is missing, in one transaction; a second process waits for the first.

    Raises Problem `database_newer` for one written by a later version and `database_broken` for a
    file of another program.
    """
    if revision_of(connection, path) == HEAD:
        return
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    try:
        bring_up(connection, path)
        connection.exec_driver_sql("COMMIT")
    except BaseException:
        connection.exec_driver_sql("ROLLBACK")
        raise


def bring_up(connection: sa.Connection, path: Path | str) -> None:
    """Apply what is missing, in the transaction of a caller that excludes others. Raises what `migrate`
    does."""
    if revision_of(connection, path) != HEAD:
        _upgrade(connection)


def revision_of(connection: sa.Connection, path: Path | str) -> str | None:
    """The revision of a database's tables, None for an empty one. Raises what `migrate` does."""
    tables = sa.inspect(connection).get_table_names()
    if not tables:
        return None
    if "alembic_version" not in tables:
        raise Problem("database_broken", path=str(path), problem="it belongs to another program")
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if found is not None and found not in REVISIONS:
        raise Problem("database_newer", path=str(path), found=str(found))
    return found


def _upgrade(connection: sa.Connection) -> None:
    from alembic import command  # slow to import and needed once per version
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
