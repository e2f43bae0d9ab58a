"""Waiting for a file while another writer of this process has it (TL-24)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from zlib import crc32

from ..errors import WorkspaceError

_STRIPES = 64


class FileLocks:
    """One lock for each file, as far as stripes tell them apart: two files may share one, a file never
    has two. They order the writers of this process; between processes a write compares what it was made
    from. `wait_s` is how long one waits for another."""

    def __init__(self, *, wait_s: float = 0.5) -> None:
        self._stripes = tuple(asyncio.Lock() for _ in range(_STRIPES))
        self._wait_s = wait_s

    @asynccontextmanager
    async def hold(self, file_id: str, path: str) -> AsyncGenerator[None]:
        """Raises `WorkspaceError` "file_busy" if the file is not free in time."""
        lock = self._stripes[crc32(file_id.encode()) % _STRIPES]
        try:
            async with asyncio.timeout(self._wait_s):
                await lock.acquire()
        except TimeoutError:
            raise WorkspaceError("file_busy", path=path) from None
        try:
            yield
        finally:
            lock.release()
