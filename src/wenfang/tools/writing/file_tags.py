"""Codec A in the loop: a text between `<file>` tags in a reply becomes a call of write_text (writing.md §8).

The reply is what calls are for other models: text that this one place knows how to read. So a body is
shown while it grows, written down before it is stored, kept when a reply is cut off and answered with a
result like every call; nothing else knows of the tags. The model keeps seeing what it wrote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from wenfang.core import (
    JSON,
    Assistant,
    Conversation,
    Decoder,
    Delta,
    Dialect,
    Limit,
    Message,
    ModelRequest,
    Text,
    Thinking,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    User,
    user,
)
from wenfang.workspace.body import (
    BodyClosed,
    BodyOpened,
    BodyText,
    CaptureEvent,
    ChatText,
    FileCapture,
)

from .blanks import Waiting
from .write_text import NAME

Waits = Callable[[], Waiting | None]
"""The file whose text is expected, None if no file is."""


@dataclass(frozen=True, slots=True)
class FileTags:
    """`inner` for a model that calls tools natively, and `<file>` for the text of the file that `waits`."""

    inner: Dialect
    waits: Waits

    @property
    def name(self) -> str:
        return self.inner.name

    def open(
        self,
        tools: tuple[ToolSpec, ...],
        new_id: Callable[[], str],
        tool_choice: ToolChoice = "auto",
    ) -> Conversation:
        listed = tuple(spec for spec in tools if spec.name != NAME)
        return _Conversation(self.inner.open(listed, new_id, tool_choice), new_id, self.waits)

    def limits(self) -> Sequence[Limit]:
        return self.inner.limits()


class _Conversation:
    def __init__(self, inner: Conversation, new_id: Callable[[], str], waits: Waits) -> None:
        self._inner = inner
        self._new_id = new_id
        self._waits = waits
        # By the id of a reply, which is kept with it: the reply as its model wrote it.
        self._written: dict[int, tuple[Assistant, Assistant]] = {}
        self._told: dict[int, tuple[ToolResult, User]] = {}

    def request(
        self, messages: Sequence[Message], *, tool_choice: ToolChoice, stream: bool
    ) -> ModelRequest:
        written = self._as_written(messages)
        return self._inner.request(written, tool_choice=tool_choice, stream=stream)

    def decoder(self) -> Decoder:
        return _TagDecoder(self._inner.decoder(), self._new_id, self._waits())

    def repair(self, call: ToolCall) -> str:
        return self._inner.repair(call)

    def _as_written(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The same messages, in which a body stands between its tags again. What became of it is said
        behind the results of the calls beside it, since nothing may stand between calls and results."""
        view: list[Message] = []
        bodies: set[str] = set()
        told: list[Message] = []
        for message in messages:
            if isinstance(message, ToolResult):
                if message.call_id in bodies:
                    told.append(self._as_told(message))
                else:
                    view.append(message)
                continue
            view += told
            told.clear()
            if isinstance(message, Assistant):
                bodies = {call.id for call in message.calls if call.name == NAME}
                message = self._with_tags(message) if bodies else message
            view.append(message)
        return [*view, *told]

    def _with_tags(self, reply: Assistant) -> Assistant:
        known = self._written.get(id(reply))
        if known is None:
            known = self._written[id(reply)] = (reply, _with_tags(reply))
        return known[1]

    def _as_told(self, result: ToolResult) -> User:
        known = self._told.get(id(result))
        if known is None:
            text = f"About the text of your last reply: {result.text}"
            known = self._told[id(result)] = (result, user(text, source="observation"))
        return known[1]


def _with_tags(reply: Assistant) -> Assistant:
    content: list[Text | Thinking | ToolCall] = []
    said: list[str] = []
    for block in reply.content:
        if isinstance(block, Text):
            said.append(block.text)
        elif isinstance(block, ToolCall) and block.name == NAME:
            end = "" if block.arguments.get("truncated") else "\n</file>"
            said.append(f"<file>\n{block.arguments.get('content', '')}{end}")
        elif isinstance(block, Thinking):
            content.append(block)
    calls = [call for call in reply.calls if call.name != NAME]
    return replace(reply, content=(*content, Text(text="\n".join(said)), *calls))


@dataclass(slots=True, kw_only=True)
class _Part:
    """A stretch of a reply: words for the chat, or a body (`call_id`)."""

    index: int
    call_id: str = ""
    texts: list[str] = field(default_factory=list[str])
    truncated: bool = False

    @property
    def text(self) -> str:
        return "".join(self.texts)


