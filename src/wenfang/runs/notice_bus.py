"""The bus on PostgreSQL: what a process says within 25 ms is one statement, a few notices (durable.md §6)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import msgspec

from wenfang.storage.postgres import LONGEST_NOTICE_BYTES, Notices, open_notices

from .bus import Message, decode_payload, encode_message

_CHANNEL = "wenfang"
_FLUSH_S = 0.025
_MOST_WAITING = 4096


class NoticeBus:
    """Messages to all other processes of the database. `me` is this process's name there, `hear` gets
    what others say, `lost` is called when some of it may have been missed."""

    def __init__(
        self, me: str, hear: Callable[[Message], object], lost: Callable[[], object]
    ) -> None:
        self._me = me
        self._hear = hear
        self._lost = lost
        self._waiting: deque[bytes] = deque(maxlen=_MOST_WAITING)
        self._flushing: asyncio.Task[None] | None = None
        self._notices: Notices | None = None

    @asynccontextmanager
    async def opened(self, url: str) -> AsyncGenerator[None]:
        """Speak and listen until the block ends."""
        async with open_notices(url, _CHANNEL, self._receive, self._lost) as self._notices:
            try:
                yield
            finally:
                if self._flushing is not None:
                    await self._flushing
                self._notices = None

    def say(self, message: Message) -> None:
        """See `Bus`. Where nobody can hear it, nothing waits."""
        if self._notices is None or not self._notices.is_open:
            return
        try:
            self._waiting.append(encode_message(message))
        except UnicodeEncodeError:  # half a character has no form here; the fact will say it
            return
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.get_running_loop().create_task(self._flush())

    async def _flush(self) -> None:
        while self._waiting:
            await asyncio.sleep(_FLUSH_S)
            if self._notices is not None:
                await self._notices.send(self._payloads())

    def _payloads(self) -> list[str]:
        """All that waits, in as few notices as it fits in; what fits in none is left out."""
        head = f'["{self._me}",['.encode()
        room = LONGEST_NOTICE_BYTES - len(head) - 2
        bodies: list[bytes] = []
        while self._waiting:
            message = self._waiting.popleft()
            if bodies and len(bodies[-1]) + 1 + len(message) <= room:
                bodies[-1] += b"," + message
            elif len(message) <= room:
                bodies.append(message)
        return [(head + body + b"]]").decode() for body in bodies]

    def _receive(self, payload: str) -> None:
        try:
            sender, messages = decode_payload(payload)
        except msgspec.DecodeError:  # of another version
            self._lost()
            return
        if sender != self._me:
            for message in messages:
                self._hear(message)
