"""What the dialects share whose calls are text: a message is rendered once, a reply is read as it grows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from ..messages import (
    Assistant,
    Image,
    Message,
    Stop,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    User,
)
from ..models import Delta, ToolChoice, ToolSpec, needed_tools
from .examples import Language, language_of
from .own_words import HeldAnswer, OwnWords

UNREADABLE = "unreadable"  # the name of a call whose tool could not be read

Block: TypeAlias = Text | Thinking | ToolCall


class ToldConversation(ABC):
    """One run. It keeps the language of its first request's newest question."""

    def __init__(
        self, tools: tuple[ToolSpec, ...], new_id: Callable[[], str], tool_choice: ToolChoice
    ) -> None:
        self.tools = tools
        self._new_id = new_id
        self._first = needed_tools(tools, tool_choice)  # what the first step has to call
        self._choice: ToolChoice = "auto"
        self.needed: tuple[ToolSpec, ...] = ()  # what the next reply has to call
        self._opening: tuple[Message, ...] | None = None
        # A message is kept with its rendering, so that its id stays its own.
        self._rendered: dict[int, tuple[Message, tuple[Message, ...]]] = {}
        self._later_calls: dict[str, ToolCall] = {}  # all but the first of a reply
        self._refused_plain = False
        self.own_words = OwnWords()

    # What the model reads

    @abstractmethod
    def _open(self, instructions: str, language: Language) -> Iterable[Message]:
        """What stands before the messages of the run."""

    @abstractmethod
    def _reply(self, reply: Assistant) -> str:
        """A reply with its first call as the model should have written it; blank if it said nothing."""

    @abstractmethod
    def _later_call(self, call: ToolCall) -> str:
        """A call as a reply of its own."""

    @abstractmethod
    def _result(self, result: ToolResult) -> User:
        """An observation, or our own words about a call that could not be read."""

    def _words(self, message: System | User) -> Message:
        return message

    def _render_all(self, messages: Sequence[Message], choice: ToolChoice) -> list[Message]:
        """The messages of a request; those of the last one are the same objects."""
        self._choice, self.needed = choice, needed_tools(self.tools, choice)
        first = messages[0] if messages else None
        if self._opening is None:
            instructions = first.content if isinstance(first, System) else ""
            asked = [m.text for m in messages if isinstance(m, User) and m.source == "user"]
            language = language_of(asked[-1] if asked else instructions)
            self._opening = tuple(self._open(instructions, language))
        rest = messages[1:] if isinstance(first, System) else messages
        return [*self._opening, *(each for message in rest for each in self._render(message))]

    def _render(self, message: Message) -> tuple[Message, ...]:
        known = self._rendered.get(id(message))
        if known is None:
            known = self._rendered[id(message)] = (message, tuple(self._write(message)))
        return known[1]

    def _write(self, message: Message) -> Iterator[Message]:
        self.own_words.hear(message)
        if isinstance(message, Assistant):
            self._later_calls.update((call.id, call) for call in message.calls[1:])
            text = self._reply(message)
            if text.strip():  # an empty message is refused by providers
                yield said(text)
        elif isinstance(message, ToolResult):
            later_call = self._later_calls.get(message.call_id)
            seen = self._result(message)
            if later_call is not None and seen.source == "observation":
                yield said(self._later_call(later_call))
            yield seen
        else:
            yield self._words(message)

    # What the model wrote

    def _unreadable(self, error: str, raw: str, name: str | None = None) -> ToolCall:
        return ToolCall(
            id=self._new_id(), name=name or UNREADABLE, arguments={}, error=error, raw=raw
        )

    def _takes_plain_text(self) -> bool:
        """Text in no form at all is refused once, then taken for the answer (engine D4)."""
        if self.needed:
            return False
        if self._choice == "none" or self._refused_plain:
            return True
        self._refused_plain = True
        return False

    def _repeated(self, answer: str) -> str:
        """Why an answer is none; empty if it is one."""
        if not self.own_words.are(answer):
            return ""
        return "this repeats what you were told about your reply; it is not an answer."

    def _not_needed(self, name: str = "") -> str:
        """Why a call of the tool `name`, or an answer, will not do now; empty if it will."""
        if not self.needed or any(spec.name == name for spec in self.needed):
            return ""
        return (
            f"this step has to call {self.needed[0].name if len(self.needed) == 1 else 'a tool'}."
        )


class ToldDecoder(ABC):
    """See `Decoder`. Text comes in the first block behind the provider's own reasoning, the answer and
    the call in the next ones."""

    is_complete = False

    def __init__(self, words: OwnWords) -> None:
        self.late: Sequence[Delta] = ()
        self._answer = HeldAnswer(words)
        self._was_fed = False
        self._block = 0  # index of the raw text block

    @abstractmethod
    def _read(self, text: str) -> Iterable[Delta]:
        """Take a piece of the text at once, give what it makes certain."""

    @abstractmethod
    def _end(self, reply: Assistant) -> tuple[Sequence[Block], Stop]:
        """What a reply whose text was read comes to, without the provider's own reasoning."""

    def feed(self, delta: Delta) -> Iterable[Delta]:
        if delta.kind != "text":
            return (delta,) if delta.kind == "thinking" else ()
        self._was_fed = True
        self._block = delta.index
        return self._read(delta.text)

    def close(self, reply: Assistant) -> Assistant:
        if not self._was_fed:
            self._read(reply.text)
        native = tuple(block for block in reply.content if isinstance(block, Thinking))
        blocks, stop = self._end(reply)
        return replace(reply, content=(*native, *blocks), stop=stop)


def ended(blocks: Sequence[Block], *, is_cut: bool) -> Stop:
    """How a reply of these blocks ended, if nothing went wrong with it."""
    if any(isinstance(block, ToolCall) for block in blocks):
        return "tool_use"
    return "length" if is_cut else "stop"


def said(text: str) -> Assistant:
    return Assistant(content=(Text(text=text),), stop="stop")


def shown(content: Sequence[Text | Image]) -> str:
    """The text of a message, in which images are named."""
    return "".join(
        block.text if isinstance(block, Text) else "[an image, which cannot be shown here]"
        for block in content
    )
