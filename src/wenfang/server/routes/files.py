"""The files of a project. What a person changes is told to the project's stream like all else."""

from __future__ import annotations

from ..access import Router
from ..errors import documented
from ..services import Served
from ..shapes import Entry, FileSaved, FileText, FolderIn, RenameIn, SaveIn, Trashed, Tree
from .changes import entry_of, saved_fields, tell

router = Router(prefix="/api/projects/{pid}", tags=["files"])

_LISTED = 5000


@router.get("/files", responses=documented("project_not_found"))
async def list_files(pid: str, services: Served) -> Tree:
    """The whole tree, in reading order."""
    files = await services.runs.files(pid)
    listing = await files.listing(limit=_LISTED)
    return Tree(entries=[entry_of(each) for each in listing.entries], truncated=listing.truncated)


@router.get(
    "/files/{path:path}",
    responses=documented(
        "project_not_found", "file_not_found", "file_not_text", "file_too_large", "path_invalid"
    ),
)
async def read_file(pid: str, path: str, services: Served) -> FileText:
    files = await services.runs.files(pid)
    content = await files.read(path)
    return FileText(text=content.text, **saved_fields(content.item, content.text))


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
    await tell(services, pid, saved.item.path, change, revision=saved.hash)
    return FileSaved(**saved_fields(saved.item, body.text))


@router.delete(
    "/files/{path:path}",
    responses=documented("project_not_found", "file_not_found", "path_invalid"),
)
async def delete_file(pid: str, path: str, services: Served) -> Trashed:
    """Move a file or folder to the project's trash."""
    files = await services.runs.files(pid)
    trash_id = await files.delete(path)
    await tell(services, pid, path, "deleted")
    return Trashed(trash_id=trash_id)


@router.post(
    "/trash/{trash_id}/restore",
    responses=documented("project_not_found", "trash_not_found", "path_exists"),
)
async def restore_file(pid: str, trash_id: str, services: Served) -> Entry:
    """Undo a delete."""
    files = await services.runs.files(pid)
    entry = await files.restore(trash_id)
    await tell(services, pid, entry.path, "created")
    return entry_of(entry)


@router.post(
    "/folders",
    status_code=201,
    responses=documented("project_not_found", "path_exists", "path_invalid"),
)
async def create_folder(pid: str, body: FolderIn, services: Served) -> Entry:
    files = await services.runs.files(pid)
    entry = await files.create_folder(body.path)
    await tell(services, pid, entry.path, "created")
    return entry_of(entry)


@router.post(
    "/rename",
    responses=documented("project_not_found", "file_not_found", "path_exists", "path_invalid"),
)
async def rename(pid: str, body: RenameIn, services: Served) -> Entry:
    """Rename or move a file or folder."""
    files = await services.runs.files(pid)
    entry = await files.move(body.path, body.to)
    await tell(services, pid, body.path, "renamed", to=entry.path)
    return entry_of(entry)
