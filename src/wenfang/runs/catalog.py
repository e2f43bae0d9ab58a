"""Projects and sessions as rows.

A project's files are in the database (`managed`), or in a person's own folder, which is never moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from wenfang.problems import Problem
from wenfang.storage import Store, Tx, projects, runs, sessions

from .entries import entry_of
from .facts import SessionChanged
from .recording import hold, record
from .records import Frame, Project, Session

_ACTIVE = runs.c.status.in_(("queued", "running"))
_RUNNING = (
    sa.select(sa.func.count()).where(runs.c.project_id == projects.c.id, _ACTIVE).scalar_subquery()
)
_ACTIVE_RUN = (
    sa.select(runs.c.id).where(runs.c.session_id == sessions.c.id, _ACTIVE).scalar_subquery()
)
_PROJECTS = sa.select(projects, _RUNNING.label("running"))
_SESSIONS = sa.select(sessions, _ACTIVE_RUN.label("active_run"))
_LIVE_PROJECT = projects.c.deleted_at.is_(None)
_LIVE_SESSION = sessions.c.deleted_at.is_(None)
# Asked for with each run: a statement that is made anew costs as much as the answer.
_PROJECT = _PROJECTS.where(_LIVE_PROJECT, projects.c.id == sa.bindparam("key"))
_SESSION = _SESSIONS.where(_LIVE_SESSION, sessions.c.id == sa.bindparam("key"))
_LONGEST_TITLE = 200

Told = tuple[Session, tuple[Frame, ...]]
Begin = Callable[[Tx, str], None]
"""Does something to the new project with this id, in the transaction that makes it."""


class Catalog:
    """Operations on projects and sessions."""

    def __init__(
        self,
        database: Store,
        *,
        clock: Callable[[], float],
        new_id: Callable[[str], str],
    ) -> None:
        self._db = database
        self._clock = clock
        self._new_id = new_id

    async def create_project(
        self,
        title: str,
        path: Path | None,
        begin: Sequence[Begin] = (),
        template: str | None = None,
    ) -> Project:
        """`begin` is done to a new project in the same step: first files are put into it, an owner is
        set; `template` is what the files are from."""
        project_id = self._new_id("prj")
        if path is not None:
            values = _own_folder(project_id, path) | {"title": title_of(title)}
        else:
            values = _row(project_id, title_of(title), folder=None) | {"template": template}
        return await self._db.write(partial(self._insert_project, values, begin=begin))

    async def project_at(self, path: Path) -> Project:
        """The project of a person's folder, made or restored if need be."""
        values = _own_folder(self._new_id("prj"), path)
        return await self._db.write(partial(self._insert_project, values))

    def _insert_project(
        self, values: dict[str, Any], tx: Tx, begin: Sequence[Begin] = ()
    ) -> Project:
        now = self._clock()
        tx.lock(f"wenfang: project at {values['path']}")  # of two that make it, the second finds it
        same = projects.c.path == values["path"]
        if tx.sa.execute(projects.update().where(same).values(deleted_at=None)).rowcount == 0:
            tx.sa.execute(projects.insert().values(**values, created_at=now, updated_at=now))
            for each in begin:
                each(tx, values["id"])
        return _project(tx.sa.execute(_PROJECTS.where(same)).one())

    async def projects(self) -> list[Project]:
        newest = _PROJECTS.where(_LIVE_PROJECT).order_by(
            projects.c.updated_at.desc(), projects.c.id
        )
        return await self._db.read(lambda tx: [_project(row) for row in tx.sa.execute(newest)])

    async def project(self, project_id: str) -> Project:
        return await self._db.read(lambda tx: find_project(tx, project_id))

    async def rename_project(self, project_id: str, title: str) -> Project:
        values = {"title": title_of(title), "updated_at": self._clock()}

        def rename(tx: Tx) -> Project:
            find_project(tx, project_id)
            tx.sa.execute(projects.update().where(projects.c.id == project_id).values(values))
            return find_project(tx, project_id)

        return await self._db.write(rename)

    async def delete_project(self, project_id: str) -> None:
        """Hide a project. Raises Problem `run_active`."""

        def delete(tx: Tx) -> None:
            project = hold_project(tx, project_id)
            if project.running:
                raise Problem("run_active", project_id=project_id)
            mine = projects.c.id == project_id
            tx.sa.execute(projects.update().where(mine).values(deleted_at=self._clock()))

        await self._db.write(delete)

    async def restore_project(self, project_id: str) -> Project:
        """Undo a delete; harmless for a project that is there."""

        def restore(tx: Tx) -> Project:
            mine = projects.c.id == project_id
            row = tx.sa.execute(_PROJECTS.where(mine)).one_or_none()
            if row is None:
                raise Problem("project_not_found", id=project_id)
            if row.deleted_at is not None:
                tx.sa.execute(projects.update().where(mine).values(deleted_at=None))
            return _project(row)

        return await self._db.write(restore)

    async def projects_named(self, name: str) -> list[Project]:
        """The project with this id, or all with this title."""
        return await self._db.read(partial(projects_named, name=name))

    async def create_session(self, project_id: str, title: str) -> Told:
        now = self._clock()
        session_id = self._new_id("ses")
        values = {
            "id": session_id,
            "project_id": project_id,
            "title": title_of(title),
            "created_at": now,
            "updated_at": now,
        }

        def create(tx: Tx) -> Told:
            hold_project(tx, project_id)
            tx.sa.execute(sessions.insert().values(values))
            return self._tell(tx, find_session(tx, session_id))

        return await self._db.write(create)

    async def sessions(self, project_id: str) -> list[Session]:
        newest = _SESSIONS.where(_LIVE_SESSION, sessions.c.project_id == project_id).order_by(
            sessions.c.updated_at.desc(), sessions.c.id
        )

        def read(tx: Tx) -> list[Session]:
            find_project(tx, project_id)
            return [_session(row) for row in tx.sa.execute(newest)]

        return await self._db.read(read)

    async def session(self, session_id: str) -> Session:
        return await self._db.read(lambda tx: find_session(tx, session_id))

    async def rename_session(self, session_id: str, title: str) -> Told:
        values = {"title": title_of(title), "updated_at": self._clock()}

        def rename(tx: Tx) -> Told:
            hold_session(tx, session_id)
            tx.sa.execute(sessions.update().where(sessions.c.id == session_id).values(values))
            return self._tell(tx, find_session(tx, session_id))

        return await self._db.write(rename)

    async def delete_session(self, session_id: str) -> Told:
        """Hide a session. Raises Problem `run_active`."""

        def delete(tx: Tx) -> Told:
            session = hold_session(tx, session_id)
            if session.active_run is not None:
                raise Problem("run_active", session_id=session_id)
            mine = sessions.c.id == session_id
            tx.sa.execute(sessions.update().where(mine).values(deleted_at=self._clock()))
            return self._tell(tx, session, deleted=True)

        return await self._db.write(delete)

    def _tell(self, tx: Tx, session: Session, *, deleted: bool = False) -> Told:
        """Write the fact that tells other tabs."""
        frames = record(
            tx,
            project_id=session.project_id,
            session_id=session.id,
            run_id=None,
            last_seq=None,
            entries=[entry_of(SessionChanged(title=session.title, deleted=deleted))],
            now=self._clock(),
        )
        return session, frames


