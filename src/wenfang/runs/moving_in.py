"""Projects of the time when each had a folder in the data directory: their texts move into the database."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from wenfang.problems import Problem
from wenfang.storage import Tx, projects
from wenfang.workspace import Workspace, WorkspaceError

from .shelf import Shelf

_MOST = 20_000
_OLD = sa.select(projects.c.id, projects.c.path).where(
    projects.c.managed == 1, projects.c.path != projects.c.id
)


async def move_in(shelf: Shelf, data: Path) -> None:
    """Copy what is left to copy. The folders stay as they are, with what is no text; a process that dies
    here is continued by the next."""
    rows = await shelf.database.read(lambda tx: [tuple(row) for row in tx.sa.execute(_OLD)])
    for project_id, path in rows:
        folder = next((f for f in (Path(path), data / "trash" / project_id) if f.is_dir()), None)
        if folder is not None:
            await _copy(shelf, project_id, Workspace(folder))

        def done(tx: Tx, project_id: str = project_id) -> None:
            mine = projects.c.id == project_id
            tx.sa.execute(projects.update().where(mine).values(path=project_id))

        await shelf.database.write(done)


async def _copy(shelf: Shelf, project_id: str, old: Workspace) -> None:
    files = shelf.files(project_id, None, "author")
    for entry in old.list(recursive=True, limit=_MOST).entries:
        try:
            if entry.kind == "folder":
                await files.create_folder(entry.path)
            else:
                await files.write(entry.path, old.read_text(entry.path).text, base=None)
        except WorkspaceError as error:
            if error.code == "file_busy":  # left for the next start, not left out
                raise Problem("database_locked", path=shelf.database.name) from error
            # Otherwise it is there already, or no text.
