"""A model behind an OpenAI-compatible `/chat/completions`, streamed or not.

    client = ChatClient(base_url="https://api.example.com/v1", api_key=key, model="some-model")

No SDK and no retry here: one request is one try (`Resilient` decides about more).
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Callable

from wenfang.core import (
    Assistant,
    ModelError,
    ModelEvent,
    ModelRequest,
    Usage,
    estimate_request,
    estimate_tokens,
    new_id,
)

from .chunks import protocol_error
from .errors import Redactor, provider_error, retry_after_s
from .profiles import Profile, profile_for
from .reply import Reply
from .sse import EventSplitter, EventTooLarge
from .transport import HttpRequest, HttpResponse, HttpTransport, Transport, TransportError
from .wire import RequestEncoder

_MAX_ERROR_BODY = 64 * 1024
_MAX_BODY = 64 * 1024 * 1024


class ChatClient:
    """One model at one address. Safe to share between runs; it holds no state of any of them.

    `base_url` is what stands before `/chat/completions`. `profile` defaults to what is known of the
    model's family. `new_id` mints the ids of calls (the provider's are never used, FB13), `now` gives
    Unix seconds for dates in `Retry-After`.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        profile: Profile | None = None,
        transport: Transport | None = None,
        new_id: Callable[[str], str] = new_id,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.name = model
        self.base_url = base_url.rstrip("/")
        self.profile = profile or profile_for(model, base_url)
        self._transport = transport or HttpTransport()
        self._new_id = new_id
        self._now = now
        self._redact = Redactor(key=api_key)
        self._encoder = RequestEncoder(model, self.profile)
        self._headers = {"content-type": "application/json", "accept": "text/event-stream, */*"}
        if api_key:
            self._headers["authorization"] = f"Bearer {api_key}"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ModelClient`. Deltas that arrive in one network read come as one per block.

        Usage that the provider did not report is estimated from the text and flagged. A failure before
        the reply began costs nothing: its `usage` is zero.
        """
        post = HttpRequest(
            method="POST",
            url=f"{self.base_url}/chat/completions",
            headers=self._headers,
            body=self._encoder.body(request),
        )
        reply = self._reply(request)
        begun = False
        try:
            async with self._transport.send(post) as response:
                if response.status != 200:
                    raise await self._refusal(response)
                begun = True
                kind = response.headers.get("content-type", "")
                if not _is_stream(kind, request):
                    reply.add_whole(await _read_whole(response, kind))
                splitter = EventSplitter()
                while not reply.done:
                    data = await response.read()
                    failure = reply.feed(splitter.feed(data) if data else splitter.close())
                    for delta in reply.take():
                        yield delta
                    if failure is not None:
                        raise failure
                    if not data:
                        break
        except TransportError as error:
            raise self._broken(error, reply if begun else None) from error
        except EventTooLarge as error:
            raise protocol_error(str(error)) from error
        message = reply.finish(model=self.name, new_id=self._new_id)
        if self._is_full(message):
            raise ModelError("overflow", "The context window is full.", usage=message.usage)
        yield message

    def _is_full(self, message: Assistant) -> bool:
        """Cut before its first word, with a prompt that fills the window (engine A4)."""
        window = self.profile.context_window
        is_empty = message.stop == "length" and not message.content
        return is_empty and window is not None and message.usage.input >= 0.99 * window

    def _reply(self, request: ModelRequest) -> Reply:
        def estimate(text: str) -> Usage:
            return Usage(
                input=estimate_request(request), output=estimate_tokens(text), estimated=True
            )

        return Reply(
            redact=self._redact,
            think_tags=self.profile.think_tags,
            finish=self.profile.finish,
            estimate=estimate,
        )

    async def _refusal(self, response: HttpResponse) -> ModelError:
        """The failure that a status other than 200 stands for. It cost nothing."""
        if 300 <= response.status < 400:
            target = self._redact(response.headers.get("location", "another address"))
            said = f"The address redirects to {target}; use that one."
            return ModelError("fatal", said, usage=Usage())
        body = await _read_up_to(response, _MAX_ERROR_BODY)
        try:
            said: object = json.loads(body)
        except ValueError:
            said = body.decode("utf-8", "replace")
        return provider_error(
            said,
            status=response.status,
            redact=self._redact,
            retry_after=retry_after_s(response.headers, self._now),
            usage=Usage(),
        )

    def _broken(self, error: TransportError, reply: Reply | None) -> ModelError:
        said = self._redact(str(error))
        if reply is None:
            return ModelError("network", f"No connection to {self.base_url}: {said}", usage=Usage())
        return ModelError(
            "stream_incomplete", f"The connection broke: {said}", usage=reply.reported()
        )


def _is_stream(kind: str, request: ModelRequest) -> bool:
    """Whether the answer is a stream. Some servers answer in another way than they were asked, and
    some do not say what a stream is."""
    if "event-stream" in kind:
        return True
    return request.stream and "json" not in kind and "html" not in kind


async def _read_up_to(response: HttpResponse, limit_bytes: int) -> bytes:
    """The body, or its beginning."""
    pieces: list[bytes] = []
    size = 0
    while size < limit_bytes and (data := await response.read()):
        pieces.append(data)
        size += len(data)
    return b"".join(pieces)[:limit_bytes]


async def _read_whole(response: HttpResponse, kind: str) -> bytes:
    if "html" in kind:
        raise ModelError(
            "fatal", "The address answered with a web page; check the base URL.", usage=Usage()
        )
    body = await _read_up_to(response, _MAX_BODY + 1)
    if len(body) > _MAX_BODY:
        raise protocol_error(f"a reply of more than {_MAX_BODY} bytes")
    return body
