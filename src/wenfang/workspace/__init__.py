"""Projects are folders: reading, changing and matching the files in them, and nothing outside."""

from .diffs import unified_diff
from .edits import Edit, Edited, EditError, apply_edits
from .errors import Code, WorkspaceError
from .values import Entry, FileText, Listing, Written
from .workspace import OpenFile, Workspace, revision_of

__all__ = [
    "Code",
    "Edit",
    "EditError",
    "Edited",
    "Entry",
    "FileText",
    "Listing",
    "OpenFile",
    "Workspace",
    "WorkspaceError",
    "Written",
    "apply_edits",
    "revision_of",
    "unified_diff",
]
