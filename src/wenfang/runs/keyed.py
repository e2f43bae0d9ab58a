"""Tools that are told a key of their call which holds for the whole database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from wenfang.core import JSON, Tool, Toolbox, ToolContext, ToolOutput

if TYPE_CHECKING:
    from pydantic import BaseModel


class KeyedToolbox(Toolbox):
    """The same tools; the key of a call is `run_id:call_id`, also when a takeover runs it again."""

    def __init__(self, tools: Toolbox, run_id: str) -> None:
        super().__init__()
        self.specs = tools.specs
        self._given = tools
        self._keyed: dict[str, Tool] = {}
        self._run_id = run_id

    def __getitem__(self, name: str) -> Tool:
        if name not in self._keyed:
            self._keyed[name] = self._with_key(self._given[name])
        return self._keyed[name]

    def _with_key(self, tool: Tool) -> Tool:
        async def handler(context: ToolContext, args: BaseModel) -> ToolOutput | str | JSON:
            key = f"{self._run_id}:{context.call_id}"
            return await tool.handler(replace(context, key=key), args)

        return replace(tool, handler=handler)

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)
