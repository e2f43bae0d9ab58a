"""The transport on aiohttp, for machines that reach the world through a proxy. Imported late: aiohttp
costs more to import than the rest of the package."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType

import aiohttp

from .per_loop import PerLoop
from .transport import HttpRequest, HttpResponse, TransportError

_TAIL_S = 0.25  # how long the end of a finished stream is waited for, to keep its connection
_LARGE = 1024 * 1024  # aiohttp wants larger bodies as a file, so that it can send them in pieces
_BROKEN = (aiohttp.ClientError, OSError)


class Exchange:
    """One request and its response, with aiohttp's exceptions turned into ours."""

    def __init__(self, request: HttpRequest, connect_s: float) -> None:
        self._request = request
        self._connect_s = connect_s

    async def __aenter__(self) -> HttpResponse:
        session = await _sessions.get()
        request, body = self._request, self._request.body
        try:
            self._response = await session.request(
                request.method,
                request.url,
                data=io.BytesIO(body) if body is not None and len(body) >= _LARGE else body,
                headers=request.headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_s),
            )
        except (*_BROKEN, ValueError) as error:  # ValueError: an address that is none
            raise TransportError(_reason(error)) from error
        return _Response(self._response)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        response = self._response
        content = response.content
        if kind is None and not content.at_eof():
            with suppress(TimeoutError, *_BROKEN):
                async with asyncio.timeout(_TAIL_S):
                    while await content.readany():
                        pass
        if content.at_eof():
            response.release()
        else:
            response.close()


class _Response:
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self._read = response.content.readany

    async def read(self) -> bytes:
        try:
            return await self._read()
        except _BROKEN as error:
            raise TransportError(_reason(error)) from error


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _open() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"accept-encoding": "identity", "user-agent": "wenfang"},
        trust_env=True,
    )


_sessions = PerLoop(_open, aiohttp.ClientSession.close)
