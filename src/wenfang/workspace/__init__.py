"""Projects are folders: reading, changing and matching the files in them, and nothing outside."""

from .diffs import unified_diff
from .errors import Code, EditError, WorkspaceError
from .exporting import MEDIA_TYPES, Export, ExportFormat, export_project
from .importing import Imported, Refused, import_document
from .values import Entry, FileText, Listing, Written
from .workspace import OpenFile, Workspace, revision_of

__all__ = [
    "MEDIA_TYPES",
    "Code",
    "EditError",
    "Entry",
    "Export",
    "ExportFormat",
    "FileText",
    "Imported",
    "Listing",
    "OpenFile",
    "Refused",
    "Workspace",
    "WorkspaceError",
    "Written",
    "export_project",
    "import_document",
    "revision_of",
    "unified_diff",
]
