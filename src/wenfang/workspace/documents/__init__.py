"""Documents in, documents out: files of strangers to chapters, and books to files. Pure functions."""

from .archive import read_archive, read_files
from .limits import DEFAULT_LIMITS, ImportLimits
from .reading import read_document
from .values import (
    WARNINGS,
    Book,
    Document,
    DocumentWarning,
    Part,
    PartKind,
    Section,
    SectionKind,
)

__all__ = [
    "DEFAULT_LIMITS",
    "WARNINGS",
    "Book",
    "Document",
    "DocumentWarning",
    "ImportLimits",
    "Part",
    "PartKind",
    "Section",
    "SectionKind",
    "read_archive",
    "read_document",
    "read_files",
]
