"""What a codec says about a stream. Each character it was fed stands in exactly one event.

The texts of all events but those of void bodies, joined in order, are the input (for `<file>` tags; of a
tool argument only the body is told). How the input was cut decides how the texts are cut, nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

MAX_BODY_BYTES = 1024 * 1024
"""How much of a body is taken, in bytes of UTF-8 (FC-7)."""

Interruption: TypeAlias = Literal["stop", "disconnect", "timeout", "error"]
"""Why a stream ends before the model ended it (FC-12)."""

BodyReason: TypeAlias = (
    Interruption
    | Literal["end", "oversized", "boundary", "literal_end", "control_marker"]
    | Literal["malformed", "duplicate_key", "reset"]
)
"""Why a body ended: its end was written; it outgrew the limit; the reply ended without its end; it was chat
after all, as it speaks of the end tag or holds a control marker (FC-8); the argument is no JSON, or has two
texts; the try is void and made again; or the stream was interrupted."""

Ending: TypeAlias = Literal["complete", "truncated", "void"]
"""Whole; cut off, but text of the file (FC-9); or not the file's: what was shown of it is withdrawn."""

ENDINGS: Mapping[BodyReason, Ending] = MappingProxyType(
    {
        "end": "complete",
        "oversized": "complete",
        "boundary": "truncated",
        "stop": "truncated",
        "disconnect": "truncated",
        "timeout": "truncated",
        "error": "truncated",
        "reset": "void",
        "literal_end": "void",
        "control_marker": "void",
        "malformed": "void",
        "duplicate_key": "void",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatText:
    """Text for the chat."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyOpened:
    """The text of `file_id` begins."""

    file_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyText:
    """More of the file's text."""

    file_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyClosed:
    """The text of `file_id` ended. If it is void and was chat, the chat text follows."""

    file_id: str
    reason: BodyReason

    @property
    def ending(self) -> Ending:
        return ENDINGS[self.reason]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """Text that is neither chat nor body: a tag with the line break between it and the body, a tag that
    stands alone on a line of the chat (FC-10), or what a body has too much (FC-7)."""

    text: str
    kind: Literal["tag", "line", "overflow"]


CaptureEvent: TypeAlias = ChatText | BodyOpened | BodyText | BodyClosed | Dropped
