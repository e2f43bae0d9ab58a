"""What the reader of a text dialect says: events while text arrives, and one outcome at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ...messages import JSON

Reason: TypeAlias = Literal[
    "empty",  # nothing that a reader could see
    "no_action",  # a thought, but neither an action nor an answer
    "truncated",  # the action was cut off
    "unknown_tool",
    "missing_args",  # a required argument is not there
    "invalid_arguments",  # an argument of the wrong kind
    "args_not_object",
    "duplicate_keys",  # one key with two different values
    "bad_json",  # the arguments cannot be read, or only by guessing
    "too_deep",  # nested deeper than anything real
    "ambiguous_call",  # a call in the middle of an answer: an example or a request
]


# Those that carry a piece of text are read-only to the type checker only, like `models.Delta`.


@dataclass(slots=True, kw_only=True)
class ThoughtDelta:
    """More of the thought; certain."""

    text: Final[str]


@dataclass(slots=True, kw_only=True)
class TextDelta:
    """More text whose role is open: the answer, unless a call follows (then `Reclassify`)."""

    text: Final[str]


@dataclass(slots=True, kw_only=True)
class AnswerDelta:
    """More of the answer; certain. Joined, these are the outcome's `answer`."""

    text: Final[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStart:
    """The name of a call is known; its arguments are still being written."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReady:
    """The call is complete. `repairs` names what had to be mended to read its arguments."""

    name: str
    arguments: Mapping[str, JSON]
    repairs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reclassify:
    """All text shown with role `source` so far turns out to have role `target`."""

    source: Literal["text"]
    target: Literal["thought"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Nothing that may follow matters: the generation can be stopped."""


Event: TypeAlias = ThoughtDelta | TextDelta | AnswerDelta | ToolStart | ToolReady | Reclassify | Cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a registered tool. `name` is the registered one; `name_normalised` tells that another
    spelling was written. `repairs` names what had to be mended to read the arguments."""

    name: str
    arguments: Mapping[str, JSON]
    repairs: tuple[str, ...] = ()
    name_normalised: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one reply comes to.

    "tool": run `calls[0]`; more calls only in formats that allow parallel ones. `mixed` tells that an
    answer was written behind the action; it rests on nothing and is dropped. "final": `answer` is the
    answer, `truncated` if the output limit cut it. "repair": ask again; `reason` and `detail` (one
    sentence for the model) say why, `tool` which tool was meant, if that is known, and `position` how
    many characters had been read. `raw` is the reply with line ends made uniform, `events` what was
    not yet told by `feed`.
    """

    kind: Literal["tool", "final", "repair"]
    raw: str
    thought: str = ""
    answer: str = ""
    calls: tuple[Call, ...] = ()
    mixed: bool = False
    truncated: bool = False
    reason: Reason | None = None
    detail: str = ""
    tool: str | None = None
    position: int | None = None
    events: tuple[Event, ...] = field(default=(), compare=False)
