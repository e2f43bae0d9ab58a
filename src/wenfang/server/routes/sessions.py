"""Sessions, what is in them, and the stream of a project."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header, Query, Response

from wenfang.runs import Session as StoredSession

from ..access import Checked, Router
from ..errors import documented
from ..services import Served
from ..shapes import RenameSessionIn, Session, SessionIn, Snapshot
from ..streams import parse_position

router = Router(prefix="/api", tags=["sessions"])

Position = Annotated[str | None, Query(description="number of the last event the reader has")]
LastEventId = Annotated[str | None, Header()]

EVENT_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "server-sent events; `data` is an Event, `id` its number if it is kept",
        "content": {
            "text/event-stream": {"itemSchema": {"$ref": "#/components/schemas/Event"}},
        },
    }
}


@router.get("/projects/{pid}/sessions", responses=documented("project_not_found"))
async def list_sessions(pid: str, services: Served) -> list[Session]:
    """All sessions, newest first."""
    return [shape(each) for each in await services.runs.sessions(pid)]


@router.post("/projects/{pid}/sessions", status_code=201, responses=documented("project_not_found"))
async def create_session(pid: str, services: Served, body: SessionIn | None = None) -> Session:
    title = body.title if body else None
    return shape(await services.runs.create_session(pid, title or ""))


@router.patch("/sessions/{sid}", responses=documented("session_not_found"))
async def rename_session(sid: str, body: RenameSessionIn, services: Served) -> Session:
    return shape(await services.runs.rename_session(sid, body.title))


@router.delete(
    "/sessions/{sid}", status_code=204, responses=documented("session_not_found", "run_active")
)
async def delete_session(sid: str, services: Served) -> None:
    await services.runs.delete_session(sid)


@router.get(
    "/projects/{pid}/snapshot",
    response_model=Snapshot,
    responses=documented("project_not_found", "session_not_found"),
)
async def snapshot(
    pid: str,
    services: Served,
    session_id: str,
    before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> Response:
    """The session as it stands; go on with the project's stream after `seq`."""
    taken = await services.runs.snapshot(pid, session_id, before)
    body = b'{"seq":%d,"frames":[%b],"partials":[%b],"more":%b}' % (
        taken.seq,
        b",".join(taken.frames),
        b",".join(taken.partials),
        b"true" if taken.more else b"false",
    )
    return Response(body, media_type="application/json")


@router.get(
    "/projects/{pid}/events",
    response_class=Response,
    responses={**EVENT_STREAM, **documented("project_not_found", "shutting_down")},
)
async def project_events(
    pid: str,
    services: Served,
    check: Checked,
    after: Position = None,
    last_event_id: LastEventId = None,
) -> Response:
    """Everything that happens in the project, for as long as the reader stays."""
    position = parse_position(after, last_event_id)
    return services.streams.respond(lambda: services.runs.subscribe(pid, after=position), check)


def shape(session: StoredSession) -> Session:
    return Session(
        id=session.id,
        project_id=session.project_id,
        title=session.title,
        created_at=session.created_at,
        updated_at=session.updated_at,
        active_run=session.active_run,
    )
