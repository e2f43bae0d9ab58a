"""A page of the journal in statements that every database understands: how much is looked at first, so
that no more bodies are fetched than fit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from wenfang.storage import Tx, events, projects

from .journal import Page
from .recording import frame_of
from .records import Frame

PAGE_FRAMES, PAGE_BYTES = 200, 512 * 1024

_AFTER = events.c.pseq > sa.bindparam("after")
_UPTO = events.c.pseq <= sa.bindparam("upto")
_OF_PROJECT = events.c.project_id == sa.bindparam("project")
_OF_RUN = events.c.run_id == sa.bindparam("run")
_SIZES = sa.select(events.c.pseq, sa.func.length(events.c.body)).limit(PAGE_FRAMES + 1)
_FRAMES = sa.select(
    events.c.pseq, events.c.ts, events.c.run_id, events.c.session_id, events.c.kind, events.c.body
)
# A run's numbers and its project's rise together.
_BY_PROJECT = (
    _SIZES.where(_OF_PROJECT, _AFTER).order_by(events.c.pseq),
    _FRAMES.where(_OF_PROJECT, _AFTER, _UPTO).order_by(events.c.pseq),
)
_BY_RUN = (
    _SIZES.where(_OF_RUN, _AFTER).order_by(events.c.seq),
    _FRAMES.where(_OF_RUN, _AFTER, _UPTO).order_by(events.c.seq),
)
_HEAD = sa.select(projects.c.seq).where(projects.c.id == sa.bindparam("project"))
_END = sa.select(events.c.pseq).where(_OF_RUN, events.c.kind == "run.finished")


def fill(frames: Iterable[Frame]) -> tuple[tuple[Frame, ...], bool]:
    """As many frames as a page holds (the last may go beyond), and whether these are all."""
    page: list[Frame] = []
    size = 0
    for frame in frames:
        if len(page) == PAGE_FRAMES or size > PAGE_BYTES:
            return tuple(page), False
        page.append(frame)
        size += len(frame.data)
    return tuple(page), True


def read_page(tx: Tx, project_id: str, after: int, run_id: str | None) -> Page:
    """See `Journal.page`."""
    sizes, wanted = _BY_PROJECT if run_id is None else _BY_RUN
    values: dict[str, Any] = {"project": project_id} if run_id is None else {"run": run_id}
    values["after"] = after
    there = tx.sa.execute(sizes, values).all()
    upto = _last_that_fits(there)
    rows = tx.sa.execute(wanted, values | {"upto": upto}) if there else ()
    frames, is_all = fill(frame_of(*row) for row in rows)
    if not (is_all and len(frames) == len(there)):
        return Page(frames=frames, upto=frames[-1].seq or after, complete=False, ended=False)
    head = tx.sa.execute(_HEAD, {"project": project_id}).scalar_one()
    ended = run_id is not None and tx.sa.execute(_END, {"run": run_id}).first() is not None
    return Page(frames=frames, upto=head, complete=True, ended=ended)


def _last_that_fits(there: Iterable[Any]) -> int:
    upto = size = 0
    for at, (pseq, length) in enumerate(there):
        if at == PAGE_FRAMES or size > PAGE_BYTES:
            break
        upto, size = pseq, size + length
    return upto
