"""The last sync, in the database: what both sides held when they were the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from wenfang.storage import Tx, blobs, mirrored, mirrors

from ..project.blobs import drop_unused, put
from .values import Node, key_of

_HASH = sa.select(mirrored.c.hash).where(
    mirrored.c.mirror_id == sa.bindparam("mirror"), mirrored.c.path_key == sa.bindparam("key")
)
_KNOWN = sa.select(blobs.c.hash).where(blobs.c.hash == sa.bindparam("hash"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """A row: the folder `folder` (absolute) of `host` mirrors a project. The folder holds the id too, so
    that another one which came into its place is not taken for it."""

    id: str
    project_id: str
    host: str
    folder: str


def find(tx: Tx, mirror_id: str) -> Mirrored | None:
    """The mirror that a folder says it is."""
    fields = (mirrors.c[name] for name in Mirrored.__dataclass_fields__)
    row = (
        tx.sa.execute(sa.select(*fields).where(mirrors.c.id == mirror_id)).mappings().one_or_none()
    )
    return None if row is None else Mirrored(**row)


def begin(tx: Tx, mirror: Mirrored, now: float) -> None:
    """A new mirror. What was known of an earlier one in the same place is forgotten."""
    same = sa.select(mirrors.c.id).where(
        mirrors.c.project_id == mirror.project_id,
        mirrors.c.host == mirror.host,
        mirrors.c.folder == mirror.folder,
    )
    for (old,) in tx.sa.execute(same).all():
        for node in state(tx, old).values():
            forget(tx, old, node.path)
        tx.sa.execute(mirrors.delete().where(mirrors.c.id == old))
    values = {name: getattr(mirror, name) for name in Mirrored.__dataclass_fields__}
    tx.sa.execute(mirrors.insert(), values | {"created_at": now, "synced_at": now})


def touch(tx: Tx, mirror_id: str, now: float) -> None:
    """Keep when the last sync was."""
    tx.sa.execute(mirrors.update().where(mirrors.c.id == mirror_id).values(synced_at=now))


def state(tx: Tx, mirror_id: str) -> dict[str, Node]:
    """Everything that was the same, by key."""
    rows = tx.sa.execute(sa.select(mirrored).where(mirrored.c.mirror_id == mirror_id))
    return {row.path_key: Node(path=row.path, hash=row.hash, id=row.file_id) for row in rows}


def note(tx: Tx, mirror_id: str, node: Node, data: bytes | None = None) -> None:
    """Both sides hold `node`; `data` are its bytes, where the database may not have them (any more). A text
    that nobody has now was changed meanwhile: the next sync will tell."""
    place = {"mirror": mirror_id, "key": key_of(node.path)}
    before = tx.sa.execute(_HASH, place).scalar()
    if data is not None:
        put(tx, data, like=before)
    elif node.hash and tx.sa.execute(_KNOWN, {"hash": node.hash}).one_or_none() is None:
        return
    tx.sa.execute(mirrored.delete().where(*_at(place)))
    values = {"mirror_id": mirror_id, "path_key": place["key"], "path": node.path}
    tx.sa.execute(mirrored.insert(), values | {"hash": node.hash, "file_id": node.id})
    if before not in (None, node.hash):
        drop_unused(tx, before)


def forget(tx: Tx, mirror_id: str, path: str) -> None:
    """Neither side has it."""
    place = {"mirror": mirror_id, "key": key_of(path)}
    before = tx.sa.execute(_HASH, place).scalar()
    tx.sa.execute(mirrored.delete().where(*_at(place)))
    if before is not None:
        drop_unused(tx, before)


def _at(place: dict[str, Any]) -> tuple[sa.ColumnElement[bool], ...]:
    return mirrored.c.mirror_id == place["mirror"], mirrored.c.path_key == place["key"]
