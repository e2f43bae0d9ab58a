"""The model that would answer the next run, and the download of the embedded one."""

from __future__ import annotations

from ..access import Router
from ..errors import documented
from ..services import Served, Services
from ..shapes import ModelState

router = Router(prefix="/api/model", tags=["model"])


@router.get("")
async def read_model(services: Served) -> ModelState:
    return model_state(services)


@router.post("/pull", status_code=202, responses=documented("pull_active"))
async def pull_model(services: Served) -> ModelState:
    """Download the embedded model in the background; `progress` tells how far it is."""
    services.pulls.start()
    return model_state(services)


@router.post("/cancel")
async def cancel_pull(services: Served) -> ModelState:
    """Give up the download; also fine if there is none."""
    await services.pulls.cancel()
    return model_state(services)


def model_state(services: Services) -> ModelState:
    status = services.models.status()
    pulls = services.pulls
    state = "ready" if status.is_ready else "missing"
    if status.provider == "embedded" and not status.is_ready:
        if pulls.progress is not None:
            state = "pulling"
        elif pulls.problem is not None:
            state = "error"
    return ModelState(
        provider=status.provider,
        model=status.model,
        state=state,
        progress=pulls.progress,
        error=pulls.problem.text("en") if pulls.problem else None,
        size_bytes=status.size_bytes,
    )
