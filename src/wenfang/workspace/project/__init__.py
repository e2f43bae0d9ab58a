"""The files of a project in the database: contents by hash, revisions with their authors."""

from ..authorship import Actor, Hunk, HunkPart, HunkPartKind, author_edits, is_author_text, touched
from ..merging import Merge, MergeConflict, three_way
from ..values import BODY_KINDS, Content, Found, Hit, Item, Kind, Saved
from .files import ProjectFiles
from .history import By, Revision
from .locks import FileLocks
from .manuscript import Manuscript
from .planting import Seed
from .roots import root_folder_id
from .values import Created, Kept, KeptReason, Opened, RootFolder

__all__ = [
    "BODY_KINDS",
    "Actor",
    "By",
    "Content",
    "Created",
    "FileLocks",
    "Found",
    "Hit",
    "Hunk",
    "HunkPart",
    "HunkPartKind",
    "Item",
    "Kept",
    "KeptReason",
    "Kind",
    "Manuscript",
    "Merge",
    "MergeConflict",
    "Opened",
    "ProjectFiles",
    "Revision",
    "RootFolder",
    "Saved",
    "Seed",
    "author_edits",
    "is_author_text",
    "root_folder_id",
    "three_way",
    "touched",
]
