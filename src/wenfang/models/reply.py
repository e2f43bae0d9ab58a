"""One reply while it arrives: chunks in, deltas and finally the message out (FB01-FB05, FB27)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from msgspec import DecodeError, UnsetType

from wenfang.core import (
    Assistant,
    Delta,
    ModelError,
    Text,
    Thinking,
    ToolCall,
    Usage,
)

from .calls import Call, CallTable, Piece, finish_calls
from .chunks import (
    Choice,
    Chunk,
    Part,
    UsagePart,
    decode_chunk,
    decode_leniently,
    protocol_error,
)
from .errors import Redactor, provider_error
from .profiles import Meaning
from .thinking import ThinkTags

_FINISH: Mapping[str, Meaning] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refused",
    "refusal": "refused",
    "safety": "refused",
    "sensitive": "refused",
    "error": "overload",
    "network_error": "overload",
    "insufficient_system_resource": "overload",
}


class Reply:
    """Takes payloads, hands out what is new. `finish` maps finish reasons beyond the common ones;
    a reason that nobody knows is a normal end. `estimate` counts the request and a text, for usage
    that the provider does not report."""

    def __init__(
        self,
        *,
        redact: Redactor,
        think_tags: bool,
        finish: Mapping[str, Meaning],
        estimate: Callable[[str], Usage],
    ) -> None:
        self.done = False  # [DONE] was received
        self._estimate = estimate
        self._redact = redact
        self._tags = ThinkTags() if think_tags else None
        self._finish = finish
        self._blocks: list[Piece] = []
        self._dirty: list[Piece] = []
        self._last: Piece | None = None
        self._calls = CallTable(self._open_call)
        self._reason: str | None = None
        self._usage: UsagePart | None = None
        self._lenient = False

    def feed(self, payloads: Iterable[bytes]) -> ModelError | None:
        """Take the data of events. A failure among them is returned, not raised, so that what came
        before it can be shown first."""
        try:
            for payload in payloads:
                if payload:
                    self._add(payload)
        except ModelError as error:
            return error
        return None

    def _add(self, payload: bytes) -> None:
        if payload == b"[DONE]":
            self.done = True
            return
        chunk = self._decode(payload)
        choices = chunk.choices
        if not choices or chunk.usage is not None or chunk.error is not None:
            choices = self._unusual(chunk, payload)
        for choice in choices:
            if choice.index:
                continue  # a second alternative, which nobody asked for
            if choice.delta is not None:
                self._part(choice.delta)
            if choice.finish_reason is not None:
                self._reason = choice.finish_reason or self._reason
            if choice.usage is not None:
                self._usage = choice.usage

    def add_whole(self, body: bytes) -> None:
        """Take a reply that was not streamed."""
        choices = self._unusual(self._decode(body), body)
        message = choices[0].message if choices else None
        if message is None:
            raise protocol_error("a reply without a message (choices is empty)")
        self._part(message, whole=True)
        self._reason = choices[0].finish_reason
        self.done = True

    def _decode(self, payload: bytes) -> Chunk:
        try:
            return decode_chunk(payload)
        except DecodeError:
            self._lenient = True
            return decode_leniently(payload)

    def _unusual(self, chunk: Chunk, payload: bytes) -> list[Choice]:
        """Everything but a plain piece: usage, errors, no choices at all."""
        if chunk.usage is not None:
            self._usage = chunk.usage
        error = chunk.error
        if isinstance(chunk.choices, UnsetType) and chunk.object == "error":
            error = json.loads(payload)  # the whole chunk is the error
        if error:
            raise provider_error(error, status=None, redact=self._redact, usage=self.reported())
        if chunk.choices is None and chunk.usage is None:
            raise protocol_error("a chunk whose choices are null")
        return chunk.choices or []

    def _part(self, part: Part, *, whole: bool = False) -> None:
        thought = part.reasoning_content or part.reasoning or part.thinking
        if thought is not None and isinstance(thought, str):
            self._say("thinking", thought)
        content = part.content
        if content is None:
            content = part.refusal
        elif not isinstance(content, str):
            content = self._parts(content)
        if content:
            if self._tags is None:
                self._say("text", content)
            else:
                for kind, piece in self._tags.feed(content):
                    self._say(kind, piece)
        if part.tool_calls is not None:
            for call in part.tool_calls:
                found = self._calls.whole(call) if whole else self._calls.add(call)
                if found is not None:
                    self._grow(*found)

    def _parts(self, content: list[Any]) -> str:
        """Content as a list of typed parts, as a few servers stream it."""
        texts: list[str] = []
        for part in content:
            if isinstance(part, dict):
                fields = cast("dict[str, Any]", part)
                if isinstance(fields.get("thinking"), list):
                    self._say("thinking", self._parts(fields["thinking"]))
                elif isinstance(fields.get("text"), str):
                    texts.append(fields["text"])
        return "".join(texts)

    def _say(self, kind: str, text: str) -> None:
        block = self._last
        if block is None or block.kind != kind:
            if not text:
                return
            block = self._last = Piece(kind, len(self._blocks))
            self._blocks.append(block)
        self._grow(block, text)

    def _open_call(self) -> Call:
        call = Call("call", len(self._blocks))
        self._blocks.append(call)
        self._last = call
        return call

    def _grow(self, block: Piece, text: str) -> None:
        if not block.fresh:
            self._dirty.append(block)
        block.fresh.append(text)

    def take(self) -> list[Delta]:
        """What is new since the last time, one delta for each block that grew."""
        if not self._dirty:
            return []
        dirty, self._dirty = self._dirty, []
        return [delta for block in dirty if (delta := self._delta(block)) is not None]

    def _delta(self, block: Piece) -> Delta | None:
        name = None
        if isinstance(block, Call) and not block.announced:
            if not block.name:  # its first delta must carry the name
                self._dirty.append(block)
                return None
            block.announced, name = True, block.name
        text = "".join(block.fresh)
        if self._lenient:
            text = _join_surrogates(block, text)
        block.fresh.clear()
        block.taken.append(text)
        if not text and name is None:
            return None
        return Delta(kind=cast("Any", block.kind), text=text, index=block.index, name=name)

    def finish(self, *, model: str, new_id: Callable[[str], str]) -> Assistant:
        """The message. Raises `ModelError`: "stream_incomplete" if there was neither a finish reason
        nor [DONE], or what the finish reason says."""
        if self._reason is None and not self.done:
            raise ModelError(
                "stream_incomplete", "The reply ended without a finish.", usage=self.reported()
            )
        if self._tags is not None:
            for kind, piece in self._tags.close():
                self._say(kind, piece)
        self.take()
        cut = self._is_cut()
        complete = not cut and self._reason is not None
        calls = [block for block in self._blocks if isinstance(block, Call)]
        made = finish_calls(calls, complete=complete, new_id=new_id)
        return Assistant(
            content=tuple(
                block for each in self._blocks if (block := _block(each, made)) is not None
            ),
            stop="length" if cut else "tool_use" if made else "stop",
            usage=self._final_usage(),
            model=model,
        )

    def _is_cut(self) -> bool:
        """Whether the output limit ended the reply; raises what a finish reason says is a failure."""
        reason = (self._reason or "").lower()
        meaning = self._finish.get(reason) or _FINISH.get(reason, "stop")
        if meaning == "refused" or meaning == "overload":
            said = f"The provider ended the reply with {self._reason!r}."
            raise ModelError(meaning, said, usage=self.reported())
        return meaning == "length"

    def _final_usage(self) -> Usage:
        """As reported; a field that was left at zero is estimated, which flags the whole."""
        usage = self.reported()
        if usage is not None and usage.input and usage.output:
            return usage
        text = "".join(block.text for block in self._blocks)
        guess = self._estimate(text)
        if usage is None:
            return guess
        missing = not usage.input or bool(text)
        return replace(
            usage,
            input=usage.input or guess.input,
            output=usage.output or guess.output,
            estimated=missing,
        )

    def reported(self) -> Usage | None:
        """What the provider reported last (usage is cumulative, never summed); None if nothing."""
        part = self._usage
        if part is None or not (part.prompt_tokens or part.completion_tokens):
            return None
        cached = part.prompt_tokens_details and part.prompt_tokens_details.cached_tokens
        thought = part.completion_tokens_details and part.completion_tokens_details.reasoning_tokens
        read, written, thought = part.prompt_tokens or 0, part.completion_tokens or 0, thought or 0
        if thought and part.total_tokens == read + written + thought:
            written += thought  # this provider counts reasoning apart
        return Usage(
            input=read,
            output=written,
            cache_read=min(read, cached or part.prompt_cache_hit_tokens or 0),
            reasoning=thought,
        )


def _block(block: Piece, calls: Mapping[int, ToolCall]) -> Text | Thinking | ToolCall | None:
    if isinstance(block, Call):
        return calls.get(block.index)
    return Text(text=block.text) if block.kind == "text" else Thinking(text=block.text)


def _join_surrogates(block: Piece, text: str) -> str:
    """Join halves of a pair that came in two pieces; a half that stays alone becomes U+FFFD."""
    text, block.high = block.high + text, ""
    if text and "\ud800" <= text[-1] <= "\udbff":
        text, block.high = text[:-1], text[-1]
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
