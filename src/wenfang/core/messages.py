"""Messages: the only thing a model and a run say to each other (design §5, engine A1).

Values are frozen and keyword-only. They are appended to a transcript and never changed, so a
client may remember the encoded form of a message on the message itself (`_wire`, see
`wenfang.models`): a request then costs no more at step 300 than at step 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from typing_extensions import TypeAliasType

from .effects import Effect

JSON = TypeAliasType("JSON", "bool | int | float | str | list[JSON] | dict[str, JSON] | None")

Stop: TypeAlias = Literal["stop", "length", "tool_use", "error", "aborted"]
Source: TypeAlias = Literal["user", "steer", "follow_up", "repair", "limit", "observation"]
ErrorKind: TypeAlias = Literal[
    "rate",
    "overload",
    "network",
    "overflow",
    "auth",
    "quota",
    "refused",
    "stream_incomplete",
    "fatal",
]


class _Remembered:
    """A slot for the encoded form; not a field, so it takes no part in equality or storage."""

    __slots__ = ("_wire",)
    _wire: tuple[object, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    text: str
    signature: str | None = None
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """Reasoning text. `signature` is opaque provider data, replayed only to the same model."""

    text: str
    signature: str | None = None
    redacted: bool = False
    type: Literal["thinking"] = "thinking"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """`data` is base64."""

    data: str
    media_type: str
    type: Literal["image"] = "image"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call. If the written arguments were no usable JSON object, `error` says why, `raw` keeps
    what was written and `arguments` is empty: such a call never runs. `repaired` names the silent
    repairs that were needed to read the arguments (tools.md §7.3)."""

    id: str
    name: str
    arguments: Mapping[str, JSON]
    error: str | None = None
    raw: str | None = None
    repaired: tuple[str, ...] = ()
    type: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens. `input` counts all prompt tokens, cached ones included; `output` includes reasoning.
    `estimated` is set when the provider reported nothing and we counted text (FB27)."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    reasoning: int = 0
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            reasoning=self.reasoning + other.reasoning,
            estimated=self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A model failure as data. `message` is for developers and logs; people read the kind's text."""

    kind: ErrorKind
    message: str
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An earlier try for the same message that was given up (FB02)."""

    model: str
    failure: Failure
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class System(_Remembered):
    content: str
    role: Literal["system"] = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class User(_Remembered):
    """`source` tells a person's words from those the engine wrote on its own behalf."""

    content: tuple[Text | Image, ...]
    source: Source = "user"
    role: Literal["user"] = "user"

    @property
    def text(self) -> str:
        return "".join(b.text for b in self.content if isinstance(b, Text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assistant(_Remembered):
    """A reply. `error` is set exactly if `stop` is "error"; partial text is kept either way.
    `usage` is of this reply; `attempts` holds what earlier tries cost."""

    content: tuple[Text | Thinking | ToolCall, ...]
    stop: Stop
    usage: Usage = Usage()
    model: str = ""
    error: Failure | None = None
    attempts: tuple[Attempt, ...] = ()
    role: Literal["assistant"] = "assistant"

    @property
    def text(self) -> str:
        return "".join(b.text for b in self.content if isinstance(b, Text))

    @property
    def thinking(self) -> str:
        return "".join(b.text for b in self.content if isinstance(b, Thinking))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(b for b in self.content if isinstance(b, ToolCall))


ToolErrorType: TypeAlias = Literal[
    "unknown_tool",
    "malformed",  # the arguments were no JSON object
    "truncated",  # the reply was cut by the output limit
    "invalid_arguments",  # they did not fit the schema
    "denied",  # a hook or the turn policy said no
    "limit",  # a limit said no
    "repeated",  # the same call without a new result
    "failed",  # the tool reported a failure
    "timeout",
    "aborted",  # stopped before it finished
    "interrupted",  # a crash: the outcome is unknown
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult(_Remembered):
    """`content` is for the model, `details` for people and programs, `effects` for the system."""

    call_id: str
    name: str
    content: tuple[Text | Image, ...]
    is_error: bool = False
    error_type: ToolErrorType | None = None
    details: JSON = None
    effects: tuple[Effect, ...] = ()
    terminate: bool = False
    seconds: float | None = None
    role: Literal["tool_result"] = "tool_result"

    @property
    def text(self) -> str:
        return "".join(b.text for b in self.content if isinstance(b, Text))


Block: TypeAlias = Text | Thinking | Image | ToolCall
Message: TypeAlias = System | User | Assistant | ToolResult


def user(text: str, *, source: Source = "user") -> User:
    return User(content=(Text(text=text),), source=source)
