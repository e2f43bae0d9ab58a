"""One run of a text dialect: the transcript as text for the model, its replies as blocks for everyone else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...messages import (
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
from ...models import Delta, ModelRequest, ToolChoice, ToolSpec
from ..examples import Example, examples
from ..told_conversation import Block, ToldConversation, ToldDecoder, ended, said, shown
from .events import (
    AnswerDelta,
    Call,
    Cut,
    Event,
    Outcome,
    Reason,
    TextDelta,
    ThoughtDelta,
    ToolStart,
)
from .forms import FORMS, Form, Language
from .history import write_action, write_answer, write_result
from .names import Tools
from .observe import render_observation
from .parser import Parser
from .shapes import Shape
from .wording import limit_text, repair_text, system_text

RAW_CHARS = 2000
# A name and what opens its arguments, or nothing: `name(`, `name[`, `name {`, `name\n<arguments>`.
_NAME_FIRST = re.compile(r"[\s`*]*(?P<name>[\w.\-]{1,64})[\s`*]*(?:[(\[{<]|$)")
_OTHER_FORMS = frozenset({"flat", "wrapper", "call_syntax"})  # ways to write a call, no damage


class TextConversation(ToldConversation):
    """See `Conversation`."""

    def __init__(
        self,
        shape: Shape,
        tools: tuple[ToolSpec, ...],
        new_id: Callable[[], str],
        tool_choice: ToolChoice,
    ) -> None:
        super().__init__(tools, new_id, tool_choice)
        self.shape = shape
        self._language: Language = "en"
        self._named = Tools(tools)
        self._reasons: dict[str, Reason] = {}  # of calls that could not be read

    @property
    def _form(self) -> Form:
        return FORMS[self.shape.name][self._language]

    def request(
        self, messages: Sequence[Message], *, tool_choice: ToolChoice, stream: bool
    ) -> ModelRequest:
        return ModelRequest(
            messages=self._render_all(messages, tool_choice), stop=self.shape.stop, stream=stream
        )

    def _open(self, instructions: str, language: Language) -> Iterator[Message]:
        self._language = language
        played = examples(self.tools, language)
        yield System(
            content=system_text(
                self._form, language, instructions, self.tools, self._first, len(played)
            )
        )
        for example in played:
            yield from self._played(example)

    def _played(self, example: Example) -> Iterator[Message]:
        """An example as it would have been, had it happened."""
        yield user(example.task)
        for thought, name, arguments, result in example.steps:
            call = ToolCall(id="", name=name, arguments=dict(arguments))
            yield said(write_action(self.shape, self._form, thought, call))
            yield user(write_result(self.shape, self._form, result), source="observation")
        yield said(write_answer(self.shape, self._form, example.answer))

    def _words(self, message: System | User) -> Message:
        if isinstance(message, User) and message.source == "limit":
            return user(limit_text(self._form, self._language, message.text), source="limit")
        return message

    def _reply(self, reply: Assistant) -> str:
        if not reply.calls:
            text = reply.text
            return write_answer(self.shape, self._form, text) if text.strip() else ""
        first = reply.calls[0]
        if first.error is not None and first.raw is not None:
            return first.raw
        thought = "\n".join(part for part in (reply.thinking, reply.text) if part.strip())
        return write_action(self.shape, self._form, thought, first)

    def _later_call(self, call: ToolCall) -> str:
        return write_action(self.shape, self._form, "", call)

    def _result(self, result: ToolResult) -> User:
        if result.error_type == "malformed":
            return user(result.text, source="repair")  # our own words, which show the form
        written = write_result(self.shape, self._form, shown(result.content))
        return user(written, source="observation")

    # Replies

    def decoder(self) -> TextDecoder:
        return TextDecoder(self)

    def blocks(self, outcome: Outcome, reply: Assistant, shown: Shown) -> tuple[Block, ...]:
        """What a reply comes to."""
        if reply.calls:  # the provider has read the call itself: the words beside it hold no other
            return (*self._said(outcome, shown), *reply.calls)
        thought = (Thinking(text=outcome.thought),) if outcome.thought.strip() else ()
        name = outcome.calls[0].name if outcome.calls else ""
        problem = self._not_needed(name) if outcome.kind != "repair" else ""
        if outcome.kind == "final":
            problem = problem or self._repeated(outcome.answer)
        if problem and reply.stop in ("error", "aborted"):
            return thought
        if problem:
            refused = replace(outcome, reason="no_action", detail=problem, tool=name or None)
            return (*thought, self._refused(refused))
        if outcome.kind == "final":
            return self._said(outcome, shown)
        if outcome.kind == "tool":
            calls = outcome.calls if self.shape.parallel else outcome.calls[:1]
            blocks = (call_block(self._new_id(), each) for each in calls)
            return (*self._said(outcome, shown), *blocks)
        if outcome.reason == "empty":
            return thought
        text = outcome.thought.strip()
        if outcome.reason == "no_action" and self._takes_plain_text() and self._is_plain(text):
            return (Text(text=text),)
        if reply.stop in ("error", "aborted"):
            return thought
        return (*thought, self._refused(self._without_form(outcome)))

    def _is_plain(self, text: str) -> bool:
        """Whether text without a form can be an answer: nothing in it is ours, or looks like protocol."""
        is_marked = render_observation(text, self.shape) != text
        return not (is_marked or self._called_in(text) or self._repeated(text))

    def _called_in(self, text: str) -> str | None:
        """The tool whose name begins a text, alone or before an opening bracket."""
        match = _NAME_FIRST.match(text)
        named = self._named.find(match["name"]) if match else None
        return None if named is None else named.spec.name

    def _without_form(self, outcome: Outcome) -> Outcome:
        """A refusal that says so if a call was written outside of an action."""
        name = self._called_in(outcome.thought.strip()) if outcome.reason == "no_action" else None
        if name is None:
            return outcome
        detail = f"a call of {name} has to be written in the form of an action."
        return replace(outcome, tool=name, detail=detail)

    def _said(self, outcome: Outcome, shown: Shown) -> tuple[Text | Thinking, ...]:
        """The words of a reply. Text whose role was open was shown as text, and stays it."""
        text, thought = shown.text, outcome.thought
        if outcome.kind == "final":
            text = "" if self.needed else outcome.answer
        elif text:
            thought = shown.thought
        said = (Text(text=text),) if text else ()
        return (Thinking(text=thought), *said) if thought.strip() else said

    def _refused(self, outcome: Outcome) -> ToolCall:
        if outcome.reason == "unknown_tool" and outcome.tool:
            # refused like any other
            return ToolCall(id=self._new_id(), name=outcome.tool, arguments={})
        call = self._unreadable(outcome.detail, outcome.raw[:RAW_CHARS], outcome.tool)
        if outcome.reason is not None:
            self._reasons[call.id] = outcome.reason
        return call

    def repair(self, call: ToolCall) -> str:
        reason = self._reasons.get(call.id, "bad_json")
        meant = next((spec for spec in self.tools if spec.name == call.name), None)
        return repair_text(self._form, self._language, reason, call.error or "", self.needed, meant)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a viewer of the stream has seen of a reply."""

    thought: str
    text: str


