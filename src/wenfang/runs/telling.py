"""Facts from a process that serves nobody: those who do look around for them (durable.md §6)."""

from __future__ import annotations

from collections.abc import Sequence

from wenfang.storage import Store, Tx

from .catalog import hold_project
from .entries import entry_of
from .facts import FileChanged
from .recording import record as record_facts


async def tell_files(
    database: Store, project_id: str, changes: Sequence[FileChanged], *, now: float
) -> None:
    """Tell everyone who has the project open that files changed. Raises Problem `project_not_found`."""

    def record(tx: Tx) -> None:
        hold_project(tx, project_id)
        record_facts(
            tx,
            project_id=project_id,
            session_id="",
            run_id=None,
            last_seq=None,
            entries=[entry_of(change) for change in changes],
            now=now,
        )

    if changes:
        await database.write(record)
