"""Whether files hold an author's work: what an agent may not throw away (TL-16, AE-2)."""

from __future__ import annotations

from collections.abc import Sequence

from wenfang.storage import Tx

from ..authorship import is_author_text
from ..errors import WorkspaceError
from ..values import BODY_KINDS
from . import blobs, versions
from .history import is_seed
from .tree import Place
from .values import Kept

_MOST_CHECKED = 500
_MOST_NAMED = 10


def is_of_author(tx: Tx, place: Place) -> bool:
    """Whether the present text holds an author's work (AE-2): it is not blank, and its newest version is
    not the agent's, nor a template's, or does not hold it. A file without versions is nobody's."""
    last = versions.newest(tx, place)
    return last is not None and is_author_text(
        blobs.get(tx, place.row.hash).decode(errors="replace"),
        latest=blobs.get(tx, last.hash).decode(errors="replace"),
        actor="ai" if is_seed(last) else last.actor,
    )


def authored_bodies(tx: Tx, places: Sequence[Place]) -> tuple[str, ...]:
    """The paths of body files among `places` that hold an author's work, at most ten. Raises `Kept`
    "unverified" where that cannot be found out: there are too many, or a text is damaged."""
    bodies = [place for place in places if place.row.kind in BODY_KINDS]
    if len(bodies) > _MOST_CHECKED:
        raise Kept("unverified", (places[0].path,))
    found: list[str] = []
    for place in bodies:
        try:
            if is_of_author(tx, place):
                found.append(place.path)
        except WorkspaceError as error:
            raise Kept("unverified", (place.path,)) from error
    return tuple(found[:_MOST_NAMED])
