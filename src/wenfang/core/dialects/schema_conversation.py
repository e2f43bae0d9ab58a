"""One run of the schema dialect: steps written, read and kept from going in circles."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..arguments import canonical, parse_arguments
from ..effects import FileRead
from ..limits import OK, CallDone, CallDue, Deny, LimitEvent, Verdict
from ..messages import (
    JSON,
    Assistant,
    Image,
    Message,
    Stop,
    System,
    Text,
    Thinking,
    ToolCall,
    User,
    user,
)
from ..models import Delta, ModelRequest, ToolChoice, ToolSpec
from .schema_grammar import (
    ANSWER_CHARS,
    FINAL,
    THOUGHT_CHARS,
    cut_in,
    input_schema,
    step_schema,
)
from .schema_prompt import Example, examples, language_of, observation, system_text
from .schema_reader import Piece, StepReader

UNREADABLE = "unreadable"  # the name of a call whose tool could not be read
_OBSERVATION_CHARS = 4000
_OBSERVATION_TAIL = 500
_RAW_CHARS = 500
_TASK_CHARS = 300

# What begins a special token of a chat template, or the frame of a result.
_BLANK = "[\\s\u200b-\u200f\u2060\ufeff]{0,8}"
_WORDS = rf"(?=[|\uff5c]|{_BLANK}/?{_BLANK}tool_response)"
_PROTOCOL = re.compile(f"<{_WORDS}", re.IGNORECASE)
_REPLACED = re.compile(f"\uff1c{_WORDS}", re.IGNORECASE)


class Repeats:
    """A call with the same tool and arguments is not run again: its result is known. The first time the
    model is told so and may do something else; the second time it has to answer. A call that changed a
    file makes earlier results worth asking for again."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._due: dict[str, str] = {}
        self._warned = False

    def observe(self, event: LimitEvent) -> Verdict:
        if isinstance(event, CallDue):
            key = canonical(event.call.name, event.call.arguments)
            if event.call.error is None and key in self._known:
                return self._refuse()
            self._due[event.call.id] = key
        elif isinstance(event, CallDone):
            key = self._due.pop(event.call.id, None)
            if any(not isinstance(effect, FileRead) for effect in event.result.effects):
                self._known.clear()
            if key is not None and event.call.error is None:
                self._known.add(key)
        return OK

    def _refuse(self) -> Verdict:
        if self._warned:
            return Deny(error_type="repeated", text=f"{_KNOWN} Give the final answer now.")
        self._warned = True
        return Deny(error_type="denied", text=f"{_KNOWN} {_ELSE}")


_KNOWN = "You already know this: the same call was made before and its result is above."
_ELSE = "Do the next step with it: compute, read another file, or give the final answer."


@dataclass(slots=True)
class _Decoder:
    conversation: StepConversation
    reader: StepReader = field(default_factory=StepReader)
    block: int = 0  # index of the raw text block; the thought keeps it, what follows it is the next
    fed: bool = False
    is_complete: bool = False  # the schema ends the reply

    def feed(self, delta: Delta) -> Iterable[Delta]:
        if delta.kind != "text":
            return (delta,) if delta.kind == "thinking" else ()
        self.fed = True
        self.block = delta.index
        return self._deltas(self.reader.feed(delta.text))

    def _deltas(self, pieces: Sequence[Piece]) -> Iterator[Delta]:
        for key, text in pieces:
            if key == "thought":
                yield Delta(kind="thinking", text=text, index=self.block)
            elif key == "answer":
                yield Delta(kind="text", text=text, index=self.block + 1)
            elif key == "input":
                name = self.reader.text("action") or None
                yield Delta(kind="call", text=text, index=self.block + 1, name=name)

    def end(self, *, cut: bool) -> Iterable[Delta]:  # noqa: ARG002 - nothing is held back
        return ()

    def close(self, reply: Assistant) -> Assistant:
        if not self.fed:
            self.reader.feed(reply.text)
        native = tuple(block for block in reply.content if isinstance(block, Thinking))
        step = self.conversation.step(self.reader, reply)
        return replace(reply, content=(*native, *step), stop=_stop(reply.stop, step))


