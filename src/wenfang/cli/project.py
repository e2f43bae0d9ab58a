"""The project that a command was given: a folder of the disk, or one of the data directory by title or id."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wenfang.core import new_id
from wenfang.problems import Problem
from wenfang.runs import FileChanged, Project, Runs, Shelf, move_in, projects_named, tell_files
from wenfang.settings import data_dir, database_url
from wenfang.storage import FILE, Store, open_store
from wenfang.workspace import Files, FolderFiles, Item, Workspace


def existing_folder(path: Path) -> Path:
    """The absolute path of a project folder. Raises Problem `project_path_missing`."""
    if not path.is_dir():
        raise Problem("project_path_missing", path=str(path))
    return path.resolve()


def address_of(data: Path) -> Path | str:
    """Where the database of a data directory is. Raises Problem `invalid_request` (`database_url`)."""
    return database_url() or data / FILE


def has_database(data: Path) -> bool:
    """Whether there can be a project of that name: nothing is made for a wrong one."""
    return database_url() is not None or (data / FILE).exists()


def one_of(found: Sequence[Project], name: str, data: Path) -> Project:
    """The only project with a name. Raises Problem `project_unknown`, `project_ambiguous`."""
    if not found:
        raise Problem("project_unknown", name=name, data=str(data))
    if len(found) > 1:
        ids = ", ".join(project.id for project in found)
        raise Problem("project_ambiguous", name=name, count=len(found), ids=ids)
    return found[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """`folder` is a folder of the disk; without one, `name` is looked up in the directory `data`."""

    name: str
    folder: Path | None
    data: Path

    async def project(self, runs: Runs) -> Project:
        """The project, made if it is a folder that was none. Raises what `one_of` raises."""
        if self.folder is not None:
            return await runs.project_at(self.folder)
        return one_of(await runs.projects_named(self.name), self.name, self.data)


def named(project: Path, data: Path | None) -> Named:
    """What `--project` means. Raises Problem `project_path_missing`, `project_unknown` for what can be nothing."""
    where, name = data_dir(data), str(project)
    if project.is_dir():
        return Named(name=name, folder=project.resolve(), data=where)
    if has_database(where):
        return Named(name=name, folder=None, data=where)
    if os.sep in name:
        raise Problem("project_path_missing", path=name)
    raise Problem("project_unknown", name=name, data=str(where))


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A project's files for its author. `beside`: the folder for what is made from them."""

    files: Files
    title: str
    beside: Path
    database: Store | None = None
    project_id: str = ""

    async def tell(self, made: Sequence[Item]) -> None:
        """Tell who has the project open in the studio of new files."""
        if self.database is not None:
            changes = [
                FileChanged(path=each.path, change="created", by="author", revision=each.hash or "")
                for each in made
            ]
            await tell_files(self.database, self.project_id, changes, now=time.time())


@asynccontextmanager
async def open_project(where: Named) -> AsyncGenerator[Opened]:
    """The files, without a model or a server. Raises what `one_of` raises."""
    if where.folder is not None:
        files = FolderFiles(Workspace(where.folder))
        yield Opened(files=files, title=where.folder.name, beside=where.folder.parent)
        return
    async with open_shelf(where.data) as (database, shelf):
        found = await database.read(partial(projects_named, name=where.name))
        project = one_of(found, where.name, where.data)
        yield Opened(
            files=shelf.files(project.id, project.folder, "author"),
            title=project.title,
            beside=Path.cwd(),
            database=database,
            project_id=project.id,
        )


@asynccontextmanager
async def open_shelf(data: Path) -> AsyncGenerator[tuple[Store, Shelf]]:
    """The files of all projects of a data directory."""
    async with open_store(address_of(data)) as database:
        shelf = Shelf(database=database, clock=time.time, new_id=new_id)
        await move_in(shelf, data)
        yield database, shelf
