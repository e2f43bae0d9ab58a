"""One request, from its first byte to a message: the one place where a model failure becomes data."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from .abort import Abort, expire
from .dialects.base import Decoder
from .messages import Assistant, Attempt, Failure, Text, Thinking, Usage
from .models import Delta, ModelClient, ModelError, ModelRequest, Reset
from .tokens import estimate_request, estimate_tokens


def utf16_len(text: str) -> int:
    """Length in UTF-16 code units, the unit of offsets on the wire."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(slots=True)
class _Part:
    kind: str
    pieces: list[str] = field(default_factory=list[str])
    length: int = 0  # UTF-16 code units


class Draft:
    """What has arrived of a reply. It survives whatever ends the request."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.attempt = 1
        self.attempts: list[Attempt] = []
        self._parts: dict[int, _Part] = {}

    def add(self, delta: Delta) -> int:
        """Take a piece; returns its offset in its block, in UTF-16 code units."""
        part = self._parts.get(delta.index)
        if part is None:
            part = self._parts[delta.index] = _Part(delta.kind)
        part.pieces.append(delta.text)
        off = part.length
        part.length += utf16_len(delta.text)
        return off

    def reset(self, reset: Reset) -> None:
        """Forget the text: another try begins."""
        model = reset.model or self.model
        self.attempts.append(Attempt(model=model, failure=reset.failure, usage=reset.usage))
        self.attempt = reset.attempt
        self.model = reset.next_model or self.model
        self._parts.clear()

    def _content(self) -> tuple[Text | Thinking, ...]:
        kinds = {"text": Text, "thinking": Thinking}
        return tuple(
            kinds[part.kind](text="".join(part.pieces))
            for part in self._parts.values()
            if part.kind in kinds
        )

    def _usage(self, request: ModelRequest) -> Usage:
        written = sum(estimate_tokens("".join(p.pieces)) for p in self._parts.values())
        return Usage(input=estimate_request(request), output=written, estimated=True)

    def ended(self, request: ModelRequest, written: str) -> Assistant:
        """The raw message of a reply that was ended because the rest of it does not matter."""
        return Assistant(
            content=(),
            stop="stop",
            usage=Usage(
                input=estimate_request(request), output=estimate_tokens(written), estimated=True
            ),
            model=self.model,
            attempts=tuple(self.attempts),
        )

    def aborted(self, request: ModelRequest) -> Assistant:
        """The message of a reply that was stopped. Calls are left out: they were not complete."""
        return Assistant(
            content=self._content(),
            stop="aborted",
            usage=self._usage(request),
            model=self.model,
            attempts=tuple(self.attempts),
        )

    def failed(self, request: ModelRequest, failure: Failure, usage: Usage | None) -> Assistant:
        """The message of a reply that broke off, with what was received."""
        return Assistant(
            content=self._content(),
            stop="error",
            error=failure,
            usage=usage or self._usage(request),
            model=self.model,
            attempts=tuple(self.attempts),
        )


class _Silence:
    """Ends a scope when one wait lasts too long. Costs two assignments an event and no timer."""

    def __init__(self) -> None:
        self.scope: asyncio.Timeout | None = None
        self.over = False
        self._loop = asyncio.get_running_loop()
        self._limit = 0.0
        self._since: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, limit_s: float) -> None:
        self._since = self._loop.time()
        if limit_s != self._limit:
            self._limit = limit_s
            self._arm(limit_s)

    def end(self) -> None:
        self._since = None

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _arm(self, delay: float) -> None:
        self.close()
        self._timer = self._loop.call_later(delay, self._check)

    def _check(self) -> None:
        now = self._loop.time()
        left = self._limit if self._since is None else self._since + self._limit - now
        if left > 0:
            self._arm(left)
        elif self.scope is not None:
            self.over = True
            expire(self.scope)


async def collect(
    client: ModelClient,
    request: ModelRequest,
    emit: Callable[[Delta | Reset], Awaitable[None]],
    *,
    abort: Abort,
    make_decoder: Callable[[], Decoder],
    draft: Draft,
    first_s: float,
    idle_s: float,
) -> Assistant:
    """Send `request`, hand out what may be shown, return the message.

    A `ModelError`, a silence longer than `first_s` (before the first event) or `idle_s` (after it) and
    a stream without an end become an `Assistant` with `stop="error"` that keeps the partial text.
    Raises `Aborted` if `abort` is requested.
    """
    silence = _Silence()

    async def work(scope: asyncio.Timeout) -> Assistant:
        silence.scope = scope
        return await _collect(client, request, emit, make_decoder, draft, silence, first_s, idle_s)

    try:
        return await abort.guard(work)
    except ModelError as error:
        return draft.failed(request, error.failure, error.usage)
    except TimeoutError:
        if not silence.over:
            raise
        failure = Failure(kind="network", message="the model sent nothing for too long")
        return draft.failed(request, failure, None)
    finally:
        silence.close()


async def _collect(
    client: ModelClient,
    request: ModelRequest,
    emit: Callable[[Delta | Reset], Awaitable[None]],
    make_decoder: Callable[[], Decoder],
    draft: Draft,
    silence: _Silence,
    first_s: float,
    idle_s: float,
) -> Assistant:
    decoder = make_decoder()
    raw: list[str] = []  # as written, for the count of a reply that is ended early
    wait_s = first_s
    async with aclosing(client.stream(request)) as stream:
        while True:
            silence.begin(wait_s)
            item = await anext(stream, None)
            silence.end()
            wait_s = idle_s
            if isinstance(item, Delta):
                raw.append(item.text)
                for delta in decoder.feed(item):
                    await emit(delta)
                if decoder.is_complete:
                    ended = draft.ended(request, "".join(raw))
                    return await _close(decoder, ended, emit)
            elif isinstance(item, Assistant):
                return await _close(decoder, item, emit)
            elif item is None:
                raise ModelError("stream_incomplete", "the reply ended without a finish")
            else:
                draft.reset(item)
                decoder = make_decoder()
                raw.clear()
                wait_s = first_s
                await emit(item)


async def _close(
    decoder: Decoder, raw: Assistant, emit: Callable[[Delta | Reset], Awaitable[None]]
) -> Assistant:
    reply = decoder.close(raw)
    for delta in decoder.late:
        await emit(delta)
    return reply