class _TagDecoder:
    """See `Decoder`. Blocks are numbered anew, since a body divides a block of text."""

    def __init__(self, inner: Decoder, new_id: Callable[[], str], waiting: Waiting | None) -> None:
        self._inner = inner
        self._new_id = new_id
        self._waiting = waiting
        self._capture = FileCapture()
        if waiting is not None:
            self._capture.expect(waiting.file_id)
        self._indexes: dict[int, int] = {}  # of the model's blocks that are not text
        self._parts: list[_Part] = []
        self._space = ""
        self._count = 0
        self._was_fed = False
        self.late: Sequence[Delta] = ()

    @property
    def is_complete(self) -> bool:
        return self._inner.is_complete

    def feed(self, delta: Delta) -> Iterable[Delta]:
        deltas: list[Delta] = []
        for each in self._inner.feed(delta):
            if each.kind == "text":
                self._was_fed = True
                deltas += self._read(self._capture.feed(each.text))
            else:
                if each.index not in self._indexes:
                    self._indexes[each.index] = self._next()
                deltas.append(replace(each, index=self._indexes[each.index]))
        return deltas

    def close(self, reply: Assistant) -> Assistant:
        reply = self._inner.close(reply)
        late: list[Delta] = []
        if not self._was_fed:
            late += self._read(self._capture.feed(reply.text))
        is_cut = reply.stop in ("error", "aborted")
        late += self._read(self._capture.close("error") if is_cut else self._capture.boundary())
        if self._was_fed:
            self.late = (*self._inner.late, *late)
        bodies = [part for part in self._parts if part.call_id]
        said = tuple(self._block(part) for part in self._parts if not (part.call_id and is_cut))
        thoughts = tuple(block for block in reply.content if isinstance(block, Thinking))
        if not bodies or is_cut:
            return replace(reply, content=(*thoughts, *said, *reply.calls))
        calls = reply.calls
        if reply.stop == "length":  # the bodies are as whole as they say; what else is there is not
            reason = "the reply was cut off at its limit."
            calls = tuple(replace(call, error=call.error or reason, arguments={}) for call in calls)
        return replace(reply, content=(*thoughts, *said, *calls), stop="tool_use")

    def _next(self) -> int:
        self._count += 1
        return self._count - 1

    def _read(self, events: Iterable[CaptureEvent]) -> list[Delta]:
        deltas: list[Delta] = []
        for event in events:
            match event:
                case ChatText(text=text):
                    deltas += self._chat(text)
                case BodyOpened():
                    deltas += self._open()
                case BodyText(text=text):
                    self._parts[-1].texts.append(text)
                    deltas.append(self._written(_inside(text)))
                case BodyClosed() if event.ending == "void":
                    self._parts.pop()  # it was chat, and is said as chat next
                case BodyClosed():
                    self._parts[-1].truncated = event.ending == "truncated"
                    deltas.append(self._written('"}'))
                case _:
                    pass
        return deltas

    def _chat(self, text: str) -> list[Delta]:
        last = self._parts[-1] if self._parts else None
        if last is None or last.call_id:
            text = self._space + text
            self._space = ""
            if not text.strip():
                self._space = text  # around a tag; it is said with the words after it, if some come
                return []
            last = _Part(index=self._next())
            self._parts.append(last)
        last.texts.append(text)
        return [Delta(kind="text", text=text, index=last.index)]

    def _open(self) -> list[Delta]:
        self._space = ""
        self._parts.append(_Part(index=self._next(), call_id=self._new_id()))
        assert self._waiting is not None
        head = f'{{"id": "{_inside(self._waiting.path)}", "content": "'
        return [self._written("", name=NAME), self._written(head)]

    def _written(self, text: str, name: str | None = None) -> Delta:
        return Delta(kind="call", text=text, index=self._parts[-1].index, name=name)

    def _block(self, part: _Part) -> Text | ToolCall:
        if not part.call_id:
            return Text(text=part.text)
        assert self._waiting is not None
        arguments: dict[str, JSON] = {"id": self._waiting.path, "content": part.text}
        if part.truncated:
            arguments["truncated"] = True
        return ToolCall(id=part.call_id, name=NAME, arguments=arguments)


def _inside(text: str) -> str:
    """A text as it stands within the quotes of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
