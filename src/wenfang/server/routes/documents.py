"""Documents into a project, and a project out as one file."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Query, Request
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from wenfang.problems import Problem
from wenfang.runs import FileChanged
from wenfang.workspace import (
    MEDIA_TYPES,
    ExportFormat,
    Imported,
    export_project,
    import_document,
)

from ..access import Router
from ..errors import documented
from ..services import Served
from ..shapes import ImportedFile, ImportNotice, ImportOut, ImportProblem

router = Router(prefix="/api/projects/{pid}", tags=["documents"])

Name = Annotated[str, Query(min_length=1, max_length=1000)]
Place = Annotated[str, Query(max_length=1000)]

_BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/octet-stream": _BINARY}}
}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": dict.fromkeys(MEDIA_TYPES.values(), _BINARY)}
}
_MESSAGES = "en"  # like the messages of errors


@router.post(
    "/import",
    status_code=201,
    openapi_extra=_BODY,
    responses=documented(
        "project_not_found",
        "path_invalid",
        "file_too_large",
        "document_too_large",
        "document_unsupported",
        "document_damaged",
        "disk_full",
    ),
)
async def import_file(
    pid: str, name: Name, request: Request, services: Served, folder: Place = ""
) -> ImportOut:
    """Read a document (txt, md, html, docx, epub) or a zip of them from the body, and make files of it."""
    files = await services.runs.files(pid)
    data = await _body(request, name)
    imported = await import_document(files, name, data, folder=folder)
    if imported.files:
        await services.runs.record_file_change(
            pid,
            *(
                FileChanged(path=each.path, change="created", by="author", revision=each.hash or "")
                for each in imported.files
            ),
        )
    return _shape(imported)


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={
        **_FILE,
        **documented(
            "project_not_found",
            "file_not_found",
            "file_not_text",
            "file_too_large",
            "nothing_to_export",
            "export_too_large",
        ),
    },
)
async def export_file(
    pid: str,
    format: ExportFormat,  # noqa: A002 - the name on the wire
    services: Served,
    path: Place = "",
) -> StreamingResponse:
    """The texts of a project, of a folder or of a file as one book, or (zip) all files as they are."""
    project = await services.runs.project(pid)
    files = await services.runs.files(pid)
    export = await export_project(files, format, title=project.title, path=path)
    disposition = f"attachment; filename*=UTF-8''{quote(export.name, safe='')}"
    return StreamingResponse(
        export.pieces,
        media_type=export.media_type,
        headers={"content-disposition": disposition, "cache-control": "no-store"},
    )


async def _body(request: Request, name: str) -> bytes:
    """The whole body, read as far as the limit."""
    from wenfang.workspace.documents import (
        DEFAULT_LIMITS,  # with its readers, when there is a document
    )

    limit = DEFAULT_LIMITS.max_bytes
    size = int(request.headers.get("content-length", "0"))
    pieces: list[bytes] = []
    try:
        if size <= limit:
            size = 0
            async for piece in request.stream():
                size += len(piece)
                if size > limit:
                    break
                pieces.append(piece)
    except ClientDisconnect as gone:
        raise Problem("invalid_request", field="body", problem="it is incomplete") from gone
    if size > limit:
        raise Problem("document_too_large", name=name, value=size, limit=limit)
    return b"".join(pieces)


def _shape(imported: Imported) -> ImportOut:
    return ImportOut(
        files=[ImportedFile(path=each.path, size_bytes=each.size_bytes) for each in imported.files],
        warnings=[
            ImportNotice(code=each.code, params=dict(each.params), message=each.text(_MESSAGES))
            for each in imported.warnings
        ],
        problems=[
            ImportProblem(
                name=each.name,
                code=each.problem.code,
                params=each.problem.params,
                message=each.problem.text(_MESSAGES),
            )
            for each in imported.refused
        ],
    )
