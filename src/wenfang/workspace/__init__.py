"""Projects and their files, in the database or in a folder of the disk, and nothing outside."""

from .diffs import unified_diff
from .errors import Code, EditError, WorkspaceError
from .exporting import MEDIA_TYPES, Export, ExportFormat, export_project
from .files import Files
from .folder_files import FolderFiles
from .importing import Imported, Refused, import_document
from .paths import name_key, portable_name, usable_name
from .values import (
    Content,
    Entry,
    FileText,
    Found,
    Hit,
    Item,
    Kind,
    Listing,
    OpenFile,
    Saved,
    Written,
)
from .workspace import Workspace, revision_of

__all__ = [
    "MEDIA_TYPES",
    "Code",
    "Content",
    "EditError",
    "Entry",
    "Export",
    "ExportFormat",
    "FileText",
    "Files",
    "FolderFiles",
    "Found",
    "Hit",
    "Imported",
    "Item",
    "Kind",
    "Listing",
    "OpenFile",
    "Refused",
    "Saved",
    "Workspace",
    "WorkspaceError",
    "Written",
    "export_project",
    "import_document",
    "name_key",
    "portable_name",
    "revision_of",
    "unified_diff",
    "usable_name",
]
