"""What the author changed since an agent wrote, as a model reads it (TL-15, AE-1)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wenfang.core import JSON
from wenfang.workspace.edits import AppliedEdit
from wenfang.workspace.project import Hunk, Opened, author_edits, touched

_MOST_HUNKS = 20
_HUNK_CHARS = 600
_EXCERPT_CHARS = 120
_MARKS = {"equal": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
_TAG = re.compile(r"<(?=\s*/?\s*author_edits)", re.IGNORECASE)


def render(opened: Opened) -> str | None:
    """The block `<author_edits>`: one line for each changed place, [-removed-] and {+added+}. None if the
    agent never wrote the file, or nothing was changed since."""
    if opened.ai_text is None or opened.ai_text == opened.text:
        return None
    hunks = author_edits(opened.ai_text, opened.text)
    if not hunks:
        return None
    lines = [f"- {_line(hunk)}" for hunk in hunks[:_MOST_HUNKS]]
    if len(hunks) > _MOST_HUNKS:
        lines.append(f"({len(hunks) - _MOST_HUNKS} more places are not shown.)")
    return "\n".join(("<author_edits>", *lines, "</author_edits>"))


def touched_by(opened: Opened, applied: Sequence[AppliedEdit]) -> list[JSON]:
    """The paragraphs of the author's that these edits changed, as they were before."""
    if opened.ai_text is None:
        return _paragraphs(opened.text, applied) if opened.is_of_author else []
    if opened.ai_text == opened.text:
        return []
    hunks = author_edits(opened.ai_text, opened.text)
    found = touched([each.span_before for each in applied], hunks)
    return [
        _excerpt(opened.text[hunk.after.start : hunk.after.end]) for hunk in found[:_MOST_HUNKS]
    ]


def _paragraphs(text: str, applied: Sequence[AppliedEdit]) -> list[JSON]:
    """Where the edits are, in a text that is all the author's."""
    found: list[JSON] = []
    for each in applied:
        begin = text.rfind("\n", 0, each.span_before.start) + 1
        end = text.find("\n", each.span_before.end)
        paragraph = _excerpt(text[begin : len(text) if end < 0 else end])
        if paragraph and paragraph not in found:
            found.append(paragraph)
    return found[:_MOST_HUNKS]


def _line(hunk: Hunk) -> str:
    text = "".join(_MARKS[part.kind].format(part.text) for part in hunk.parts)
    text = _TAG.sub("＜", " ".join(text.split()))
    return text if len(text) <= _HUNK_CHARS else f"{text[:_HUNK_CHARS]}…"


def _excerpt(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _EXCERPT_CHARS else f"{text[:_EXCERPT_CHARS]}…"
