"""Who may talk to the server: loopback host names and that of its public address, pages of this very
origin, bodies of sane size.

A browser can be tricked into sending requests here by any web page (cross-site requests, DNS
rebinding). The `Host` check defeats rebinding, the `Origin` and `Sec-Fetch-Site` checks defeat
cross-site requests; clients that are no browser send neither header and pass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wenfang.problems import Problem

from .errors import HEADERS, envelope

MAX_BODY_BYTES = 32 * 1024 * 1024
_COUNTED_BY_THE_ROUTE = re.compile(r"/api/projects/[^/]+/import")
"""Bodies that are read piece by piece, with a limit and a code of their own."""


def body_limit(path: str) -> int | None:
    """The most bytes a body for `path` may have; None if the route counts them."""
    return None if _COUNTED_BY_THE_ROUTE.fullmatch(path) else MAX_BODY_BYTES


@dataclass(frozen=True, slots=True)
class PublicUrl:
    """Where people reach the server from other machines, behind what speaks TLS for it."""

    origin: str  # scheme, host and port, in small letters

    @classmethod
    def parse(cls, url: str) -> PublicUrl:
        """Raises Problem `invalid_request`."""
        url = url.strip().rstrip("/").lower()
        scheme, _, netloc = url.partition("://")
        if scheme not in ("http", "https") or _host_of(netloc) is None:
            problem = "must look like https://wenfang.example.org, without a path"
            raise Problem("invalid_request", field="--public-url", problem=problem)
        return cls(url)

    @property
    def netloc(self) -> str:
        return self.origin.partition("://")[2]

    @property
    def is_secure(self) -> bool:
        return self.origin.startswith("https:")


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only mean this machine."""
    host = host.lower().rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _host_of(netloc: str) -> str | None:
    try:
        parts = urlsplit(f"//{netloc}")
        _ = parts.port  # raises for a port that is no number
    except ValueError:
        return None
    if parts.netloc != netloc or "@" in netloc or parts.path or parts.query:
        return None
    return parts.hostname


def refusal(headers: Headers, path: str, public: PublicUrl | None = None) -> Problem | None:
    """The reason to refuse a request, or None."""
    hosts = headers.getlist("host")
    host = hosts[0] if len(hosts) == 1 else ""
    name = _host_of(host)
    is_public = public is not None and host.lower() == public.netloc
    if name is None or not (is_public or is_loopback(name)):
        return Problem("host_refused", host=host[:100])
    if not path.startswith("/api"):
        return None
    origin = headers.get("origin")
    own = public.origin if public is not None and is_public else f"http://{host}".lower()
    if origin is not None and origin.lower() != own:
        return Problem("origin_refused", origin=origin[:100])
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return Problem("origin_refused", origin="")
    length = headers.get("content-length", "0")
    limit = body_limit(path)
    if not length.isdigit() or (limit is not None and int(length) > limit):
        return Problem("request_too_large", limit=limit or MAX_BODY_BYTES)
    return None


class Guard:
    """ASGI middleware: refuses what `refusal` names and adds the security headers to answers."""

    def __init__(self, app: ASGIApp, public: PublicUrl | None = None) -> None:
        self._app = app
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        problem = refusal(Headers(scope=scope), scope["path"], self._public)
        if problem is not None:
            await envelope(problem)(scope, receive, guarded)
        else:
            limit = body_limit(scope["path"])
            bounded = receive if limit is None else _bounded(receive, limit)
            await self._app(scope, bounded, guarded)


def _bounded(receive: Receive, limit: int) -> Receive:
    """Stop reading a body that was sent without a length when it grows too large."""
    read_bytes = 0

    async def bounded() -> Message:
        nonlocal read_bytes
        message = await receive()
        read_bytes += len(message.get("body", b""))
        if read_bytes > limit:
            raise Problem("request_too_large", limit=limit)
        return message

    return bounded
