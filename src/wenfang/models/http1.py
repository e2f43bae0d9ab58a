"""HTTP/1.1 for model requests: a connection per request at a time, kept for the next one.

A model client needs little of HTTP: POST, a head, a body that grows for minutes, an early end. What it
needs often it should not pay for: a delta costs one wake-up and no queue. Parsing is llhttp's, TLS is
Python's, addresses are tried side by side (happy eyeballs). No redirects, no cookies, no proxies.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
import zlib
from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from types import TracebackType
from typing import Any, NamedTuple, TypeAlias, cast
from urllib.parse import urlsplit

import httptools

from .per_loop import PerLoop
from .transport import HttpRequest, HttpResponse, TransportError

_TAIL_S = 0.25  # how long the end of a finished stream is waited for, to keep its connection
_KEPT_S = 15.0  # how long a connection without a request is good for another one
_KEPT = 100  # connections without a request, at one address
_ADDRESSES_S = 10.0  # how long a name's addresses are remembered
_SECOND_ADDRESS_S = 0.25  # until the next address is tried beside a silent one
_LARGEST_HEAD = 128 * 1024
_HEADERS = b"accept-encoding: identity\r\nuser-agent: wenfang\r\n"


# Family, kind, protocol, canonical name, address: one line of `getaddrinfo`.
_Address: TypeAlias = tuple[int, int, int, str, tuple[Any, ...]]


class _Origin(NamedTuple):
    """Where connections go: those to the same place can stand in for each other."""

    is_tls: bool
    host: str
    port: int


@lru_cache(maxsize=256)
def _place(url: str) -> tuple[_Origin, bytes]:
    """Origin, and the request line's end and `host` header. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url} is no web address (http:// or https://)")
    if parts.username is not None:
        raise ValueError("an address with a user name is not supported; use the API key")
    is_tls = parts.scheme == "https"
    host = parts.hostname.encode("idna").decode() if ":" not in parts.hostname else parts.hostname
    origin = _Origin(is_tls, host, parts.port or (443 if is_tls else 80))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    name = f"[{host}]" if ":" in host else host
    if parts.port is not None:
        name = f"{name}:{parts.port}"
    if not target.isascii() or any(c <= " " or c == "\x7f" for c in target + name):
        raise ValueError(f"{url} has characters that an address cannot have")
    return origin, f" {target} HTTP/1.1\r\nhost: {name}\r\n".encode()


class Exchange:
    """One request and its response."""

    def __init__(self, request: HttpRequest, connect_s: float) -> None:
        self._request = request
        self._connect_s = connect_s

    async def __aenter__(self) -> HttpResponse:
        pool = await _pools.get()
        request = self._request
        try:
            origin, line = _place(request.url)
            data = _head(request, line)
            connection = pool.take(origin) or await pool.connect(origin, self._connect_s)
        except (OSError, ValueError, TimeoutError) as error:
            raise TransportError(_reason(error, self._connect_s)) from error
        self._pool, self._connection = pool, connection
        try:
            connection.send(data)
            return await connection.response()
        except BaseException:
            connection.abort()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        connection = self._connection
        try:
            if kind is None and not connection.complete:
                async with asyncio.timeout(_TAIL_S):
                    while await connection.read():
                        pass
        except (TimeoutError, TransportError):
            pass
        finally:
            if connection.is_reusable:
                self._pool.keep(connection)
            else:
                connection.abort()


def _head(request: HttpRequest, line: bytes) -> bytes:
    """The request as bytes. Raises ValueError for a header that would end early."""
    body = request.body
    head = bytearray(request.method.encode() + line + _HEADERS)
    for name, value in request.headers.items():
        if "\n" in value or "\r" in value or not value.isascii():
            raise ValueError(f"the header {name} has characters that it cannot have")
        head += f"{name}: {value}\r\n".encode()
    if body is not None:
        head += b"content-length: %d\r\n" % len(body)
    head += b"\r\n"
    return bytes(head + body) if body else bytes(head)


def _reason(error: Exception, connect_s: float) -> str:
    if isinstance(error, TimeoutError) and not error.args:
        return f"no answer within {connect_s:g} s"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not trusted: {error.verify_message}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


class _Response:
    """What has come of a response. `headers` has names in lower case."""

    __slots__ = ("headers", "read", "status")

    def __init__(self, connection: _Connection) -> None:
        self.status = connection.status
        self.headers: Mapping[str, str] = connection.headers
        self.read = connection.read


