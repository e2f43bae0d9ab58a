"""The writing crew's file tools (writing.md §7): files by id, blank first, and never over an author's text."""

from .blanks import BlankGuard, Waiting
from .capping import capped
from .desk import RESULT_CHARS, Codec, Desk
from .errors import (
    ERRORS,
    ErrorRow,
    ErrorType,
    Refusal,
    author_text,
    envelope_text,
    error_type_of,
    refusal_details,
)
from .file_tags import FileTags
from .seen import Seen, Snapshot
from .toolbox import make_writing_tools
from .world import WRITE_TOOLS, Part, Target, World, look, parts_of

__all__ = [
    "ERRORS",
    "RESULT_CHARS",
    "WRITE_TOOLS",
    "BlankGuard",
    "Codec",
    "Desk",
    "ErrorRow",
    "ErrorType",
    "FileTags",
    "Part",
    "Refusal",
    "Seen",
    "Snapshot",
    "Target",
    "Waiting",
    "World",
    "author_text",
    "capped",
    "envelope_text",
    "error_type_of",
    "look",
    "make_writing_tools",
    "parts_of",
    "refusal_details",
]
