"""The files of a project in the database: contents by hash, revisions with their authors."""

from .files import ProjectFiles
from .history import By, Revision
from .values import BODY_KINDS, Content, Found, Hit, Item, Kind, Saved

__all__ = [
    "BODY_KINDS",
    "By",
    "Content",
    "Found",
    "Hit",
    "Item",
    "Kind",
    "ProjectFiles",
    "Revision",
    "Saved",
]
