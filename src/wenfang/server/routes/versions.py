"""The versions of a file, what stands where in a project, and in which order."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from ..access import Router
from ..errors import documented
from ..services import Served
from ..shapes import ArrangeIn, FileSaved, FileText, Found, Hit, RestoreIn, Version
from .changes import saved_fields, tell

router = Router(prefix="/api/projects/{pid}", tags=["files"])

PathOf = Annotated[str, Query(alias="path", min_length=1, max_length=1000)]
Phrase = Annotated[str, Query(min_length=1, max_length=1000)]
Most = Annotated[int, Query(ge=1, le=1000)]


@router.get("/versions", responses=documented("project_not_found", "file_not_found"))
async def list_versions(pid: str, path: PathOf, services: Served) -> list[Version]:
    """The versions of a file, newest first; none for a file in a folder of the disk."""
    revisions = await (await services.runs.files(pid)).revisions(path)
    return [
        Version(
            n=each.n,
            parent=each.parent,
            revision=each.hash,
            actor=each.actor,
            change=each.change,
            run_id=each.run_id,
            origin=each.origin,
            words=each.words,
            characters=each.characters,
            lines_added=each.lines_added,
            lines_removed=each.lines_removed,
            opened_at=each.opened_at,
            saved_at=each.saved_at,
        )
        for each in revisions
    ]


@router.get(
    "/versions/{n}",
    responses=documented("project_not_found", "file_not_found", "revision_not_found"),
)
async def read_version(pid: str, n: int, path: PathOf, services: Served) -> FileText:
    """A file as it was. Its `revision` is that of the file as it is now."""
    content = await (await services.runs.files(pid)).read(path, n)
    return FileText(text=content.text, **saved_fields(content.item, content.text))


@router.post(
    "/versions/{n}/restore",
    responses=documented("project_not_found", "file_not_found", "revision_not_found"),
)
async def restore_version(pid: str, n: int, body: RestoreIn, services: Served) -> FileSaved:
    """Bring the text of a version back as a new one; nothing that was there is lost."""
    files = await services.runs.files(pid)
    saved = await files.restore_revision(body.path, n)
    await tell(services, pid, saved.item.path, "written", revision=saved.hash)
    text = (await files.read(saved.item.path)).text
    return FileSaved(**saved_fields(saved.item, text))


@router.get("/find", responses=documented("project_not_found"))
async def find(
    pid: str, phrase: Phrase, services: Served, match_case: bool = False, limit: Most = 200
) -> Found:
    """Where a phrase stands in the texts of the project, in reading order."""
    files = await services.runs.files(pid)
    found = await files.find(phrase, match_case=match_case, limit=limit)
    return Found(
        total=found.total,
        files=found.files,
        hits=[
            Hit(
                path=each.path,
                line=each.line,
                column=each.column,
                excerpt=each.excerpt,
                start=each.start,
                end=each.end,
            )
            for each in found.hits
        ],
    )


@router.post(
    "/arrange",
    status_code=204,
    responses=documented("project_not_found", "file_not_found", "order_fixed"),
)
async def arrange(pid: str, body: ArrangeIn, services: Served) -> None:
    """Put the files of a folder in an order; those that are not named come after."""
    files = await services.runs.files(pid)
    await files.arrange(body.folder, body.names)
    await tell(services, pid, body.folder, "arranged")
