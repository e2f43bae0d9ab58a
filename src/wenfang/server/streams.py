"""Event streams: frames that were encoded once, written to a socket at the reader's own speed.

FastAPI's own event stream validates and encodes each item for each reader and moves it through two
more queues; here the journal's bytes go to the socket as they are. A reader that does not read makes
`send` wait, and the subscription behind it is bounded, so that no reader costs more than its share.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from wenfang.problems import Problem
from wenfang.runs import Frame, Subscription

KEEPALIVE_S = 15.0
KEEPALIVE = b": keep-alive\n\n"
GAP_S = 0.02

Open: TypeAlias = Callable[[], AbstractAsyncContextManager[Subscription]]
Check: TypeAlias = Callable[[], Awaitable[object]]
"""Whether the reader may still read. Raises `Problem` if not."""

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


def encode(frames: Iterable[Frame]) -> bytes:
    """Frames as server-sent events. JSON on one line holds no CR or LF, so it is one `data` line."""
    parts: list[bytes] = []
    for frame in frames:
        if frame.seq is not None:
            parts.append(b"id: %d\n" % frame.seq)
        parts.append(b"data: %b\n\n" % frame.data)
    return b"".join(parts)


def parse_position(after: str | None, last_event_id: str | None) -> int:
    """The last fact a reader has: the header wins over the query, nothing means none."""
    value, field = (last_event_id, "Last-Event-ID") if last_event_id else (after, "after")
    if not value:
        return 0
    if not (value.isascii() and value.isdigit() and len(value) <= 15):
        raise Problem("invalid_request", field=field, problem="must be the number of an event")
    return int(value)


class Streams:
    """The open event streams of a server; `close` ends them all, so that it can shut down."""

    def __init__(self, keepalive_s: float = KEEPALIVE_S) -> None:
        self.keepalive_s = keepalive_s
        self.is_closing = False
        self._open: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        self.is_closing = True
        for pump in self._open:
            pump.cancel()

    def respond(self, open_subscription: Open, check: Check | None = None) -> Response:
        """The answer that streams a subscription. A `Problem` on opening is answered as usual; `check` is
        asked again from time to time."""
        if self.is_closing:
            raise Problem("shutting_down")
        return _EventStream(self, open_subscription, check)

    async def run(
        self, subscription: Subscription, check: Check | None, receive: Receive, send: Send
    ) -> None:
        """Write until the subscription ends, the reader leaves or may not read on, or the server closes."""
        pump = asyncio.create_task(_pump(subscription, send, self.keepalive_s))
        ends = [pump, asyncio.create_task(_disconnected(receive))]
        if check is not None:
            ends.append(asyncio.create_task(_refused(check, self.keepalive_s)))
        self._open.add(pump)
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._open.discard(pump)
            for each in ends:
                each.cancel()
            results = await asyncio.gather(*ends, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result


class _EventStream(Response):
    def __init__(
        self,
        streams: Streams,
        open_subscription: Open,
        check: Check | None,
    ) -> None:
        super().__init__()
        self._streams = streams
        self._open_subscription = open_subscription
        self._check = check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        async with self._open_subscription() as subscription:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await self._streams.run(subscription, self._check, receive, send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _pump(subscription: Subscription, send: Send, keepalive_s: float) -> None:
    loop = asyncio.get_running_loop()
    written_at = loop.time()

    async def write(body: bytes) -> None:
        nonlocal written_at
        written_at = loop.time()
        await send({"type": "http.response.body", "body": body, "more_body": True})

    async def keep_alive() -> None:
        while True:
            await asyncio.sleep(written_at + keepalive_s - loop.time())
            if loop.time() >= written_at + keepalive_s:
                await write(KEEPALIVE)

    pings = asyncio.create_task(keep_alive())
    try:
        while frames := await subscription.batch():
            await write(encode(frames))
            await asyncio.sleep(GAP_S)  # no eye is faster, and what comes meanwhile is one write
    finally:
        pings.cancel()
        await asyncio.gather(pings, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _refused(check: Check, every_s: float) -> None:
    """Until the reader may not read any more; what it is told then, it is told when it comes back."""
    while True:
        await asyncio.sleep(every_s)
        try:
            await check()
        except Problem:
            return
