"""`<file>` tags as models write them (FC-4), found in a text that is still growing."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

# Blanks within a line, also wide, non-breaking and invisible ones. The bounds make what is held back short:
# a name ends within 32 characters, a tag with its attributes within 256.
_BLANK = "[ \\t\u00a0\u3000\u200b-\u200d\u2060\ufeff]"
_MAX_TAG = 256
_MAX_BLANKS_AFTER = 32
_GAP = f"{_BLANK}{{0,12}}"
_ATTRIBUTES = f"{_BLANK}[^<>\\n]*"
_TAG = re.compile(f"<{_GAP}(/?){_GAP}file(?:{_ATTRIBUTES})?(?<!/)>", re.IGNORECASE)
_PREFIX = re.compile(
    f"<{_GAP}(?:/{_GAP})?(?:f(?:i(?:l(?:e(?:{_ATTRIBUTES})?)?)?)?)?", re.IGNORECASE
)
_REST_OF_LINE = re.compile(f"{_BLANK}{{0,{_MAX_BLANKS_AFTER}}}\r?\n?")


class Tag(NamedTuple):
    """A tag from its `<` to its `>`."""

    kind: Literal["start", "end"]
    raw: str


def tag_at(text: str, at: int) -> Tag | Literal["partial"] | None:
    """The tag that begins at `at`, where a `<` stands. "partial" if it depends on what follows `text`."""
    found = _TAG.match(text, at, at + _MAX_TAG)
    if found:
        return Tag("end" if found[1] else "start", found[0])
    if len(text) - at < _MAX_TAG and _PREFIX.fullmatch(text, at):
        return "partial"
    return None


def line_end_after(text: str, at: int, *, final: bool) -> int | Literal["partial"] | None:
    """Where the line ends (after its line break) if only blanks follow `at`, else None. With `final`, the
    end of `text` ends the line."""
    rest = _REST_OF_LINE.match(text, at)
    end = rest.end() if rest else at
    if text.endswith("\n", at, end):
        return end
    if end < len(text):
        return None
    return end if final else "partial"
