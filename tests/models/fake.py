"""A transport that answers from a list, and helpers to write replies as bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any

from wenfang.core import Assistant, Delta, ModelError, ModelRequest, user
from wenfang.models import ChatClient, HttpRequest, TransportError

SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


class Answer(AbstractAsyncContextManager["Answer"]):
    """One response: pieces are handed out one a read; a `TransportError` among them is raised."""

    def __init__(
        self,
        *pieces: bytes | TransportError,
        status: int = 200,
        headers: Mapping[str, str] = SSE,
        refuse: TransportError | None = None,
    ) -> None:
        self.status = status
        self.headers = headers
        self.left = False
        self._pieces = list(pieces)
        self._refuse = refuse

    async def read(self) -> bytes:
        piece = self._pieces.pop(0) if self._pieces else b""
        if isinstance(piece, TransportError):
            raise piece
        return piece

    async def __aenter__(self) -> Answer:
        if self._refuse is not None:
            raise self._refuse
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.left = True


class FakeTransport:
    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[HttpRequest] = []

    def send(self, request: HttpRequest) -> Answer:
        self.requests.append(request)
        return self.answers.pop(0)

    @property
    def body(self) -> dict[str, Any]:
        """The last request's body."""
        return json.loads(self.requests[-1].body or b"null")


def event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more})


DONE = b"data: [DONE]\n\n"
STOP = chunk({}, "stop") + DONE


def whole(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> Answer:
    body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}
    return Answer(json.dumps(body).encode(), headers=JSON)


def client(*answers: Answer, **options: Any) -> tuple[ChatClient, FakeTransport]:
    transport = FakeTransport(*answers)
    options = {"base_url": "http://model.test/v1", "model": "m", **options}
    return ChatClient(transport=transport, **options), transport


def ask(text: str = "hi", **fields: Any) -> ModelRequest:
    return ModelRequest(messages=(user(text),), **fields)


async def collect(
    chat: Any, request: ModelRequest | None = None
) -> tuple[list[Delta], Assistant | None]:
    """The deltas and the message of one request."""
    deltas: list[Delta] = []
    async for item in chat.stream(request or ask()):
        if isinstance(item, Assistant):
            return deltas, item
        deltas.append(item)
    return deltas, None


async def seen_until_failure(
    chat: Any, request: ModelRequest | None = None
) -> tuple[list[Any], ModelError | None]:
    """Everything of one request, and the failure that ended it."""
    seen: list[Any] = []
    try:
        async for item in chat.stream(request or ask()):
            seen.append(item)  # noqa: PERF401 - what came before a failure counts
    except ModelError as failure:
        return seen, failure
    return seen, None


def text_of(deltas: Sequence[Delta], kind: str = "text") -> str:
    return "".join(delta.text for delta in deltas if delta.kind == kind)
