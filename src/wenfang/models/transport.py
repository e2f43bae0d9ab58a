"""HTTP for model clients: one method, so that tests and other stacks plug in without patching."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from .aio import Exchange


class TransportError(Exception):
    """The connection could not be made, or broke. The text names host and reason, no secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    method: Literal["GET", "POST"]
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


class HttpResponse(Protocol):
    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Names are compared without case."""
        ...

    async def read(self) -> bytes:
        """What has arrived since the last read, waiting for at least one byte; empty at the end.
        Raises `TransportError` if the connection breaks before the end."""
        ...


class Transport(Protocol):
    def send(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpResponse]:
        """Send a request; entering gives the response once its head is there. Leaving early closes the
        connection at once. Raises `TransportError` while entering."""
        ...


class AiohttpTransport:
    """The default. aiohttp is imported at the first request, and one session serves a whole event
    loop. `connect_s` limits making a connection; how long a silent one is waited for is the caller's
    matter."""

    def __init__(self, *, connect_s: float = 15.0) -> None:
        self._connect_s = connect_s
        self._exchange: type[Exchange] | None = None

    def send(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpResponse]:
        if self._exchange is None:
            from .aio import Exchange

            self._exchange = Exchange
        return self._exchange(request, self._connect_s)
