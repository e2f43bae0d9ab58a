"""One connection that notifies and listens, made again when it breaks; what is sent meanwhile is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

LONGEST_NOTICE_BYTES = 7999  # PostgreSQL's limit is 8000, which is too long

_AGAIN_S = 1.0
_ANSWER_S = 10.0
_SETTINGS = {"application_name": "wenfang notices"}
_SEND = "SELECT pg_notify($1, notice) FROM unnest($2::text[]) AS notice"


class Notices:
    """`hear` gets every notice of the channel, also one's own; `changed` is called when the connection is
    there or gone. Both in the event loop that this was opened in."""

    def __init__(
        self,
        connect: Callable[[], Any],
        channel: str,
        hear: Callable[[str], object],
        changed: Callable[[], object],
    ) -> None:
        self._connect = connect
        self._channel = channel
        self._hear = hear
        self._changed = changed
        self._connection: Any = None

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    async def send(self, notices: Sequence[str]) -> None:
        """Tell all who listen, in this order, or nobody if the connection is broken."""
        connection = self._connection
        if connection is not None and notices:
            with suppress(*_failures()):
                await connection.execute(_SEND, self._channel, list(notices))

    async def keep_open(self) -> None:
        """Connect, again and again, until cancelled."""
        while True:
            with suppress(*_failures()):
                await self._listen()
            await asyncio.sleep(_AGAIN_S)

    async def _listen(self) -> None:
        connection = await self._connect()
        gone = asyncio.Event()
        connection.add_termination_listener(_calling(gone.set))
        try:
            await connection.add_listener(self._channel, self._heard)
            self._connection = connection
            self._changed()
            await gone.wait()
        finally:
            self._connection = None
            self._changed()
            connection.terminate()

    def _heard(self, connection: Any, pid: int, channel: str, notice: str) -> None:
        del connection, pid, channel
        self._hear(notice)


@asynccontextmanager
async def open_notices(
    url: str, channel: str, hear: Callable[[str], object], changed: Callable[[], object]
) -> AsyncGenerator[Notices]:
    """Listen on a channel of the database at `url` until the block ends."""
    asyncpg: Any = import_module("asyncpg")
    notices = Notices(
        lambda: asyncpg.connect(
            url, timeout=_ANSWER_S, command_timeout=_ANSWER_S, server_settings=_SETTINGS
        ),
        channel,
        hear,
        changed,
    )
    keeping = asyncio.create_task(notices.keep_open(), name="notices")
    try:
        yield notices
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


def _calling(told: Callable[[], object]) -> Callable[[Any], None]:
    def call(connection: Any) -> None:
        del connection
        told()

    return call


def _failures() -> tuple[type[Exception], ...]:
    asyncpg: Any = import_module("asyncpg")
    return (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)
