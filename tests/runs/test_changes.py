"""What an effect of a tool tells those who show the files."""

from __future__ import annotations

import pytest

from wenfang.core import (
    Effect,
    FileCreated,
    FileDeleted,
    FileRead,
    FileRenamed,
    FileWritten,
    ToolResult,
)
from wenfang.runs import ToolFinished
from wenfang.runs.changes import change_of
from wenfang.runs.codec import decode, encode

# effect, path, change, revision, new path
ROWS: dict[str, tuple[Effect, tuple[str, str, str, str | None] | None]] = {
    "created": (
        FileCreated(path="a.md", revision="1", size_bytes=0),
        ("a.md", "created", "1", None),
    ),
    "reused": (FileCreated(path="a.md", revision="1", size_bytes=3, reused=True), None),
    "written": (
        FileWritten(path="a.md", revision="2", previous="1", size_bytes=3),
        ("a.md", "written", "2", None),
    ),
    "deleted": (FileDeleted(path="a.md", file_id="F", kind="draft"), ("a.md", "deleted", "", None)),
    "renamed": (
        FileRenamed(path="b.md", previous_path="a.md", file_id="F", kind="draft"),
        ("a.md", "renamed", "", "b.md"),
    ),
    "read": (FileRead(path="a.md", revision="1"), None),
}


@pytest.mark.parametrize("row", ROWS)
def test_change_of(row: str) -> None:
    effect, expected = ROWS[row]
    change = change_of(effect)
    if expected is None:
        assert change is None
    else:
        assert change is not None
        assert (change.path, change.change, change.revision, change.to) == expected
        assert change.by == "ai"


def finished(effect: Effect) -> ToolFinished:
    result = ToolResult(call_id="c", name="t", content=(), effects=(effect,))
    return ToolFinished(call_id="c", name="t", args={}, result=result)


@pytest.mark.parametrize("row", ROWS)
def test_effects_come_back_from_the_journal(row: str) -> None:
    event = finished(ROWS[row][0])
    assert decode(encode(event)) == event


@pytest.mark.parametrize(
    ("body", "effect"),
    [
        (b'{"path":"a","revision":"1","type":"file_read"}', FileRead(path="a", revision="1")),
        (
            b'{"path":"a","revision":"1","size_bytes":3,"type":"file_created"}',
            FileCreated(path="a", revision="1", size_bytes=3),
        ),
        (
            b'{"path":"a","revision":"1","previous":"0","size_bytes":3,"type":"file_written"}',
            FileWritten(path="a", revision="1", previous="0", size_bytes=3),
        ),
    ],
)
def test_effects_of_journals_written_before_they_told_more(body: bytes, effect: Effect) -> None:
    stored = encode(finished(FileRead(path="?", revision="?")))
    start, end = stored.index(b'"effects":[') + 11, stored.index(b'],"terminate"')
    event = decode(stored[:start] + body + stored[end:])
    assert isinstance(event, ToolFinished)
    assert event.result.effects == (effect,)
