"""One run of the schema dialect: steps written, read and kept from going in circles."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..arguments import canonical, parse_arguments
from ..effects import FileRead
from ..limits import OK, CallDone, CallDue, Deny, LimitEvent, Verdict
from ..messages import (
    JSON,
    Assistant,
    Message,
    Stop,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    User,
    user,
)
from ..models import Delta, ModelRequest, ToolChoice, ToolSpec
from .examples import Example, Language, examples
from .schema_grammar import (
    ANSWER_CHARS,
    FINAL,
    THOUGHT_CHARS,
    cut_in,
    input_schema,
    step_schema,
)
from .schema_prompt import observation, system_text
from .schema_reader import Piece, StepReader
from .told_conversation import UNREADABLE, Block, ToldConversation, ToldDecoder, ended, said, shown

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
_NO_STEP = "the reply is not one JSON object with thought, action and input or answer."


class _Decoder(ToldDecoder):
    """The schema ends the reply, so it is never complete before."""

    def __init__(self, conversation: StepConversation) -> None:
        super().__init__(conversation.own_words)
        self._conversation = conversation
        self._reader = StepReader()

    def _read(self, text: str) -> Iterable[Delta]:
        return self._deltas(self._reader.feed(text))

    def _deltas(self, pieces: Sequence[Piece]) -> Iterator[Delta]:
        for key, text in pieces:
            if key == "thought":
                yield Delta(kind="thinking", text=text, index=self._block)
            elif key == "answer" and not self._conversation.needed:
                yield from self._shown(self._answer.take(text))
            elif key == "input":
                name = self._reader.text("action") or None
                yield Delta(kind="call", text=text, index=self._block + 1, name=name)

    def _shown(self, answer: str) -> Iterator[Delta]:
        if answer:
            yield Delta(kind="text", text=answer, index=self._block + 1)

    def _end(self, reply: Assistant) -> tuple[Sequence[Block], Stop]:
        step = self._conversation.step(self._reader, reply)
        if self._was_fed and any(isinstance(block, Text) for block in step):
            self.late = tuple(self._shown(self._answer.rest()))
        if reply.stop not in ("stop", "tool_use"):
            return step, reply.stop
        full = any(isinstance(block, Text) and len(block.text) >= ANSWER_CHARS for block in step)
        return step, ended(step, is_cut=full)


class StepConversation(ToldConversation):
    """See `Conversation`."""

    def __init__(
        self, tools: tuple[ToolSpec, ...], new_id: Callable[[], str], tool_choice: ToolChoice
    ) -> None:
        super().__init__(tools, new_id, tool_choice)
        self._inputs = {spec.name: input_schema(spec) for spec in tools}
        self._schemas: dict[ToolChoice, Mapping[str, JSON]] = {}
        self._task = ""  # the newest words of the user
        self._escaped = False  # a protocol word was replaced in something the model read

    def request(
        self, messages: Sequence[Message], *, tool_choice: ToolChoice, stream: bool
    ) -> ModelRequest:
        if tool_choice not in self._schemas:
            self._schemas[tool_choice] = step_schema(self.tools, tool_choice)
        return ModelRequest(
            messages=self._render_all(messages, tool_choice),
            response_schema=self._schemas[tool_choice],
            stream=stream,
        )

    def _open(self, instructions: str, language: Language) -> Iterator[Message]:
        yield System(content=system_text(self._safe(instructions), self.tools, self._first))
        for example in examples(self.tools, language):
            yield from _played(example)

    def _words(self, message: System | User) -> Message:
        if isinstance(message, System):
            return System(content=self._safe(message.content))
        text = self._safe(shown(message.content))
        if message.source not in ("repair", "limit"):
            self._task = text if len(text) <= _TASK_CHARS else f"{text[:_TASK_CHARS]}..."
        return message if text == message.text else replace(message, content=(Text(text=text),))

    def _reply(self, reply: Assistant) -> str:
        if not reply.calls and not reply.text:
            return ""
        return write_step(reply.thinking, reply.text, reply.calls[0] if reply.calls else None)

    def _later_call(self, call: ToolCall) -> str:
        return write_step("", "", call)

    def _result(self, result: ToolResult) -> User:
        text = self._safe(_clipped(shown(result.content)))
        return user(observation(text, self._task), source="observation")

    def _safe(self, text: str) -> str:
        """`text` without anything that a template or this dialect would take for its own words."""
        safe = _PROTOCOL.sub("\uff1c", text)
        self._escaped = self._escaped or safe != text
        return safe

    # Replies

    def decoder(self) -> _Decoder:
        return _Decoder(self)

    def step(self, reader: StepReader, reply: Assistant) -> tuple[Block, ...]:
        """The blocks of a reply that was read."""
        thought = (Thinking(text=reader.text("thought")),) if reader.text("thought") else ()
        if "answer" in reader or ("action" in reader and ("input" in reader or reader.done)):
            return (*thought, *self._done(reader, reply))
        if reply.stop in ("length", "error", "aborted"):
            return thought
        if not reply.text.strip():
            return ()
        if not reader.begun and not self._repeated(reply.text) and self._takes_plain_text():
            return (Text(text=reply.text),)
        return (*thought, self._unreadable(_NO_STEP, reply.text[:_RAW_CHARS]))

    def _done(self, reader: StepReader, reply: Assistant) -> tuple[Block, ...]:
        """An answer or a call, or why it will not do."""
        is_answer = "answer" in reader
        name = "" if is_answer else reader.text("action")
        problem = self._not_needed(name) if is_answer or name in self._inputs else ""
        if is_answer:
            problem = problem or self._repeated(reader.text("answer"))
        if problem and reply.stop in ("error", "aborted"):
            return ()
        if problem:
            return (self._unreadable(problem, reply.text[:_RAW_CHARS]),)
        return (Text(text=reader.text("answer")) if is_answer else self._call(reader),)

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

    def repair(self, call: ToolCall) -> str:
        what = "" if call.name == UNREADABLE else f"the input of {call.name} is not usable: "
        answer = "." if self.needed else ', or with "action": "final" and "answer".'
        return (
            f"Nothing was run: {what}{call.error} Reply with one JSON object: "
            f'{{"thought": "...", "action": "...", "input": {{...}}}}{answer}'
        )


def _played(example: Example) -> Iterator[Message]:
    """An example as it would have been, had it happened."""
    yield user(example.task)
    for thought, tool, arguments, result in example.steps:
        yield said(_object({"thought": thought, "action": tool, "input": dict(arguments)}))
        yield user(observation(result, example.task), source="observation")
    yield said(write_step(example.thought, example.answer, None))


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


def _clipped(text: str) -> str:
    """Most of a long result and its end, where tools say how to go on."""
    left_out = len(text) - _OBSERVATION_CHARS
    if left_out <= 0:
        return text
    head, tail = text[: _OBSERVATION_CHARS - _OBSERVATION_TAIL], text[-_OBSERVATION_TAIL:]
    return f"{head}\n[... {left_out} characters left out; ask for a smaller part ...]\n{tail}"
