"""Titles as models write them, and the names of files that they become."""

from __future__ import annotations

import re
import unicodedata

from wenfang.workspace import WorkspaceError, portable_name, usable_name

from .errors import Refusal

_SHOWN = 60
# Titles ask questions and have subtitles; file names of some systems may not. The wide forms may stand
# everywhere; a colon with a space behind it is that of Latin script.
_WIDE = str.maketrans(':?*"<>|', "：？＊＂＜＞｜")
_SUBTITLE = re.compile(r"\s*:\s+")


def file_name(title: str, suffix: str) -> str:
    """The name of a file with this title (for a folder, `suffix` is ""). White space of any kind is one
    space, the ending may stand in the title already, and what some system refuses in names becomes its
    wide form. Raises `Refusal` "invalid_title"."""
    words = _SUBTITLE.sub(" - ", " ".join(unicodedata.normalize("NFC", title).split()))
    words = words.removesuffix(suffix).rstrip() if suffix else words
    words = words.translate(_WIDE)
    try:
        if words and "/" not in words:
            return usable_name(f"{words}{suffix}")
        problem = (
            "it is empty" if not words else "it has a '/' in it; name the folder with parent_id"
        )
    except WorkspaceError as error:
        problem = str(error.params.get("problem", error))
    advice = portable_name(words)
    hint = f" Use for example {advice[:_SHOWN]!r}." if advice and advice != words else ""
    raise Refusal("invalid_title", f"The title {title[:_SHOWN]!r} cannot be used: {problem}.{hint}")
