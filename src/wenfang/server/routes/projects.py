"""Projects: files with sessions."""

from __future__ import annotations

import asyncio
from pathlib import Path as FolderPath
from typing import TYPE_CHECKING

from fastapi import Request

from wenfang.problems import Problem
from wenfang.runs import Project as StoredProject
from wenfang.workspace import WorkspaceError

from ..access import Admitted, Router, note
from ..errors import documented
from ..services import Served, Services
from ..shapes import NewProjectIn, Project, ProjectIn

if TYPE_CHECKING:
    from wenfang.workspace.templates import Template

router = Router(prefix="/api/projects", tags=["projects"])


@router.get("")
async def list_projects(services: Served, caller: Admitted) -> list[Project]:
    """All projects that one takes part in, newest first."""
    projects = await services.runs.projects()
    if services.accounts is not None:
        is_visible = await services.accounts.membership.visible(caller)
        projects = [each for each in projects if is_visible(each.id)]
    return list(await asyncio.gather(*(_shape(services, each) for each in projects)))


@router.post(
    "",
    status_code=201,
    responses=documented("disk_full", "data_unwritable", "project_path_missing", "forbidden"),
)
async def create_project(body: NewProjectIn, services: Served, caller: Admitted) -> Project:
    """Make a project, which its maker owns. A folder of the server's disk is opened for admins only."""
    if body.path is not None and not caller.is_admin:
        raise Problem("forbidden")
    folder = None if body.path is None else _folder(body.path)
    template = _template(body)
    accounts = services.accounts
    made = await services.runs.create_project(
        body.title,
        folder,
        template=template,
        also=None
        if accounts is None
        else lambda tx, pid: accounts.membership.begin(tx, pid, caller.user_id),
    )
    return await _shape(services, made)


@router.patch("/{pid}", responses=documented("project_not_found"))
async def rename_project(pid: str, body: ProjectIn, services: Served) -> Project:
    return await _shape(services, await services.runs.rename_project(pid, body.title))


@router.delete("/{pid}", status_code=204, responses=documented("project_not_found", "run_active"))
async def delete_project(pid: str, services: Served, caller: Admitted, request: Request) -> None:
    """Hide it; a folder of the disk stays where it is."""
    await services.runs.delete_project(pid)
    await note(services, caller, request, pid)


@router.post("/{pid}/restore", responses=documented("project_not_found"))
async def restore_project(pid: str, services: Served) -> Project:
    """Undo a delete."""
    return await _shape(services, await services.runs.restore_project(pid))


def _folder(path: str) -> FolderPath:
    folder = FolderPath(path).expanduser()
    if not folder.is_absolute():
        raise Problem("invalid_request", field="path", problem="it must be absolute")
    return folder


def _template(body: NewProjectIn) -> Template | None:
    if body.template is None:
        return None
    if body.path is not None:
        raise Problem("invalid_request", field="template", problem="a folder has files of its own")
    if body.language is None:
        raise Problem("invalid_request", field="language", problem="a template needs one")
    from wenfang.workspace.templates import find_template  # an idle server has none

    return find_template(body.template, body.language)


async def _shape(services: Services, project: StoredProject) -> Project:
    files, size_bytes, words = await _count(services, project.id)
    return Project(
        id=project.id,
        title=project.title,
        path="" if project.folder is None else str(project.folder),
        created_at=project.created_at,
        updated_at=project.updated_at,
        running=project.running,
        files=files,
        size_bytes=size_bytes,
        words=words,
    )


async def _count(services: Services, project_id: str) -> tuple[int, int, int | None]:
    try:
        listing = await (await services.runs.files(project_id)).listing(limit=0)
    except (WorkspaceError, Problem):  # a person's own folder may be gone, or the project by now
        return 0, 0, None
    return listing.files, listing.size_bytes, listing.words
