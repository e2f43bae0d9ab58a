"""Projects are folders: reading, changing and matching the files in them, and nothing outside."""

from .authorship import Actor, Hunk, HunkPart, HunkPartKind, author_edits, is_author_text, touched
from .diffs import unified_diff
from .edits import (
    AppliedEdit,
    Candidate,
    Edit,
    EditError,
    EditErrorType,
    EditField,
    EditOp,
    EditReason,
    EditResult,
    EditWarning,
    FailedEdit,
    MatchKind,
    MatchMode,
    QuoteStyle,
    Span,
    apply_edits,
    describe_failures,
)
from .errors import Code, WorkspaceError
from .merging import Merge, MergeConflict, three_way
from .values import Entry, FileText, Listing, Written
from .workspace import OpenFile, Workspace, revision_of

__all__ = [
    "Actor",
    "AppliedEdit",
    "Candidate",
    "Code",
    "Edit",
    "EditError",
    "EditErrorType",
    "EditField",
    "EditOp",
    "EditReason",
    "EditResult",
    "EditWarning",
    "Entry",
    "FailedEdit",
    "FileText",
    "Hunk",
    "HunkPart",
    "HunkPartKind",
    "Listing",
    "MatchKind",
    "MatchMode",
    "Merge",
    "MergeConflict",
    "OpenFile",
    "QuoteStyle",
    "Span",
    "Workspace",
    "WorkspaceError",
    "Written",
    "apply_edits",
    "author_edits",
    "describe_failures",
    "is_author_text",
    "revision_of",
    "three_way",
    "touched",
    "unified_diff",
]
