"""The versions of a file: what each write leaves behind (writing.md §13)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import sqlalchemy as sa

from wenfang.storage import Tx, files, revisions

from ..errors import WorkspaceError
from ..values import Saved
from . import blobs
from .history import By, Change, Measure, Revision, is_amended, is_unrecorded, measure
from .tree import LARGEST, Place, item_of

_FIELDS = (revisions.c[name] for name in Revision.__dataclass_fields__)
_ALL = (
    sa.select(*_FIELDS)
    .where(revisions.c.file_id == sa.bindparam("file"))
    .order_by(revisions.c.n.desc())
)
_NEWEST = _ALL.limit(1)
_NEWEST_OF_AI = _ALL.where(revisions.c.actor == "ai").limit(1)
_NUMBERED = _ALL.where(revisions.c.n == sa.bindparam("n"))
_AUTHORED = sa.select(sa.func.count()).where(
    revisions.c.file_id == sa.bindparam("file"), revisions.c.actor == "author"
)


def all_of(tx: Tx, place: Place) -> list[Revision]:
    """Newest first."""
    rows = tx.sa.execute(_ALL, {"file": place.row.id}).mappings()
    return [Revision(**row) for row in rows]


def newest(tx: Tx, place: Place, *, of_ai: bool = False) -> Revision | None:
    """The last version, or the last that an agent wrote."""
    statement = _NEWEST_OF_AI if of_ai else _NEWEST
    row = tx.sa.execute(statement, {"file": place.row.id}).mappings().one_or_none()
    return None if row is None else Revision(**row)


def numbered(tx: Tx, place: Place, n: int) -> Revision:
    """Raises `WorkspaceError` "revision_not_found"."""
    values = {"file": place.row.id, "n": n if 0 < n <= LARGEST else 0}
    row = tx.sa.execute(_NUMBERED, values).mappings().one_or_none()
    if row is None:
        raise WorkspaceError("revision_not_found", path=place.path, revision=n)
    return Revision(**row)


class Keeper:
    """Writes texts and keeps versions, for one writer. `limit`: how many of an author's own are kept."""

    def __init__(self, by: By, clock: Callable[[], float], limit: int | None) -> None:
        self._by = by
        self._clock = clock
        self._limit = limit

    def put(
        self, tx: Tx, place: Place, data: bytes, change: Change, origin: int | None = None
    ) -> Saved:
        """Give a file a new text and the version that records it."""
        head: str = place.row.hash
        last = newest(tx, place)
        name = blobs.put(tx, data, like=head)
        if name == head and not is_unrecorded(last, head):
            return Saved(item=item_of(place), previous=head, revision=last.n if last else None)
        before = blobs.get(tx, head)
        overwrites = self._by.actor != "author" or change == "restore"
        if overwrites and before.strip() and is_unrecorded(last, head):
            amount = measure("", 0, _text(before))
            last = self._add(tx, place, head, last, By(actor="system"), "auto_save", amount)
        amount = measure(_text(before), place.row.words, _text(data))
        revision = self._record(tx, place, name, last, change, amount, origin)
        values = {
            "hash": name,
            "size_bytes": len(data),
            "words": amount.words,
            "updated_at": self._clock(),
        }
        tx.sa.execute(files.update().where(files.c.id == place.row.id).values(values))
        blobs.drop_unused(tx, head)
        row = tx.sa.execute(sa.select(files).where(files.c.id == place.row.id)).one()
        return Saved(item=item_of(Place(row, place.path)), previous=head, revision=revision)

    def _record(
        self,
        tx: Tx,
        place: Place,
        name: str,
        last: Revision | None,
        change: Change,
        amount: Measure,
        origin: int | None,
    ) -> int | None:
        """Put the new text into a version; its number, or None where the limit forbids another."""
        now = self._clock()
        if last is not None and is_amended(last, place.row.hash, self._by, change, now):
            self._amend(tx, place, name, last, amount)
            return last.n
        if self._by.actor == "author" and self._limit is not None:
            authored = tx.sa.execute(_AUTHORED, {"file": place.row.id}).scalar_one()
            if authored >= self._limit:
                return None
        return self._add(tx, place, name, last, self._by, change, amount, origin).n

    def _add(
        self,
        tx: Tx,
        place: Place,
        name: str,
        last: Revision | None,
        by: By,
        change: Change,
        amount: Measure,
        origin: int | None = None,
    ) -> Revision:
        now = self._clock()
        revision = Revision(
            n=last.n + 1 if last else 1,
            parent=last.n if last else None,
            hash=name,
            actor=by.actor,
            change=change,
            run_id=by.run_id,
            origin=origin,
            opened_at=now,
            saved_at=now,
            **asdict(amount),
        )
        tx.sa.execute(revisions.insert(), asdict(revision) | {"file_id": place.row.id})
        return revision

    def _amend(self, tx: Tx, place: Place, name: str, last: Revision, amount: Measure) -> None:
        """Move the last version on; its lines are counted against the version before it."""
        parent = b""
        if last.parent is not None:
            parent = blobs.get(tx, numbered(tx, place, last.parent).hash)
        lines = measure(_text(parent), 0, _text(blobs.get(tx, name)))
        values = {
            "hash": name,
            "words": amount.words,
            "characters": amount.characters,
            "lines_added": lines.lines_added,
            "lines_removed": lines.lines_removed,
            "saved_at": self._clock(),
        }
        mine = sa.and_(revisions.c.file_id == place.row.id, revisions.c.n == last.n)
        tx.sa.execute(revisions.update().where(mine).values(values))


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
