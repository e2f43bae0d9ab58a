"""Native calls that a server left in the text, in the form its model was trained on (dialects 5.12, 5.13).

The provider's own field comes first: with calls in it, what leaked is only taken out of sight. Else a
complete call of a known tool that stands where a call can stand is that call; in prose, a quotation or
a fence it is an example. A name that nobody knows makes no call of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ...messages import Assistant, Stop, Text, Thinking, ToolCall
from ...models import Delta, ToolSpec
from ..native import NativeConversation
from ..told_conversation import UNREADABLE
from .conversation import RAW_CHARS, call_block
from .events import AnswerDelta, Event, Outcome, TextDelta, ThoughtDelta
from .names import Tools
from .parser import Parser
from .shapes import RESCUE

_SHAPE = replace(RESCUE, name="leaked", loose_close=True)
_NOTHING = ("empty", "no_action")  # there is neither a call nor an answer


class LenientConversation(NativeConversation):
    def __init__(self, tools: tuple[ToolSpec, ...], new_id: Callable[[], str]) -> None:
        super().__init__(tools)
        self.new_id = new_id
        self.known = Tools(tools)

    def decoder(self) -> LeakDecoder:
        return LeakDecoder(self)

    def calls(self, outcome: Outcome, shown: str) -> tuple[ToolCall, ...]:
        """The calls that leaked. One that cannot be read has its error; it has to name a known tool, or
        name none and be all that was written."""
        if outcome.kind == "tool":
            return tuple(call_block(self.new_id(), call) for call in outcome.calls)
        if outcome.kind == "final" or outcome.reason in _NOTHING:
            return ()
        named = self.known.find(outcome.tool) if outcome.tool else None
        if named is None and (outcome.tool or shown):
            return ()
        return (
            ToolCall(
                id=self.new_id(),
                name=named.spec.name if named else UNREADABLE,
                arguments={},
                error=outcome.detail,
                raw=outcome.raw[:RAW_CHARS],
            ),
        )


class LeakDecoder:
    """See `Decoder`. The reply is never complete before its end: the provider's calls may follow."""

    is_complete = False

    def __init__(self, conversation: LenientConversation) -> None:
        self._conversation = conversation
        self._parser = Parser(_SHAPE, conversation.tools)
        self._shown: list[str] = []
        self._thoughts: list[str] = []
        self._blanks: list[str] = []  # shown when more text follows
        self._was_fed = False
        self._block = 0  # index of the text
        self.late: Sequence[Delta] = ()

    def feed(self, delta: Delta) -> Iterable[Delta]:
        if delta.kind != "text":
            return (delta,)
        self._was_fed = True
        self._block = delta.index
        text = self._show(self._parser.feed(delta.text))
        return (replace(delta, text=text),) if text else ()

    def _show(self, events: Sequence[Event]) -> str:
        """What these events add to the text, whose blanks at both ends are left out."""
        self._thoughts += (e.text for e in events if isinstance(e, ThoughtDelta))
        text = "".join(e.text for e in events if isinstance(e, TextDelta | AnswerDelta))
        end = len(text.rstrip())
        if end == 0:
            self._blanks.append(text)
            return ""
        shown = "".join((*self._blanks, text[:end]))
        shown = shown if self._shown else shown.lstrip()
        self._blanks = [text[end:]]
        self._shown.append(shown)
        return shown

    def close(self, reply: Assistant) -> Assistant:
        if not self._was_fed:
            self._show(self._parser.feed(reply.text))
        seen = "".join(self._shown)
        outcome = self._parser.close("length" if reply.stop == "length" else "stop")
        self._show(outcome.events)
        shown = "".join(self._shown)
        calls = reply.calls or self._conversation.calls(outcome, shown)
        thought, text = self._words(outcome, shown, is_called=bool(calls))
        if self._was_fed and text.startswith(seen) and text != seen:
            rest = text[len(seen) :]
            self.late = (Delta(kind="text", text=rest, index=self._block),)
        if (calls, thought, text) == (reply.calls, "", reply.text):
            return reply
        native = (block for block in reply.content if isinstance(block, Thinking))
        more = (Thinking(text=thought),) if thought else ()
        said = (Text(text=text),) if text else ()
        content = (*native, *more, *said, *calls)
        return replace(reply, content=content, stop=self._stop(reply, calls))

    def _words(self, outcome: Outcome, shown: str, *, is_called: bool) -> tuple[str, str]:
        """The thought and the text of a reply, without what leaked."""
        thought = "".join(self._thoughts).strip()
        if outcome.kind == "final":
            return outcome.thought, outcome.answer
        if outcome.reason in _NOTHING:
            return ("", outcome.raw.strip()) if shown else (thought, "")
        return (thought, shown) if is_called else ("", outcome.raw.strip())

    def _stop(self, reply: Assistant, calls: Sequence[ToolCall]) -> Stop:
        if reply.calls or not calls or reply.stop not in ("stop", "length"):
            return reply.stop
        is_read = all(call.error is None for call in calls)
        return "tool_use" if is_read or reply.stop == "stop" else "length"
