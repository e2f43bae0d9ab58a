"""One run of a text dialect: the transcript as text for the model, its replies as blocks for everyone else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...messages import Assistant, Image, Message, System, Text, Thinking, ToolCall, User, user
from ...models import Delta, ModelRequest, ToolChoice, ToolSpec
from ..schema_prompt import language_of
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
from .parser import Parser
from .shapes import Shape
from .wording import repair_text, system_text

UNREADABLE = "unreadable"  # the name of a call whose tool could not be read
_RAW_CHARS = 2000
_OTHER_FORMS = frozenset({"flat", "wrapper", "call_syntax"})  # ways to write a call, no damage


class TextConversation:
    """See `Conversation`. A run keeps the language of its first request's newest question."""

    def __init__(
        self, shape: Shape, tools: tuple[ToolSpec, ...], new_id: Callable[[], str]
    ) -> None:
        self.shape = shape
        self.tools = tools
        self._new_id = new_id
        self._language: Language = "en"
        self._opening: tuple[Message, ...] | None = None
        # A message is kept with its rendering, so that its id stays its own.
        self._rendered: dict[int, tuple[Message, tuple[Message, ...]]] = {}
        self._reasons: dict[str, Reason] = {}  # of calls that could not be read
        self._later_calls: dict[str, ToolCall] = {}  # all but the first of a reply
        self._choice: ToolChoice = "auto"
        self._refused_plain = False

    @property
    def _form(self) -> Form:
        return FORMS[self.shape.name][self._language]

    def request(
        self, messages: Sequence[Message], *, tool_choice: ToolChoice, stream: bool
    ) -> ModelRequest:
        self._choice = tool_choice
        first = messages[0] if messages else None
        if self._opening is None:
            self._opening = self._open(messages)
        rest = messages[1:] if isinstance(first, System) else messages
        return ModelRequest(
            messages=[
                *self._opening,
                *(each for message in rest for each in self._render(message)),
            ],
            stop=self.shape.stop,
            stream=stream,
        )

    def _open(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        first = messages[0] if messages else None
        instructions = first.content if isinstance(first, System) else ""
        asked = [m.text for m in messages if isinstance(m, User) and m.source == "user"]
        self._language = language_of(asked[-1] if asked else instructions)
        text = system_text(self._form, self._language, instructions, self.tools)
        return (System(content=text),)

    def _render(self, message: Message) -> tuple[Message, ...]:
        known = self._rendered.get(id(message))
        if known is None:
            known = self._rendered[id(message)] = (message, tuple(self._write(message)))
        return known[1]

    def _write(self, message: Message) -> Iterator[Message]:
        if isinstance(message, Assistant):
            yield from self._write_reply(message)
        elif isinstance(message, System | User):
            yield message
        elif message.error_type == "malformed":
            yield user(message.text, source="repair")  # our own words, which show the form
        else:
            later_call = self._later_calls.get(message.call_id)
            if later_call is not None:
                yield _said(write_action(self.shape, self._form, "", later_call))
            yield user(
                write_result(self.shape, self._form, _shown(message.content)), source="observation"
            )

    def _write_reply(self, reply: Assistant) -> Iterator[Message]:
        calls = reply.calls
        self._later_calls.update((call.id, call) for call in calls[1:])
        if not calls:
            if reply.text.strip():
                yield _said(write_answer(self.shape, self._form, reply.text))
            return
        first = calls[0]
        if first.error is not None and first.raw is not None:
            if first.raw.strip():  # an empty message is refused by providers
                yield _said(first.raw)
            return
        thought = "\n".join(part for part in (reply.thinking, reply.text) if part.strip())
        yield _said(write_action(self.shape, self._form, thought, first))

    # Replies

    def decoder(self) -> TextDecoder:
        return TextDecoder(self)

    def blocks(
        self, outcome: Outcome, shown: Shown, reply: Assistant
    ) -> tuple[Text | Thinking | ToolCall, ...]:
        """What a reply comes to."""
        thought = (Thinking(text=outcome.thought),) if outcome.thought.strip() else ()
        if outcome.kind == "final":
            return self.words(outcome, shown)
        if outcome.kind == "tool":
            calls = (self._call(each) for each in self._wanted(outcome))
            return (*self.words(outcome, shown), *calls)
        if outcome.reason == "empty":
            return thought
        if outcome.reason == "no_action" and (self._choice == "none" or self._refused_plain):
            return (Text(text=outcome.thought.strip()),)
        if reply.stop in ("error", "aborted"):
            return thought
        self._refused_plain = self._refused_plain or outcome.reason == "no_action"
        return (*thought, self._refused(outcome))

    @staticmethod
    def words(outcome: Outcome, shown: Shown) -> tuple[Text | Thinking, ...]:
        """The words of a reply. Text whose role was open was shown as text, and stays it."""
        if outcome.kind == "final":
            text, thought = outcome.answer, outcome.thought
        else:
            text = shown.text
            thought = shown.thought if text else outcome.thought
        said = (Text(text=text),) if text else ()
        return (Thinking(text=thought), *said) if thought.strip() else said

    def _wanted(self, outcome: Outcome) -> Sequence[Call]:
        return outcome.calls if self.shape.parallel else outcome.calls[:1]

    def _call(self, call: Call) -> ToolCall:
        return ToolCall(
            id=self._new_id(),
            name=call.name,
            arguments=dict(call.arguments),
            repaired=tuple(each for each in call.repairs if each not in _OTHER_FORMS),
        )

    def _refused(self, outcome: Outcome) -> ToolCall:
        call_id = self._new_id()
        if outcome.reason == "unknown_tool" and outcome.tool:
            return ToolCall(id=call_id, name=outcome.tool, arguments={})  # refused like any other
        if outcome.reason is not None:
            self._reasons[call_id] = outcome.reason
        return ToolCall(
            id=call_id,
            name=outcome.tool or UNREADABLE,
            arguments={},
            error=outcome.detail,
            raw=outcome.raw[:_RAW_CHARS],
        )

    def repair(self, call: ToolCall) -> str:
        reason = self._reasons.get(call.id, "bad_json")
        return repair_text(self._form, self._language, reason, call.error or "")


@dataclass(slots=True)
class Shown:
    """What a reader has seen of a reply."""

    thoughts: list[str] = field(default_factory=list[str])
    texts: list[str] = field(default_factory=list[str])

    @property
    def thought(self) -> str:
        return "".join(self.thoughts).strip()

    @property
    def text(self) -> str:
        return "".join(self.texts).strip()


@dataclass(slots=True)
class TextDecoder:
    """See `Decoder`. Text comes in the first block behind the provider's own reasoning, the answer and
    the call in the next ones."""

    conversation: TextConversation
    is_complete: bool = False
    parser: Parser = field(init=False)
    shown: Shown = field(default_factory=Shown)
    fed: bool = False
    block: int = 0
    outcome: Outcome | None = None

    def __post_init__(self) -> None:
        self.parser = Parser(self.conversation.shape, self.conversation.tools)

    def feed(self, delta: Delta) -> Iterable[Delta]:
        if delta.kind != "text":
            return (delta,) if delta.kind == "thinking" else ()
        self.fed = True
        self.block = delta.index
        return self._deltas(self.parser.feed(delta.text))

    def _deltas(self, events: Iterable[Event]) -> list[Delta]:
        deltas: list[Delta] = []
        for event in events:
            match event:
                case ThoughtDelta(text=text):
                    self.shown.thoughts.append(text)
                    deltas.append(Delta(kind="thinking", text=text, index=self.block))
                case TextDelta(text=text) | AnswerDelta(text=text):
                    if isinstance(event, TextDelta):
                        self.shown.texts.append(text)
                    deltas.append(Delta(kind="text", text=text, index=self.block + 1))
                case ToolStart(name=name):
                    deltas.append(Delta(kind="call", text="", index=self.block + 2, name=name))
                case Cut():
                    self.is_complete = True
                case _:
                    pass
        return deltas

    def end(self, *, cut: bool) -> Iterable[Delta]:
        if not self.fed:
            return ()
        self.outcome = self.parser.close("length" if cut else "stop")
        return self._deltas(self.outcome.events)

    def close(self, reply: Assistant) -> Assistant:
        if not self.fed:
            self.fed = True
            self._deltas(self.parser.feed(reply.text))
        if self.outcome is None:
            list(self.end(cut=reply.stop == "length"))
        outcome = self.outcome
        assert outcome is not None
        native = tuple(block for block in reply.content if isinstance(block, Thinking))
        if reply.calls:  # the provider has read the call itself: the words beside it hold no other
            said = self.conversation.words(outcome, self.shown)
            return replace(reply, content=(*native, *said, *reply.calls))
        blocks = self.conversation.blocks(outcome, self.shown, reply)
        has_calls = any(isinstance(block, ToolCall) for block in blocks)
        stop = reply.stop
        if stop in ("stop", "tool_use", "length"):
            is_cut = outcome.truncated if outcome.kind == "final" else stop == "length"
            stop = "tool_use" if has_calls else "length" if is_cut else "stop"
        return replace(reply, content=(*native, *blocks), stop=stop)


def _said(text: str) -> Assistant:
    return Assistant(content=(Text(text=text),), stop="stop")


def _shown(content: Sequence[Text | Image]) -> str:
    return "".join(
        block.text if isinstance(block, Text) else "[an image, which cannot be shown here]"
        for block in content
    )