class TextDecoder(ToldDecoder):
    def __init__(self, conversation: TextConversation) -> None:
        super().__init__(conversation.own_words)
        self._conversation = conversation
        self._parser = Parser(conversation.shape, conversation.tools)
        self._thoughts: list[str] = []
        self._texts: list[str] = []

    def _read(self, text: str) -> Iterable[Delta]:
        return self._deltas(self._parser.feed(text))

    def _deltas(self, events: Iterable[Event]) -> list[Delta]:
        deltas: list[Delta] = []
        for event in events:
            if isinstance(event, TextDelta | AnswerDelta):
                if self._conversation.needed:
                    continue  # no answer will do, so these words are a thought or are refused
                if isinstance(event, TextDelta):
                    self._texts.append(event.text)
                deltas += self._text(self._answer.take(event.text))
            elif isinstance(event, ThoughtDelta):
                self._thoughts.append(event.text)
                deltas.append(Delta(kind="thinking", text=event.text, index=self._block))
            elif isinstance(event, ToolStart):
                deltas.append(Delta(kind="call", text="", index=self._block + 2, name=event.name))
            elif isinstance(event, Cut):
                self.is_complete = True
        return deltas

    def _text(self, shown: str) -> Sequence[Delta]:
        return (Delta(kind="text", text=shown, index=self._block + 1),) if shown else ()

    def _end(self, reply: Assistant) -> tuple[Sequence[Block], Stop]:
        outcome = self._parser.close("length" if reply.stop == "length" else "stop")
        late = self._deltas(outcome.events)
        shown = Shown("".join(self._thoughts).strip(), "".join(self._texts).strip())
        blocks = self._conversation.blocks(outcome, reply, shown)
        if self._was_fed and (outcome.kind != "repair" or reply.calls):
            self.late = late
            if any(isinstance(block, Text) for block in blocks):
                self.late = (*late, *self._text(self._answer.rest()))
        if reply.stop in ("error", "aborted"):
            return blocks, reply.stop
        is_cut = outcome.truncated if outcome.kind == "final" else reply.stop == "length"
        return blocks, ended(blocks, is_cut=is_cut)


def call_block(call_id: str, call: Call) -> ToolCall:
    return ToolCall(
        id=call_id,
        name=call.name,
        arguments=dict(call.arguments),
        repaired=tuple(each for each in call.repairs if each not in _OTHER_FORMS),
    )
