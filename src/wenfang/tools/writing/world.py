"""What a call wants, and the facts that decide whether it may: looked up before it is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from wenfang.core import JSON, ToolCall, real_names
from wenfang.workspace import WorkspaceError, name_key
from wenfang.workspace.project import Kept, Kind

from .blanks import Waiting
from .desk import Desk
from .params import ID_ALIASES, TITLE_ALIASES

WRITE_TOOLS = frozenset(
    {"create_file", "write_text", "edit_file", "delete_file", "rename_file", "parallel_execute"}
)
"""FILE_WRITE_TOOL_NAMES (writing.md §7.1), with the tool that a body is a call of."""

_WRITES = WRITE_TOOLS | {"write_chapter"}
_WITH_ID = frozenset({"write_text", "edit_file", "delete_file", "rename_file"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing that a call wants; a call of several tasks has several. `ref` names a file that is
    there, `title` and `kind` one that is to be; `target` is the role of a handoff."""

    tool: str
    ref: str | None = None
    title: str | None = None
    kind: str | None = None
    target: str | None = None

    @property
    def writes(self) -> bool:
        return self.tool in _WRITES


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A file that a call names. `authored`: the files at or below it with an author's text, None if
    that could not be found out."""

    kind: Kind
    authored: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """`blocker` is the file that has to be written first, with its title; it does not stand in the way
    of the call that creates the same file again. `targets`: by the name that the call uses."""

    blocker: Waiting | None = None
    blocker_title: str = ""
    targets: Mapping[str, Target] = field(default_factory=dict[str, Target])

    def blocks(self, part: Part) -> bool:
        """Whether the part would begin another file before that one is written."""
        if self.blocker is None:
            return False
        if part.tool == "create_file":
            again = name_key(" ".join((part.title or "").split())) == name_key(self.blocker_title)
            return part.kind != "folder" and not again
        return part.tool == "parallel_execute"


def parts_of(call: ToolCall) -> tuple[Part, ...]:
    """The call itself, and its tasks if it has some. Names of arguments are those of the tools or their
    aliases; what is no argument of that kind is passed over, the tool refuses it."""
    parts = [_part(call.name, call.arguments)]
    tasks = call.arguments.get("tasks")
    if call.name == "parallel_execute" and isinstance(tasks, list):
        for task in tasks:
            if isinstance(task, dict):
                params = task.get("params")
                given = cast("Mapping[str, JSON]", params if isinstance(params, dict) else {})
                parts.append(_part(_text(task.get("type")) or "", given))
    return tuple(parts)


def _part(tool: str, arguments: Mapping[str, JSON]) -> Part:
    aliases = ID_ALIASES if tool in _WITH_ID else TITLE_ALIASES
    known = real_names(arguments, aliases)
    return Part(
        tool=tool,
        ref=_text(known.get("id")) if tool in _WITH_ID else None,
        title=_text(known.get("title")),
        kind=_text(known.get("file_type")),
        target=_text(known.get("target_agent")),
    )


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None


async def look(desk: Desk, call: ToolCall) -> World:
    """The facts about this call, as they are in the database now."""
    blocker = await desk.blocker()
    targets: dict[str, Target] = {}
    for part in parts_of(call):
        if part.ref is not None and part.ref not in targets:
            target = await _target(desk, part)
            if target is not None:
                targets[part.ref] = target
    title = "" if blocker is None else desk.title_of(blocker.path)
    return World(blocker=blocker, blocker_title=title, targets=targets)


async def _target(desk: Desk, part: Part) -> Target | None:
    try:
        item = await desk.files.at(part.ref or "")
        if part.tool != "delete_file":
            return Target(kind=item.kind)
        return Target(kind=item.kind, authored=await _authored(desk, item.id))
    except WorkspaceError:
        return None  # the tool says what is wrong with the name


async def _authored(desk: Desk, file_id: str) -> tuple[str, ...] | None:
    try:
        return await desk.files.authored(file_id)
    except Kept:
        return None
