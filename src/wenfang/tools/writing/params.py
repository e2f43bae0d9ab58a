"""The arguments of the writing tools (writing.md §7.2), with what models write instead."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from wenfang.workspace.edits import EditOp
from wenfang.workspace.project import Kind

ID_ALIASES: dict[str, str] = {
    "file_id": "id",
    "fileId": "id",
    "path": "id",
    "file_path": "id",
    "filename": "id",
    "file": "id",
}
NAME_ALIASES: dict[str, str] = {"name": "title", "new_title": "title", "new_name": "title"}
TITLE_ALIASES: dict[str, str] = {
    **NAME_ALIASES,
    "type": "file_type",
    "kind": "file_type",
    "folder_id": "parent_id",
    "folder": "parent_id",
    "parent": "parent_id",
}
EDIT_ALIASES: dict[str, str] = {"changes": "edits", "operations": "edits"}
QUERY_ALIASES: dict[str, str] = {"search": "query", "keyword": "query", "folder_id": "parent_id"}
# The server knows whose project it is; what a model says about it counts for nothing (TL-1).
_NOT_THEIRS = frozenset({"project_id", "user_id", "session_id", "projectId", "userId", "sessionId"})
_FALSE = frozenset({"", "0", "false", "no", "off", "n", "f", "none", "null"})
_TRUE = frozenset({"1", "true", "yes", "on", "y", "t"})
_EDIT_FIELDS: Mapping[str, str] = {
    "old_text": "old",
    "old_str": "old",
    "find": "old",
    "original": "old",
    "new_text": "text",
    "new_str": "text",
    "content": "text",
    "replacement": "text",
    "after": "anchor",
    "before": "anchor",
    "action": "op",
    "type": "op",
}


def as_flag(value: Any) -> Any:
    """A truth value as models write it (TL-2). What is none stays as it is, and is refused."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value in (0, 1):
        return bool(value)
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in _FALSE or word in _TRUE:
            return word in _TRUE
    return value


Flag = Annotated[bool, BeforeValidator(as_flag)]
FileId = Annotated[
    str, Field(description="The id of a file as query_files gives it, or its path", min_length=1)
]
FileType = Annotated[
    Kind, Field(description="What the file is; prose is draft, a play or screenplay is script")
]
Title = Annotated[
    str, Field(description="The title, for example 第三章 风起 or Chapter 3: Rain", min_length=1)
]
ParentId = Annotated[
    str | None,
    Field(
        description="The id or path of an existing folder; left out, the folder for files of this type"
    ),
]
Order = Annotated[
    int | None,
    Field(
        description="Place in the folder, from 0; a chapter's number in the title decides",
        ge=0,
        le=1_000_000,
    ),
]


_MOST_NOTES = 20
_NOTES_CHARS = 4000


def _bounded(notes: dict[str, Any]) -> dict[str, Any]:
    if len(notes) > _MOST_NOTES or len(json.dumps(notes)) > _NOTES_CHARS:
        raise ValueError(f"at most {_MOST_NOTES} entries and {_NOTES_CHARS} characters of JSON")
    return notes


Metadata = Annotated[
    dict[str, Any] | None,
    AfterValidator(lambda notes: notes if notes is None else _bounded(notes)),
]


