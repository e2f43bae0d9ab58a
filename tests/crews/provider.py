"""A provider whose model knows the answers to the probes and can say them in some dialects only."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from wenfang.crews import PROBES
from wenfang.testing import RecordedRequest, Reply, Script, ScriptedServer
from wenfang.testing.script import ToolUse

Ability = Literal["good", "leaks", "rejects", "silent", "clumsy", "breaks"]

TASKS = {prompt: probe for probe in PROBES for prompt in (probe.zh, probe.en)}
# What stands in a request of a dialect, the most telling first.
SIGNS = {
    "tagged": "<tool_name>",
    "markdown": "**Action**",
    "classic": "Action Input:",
    "plain_zh": '{"tool":',
    "bracket": "Action: ",
}
CALLS = {
    "schema": '{{"thought": "x", "action": "{name}", "input": {args}}}',
    "tagged": "Thought: x\nAction:\n<tool_name>{name}</tool_name>\n<arguments>\n{args}\n</arguments>",
    "markdown": '**Action**:\n```json\n{{"tool": "{name}", "parameters": {args}}}\n```',
    "classic": "Thought: x\nAction: {name}\nAction Input: {args}\n",
    "plain_zh": 'Action: {{"tool": "{name}", "parameters": {args}}}',
    "bracket": "Action: {name}[{args}]",
    "leak": '<tool_call>\n{{"name": "{name}", "arguments": {args}}}\n</tool_call>',
}
ANSWERS = {
    "schema": '{{"thought": "x", "action": "final", "answer": "{text}"}}',
    "tagged": "<final_answer>\n{text}\n</final_answer>",
    "markdown": "**Answer**: {text}",
    "classic": "Final Answer: {text}",
    "plain_zh": "Answer: {text}",
    "bracket": "Answer: {text}",
}


@dataclass(frozen=True, kw_only=True)
class Said:
    """What the model has to say next: a call, or an answer."""

    text: str
    name: str = ""
    args: Mapping[str, Any]


def dialect_of(body: Mapping[str, Any]) -> str:
    if "tools" in body:
        return "native"
    if "response_format" in body:
        return "schema"
    system = body["messages"][0]["content"]
    return next((name for name, sign in SIGNS.items() if sign in system), "none")


def next_step(body: Mapping[str, Any]) -> Said | None:
    """None for a request that is no probe."""
    texts = [message.get("content") for message in body["messages"]]
    at = next((at for at, text in enumerate(texts) if text in TASKS), None)
    if at is None:
        return None
    probe = TASKS[texts[at]]
    done = sum(message["role"] == "assistant" for message in body["messages"][at:])
    if done < len(probe.calls):
        name, args = probe.calls[done]
        return Said(text="", name=name, args=args)
    return Said(text=probe.answer or "Done.", args={})


def write(step: Said, dialect: str) -> Reply:
    if dialect == "native":
        tools = [ToolUse(name=step.name, args=dict(step.args))] if step.name else []
        return Reply(text=step.text, tools=tools)
    if not step.name:
        return Reply(text=ANSWERS.get(dialect, "{text}").format(text=step.text))
    args = json.dumps(step.args, ensure_ascii=False)
    return Reply(text=CALLS[dialect].format(name=step.name, args=args))


def _clumsy(step: Said) -> Reply:
    """Native calls whose arguments are right only after a repair."""
    args = json.dumps(step.args, ensure_ascii=False).replace("}", ",}")
    tools = [ToolUse(name=step.name, args=args)] if step.name else []
    return Reply(text=step.text, tools=tools)


class Provider(ScriptedServer):
    """`abilities` by dialect, "silent" for all others. `answer_of` replaces a reply of the model by one
    of the test; None keeps it. `dialects` are those that were asked in, in order."""

    def __init__(
        self,
        abilities: Mapping[str, Ability] | None = None,
        *,
        answer_of: Callable[[int, RecordedRequest], Reply | None] = lambda _number, _request: None,
    ) -> None:
        super().__init__(Script(name="provider", replies=()))
        self.abilities = abilities or {}
        self.answer_of = answer_of
        self.dialects: list[str] = []

    def answer(self, request: RecordedRequest) -> tuple[int, Reply]:
        self.requests.append(request)
        number = len(self.requests)
        step = next_step(request.body)
        dialect = dialect_of(request.body) if step else ""
        if step and dialect not in self.dialects:
            self.dialects.append(dialect)
        reply = self.answer_of(number, request)
        if reply is None:
            reply = Reply(text="ok") if step is None else self._reply(step, dialect)
        return number, reply

    def _reply(self, step: Said, dialect: str) -> Reply:
        match self.abilities.get(dialect, "silent"):
            case "good":
                return write(step, dialect)
            case "leaks":
                return write(step, "leak")
            case "rejects":
                return Reply(http=400, body={"error": {"message": "tools are not supported"}})
            case "breaks":
                return Reply(http=500, body={"error": {"message": "tools need --jinja"}})
            case "clumsy":
                return _clumsy(step)
            case "silent":
                return Reply(text="I cannot do that.")
