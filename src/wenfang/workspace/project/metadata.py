"""What a crew notes about a file beside its text: its importance, its tags. JSON objects by file."""

from __future__ import annotations

import json
from collections.abc import Mapping

import sqlalchemy as sa

from wenfang.core import JSON
from wenfang.storage import Tx, file_metadata, files

_OF_PROJECT = (
    sa.select(file_metadata.c.file_id, file_metadata.c.data)
    .join(files, files.c.id == file_metadata.c.file_id)
    .where(files.c.project_id == sa.bindparam("project"))
)


def of_project(tx: Tx, project: str) -> dict[str, dict[str, JSON]]:
    """The notes of all files that have some, by their ids."""
    rows = tx.sa.execute(_OF_PROJECT, {"project": project})
    return {file_id: json.loads(data) for file_id, data in rows}


def put(tx: Tx, file_id: str, data: Mapping[str, JSON]) -> None:
    """Replace what is noted about a file; nothing is noted if `data` is empty."""
    tx.sa.execute(file_metadata.delete().where(file_metadata.c.file_id == file_id))
    if data:
        row = {"file_id": file_id, "data": json.dumps(data, ensure_ascii=False)}
        tx.sa.execute(file_metadata.insert(), row)
