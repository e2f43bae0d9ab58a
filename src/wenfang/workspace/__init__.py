"""Projects are folders: reading, changing and matching the files in them, and nothing outside."""

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
from .exporting import MEDIA_TYPES, Export, ExportFormat, export_project
from .importing import Imported, Refused, import_document
from .values import Entry, FileText, Listing, Written
from .workspace import OpenFile, Workspace, revision_of

__all__ = [
    "MEDIA_TYPES",
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
    "Export",
    "ExportFormat",
    "FailedEdit",
    "FileText",
    "Imported",
    "Listing",
    "MatchKind",
    "MatchMode",
    "OpenFile",
    "QuoteStyle",
    "Refused",
    "Span",
    "Workspace",
    "WorkspaceError",
    "Written",
    "apply_edits",
    "describe_failures",
    "export_project",
    "import_document",
    "revision_of",
    "unified_diff",
]
