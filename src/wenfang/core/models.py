"""The model protocol: what an engine asks and how a client answers (design §5, engine A2).

A client yields `Delta`s while text arrives and ends with exactly one `Assistant`. It may raise
`ModelError`; `collect` is the one place where that becomes data. A client that gives up one try and
starts another yields `Reset` first, so that viewers drop what they saw (FB02).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, Protocol, TypeAlias

from .messages import JSON, Assistant, ErrorKind, Failure, Message, Usage

ToolChoice: TypeAlias = Literal["auto", "none", "required"] | str
"""Whether a reply may call a tool, or has to; any other word is the name of the tool it has to call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a model sees it. `parameters` is a JSON schema of an object. `patterns` narrow
    string arguments further, for models whose output is constrained by a schema; they are no
    validation rule (local-models §1.6). `read_only` tells that a call changes nothing, so that
    arguments may be read more generously; `aliases` are other names of arguments that are understood.
    A model is told of neither."""

    name: str
    description: str
    parameters: Mapping[str, JSON]
    patterns: Mapping[str, str]
    read_only: bool = False
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def needed_tools(tools: tuple[ToolSpec, ...], choice: ToolChoice) -> tuple[ToolSpec, ...]:
    """The tools one of which has to be called; none if an answer will do."""
    if choice in ("auto", "none"):
        return ()
    return tools if choice == "required" else tuple(each for each in tools if each.name == choice)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """`response_schema` asks for one JSON value of that schema instead of free text."""

    messages: Sequence[Message]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    response_schema: Mapping[str, JSON] | None = None
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    stream: bool = True


@dataclass(slots=True, kw_only=True)
class Delta:
    """A piece of a reply. `index` numbers the blocks of a reply in order of appearance. For
    kind "call" the text is a piece of the written arguments (for preview only); the first delta
    of a call carries its name."""

    # Read-only to the type checker only: there is one per piece of every stream, and freezing one costs
    # more than reading it.
    kind: Final[Literal["text", "thinking", "call"]]
    text: Final[str]
    index: Final[int] = 0
    name: Final[str | None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    """Everything of this reply so far is void; try number `attempt` begins. `failure` and `usage` are
    those of the try that was given up, `model` the one that was asked and `next_model` the one that is
    asked now (empty: the client's own)."""

    attempt: int
    failure: Failure
    usage: Usage
    model: str = ""
    next_model: str = ""


ModelEvent: TypeAlias = Delta | Reset | Assistant


class ModelClient(Protocol):
    @property
    def name(self) -> str:
        """The model's name, for usage and logs."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Send one request. The last item is the `Assistant`. Raises `ModelError`."""
        ...


class ModelError(Exception):
    """A request that gave no complete reply. `usage` is what the provider reported of it, if it did."""

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retry_after_s: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.failure = Failure(kind=kind, message=message, retry_after_s=retry_after_s)
        self.usage = usage