def title_of(text: str) -> str:
    """A title: one line, no longer than 200 characters; may be empty."""
    return " ".join(text.split())[:_LONGEST_TITLE]


def find_project(tx: Tx, project_id: str) -> Project:
    """Raises Problem `project_not_found`, also for a deleted one."""
    row = tx.sa.execute(_PROJECT, {"key": project_id}).one_or_none()
    if row is None:
        raise Problem("project_not_found", id=project_id)
    return _project(row)


def hold_project(tx: Tx, project_id: str) -> Project:
    """`find_project`, and it stays so until the end of the transaction (`recording.hold`)."""
    hold(tx, project_id)
    return find_project(tx, project_id)


def hold_session(tx: Tx, session_id: str) -> Session:
    """`find_session`, and its project is held until the end of the transaction."""
    hold(tx, find_session(tx, session_id).project_id)
    return find_session(tx, session_id)


def projects_named(tx: Tx, name: str) -> list[Project]:
    """The project with this id, or all with this title."""
    live = _PROJECTS.where(_LIVE_PROJECT)
    by_id = tx.sa.execute(live.where(projects.c.id == name)).all()
    by_title = live.where(projects.c.title == name).order_by(projects.c.id)
    return [_project(row) for row in by_id or tx.sa.execute(by_title)]


def find_session(tx: Tx, session_id: str) -> Session:
    """Raises Problem `session_not_found`, also for a deleted one."""
    row = tx.sa.execute(_SESSION, {"key": session_id}).one_or_none()
    if row is None:
        raise Problem("session_not_found", id=session_id)
    return _session(row)


def _project(row: sa.Row[Any]) -> Project:
    return Project(
        id=row.id,
        title=row.title,
        folder=folder_of(row.managed, row.path),
        template=row.template,
        created_at=row.created_at,
        updated_at=row.updated_at,
        running=row.running,
    )


def _session(row: sa.Row[Any]) -> Session:
    return Session(
        id=row.id,
        project_id=row.project_id,
        title=row.title,
        created_at=row.created_at,
        updated_at=row.updated_at,
        active_run=row.active_run,
    )


def _own_folder(project_id: str, path: Path) -> dict[str, Any]:
    """The row of a person's own folder, titled by its name."""
    if not path.is_dir():
        raise Problem("project_path_missing", path=str(path))
    folder = path.resolve()
    return _row(project_id, title_of(folder.name or str(folder)), folder=folder)


def folder_of(managed: int, path: str) -> Path | None:
    """A person's own folder, None where the files are in the database."""
    return None if managed else Path(path)


def _row(project_id: str, title: str, *, folder: Path | None) -> dict[str, Any]:
    path = project_id if folder is None else str(folder)  # each project's is its own
    return {"id": project_id, "title": title, "path": path, "managed": int(folder is None)}