class _Connection(asyncio.Protocol):
    """A connection, and the response that is being read on it."""

    def __init__(self, origin: _Origin) -> None:
        self.origin = origin
        self.kept_since = 0.0
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._waiter: asyncio.Future[None] | None = None
        self._error: TransportError | None = None
        self._closed = False
        self._paused = False
        self._begin()
        self.complete = True

    def _begin(self) -> None:
        """Expect a response."""
        self.status = 0
        self.headers: dict[str, str] = {}
        self.complete = False
        self._has_head = False
        self._ends_with_connection = False
        self._stays_open = False
        self._chunks: list[bytes] = []
        self._interim = False
        self._size = 0
        self._inflate: zlib._Decompress | None = None  # pyright: ignore[reportPrivateUsage]

    # For the exchange

    def send(self, data: bytes) -> None:
        self._begin()
        self._transport.write(data)

    async def response(self) -> HttpResponse:
        """The response, once its head is there. Raises `TransportError`."""
        while not self._has_head:
            if self._error is not None:
                raise self._error
            await self._wait()
        return _Response(self)

    async def read(self) -> bytes:
        while True:
            if self._chunks:
                data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
                self._chunks.clear()
                return data
            if self._error is not None:
                raise self._error
            if self.complete:
                return b""
            await self._wait()

    @property
    def is_reusable(self) -> bool:
        return self._stays_open and not self._closed

    def abort(self) -> None:
        """Close at once, without waiting for what is on its way."""
        self._transport.abort()

    @property
    def closed(self) -> bool:
        return self._closed

    def listen(self) -> None:
        """Read from the network again: data is wanted, or the news that the server has left."""
        if self._paused:
            self._paused = False
            self._transport.resume_reading()

    async def _wait(self) -> None:
        self.listen()
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, why: str) -> None:
        self._stays_open = False
        if self._error is None and not self.complete:
            self._error = TransportError(why)
        self._transport.abort()
        self._wake()

    # For asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self.complete:  # nobody asked for this
            self._transport.abort()
            return
        if self._waiter is None or self._waiter.done():
            # Nobody waits: the rest adds up in the system, and in the end the server has to wait.
            self._paused = True
            self._transport.pause_reading()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._fail("the server wants to speak another protocol")
        except httptools.HttpParserError as error:
            self._fail(f"the answer is no HTTP ({type(error).__name__})")
        if not self._has_head:
            self._size += len(data)
            if self._size > _LARGEST_HEAD:
                self._fail("the head of the answer does not end")
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed = True
        if not self.complete and self._error is None:
            if self._has_head and self._ends_with_connection and exc is None:
                self.complete = True
            else:
                why = _reason(exc, 0) if exc is not None else "the server closed the connection"
                self._error = TransportError(why)
        self._wake()

    # For the parser

    @property
    def _is_over(self) -> bool:
        return self.complete or self._error is not None

    def on_message_begin(self) -> None:
        if self.complete:
            self._fail("the server answered twice")

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._is_over:
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        known = self.headers.get(key)
        self.headers[key] = text if known is None else f"{known}, {text}"

    def on_headers_complete(self) -> None:
        if self._is_over:
            return
        self.status = self._parser.get_status_code()
        self._interim = 100 <= self.status < 200
        if self._interim:
            return
        self._has_head = True
        headers = self.headers
        self._ends_with_connection = (
            "content-length" not in headers and "transfer-encoding" not in headers
        )
        coding = headers.get("content-encoding", "identity").lower()
        if coding in ("gzip", "deflate"):
            self._inflate = zlib.decompressobj(wbits=47 if coding == "gzip" else zlib.MAX_WBITS)
        elif coding != "identity":
            self._fail(f"the answer is compressed in a way that was not asked for ({coding})")

    def on_body(self, body: bytes) -> None:
        if self._is_over:
            return
        if self._inflate is not None:
            try:
                body = self._inflate.decompress(body)
            except zlib.error:
                self._fail("the answer is compressed, and damaged")
                return
        if body:
            self._chunks.append(body)

    def on_message_complete(self) -> None:
        if self._interim:
            self.headers.clear()
        elif not self._is_over:
            self.complete = True
            self._stays_open = self._parser.should_keep_alive()


class _Pool:
    """The connections of one event loop that wait for a request."""

    def __init__(self) -> None:
        self._kept: dict[_Origin, deque[_Connection]] = {}
        self._addresses: dict[_Origin, tuple[float, list[_Address]]] = {}
        self._tls: ssl.SSLContext | None = None

    def take(self, origin: _Origin) -> _Connection | None:
        kept = self._kept.get(origin)
        good_since = time.monotonic() - _KEPT_S
        while kept:
            connection = kept.pop()
            if not connection.closed and connection.kept_since >= good_since:
                return connection
            connection.abort()
        return None

    def keep(self, connection: _Connection) -> None:
        connection.kept_since = time.monotonic()
        connection.listen()
        kept = self._kept.setdefault(connection.origin, deque())
        kept.append(connection)
        while kept[0].closed or len(kept) > _KEPT:
            kept.popleft().abort()

    async def connect(self, origin: _Origin, within_s: float) -> _Connection:
        """Raises OSError or TimeoutError."""
        from aiohappyeyeballs import start_connection  # pyright: ignore[reportUnknownVariableType]

        loop = asyncio.get_running_loop()
        async with asyncio.timeout(within_s):
            addresses = await self._resolve(origin)
            joined = await start_connection(
                addresses, happy_eyeballs_delay=_SECOND_ADDRESS_S, interleave=1
            )
            try:
                _, connection = await loop.create_connection(
                    lambda: _Connection(origin),
                    sock=joined,
                    ssl=self._context() if origin.is_tls else None,
                    server_hostname=origin.host if origin.is_tls else None,
                )
            except BaseException:
                joined.close()
                raise
        return connection

    async def _resolve(self, origin: _Origin) -> list[_Address]:
        loop = asyncio.get_running_loop()
        known = self._addresses.get(origin)
        if known is None or known[0] < loop.time():
            infos = await loop.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
            known = self._addresses[origin] = (loop.time() + _ADDRESSES_S, list(infos))
        return known[1]

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
            self._tls.set_alpn_protocols(["http/1.1"])
        return self._tls

    async def close(self) -> None:
        for kept in self._kept.values():
            for connection in kept:
                connection.abort()
        self._kept.clear()
        await asyncio.sleep(0)  # a connection is closed in the loop's next turn


_pools = PerLoop(_Pool, _Pool.close)
