"""A scripted model in process, for tests of agents and tools.

model = ScriptedModel(call("add", a=2, b=3), say("5"))
end = await Agent(model, [add]).run("How much is 2 + 3?")
model.check()
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

from wenfang.core import (
    Assistant,
    Delta,
    ModelError,
    ModelEvent,
    ModelRequest,
    Text,
    Thinking,
    ToolCall,
    Usage,
    new_id,
    parse_arguments,
)

from .script import Reply, Script, Steps, ToolUse


class ScriptedModel:
    """A `ModelClient` that answers request after request from a list. A `ModelError` in the list is
    raised. `requests` holds what was asked, with the messages as they were then."""

    def __init__(
        self,
        *replies: Reply | ModelError,
        name: str = "scripted",
        new_id: Callable[[str], str] = new_id,
    ) -> None:
        self.name = name
        self.requests: list[ModelRequest] = []
        self._new_id = new_id
        for at, reply in enumerate(replies, 1):
            if isinstance(reply, Reply) and _is_http(reply):
                raise ValueError(
                    f"reply {at} describes HTTP; ScriptedModel has none, use ScriptedServer"
                )
        self._errors = {at: each for at, each in enumerate(replies) if isinstance(each, ModelError)}
        steps = tuple(Reply() if isinstance(each, ModelError) else each for each in replies)
        self._steps = Steps(Script(name=name, replies=steps))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ModelClient`. Raises `ModelError` (fatal) for a request that the script has no reply for."""
        self.requests.append(replace(request, messages=tuple(request.messages)))
        step = self._steps.next(self.name)
        if step is None:
            raise ModelError("fatal", f"the script has no reply for request {len(self.requests)}")
        at, reply = step
        if at in self._errors:
            raise self._errors[at]
        message = self._message(reply)
        if request.stream:
            for index, block in enumerate(message.content):
                for delta in _deltas(index, block, reply):
                    yield delta
        yield message

    def check(self) -> None:
        """Raises AssertionError if a step was not used, or a request had no step."""
        problems = self._steps.problems()
        if problems:
            raise AssertionError(f"the script and the run differ: {'; '.join(problems)}")

    def _message(self, reply: Reply) -> Assistant:
        blocks: list[Text | Thinking | ToolCall] = []
        if reply.thinking:
            blocks.append(Thinking(text=reply.thinking))
        if reply.text:
            blocks.append(Text(text=reply.whole_text))
        blocks += [self._call(tool, cut=reply.finish == "length") for tool in reply.tools]
        usage = reply.usage[-1] if isinstance(reply.usage, list) else reply.usage or {}
        return Assistant(
            content=tuple(blocks),
            stop="length" if reply.finish == "length" else "tool_use" if reply.tools else "stop",
            usage=Usage(
                input=usage.get("prompt_tokens", 10), output=usage.get("completion_tokens", 5)
            ),
            model=self.name,
        )

    def _call(self, tool: ToolUse, *, cut: bool) -> ToolCall:
        text = _arguments(tool)
        parsed = parse_arguments(text, complete=not cut)
        return ToolCall(
            id=self._new_id("call"),
            name=tool.name,
            arguments=parsed.arguments,
            error=parsed.error,
            raw=None if parsed.error is None else text,
            repaired=parsed.repaired,
        )


def _is_http(reply: Reply) -> bool:
    return bool(reply.chunks or reply.raw) or reply.body is not None or reply.http != 200


def _arguments(tool: ToolUse) -> str:
    return tool.args if isinstance(tool.args, str) else json.dumps(tool.args, ensure_ascii=False)


def _deltas(index: int, block: Text | Thinking | ToolCall, reply: Reply) -> list[Delta]:
    if isinstance(block, ToolCall):
        text = block.raw or json.dumps(dict(block.arguments), ensure_ascii=False)
        return [Delta(kind="call", text=text, index=index, name=block.name)]
    if isinstance(block, Thinking):
        return [Delta(kind="thinking", text=block.text, index=index)]
    return [Delta(kind="text", text=piece, index=index) for piece in reply.pieces]
