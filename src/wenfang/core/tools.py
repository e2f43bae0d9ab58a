"""Tools: what an agent can do. A tool is data plus one async function (design §5, engine A6).

    @tool
    async def add(a: int, b: int) -> str:
        '''Add two integers.

        Args:
            a: first number
            b: second number
        '''
        return str(a + b)

The function gets validated arguments and returns text or a `ToolOutput`. It raises `ToolError` for a
failure the model should read; any other exception becomes a generic failure without its text.
A parameter annotated `ToolContext` receives the context of the call and is not part of the schema.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .effects import Effect
from .messages import JSON, Image, Text
from .models import ToolChoice, ToolSpec

if TYPE_CHECKING:
    from pydantic import BaseModel

Access: TypeAlias = Literal["read", "write", "exec"]
Replay: TypeAlias = Literal["read", "idempotent", "unsafe"]


class ToolError(Exception):
    """An expected failure. The text goes to the model: what happened, which value, what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """`content` is read by the model, `details` by people and programs (JSON), `effects` by the
    system. `is_error` reports a failure and still keeps details. `terminate` ends the run if every
    result of the batch sets it."""

    content: str | tuple[Text | Image, ...]
    details: JSON = None
    effects: tuple[Effect, ...] = ()
    is_error: bool = False
    terminate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool may know about its call. `key` is the same when a takeover runs the call again
    (durable.md §8). `update` shows progress: a line of text and a fraction 0..1 or None. `deps` is what
    the tool was bound to, None for most tools."""

    call_id: str
    key: str
    update: Callable[[str, float | None], None]
    deps: Any = None


# `tool` accepts functions that return any JSON value; the batch writes it as JSON text.
Handler: TypeAlias = Callable[[ToolContext, "BaseModel"], Awaitable[ToolOutput | str | JSON]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """`params` is a pydantic model that forbids extra keys. `mode` "exclusive" makes the whole batch
    of calls run one after another. `access` says what it touches; `replay` what a takeover may do
    with a call whose outcome is unknown ("unsafe": never run it again). `timeout_s` None means the
    limit of the run. `aliases` map argument names models like to use to the real ones. `patterns`
    narrow string arguments for schema-constrained models only."""

    name: str
    description: str
    params: type[BaseModel]
    handler: Handler
    mode: Literal["parallel", "exclusive"] = "parallel"
    access: Access = "read"
    replay: Replay = "unsafe"
    timeout_s: float | None = None
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    patterns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def bound(self, deps: object) -> Tool:
        """The same tool for `deps`, which its function finds in the `ToolContext`. A tool costs
        milliseconds to make and microseconds to bind."""

        async def handle(ctx: ToolContext, args: BaseModel) -> ToolOutput | str | JSON:
            return await self.handler(replace(ctx, deps=deps), args)

        return replace(self, handler=handle)

    def spec(self) -> ToolSpec:
        """This tool as a model sees it."""
        from .schema import parameters_schema

        return ToolSpec(
            name=self.name,
            description=self.description,
            parameters=parameters_schema(self.params),
            patterns=self.patterns,
            read_only=self.access == "read",
            aliases=self.aliases,
        )


class Toolbox(Mapping[str, Tool]):
    """Tools by name, in a fixed order, with their specs computed once."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for each in tools:
            if each.name in self._tools:
                raise ValueError(f"two tools are named {each.name!r}; rename one of them")
            self._tools[each.name] = each
        self.specs: tuple[ToolSpec, ...] = tuple(each.spec() for each in self._tools.values())

    def check_choice(self, choice: ToolChoice) -> None:
        """Raises `ValueError` for a choice of a tool that is not here."""
        if choice not in ("auto", "none", "required", *self._tools):
            names = ", ".join(self._tools) or "none"
            raise ValueError(f"tool_choice names no tool: {choice!r}; the tools are: {names}")

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def tool(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    mode: Literal["parallel", "exclusive"] = "parallel",
    access: Access = "read",
    replay: Replay | None = None,
    timeout_s: float | None = None,
    aliases: Mapping[str, str] | None = None,
    patterns: Mapping[str, str] | None = None,
) -> Any:
    """Make a `Tool` from a function: its signature is the schema, its docstring the description
    (Google, NumPy or Sphinx style; `Annotated[T, Field(description=...)]` wins, and is the way to
    write Chinese descriptions). Sync functions run in a worker thread. `replay` defaults to "read"
    for `access="read"` and to "unsafe" otherwise.

    Raises TypeError for a signature that cannot be a schema (`*args`, positional-only, unannotated).
    """
    from .schema import tool_from_function

    def make(fn: Callable[..., Any]) -> Tool:
        return tool_from_function(
            fn,
            name=name,
            description=description,
            mode=mode,
            access=access,
            replay=replay or ("read" if access == "read" else "unsafe"),
            timeout_s=timeout_s,
            aliases=MappingProxyType(dict(aliases or {})),
            patterns=MappingProxyType(dict(patterns or {})),
        )

    return make if function is None else make(function)
