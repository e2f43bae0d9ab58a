"""edit_file: replace quoted passages of a text file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from wenfang.core import ToolContext, ToolOutput, tool
from wenfang.workspace import EditError, Files, Saved, unified_diff
from wenfang.workspace.edits import Edit, EditField, EditResult, apply_edits, describe_failures

from .files import PATH_ALIASES, PATH_PATTERN, FilePath, done, files_of
from .texts import HeadAndTail, plural
from .write_file import effect_of

_MAX_DIFF = 64 * 1024
_NAMES: dict[EditField, str] = {"old": "old_text", "new": "new_text"}


class Replacement(BaseModel):
    model_config = ConfigDict(extra="forbid")

    old_text: str = Field(description="The passage to replace, exactly as in the file, found once")
    new_text: str = Field(description="What stands there afterwards")


@tool(
    access="write",
    mode="exclusive",
    aliases=PATH_ALIASES | {"replacements": "edits", "changes": "edits"},
    patterns={"path": PATH_PATTERN},
)
async def edit_file(
    ctx: ToolContext,
    path: FilePath,
    edits: Annotated[
        list[Replacement],
        Field(description="The replacements; each is matched against the original", min_length=1),
    ],
) -> ToolOutput:
    """Change parts of a text file of the project. All replacements are made, or none. Read the
    file first and quote enough of it that each passage is found once."""
    written, edited, diff = await done(_edit(files_of(ctx), path, edits))
    return ToolOutput(
        content=_report(written, edited, len(edits)),
        details={
            "path": written.item.path,
            "revision": written.hash,
            "previous": written.previous,
            "size_bytes": written.item.size_bytes,
            "diff": diff,
        },
        effects=(effect_of(written),),
    )


async def _edit(
    files: Files, path: str, replacements: Sequence[Replacement]
) -> tuple[Saved, EditResult, str]:
    edits = [Edit(old=each.old_text, new=each.new_text, match_mode="look") for each in replacements]
    texts: list[tuple[str, EditResult]] = []

    def change(text: str) -> str:
        result = apply_edits(text, edits)
        if result.failed:
            raise EditError(describe_failures(result, names=_NAMES, has_occurrence=False))
        texts.append((text, result))
        return result.text

    written = await files.change(path, change)
    before, edited = texts[-1]
    diff = HeadAndTail(_MAX_DIFF)
    diff.add(unified_diff(before, edited.text))
    return written, edited, diff.text()


def _report(written: Saved, edited: EditResult, count: int) -> str:
    text = f"Edited {written.item.path}: {plural(count, 'replacement')} made."
    by_look = sorted(each.index + 1 for each in edited.applied if each.match == "look")
    if by_look:
        numbers = ", ".join(map(str, by_look))
        text += f" Found by look only, with other quotes, dashes or spaces than quoted: {numbers}."
    return text