def _stop(stop: Stop, step: Sequence[Text | Thinking | ToolCall]) -> Stop:
    if stop not in ("stop", "tool_use"):
        return stop
    if any(isinstance(block, ToolCall) for block in step):
        return "tool_use"
    full = any(isinstance(block, Text) and len(block.text) >= ANSWER_CHARS for block in step)
    return "length" if full else "stop"


class StepConversation:
    def __init__(self, tools: tuple[ToolSpec, ...], new_id: Callable[[], str]) -> None:
        self._tools = tools
        self._inputs = {spec.name: input_schema(spec) for spec in tools}
        self._new_id = new_id
        self._choice: ToolChoice = "auto"
        self._schemas: dict[ToolChoice, Mapping[str, JSON]] = {}
        self._opening: tuple[Message, ...] | None = None
        # A message is kept with its rendering, so that its id stays its own.
        self._rendered: dict[int, tuple[Message, tuple[Message, ...]]] = {}
        self._later_calls: dict[str, ToolCall] = {}  # all but the first of a reply
        self._task = ""  # the newest words of the user
        self._escaped = False  # a protocol word was replaced in something the model read
        self._refused_plain = False

    def request(
        self, messages: Sequence[Message], *, tool_choice: ToolChoice, stream: bool
    ) -> ModelRequest:
        self._choice = tool_choice
        if tool_choice not in self._schemas:
            self._schemas[tool_choice] = step_schema(self._tools, tool_choice)
        first = messages[0] if messages else None
        if self._opening is None:
            self._opening = self._open(messages)
        rest = messages[1:] if isinstance(first, System) else messages
        return ModelRequest(
            messages=[
                *self._opening,
                *(each for message in rest for each in self._render(message)),
            ],
            response_schema=self._schemas[tool_choice],
            stream=stream,
        )

    def _open(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The system message and the examples, in the language of the newest question."""
        first = messages[0] if messages else None
        instructions = first.content if isinstance(first, System) else ""
        asked = [m.text for m in messages if isinstance(m, User) and m.source == "user"]
        language = language_of(asked[-1] if asked else instructions)
        text = system_text(self._safe(instructions), self._tools)
        shown = [each for e in examples(self._tools, language) for each in _played(e)]
        return (System(content=text), *shown)

    def _render(self, message: Message) -> tuple[Message, ...]:
        known = self._rendered.get(id(message))
        if known is None:
            known = self._rendered[id(message)] = (message, tuple(self._write(message)))
        return known[1]

    def _write(self, message: Message) -> Iterator[Message]:
        if isinstance(message, System):
            yield System(content=self._safe(message.content))
        elif isinstance(message, User):
            text = self._safe(_shown(message.content))
            if message.source not in ("repair", "limit"):
                self._task = text if len(text) <= _TASK_CHARS else f"{text[:_TASK_CHARS]}..."
            yield message if text == message.text else replace(message, content=(Text(text=text),))
        elif isinstance(message, Assistant):
            calls = message.calls
            self._later_calls.update((call.id, call) for call in calls[1:])
            if calls or message.text:
                first = calls[0] if calls else None
                yield _said(write_step(message.thinking, message.text, first))
        else:
            later_call = self._later_calls.get(message.call_id)
            if later_call is not None:
                yield _said(write_step("", "", later_call))
            text = self._safe(_clipped(_shown(message.content)))
            yield user(observation(text, self._task), source="observation")

    def _safe(self, text: str) -> str:
        """`text` without anything that a template or this dialect would take for its own words."""
        safe = _PROTOCOL.sub("\uff1c", text)
        self._escaped = self._escaped or safe != text
        return safe

    # Replies

    def decoder(self) -> _Decoder:
        return _Decoder(self)

    def step(self, reader: StepReader, reply: Assistant) -> tuple[Text | Thinking | ToolCall, ...]:
        """The blocks of a reply that was read."""
        thought = (Thinking(text=reader.text("thought")),) if reader.text("thought") else ()
        if "answer" in reader:
            return (*thought, Text(text=reader.text("answer")))
        if "action" in reader and ("input" in reader or reader.done):
            return (*thought, self._call(reader))
        if reply.stop in ("length", "error", "aborted"):
            return thought
        if not reader.begun and reply.text.strip():
            if self._choice == "none" or self._refused_plain:
                return (Text(text=reply.text),)
            self._refused_plain = True
        elif not reply.text.strip():
            return ()
        return (*thought, self._unreadable(reply))

    def _call(self, reader: StepReader) -> ToolCall:
        raw = reader.text("input")
        found = parse_arguments(raw, complete=reader.done)
        arguments: dict[str, JSON] = found.arguments
        if self._escaped:
            arguments = self._restored(arguments)
        error = found.error or cut_in(arguments, self._inputs.get(reader.text("action")))
        return ToolCall(
            id=self._new_id(),
            name=reader.text("action"),
            arguments={} if error else arguments,
            error=error,
            raw=raw if error or found.repaired else None,
            repaired=found.repaired,
        )

    def _restored(self, arguments: Mapping[str, JSON]) -> dict[str, JSON]:
        """Arguments that quote what the model read, as it really stands there."""
        text = json.dumps(arguments, ensure_ascii=False)
        return json.loads(_REPLACED.sub("<", text))

    def _unreadable(self, reply: Assistant) -> ToolCall:
        return ToolCall(
            id=self._new_id(),
            name=UNREADABLE,
            arguments={},
            error="the reply is not one JSON object with thought, action and input or answer.",
            raw=reply.text[:_RAW_CHARS],
        )

    def repair(self, call: ToolCall) -> str:
        what = "" if call.name == UNREADABLE else f"the input of {call.name} is not usable: "
        return (
            f"Nothing was run: {what}{call.error} Reply with one JSON object: "
            '{"thought": "...", "action": "...", "input": {...}}, or with "action": "final" and "answer".'
        )


def _played(example: Example) -> Iterator[Message]:
    """An example as it would have been, had it happened."""
    yield user(example.task)
    for thought, tool, arguments, result in example.steps:
        yield _said(_object({"thought": thought, "action": tool, "input": dict(arguments)}))
        yield user(observation(result, example.task), source="observation")
    yield _said(write_step(example.thought, example.answer, None))


def _said(text: str) -> Assistant:
    return Assistant(content=(Text(text=text),), stop="stop")


def write_step(thought: str, text: str, call: ToolCall | None) -> str:
    """A step as the model writes it. Text beside a call is taken as its thought."""
    if call is None:
        return _object({"thought": thought[:THOUGHT_CHARS], "action": FINAL, "answer": text})
    if call.name == UNREADABLE and call.error is not None:
        return _PROTOCOL.sub("\uff1c", call.raw or "")
    thought = (thought or text)[:THOUGHT_CHARS]
    return _object({"thought": thought, "action": call.name, "input": dict(call.arguments)})


def _object(value: dict[str, Any]) -> str:
    """JSON in which no protocol word stands; the escape is the same character to a reader."""
    return _PROTOCOL.sub(r"\\u003c", json.dumps(value, ensure_ascii=False))


def _shown(content: Sequence[Text | Image]) -> str:
    return "".join(
        block.text if isinstance(block, Text) else "[an image, which cannot be shown here]"
        for block in content
    )


def _clipped(text: str) -> str:
    """Most of a long result and its end, where tools say how to go on."""
    left_out = len(text) - _OBSERVATION_CHARS
    if left_out <= 0:
        return text
    head, tail = text[: _OBSERVATION_CHARS - _OBSERVATION_TAIL], text[-_OBSERVATION_TAIL:]
    return f"{head}\n[... {left_out} characters left out; ask for a smaller part ...]\n{tail}"