class Params(BaseModel):
    """Arguments of one call."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_owner(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        given = cast("dict[str, Any]", value)
        return {name: each for name, each in given.items() if name not in _NOT_THEIRS}


class CreateFile(Params):
    title: Title
    file_type: FileType
    parent_id: ParentId = None
    order: Order = None
    metadata: Annotated[
        Metadata, Field(description="Notes about it, for example importance or tags")
    ] = None


class EditItem(Params):
    op: Annotated[EditOp, Field(description="What to do")] = "replace"
    old: Annotated[str | None, Field(description="replace, delete: the passage, quoted")] = None
    new: Annotated[str | None, Field(description="replace: what stands there afterwards")] = None
    anchor: Annotated[
        str | None, Field(description="insert_after, insert_before: the passage beside it, quoted")
    ] = None
    text: Annotated[str | None, Field(description="insert, append, prepend: the new text")] = None
    occurrence: Annotated[
        int | None, Field(description="Which one, from 1, if it is there more than once")
    ] = None
    replace_all: Annotated[Flag, Field(description="Change all of them")] = False
    match_mode: Annotated[
        Literal["auto", "exact"], Field(description="exact: only what is the same letter by letter")
    ] = "auto"
    ignore_punct_whitespace: Annotated[
        Flag, Field(description="Find it also with other punctuation or spaces")
    ] = True

    @model_validator(mode="before")
    @classmethod
    def _by_its_own_names(cls, value: Any) -> Any:
        """What a field is called elsewhere; its own name wins (TL-11)."""
        if not isinstance(value, dict):
            return value
        given = cast("dict[str, Any]", value)
        fields = {name: each for name, each in given.items() if name not in _EDIT_FIELDS}
        for name, each in given.items():
            own = _EDIT_FIELDS.get(name)
            if own is not None and fields.get(own) is None:
                fields[own] = each
        return fields


class EditFile(Params):
    id: FileId
    edits: Annotated[
        list[EditItem],
        Field(
            description="The changes; each is matched against the text as it is now", min_length=1
        ),
    ]
    continue_on_error: Annotated[
        Flag, Field(description="Make the edits that can be made, also if others cannot")
    ] = False


class DeleteFile(Params):
    id: FileId
    recursive: Annotated[Flag, Field(description="Also what is in the folder")] = False


class RenameFile(Params):
    id: FileId
    title: Title


class QueryFiles(Params):
    id: Annotated[str | None, Field(description="One file, by its id or path")] = None
    query: Annotated[str | None, Field(description="Words in the title or in the text")] = None
    file_type: Annotated[Kind | None, Field(description="Only files of this type")] = None
    file_types: Annotated[list[Kind] | None, Field(description="Only files of these types")] = None
    parent_id: Annotated[
        str | None, Field(description="Only what is in this folder, by its id or path")
    ] = None
    metadata_filter: Annotated[
        Metadata, Field(description="Only files with these notes, or this chapter_number")
    ] = None
    limit: Annotated[int | None, Field(description="How many at most", ge=1, le=200)] = None
    offset: Annotated[int, Field(description="How many to pass over", ge=0)] = 0
    response_mode: Annotated[
        Literal["full", "summary"] | None,
        Field(description="full: whole texts; summary: their beginnings"),
    ] = None
    content_preview_chars: Annotated[
        int, Field(description="How long these are, in characters", ge=0, le=4000)
    ] = 200
    include_content: Annotated[Flag, Field(description="false: no text at all")] = True
    section: Annotated[
        str | None, Field(description="With id: only the part under this heading")
    ] = None
    tail_chars: Annotated[
        int | None, Field(description="With id: only the last so many characters", ge=1)
    ] = None
    start_char: Annotated[
        int | None, Field(description="With id: from this character on, from 0", ge=0)
    ] = None
    max_chars: Annotated[
        int | None, Field(description="With start_char: so many characters", ge=1)
    ] = None


class WriteChapter(Params):
    title: Title
    content: Annotated[str, Field(description="The whole text", min_length=1)]
    parent_id: ParentId = None
    file_type: Annotated[Kind | None, Field(description="Left out, what the folder holds")] = None
    order: Order = None


class WriteText(Params):
    id: FileId
    content: Annotated[str, Field(description="The whole text")]
    truncated: Annotated[Flag, Field(description="true if the text had to end too early")] = False


class Task(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Annotated[
        Literal["write_chapter", "edit_file", "delete_file", "query_files"],
        Field(description="What to do; write_chapter takes title, content, parent_id"),
    ]
    description: Annotated[str, Field(description="What it is for, in a few words")] = ""
    params: Annotated[
        dict[str, Any], Field(description="The arguments, as the tool of that name takes them")
    ]


class ParallelExecute(Params):
    tasks: Annotated[list[Task], Field(description="At most five", min_length=1)]
