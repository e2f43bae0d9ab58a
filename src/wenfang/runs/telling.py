"""Facts from a process that serves nobody: those who do look around for them (durable.md §6)."""

from __future__ import annotations

from collections.abc import Sequence

from wenfang.storage import Database, SqliteTx

from . import sql
from .catalog import find_project
from .entries import entry_of
from .facts import FileChanged


async def tell_files(
    database: Database, project_id: str, changes: Sequence[FileChanged], *, now: float
) -> None:
    """Tell everyone who has the project open that files changed. Raises Problem `project_not_found`."""

    def record(tx: SqliteTx) -> None:
        find_project(tx, project_id)
        sql.record(
            tx.raw,
            project_id=project_id,
            session_id="",
            run_id=None,
            last_seq=None,
            entries=[entry_of(change) for change in changes],
            now=now,
        )

    if changes:
        await database.write(record)
