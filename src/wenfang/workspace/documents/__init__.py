"""Documents in, documents out: files of strangers to chapters, and books to files. Pure functions."""

from .archive import read_archive, read_files
from .epub_out import to_epub
from .limits import DEFAULT_LIMITS, ImportLimits
from .reading import read_document
from .texts_out import to_markdown, to_txt
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
from .word_out import to_docx
from .zips import safe_path, to_zip

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
    "safe_path",
    "to_docx",
    "to_epub",
    "to_markdown",
    "to_txt",
    "to_zip",
]
