"""The files of a project. What a person changes is told to the project's stream like all else."""

from __future__ import annotations

import asyncio
from typing import Literal

from fastapi import APIRouter

from wenfang.runs import FileChanged
from wenfang.workspace import Entry as StoredEntry
from wenfang.workspace import Workspace

from ..errors import documented
from ..services import Served, Services
from ..shapes import Entry, FileSaved, FileText, FolderIn, RenameIn, SaveIn, Trashed, Tree

router = APIRouter(prefix="/api/projects/{pid}", tags=["files"])

_LISTED = 5000


@router.get("/files", responses=documented("project_not_found"))
async def list_files(pid: str, services: Served) -> Tree:
    """The whole tree, sorted."""
    files = await _workspace(services, pid)
    listing = await asyncio.to_thread(files.list, recursive=True, limit=_LISTED)
    return Tree(entries=[_entry(each) for each in listing.entries], truncated=listing.truncated)


@router.get(
    "/files/{path:path}",
    responses=documented(
        "project_not_found", "file_not_found", "file_not_text", "file_too_large", "path_invalid"
    ),
)
async def read_file(pid: str, path: str, services: Served) -> FileText:
    files = await _workspace(services, pid)
    file = await asyncio.to_thread(files.read_text, path)
    return FileText(
        path=file.path,
        text=file.text,
        revision=file.revision,
        size_bytes=file.size_bytes,
        modified_at=file.modified_at,
        newline=file.newline,
    )


@router.put(
    "/files/{path:path}",
    responses=documented(
        "project_not_found", "revision_conflict", "file_too_large", "file_not_text", "path_invalid"
    ),
)
async def save_file(pid: str, path: str, body: SaveIn, services: Served) -> FileSaved:
    """Save a whole file. It is refused if the file is no longer what `base` names."""
    files = await _workspace(services, pid)
    written = await asyncio.to_thread(files.write_text, path, body.text, base=body.base)
    entry = written.entry
    change = "created" if written.previous is None else "written"
    await _tell(services, pid, entry.path, change, revision=written.revision)
    return FileSaved(
        path=entry.path,
        revision=written.revision,
        size_bytes=entry.size_bytes,
        modified_at=entry.modified_at,
        newline="\r\n" if body.text.count("\r\n") * 2 > body.text.count("\n") else "\n",
    )


@router.delete(
    "/files/{path:path}",
    responses=documented("project_not_found", "file_not_found", "path_invalid"),
)
async def delete_file(pid: str, path: str, services: Served) -> Trashed:
    """Move a file or folder to the project's trash."""
    files = await _workspace(services, pid)
    trash_id = await asyncio.to_thread(files.delete, path)
    await _tell(services, pid, path, "deleted")
    return Trashed(trash_id=trash_id)


@router.post(
    "/trash/{trash_id}/restore",
    responses=documented("project_not_found", "trash_not_found", "path_exists"),
)
async def restore_file(pid: str, trash_id: str, services: Served) -> Entry:
    """Undo a delete."""
    files = await _workspace(services, pid)
    entry = await asyncio.to_thread(files.restore, trash_id)
    await _tell(services, pid, entry.path, "created")
    return _entry(entry)


@router.post(
    "/folders",
    status_code=201,
    responses=documented("project_not_found", "path_exists", "path_invalid"),
)
async def create_folder(pid: str, body: FolderIn, services: Served) -> Entry:
    files = await _workspace(services, pid)
    entry = await asyncio.to_thread(files.create_folder, body.path)
    await _tell(services, pid, entry.path, "created")
    return _entry(entry)


@router.post(
    "/rename",
    responses=documented("project_not_found", "file_not_found", "path_exists", "path_invalid"),
)
async def rename(pid: str, body: RenameIn, services: Served) -> Entry:
    """Rename or move a file or folder."""
    files = await _workspace(services, pid)
    entry = await asyncio.to_thread(files.move, body.path, body.to)
    await _tell(services, pid, body.path, "renamed", to=entry.path)
    return _entry(entry)


async def _workspace(services: Services, pid: str) -> Workspace:
    return Workspace((await services.runs.project(pid)).path)


async def _tell(
    services: Services,
    pid: str,
    path: str,
    change: Literal["created", "written", "deleted", "renamed"],
    *,
    revision: str = "",
    to: str | None = None,
) -> None:
    fact = FileChanged(path=path, change=change, by="author", revision=revision, to=to)
    await services.runs.record_file_change(pid, fact)


def _entry(entry: StoredEntry) -> Entry:
    return Entry(
        path=entry.path,
        kind=entry.kind,
        size_bytes=entry.size_bytes,
        modified_at=entry.modified_at,
        revision=entry.revision,
    )
