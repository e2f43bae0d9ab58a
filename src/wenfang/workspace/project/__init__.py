"""The files of a project in the database: contents by hash, revisions with their authors."""

from ..authorship import Actor, Hunk, HunkPart, HunkPartKind, author_edits, is_author_text, touched
from ..merging import Merge, MergeConflict, three_way
from ..values import BODY_KINDS, Content, Found, Hit, Item, Kind, Saved
from .files import ProjectFiles
from .history import By, Revision
from .planting import RootFolder, Seed, root_folder_id

__all__ = [
    "BODY_KINDS",
    "Actor",
    "By",
    "Content",
    "Found",
    "Hit",
    "Hunk",
    "HunkPart",
    "HunkPartKind",
    "Item",
    "Kind",
    "Merge",
    "MergeConflict",
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
