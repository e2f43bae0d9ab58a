"""Why a call of the writing tools did not do what was asked, as data (TL-13): one row for each type.

A row holds what an author reads; what the model reads is written where the refusal is made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, cast

from wenfang.core import JSON, ToolErrorType, ToolResult
from wenfang.problems import Language

ErrorType: TypeAlias = Literal[
    "anchor_not_found",
    "anchor_ambiguous",
    "file_not_found",
    "invalid_edit",
    "invalid_arguments",
    "invalid_title",
    "title_taken",
    "folder_not_empty",
    "file_busy",
    "permission_denied",
    "edit_failed",
    "stale_content",
    "author_edit_protected",
    "read_only_request",
    "clarify_first",
    "pending_empty_file_unwritten",
    "repeated_read",
    "no_progress_stop",
    "tool_failure_circuit_open",
    "task_failed",
    "tool_not_found",
    "tool_disabled",
    "malformed_tool_result",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """`zh` and `en` are for authors: no id, no name of a tool or a role. `is_ordering`: the call came
    too early and is right later, so it is no sign of a model that goes in circles (GD-3)."""

    zh: str
    en: str
    is_ordering: bool = False


def _row(
    error_type: ErrorType, zh: str, en: str, *, is_ordering: bool = False
) -> tuple[ErrorType, ErrorRow]:
    return error_type, ErrorRow(zh=zh, en=en, is_ordering=is_ordering)


ERRORS: Mapping[ErrorType, ErrorRow] = MappingProxyType(
    dict(
        (
            _row("anchor_not_found", "没有找到要修改的那段文字。", "The passage to change was not found."),
            _row("anchor_ambiguous", "要修改的文字出现了不止一处。",
                 "The passage to change is there more than once."),
            _row("file_not_found", "没有找到要用的文件或文件夹。", "The file or folder was not found."),
            _row("invalid_edit", "这次修改的内容不完整。", "The change was not complete."),
            _row("invalid_arguments", "这一步的内容不完整。", "This step was not complete."),
            _row("invalid_title", "这个标题不能用作文件名。", "This title cannot be the name of a file."),
            _row("title_taken", "这里已经有同名的文件。", "A file of this name is there already."),
            _row("folder_not_empty", "文件夹里还有文件，没有删除。",
                 "The folder has files in it and was not deleted."),
            _row("file_busy", "这个文件正在被改动，稍后再试。",
                 "This file is being changed right now; try again in a moment."),
            _row("permission_denied", "这一步不在本轮允许的范围内。",
                 "This step is outside of what this round may do."),
            _row("edit_failed", "这次修改没有成功，原文没有变化。",
                 "The change could not be made; the text is as it was."),
            _row("stale_content", "你刚刚改过这个文件，需要先重新读一遍。",
                 "You have just changed this file; it has to be read again first."),
            _row("author_edit_protected", "里面有你亲手写的文字，没有删除或替换。",
                 "It holds text that you wrote yourself, so it was not deleted or replaced."),
            _row("read_only_request", "这一轮只看不改，没有动文件。",
                 "This round only reads; no file was changed."),
            _row("clarify_first", "先确认你的想法，再动文件。", "Your wishes come first; no file was changed yet."),
            _row("pending_empty_file_unwritten", "上一个新建的文件还没有写完。",
                 "The file that was created before is not written yet.", is_ordering=True),
            _row("repeated_read", "这个文件已经读过了。", "This file was read already."),
            _row("no_progress_stop", "反复读取没有进展，已停下。", "Reading again and again led nowhere, so it stopped."),
            _row("tool_failure_circuit_open", "多次没有成功，已停下。", "Several steps failed, so it stopped."),
            _row("task_failed", "同时进行的几步里，有的没有成功。", "Some of the steps made together did not succeed."),
            _row("tool_not_found", "这一步做不了。", "This step cannot be done."),
            _row("tool_disabled", "这一步现在做不了。", "This step cannot be done now."),
            _row("malformed_tool_result", "这一步的结果无法使用。", "The result of this step could not be used."),
        )
    )
)  # fmt: skip

# What the loop itself says about a call, in the words of this table.
_OF_CORE: Mapping[ToolErrorType, ErrorType] = MappingProxyType(
    {
        "unknown_tool": "tool_not_found",
        "malformed": "invalid_arguments",
        "truncated": "invalid_arguments",
        "invalid_arguments": "invalid_arguments",
        "denied": "permission_denied",
        "limit": "tool_disabled",
        "repeated": "repeated_read",
        "failed": "edit_failed",
        "timeout": "file_busy",
        "aborted": "tool_disabled",
        "interrupted": "malformed_tool_result",
    }
)


class Refusal(Exception):  # noqa: N818 - an expected outcome, like HTTP's problem details
    """A call that changed nothing (or, of several edits, not all). `text` tells the model what happened,
    which value, and what to do; `data` holds what else it can use."""

    def __init__(
        self, error_type: ErrorType, text: str, *, data: Mapping[str, JSON] | None = None
    ) -> None:
        super().__init__(text)
        self.error_type: ErrorType = error_type
        self.text = text
        self.data = data


def author_text(error_type: ErrorType, language: Language) -> str:
    """The one sentence an author reads."""
    row = ERRORS[error_type]
    return row.zh if language == "zh" else row.en


def refusal_details(error_type: ErrorType, language: Language) -> dict[str, JSON]:
    """What people and programs are told about a refused call."""
    return {
        "status": "error",
        "error_type": error_type,
        "user_message": author_text(error_type, language),
    }


def envelope_text(error_type: ErrorType, text: str) -> str:
    """A refusal as a model reads it."""
    told = {"status": "error", "error_type": error_type, "error": text}
    return json.dumps(told, ensure_ascii=False)


def error_type_of(result: ToolResult) -> ErrorType | None:
    """The type of a failed result, whoever refused it; None for a success."""
    if not result.is_error:
        return None
    if isinstance(result.details, dict):
        told = result.details.get("error_type")
        if told in ERRORS:
            return cast("ErrorType", told)
    return _OF_CORE[result.error_type or "failed"]
