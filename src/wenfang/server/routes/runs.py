"""Runs: start, look, stop, steer, follow."""

from __future__ import annotations

from functools import partial

from fastapi import Response

from wenfang.runs import RunInfo

from ..access import Admitted, Checked, Router
from ..errors import documented
from ..services import Served
from ..shapes import Run, RunIn, SteerIn
from ..streams import parse_position
from .sessions import EVENT_STREAM, LastEventId, Position

router = Router(prefix="/api", tags=["runs"])


@router.post(
    "/sessions/{sid}/runs",
    status_code=201,
    responses=documented("session_not_found", "run_active", "model_unavailable", "disk_full"),
)
async def start_run(sid: str, body: RunIn, services: Served, caller: Admitted) -> Run:
    """Start a run. The same `request_id` again gives the same run."""
    run = await services.runs.submit(
        sid, body.text, request_id=body.request_id, user_id=caller.user_id
    )
    return _shape(run)


@router.get("/runs/{rid}", responses=documented("run_not_found"))
async def read_run(rid: str, services: Served) -> Run:
    return _shape(await services.runs.info(rid))


@router.post("/runs/{rid}/stop", responses=documented("run_not_found"))
async def stop_run(rid: str, services: Served) -> Run:
    """Stop a run and keep what there is; also fine after its end."""
    return _shape(await services.runs.stop(rid))


@router.post(
    "/runs/{rid}/steer",
    status_code=202,
    responses=documented("run_not_found", "run_finished"),
)
async def steer_run(rid: str, body: SteerIn, services: Served) -> Run:
    """Add words; the model reads them before its next request."""
    return _shape(await services.runs.steer(rid, body.text))


@router.get(
    "/runs/{rid}/events",
    response_class=Response,
    responses={
        **EVENT_STREAM,
        204: {"description": "the run has ended and the reader has its last event"},
        **documented("run_not_found", "shutting_down"),
    },
)
async def run_events(
    rid: str,
    services: Served,
    check: Checked,
    after: Position = None,
    last_event_id: LastEventId = None,
) -> Response:
    """The events of one run; the stream ends after `run.finished`."""
    position = parse_position(after, last_event_id)
    subscribe = partial(services.runs.subscribe_run, rid, after=position)
    if not await services.runs.has_more(rid, position):
        async with subscribe():  # refuses a number from the future
            return Response(status_code=204)
    return services.streams.respond(subscribe, check)


def _shape(run: RunInfo) -> Run:
    return Run(
        id=run.id,
        session_id=run.session_id,
        project_id=run.project_id,
        status=run.status,
        reason=run.reason,
        created_at=run.created_at,
        finished_at=run.finished_at,
        usage=run.usage,
    )
