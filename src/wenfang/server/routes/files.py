"""The files of a project. What a person changes is told to the project's stream like all else."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter

from wenfang.runs import FileChanged
from wenfang.workspace import Item

from ..errors import documented
from ..services import Served, Services
from ..shapes import Entry, FileSaved, FileText, FolderIn, RenameIn, SaveIn, Trashed, Tree

router = APIRouter(prefix="/api/projects/{pid}", tags=["files"])

_LISTED = 5000


@router.get("/files", responses=documented("project_not_found"))
async def list_files(pid: str, services: Served) -> Tree:
    """The whole tree, in reading order."""
    files = await services.runs.files(pid)
    listing = await files.listing(limit=_LISTED)
    return Tree(entries=[_entry(each) for each in listing.entries], truncated=listing.truncated)


@router.get(
    "/files/{path:path}",
    responses=documented(
        "project_not_found", "file_not_found", "file_not_text", "file_too_large", "path_invalid"
    ),
)
async def read_file(pid: str, path: str, services: Served) -> FileText:
    files = await services.runs.files(pid)
    content = await files.read(path)
    return FileText(text=content.text, **_saved(content.item, content.text))


@router.put(
    "/files/{path:path}",
    responses=documented(
        "project_not_found", "revision_conflict", "file_too_large", "file_not_text", "path_invalid"
    ),
)
async def save_file(pid: str, path: str, body: SaveIn, services: Served) -> FileSaved:
    """Save a whole file. It is refused if the file is no longer what `base` names."""
    files = await services.runs.files(pid)
    saved = await files.write(path, body.text, base=body.base)
    change = "created" if saved.previous is None else "written"
    await _tell(services, pid, saved.item.path, change, revision=saved.hash)
    return FileSaved(**_saved(saved.item, body.text))


@router.delete(
    "/files/{path:path}",
    responses=documented("project_not_found", "file_not_found", "path_invalid"),
)
async def delete_file(pid: str, path: str, services: Served) -> Trashed:
    """Move a file or folder to the project's trash."""
    files = await services.runs.files(pid)
    trash_id = await files.delete(path)
    await _tell(services, pid, path, "deleted")
    return Trashed(trash_id=trash_id)


@router.post(
    "/trash/{trash_id}/restore",
    responses=documented("project_not_found", "trash_not_found", "path_exists"),
)
async def restore_file(pid: str, trash_id: str, services: Served) -> Entry:
    """Undo a delete."""
    files = await services.runs.files(pid)
    entry = await files.restore(trash_id)
    await _tell(services, pid, entry.path, "created")
    return _entry(entry)


@router.post(
    "/folders",
    status_code=201,
    responses=documented("project_not_found", "path_exists", "path_invalid"),
)
async def create_folder(pid: str, body: FolderIn, services: Served) -> Entry:
    files = await services.runs.files(pid)
    entry = await files.create_folder(body.path)
    await _tell(services, pid, entry.path, "created")
    return _entry(entry)


@router.post(
    "/rename",
    responses=documented("project_not_found", "file_not_found", "path_exists", "path_invalid"),
)
async def rename(pid: str, body: RenameIn, services: Served) -> Entry:
    """Rename or move a file or folder."""
    files = await services.runs.files(pid)
    entry = await files.move(body.path, body.to)
    await _tell(services, pid, body.path, "renamed", to=entry.path)
    return _entry(entry)


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


def _entry(item: Item) -> Entry:
    return Entry(
        id=item.id,
        path=item.path,
        kind="folder" if item.kind == "folder" else "file",
        type=item.kind,
        size_bytes=item.size_bytes,
        words=item.words,
        modified_at=item.updated_at,
        revision=item.hash,
    )


def _saved(item: Item, text: str) -> dict[str, Any]:
    return {
        "path": item.path,
        "revision": item.hash or "",
        "size_bytes": item.size_bytes,
        "words": item.words,
        "modified_at": item.updated_at,
        "newline": "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n",
    }
