"""Documents in, documents out: files of strangers to chapters, and books to files. Pure functions."""

from .archive import read_archive, read_files
from .dividing import split_byline
from .epub_out import to_epub
from .limits import DEFAULT_LIMITS, ImportLimits
from .markup import escape
from .plain import headed, split_heading
from .reading import read_document
from .texts_out import byline, to_markdown, to_txt
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
from .zips import Zip, safe_path

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
    "Zip",
    "byline",
    "escape",
    "headed",
    "read_archive",
    "read_document",
    "read_files",
    "safe_path",
    "split_byline",
    "split_heading",
    "to_docx",
    "to_epub",
    "to_markdown",
    "to_txt",
]
