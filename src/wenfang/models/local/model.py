"""The embedded model as a client like any other: chat completions with the process of `LocalServer`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace

from wenfang.core import Delta, ModelEvent, ModelRequest

from ..chat import ChatClient
from ..profiles import Profile
from ..transport import HttpRequest, HttpResponse, HttpTransport, Transport
from .server import Endpoint, LocalServer

_PROFILE = Profile(
    family="local",
    max_output=4096,
    temperature=0.0,
    dialect="schema",
    tool_choices=frozenset(),
)
# How the grammar engine of llama.cpp writes JSON: without line breaks, which are tokens too.
_COMPACT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_SIGN_OF_LIFE_S = 25.0


class LocalModel:
    """A model on this machine. Made for the schema dialect: small models cannot call tools natively.

    Loading and reading a long prompt can take minutes without a word. Until the first one an empty
    delta is sent now and then, so that nobody takes the silence for a broken connection; `patience_s`
    is the end of that.
    """

    profile = _PROFILE

    def __init__(
        self,
        server: LocalServer,
        *,
        name: str = "",
        transport: Transport | None = None,
        patience_s: float = 600.0,
        sign_of_life_s: float = _SIGN_OF_LIFE_S,
    ) -> None:
        self.name = name or server.model.name.removesuffix(".gguf")
        self._server = server
        self._transport = _OneShot(transport or HttpTransport())
        self._patience_s = patience_s
        self._sign_of_life_s = sign_of_life_s

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ModelClient`. Starts the process if it does not run. A process that dies meanwhile is a
        `ModelError` "network" or "stream_incomplete"; the next request starts another one."""
        async with (
            aclosing(self._reply(request)) as events,
            aclosing(self._kept_alive(events)) as alive,
        ):
            async for event in alive:
                yield event

    async def _reply(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        async with (
            self._server.use() as endpoint,
            aclosing(self._client(endpoint).stream(_compact(request))) as events,
        ):
            async for event in events:
                yield event

    def _client(self, endpoint: Endpoint) -> ChatClient:
        return ChatClient(
            base_url=endpoint.url,
            api_key=endpoint.api_key,
            model=self.name,
            profile=_PROFILE,
            transport=self._transport,
        )

    async def _kept_alive(
        self, events: AsyncGenerator[ModelEvent, None]
    ) -> AsyncGenerator[ModelEvent, None]:
        """The events, with signs of life before the first."""
        first = asyncio.ensure_future(anext(events))
        try:
            waited_s = 0.0
            while waited_s < self._patience_s:
                done, _ = await asyncio.wait({first}, timeout=self._sign_of_life_s)
                if done:
                    break
                waited_s += self._sign_of_life_s
                yield Delta(kind="text", text="")
            yield await first
        finally:
            if not first.done():
                first.cancel()
                await asyncio.wait({first})
        async for event in events:
            yield event


def _compact(request: ModelRequest) -> ModelRequest:
    if request.response_schema is None:
        return request
    schema = {**request.response_schema, "x-guidance": dict(_COMPACT)}
    return replace(request, response_schema=schema)


class _OneShot:
    """One connection per request: the server closes idle ones without warning, and a new one to the
    same machine costs nothing."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    def send(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpResponse]:
        headers = {**request.headers, "connection": "close"}
        return self._inner.send(replace(request, headers=headers))
