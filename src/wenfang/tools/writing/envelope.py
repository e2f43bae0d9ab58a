"""From a handler to a tool: the envelope of results, refusals as data, and work that is not left half done."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sqlalchemy.exc import SQLAlchemyError

from wenfang.core import JSON, Access, Effect, Tool, ToolContext, ToolOutput
from wenfang.problems import Problem
from wenfang.workspace import WorkspaceError
from wenfang.workspace.project import Kept, KeptReason

from ..files import to_the_end
from .capping import capped
from .desk import Desk
from .errors import ErrorType, Refusal, refusal_details

if TYPE_CHECKING:
    from pydantic import BaseModel

P = TypeVar("P", bound="BaseModel")
T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a handler did. `data` is for the model, `details` for people and programs. `problem` says
    that a part of it failed."""

    data: Mapping[str, JSON]
    details: Mapping[str, JSON] | None = None
    effects: tuple[Effect, ...] = ()
    problem: Refusal | None = None


Work = Callable[[Desk, ToolContext, P], Awaitable[Done]]

_OF_WORKSPACE: Mapping[str, ErrorType] = {
    "file_not_found": "file_not_found",
    "folder_not_found": "file_not_found",
    "path_invalid": "invalid_arguments",
    "path_exists": "title_taken",
    "file_busy": "file_busy",
    "revision_conflict": "file_busy",
}
_ADVICE: Mapping[str, str] = {
    "file_not_found": " Call query_files to see which files there are.",
    "folder_not_found": " Call query_files to see which folders there are.",
}
_KEPT: Mapping[KeptReason, tuple[ErrorType, str]] = {
    "author_text": (
        "author_edit_protected",
        "The author wrote or changed the text of {paths}. It is neither deleted nor replaced from the "
        "chat, whatever was said; the author can do it in the studio. Use edit_file for changes, or "
        "another title for a new text.",
    ),
    "unverified": (
        "author_edit_protected",
        "It could not be found out whether the author wrote in {paths}, so nothing was changed. The "
        "author can do it in the studio.",
    ),
    "not_empty": (
        "folder_not_empty",
        "The folder {paths} is not empty. Set recursive to true to delete it with everything in it.",
    ),
    "stale": (
        "stale_content",
        "{paths} was changed since you read it. Read it again with query_files (by id), then decide in "
        "your next step whether it still is to be deleted.",
    ),
}


def refused(error: Exception) -> Refusal:
    """What a model is told about an expected failure; never a path of the host, a trace or a statement."""
    match error:
        case Refusal():
            return error
        case WorkspaceError(code=code):
            text = f"{error}{_ADVICE.get(code, '')}"
            return Refusal(_OF_WORKSPACE.get(code, "edit_failed"), text)
        case Kept(reason=reason, paths=paths):
            error_type, text = _KEPT[reason]
            return Refusal(error_type, text.format(paths=", ".join(map(repr, paths))))
        case _:
            _log.warning("a writing tool failed", exc_info=error)
            return Refusal(
                "edit_failed",
                "The files cannot be reached right now; nothing was changed. Try once more.",
            )


async def attempted(work: Coroutine[Any, Any, T]) -> T | Refusal:
    """The outcome of a handler, with expected failures as data."""
    try:
        return await work
    except (Refusal, WorkspaceError, Kept, Problem, SQLAlchemyError) as error:
        return refused(error)


def make_tool(
    name: str,
    description: str,
    params: type[P],
    work: Work[P],
    *,
    access: Access,
    aliases: Mapping[str, str],
    is_short: bool = True,
) -> Tool:
    """A tool that is to be bound to a `Desk`. `is_short`: it is waited for when the run is stopped."""

    async def handle(context: ToolContext, args: BaseModel) -> ToolOutput:
        desk = cast("Desk", context.deps)
        doing = attempted(cast("Coroutine[Any, Any, Done]", work(desk, context, cast("P", args))))
        done = await (to_the_end(doing) if is_short else doing)
        return output(desk, done)

    return Tool(
        name=name,
        description=description,
        params=params,
        handler=handle,
        mode="parallel" if access == "read" else "exclusive",
        access=access,
        replay="read" if access == "read" else "unsafe",
        aliases=aliases,
    )


def output(desk: Desk, done: Done | Refusal) -> ToolOutput:
    """The envelope: `{status, data?, error?, error_type?}` for the model, and the same in few words with
    `user_message` for people."""
    if isinstance(done, Refusal):
        done = Done(data=done.data or {}, problem=done)
    problem = done.problem
    told: dict[str, JSON] = {"status": "success" if problem is None else "error"}
    if problem is not None:
        told |= {"error_type": problem.error_type, "error": problem.text}
    if done.data:
        told["data"] = dict(done.data)
    shown = done.data if done.details is None else done.details
    details: dict[str, JSON] = {"status": "success", "data": dict(shown)}
    if problem is not None:
        details |= refusal_details(problem.error_type, desk.language)
    return ToolOutput(
        content=json.dumps(capped(told, desk.result_chars), ensure_ascii=False),
        details=details,
        effects=done.effects,
        is_error=problem is not None,
    )
