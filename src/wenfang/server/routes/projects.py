"""Projects: folders with sessions."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from wenfang.runs import Project as StoredProject
from wenfang.workspace import Workspace, WorkspaceError

from ..errors import documented
from ..services import Served
from ..shapes import Project, ProjectIn

router = APIRouter(prefix="/api/projects", tags=["projects"])


@router.get("")
async def list_projects(services: Served) -> list[Project]:
    """All projects, newest first."""
    return list(await asyncio.gather(*map(_shape, await services.runs.projects())))


@router.post("", status_code=201, responses=documented("disk_full", "data_unwritable"))
async def create_project(body: ProjectIn, services: Served) -> Project:
    return await _shape(await services.runs.create_project(body.title))


@router.patch("/{pid}", responses=documented("project_not_found"))
async def rename_project(pid: str, body: ProjectIn, services: Served) -> Project:
    return await _shape(await services.runs.rename_project(pid, body.title))


@router.delete("/{pid}", status_code=204, responses=documented("project_not_found", "run_active"))
async def delete_project(pid: str, services: Served) -> None:
    """The folder goes to the trash; a folder that Wenfang did not make stays where it is."""
    await services.runs.delete_project(pid)


@router.post("/{pid}/restore", responses=documented("project_not_found"))
async def restore_project(pid: str, services: Served) -> Project:
    """Undo a delete."""
    return await _shape(await services.runs.restore_project(pid))


async def _shape(project: StoredProject) -> Project:
    files, size_bytes = await asyncio.to_thread(_count, project)
    return Project(
        id=project.id,
        title=project.title,
        path=str(project.path),
        created_at=project.created_at,
        updated_at=project.updated_at,
        running=project.running,
        files=files,
        size_bytes=size_bytes,
    )


def _count(project: StoredProject) -> tuple[int, int]:
    try:
        listing = Workspace(project.path).list(recursive=True, limit=0)
    except WorkspaceError:  # a person's own folder may be gone
        return 0, 0
    return listing.files, listing.size_bytes
