"""HTTP for model clients: one method, so that tests and other stacks plug in without patching."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias


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
        """Names in lower case are found."""
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


_Exchange: TypeAlias = AbstractAsyncContextManager[HttpResponse]


class HttpTransport:
    """The default: connections are kept and shared by everything in one event loop (`http1`). `connect_s`
    limits making a connection; how long a silent one is waited for is the caller's matter.

    An address that the environment names a proxy for (`HTTPS_PROXY`, `NO_PROXY`, ...) is asked through
    aiohttp, which knows how; this machine itself never is.
    """

    def __init__(self, *, connect_s: float = 15.0) -> None:
        self._connect_s = connect_s

    def send(self, request: HttpRequest) -> _Exchange:
        return _exchange_for(request.url)(request, self._connect_s)


@lru_cache(maxsize=256)
def _exchange_for(url: str) -> Callable[[HttpRequest, float], _Exchange]:
    """How an address is reached; modules are imported with the first request."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    place = urlsplit(url)
    host = place.hostname or ""
    is_far = host != "localhost" and not host.startswith("127.") and host != "::1"
    if is_far and place.scheme in getproxies() and not proxy_bypass(host):
        from .aio import Exchange
    else:
        from .http1 import Exchange
    return Exchange
