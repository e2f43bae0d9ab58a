"""A scripted model as a real HTTP server that speaks chat completions.

In tests:

    async with ScriptedServer(load_script("script.toml")) as server:
        client = ChatClient(base_url=server.url, model="any")
        ...
    server.check()

From a shell: `wenfang-scripted script.toml --port 8099`. `GET /requests` shows what was asked,
`GET /check` what did not fit the script (409 then); on exit unused and extra steps are an error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import socket
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, cast

from .encode import encode, stream_events, whole_body
from .script import RawItem, Reply, Script, ScriptError, Steps, load_script

_RESET_AFTER_S = 0.05  # so that what was sent before is read before the reset discards it


@dataclass(slots=True, kw_only=True)
class RecordedRequest:
    """`body` is the JSON, `raw` its bytes. `ended` is "dropped" if the client closed first."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    raw: bytes
    ended: Literal["open", "done", "dropped"] = "open"


class ScriptedServer:
    """Serves a script on `host` and `port` (0: a free one) while its context is open."""

    def __init__(self, script: Script, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.requests: list[RecordedRequest] = []
        self.connections = 0  # how many were opened so far
        self._script = script
        self._steps = Steps(script)
        self._host = host
        self._port = port
        self._open: set[_Connection] = set()

    @property
    def url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://{self._host}:{self._port}/v1"

    async def __aenter__(self) -> ScriptedServer:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), self._host, self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for connection in tuple(self._open):
            connection.close()
        await self._server.wait_closed()

    def problems(self) -> list[str]:
        """Unused steps and extra requests so far."""
        return self._steps.problems()

    def check(self) -> None:
        """Raises AssertionError if a step was not used, or a request had no step."""
        problems = self.problems()
        if problems:
            raise AssertionError(f"{self._script.name}: {'; '.join(problems)}")

    def answer(self, request: RecordedRequest) -> tuple[int, Reply]:
        """The step for a request; a refusal if there is none that fits."""
        self.requests.append(request)
        step = self._steps.next(str(request.body.get("model", "")))
        if step is None:
            said = f"the script has no reply for request {len(self.requests)}"
            return 0, _refusal(said)
        at, reply = step
        if (reply.chunks or reply.raw) and not request.body.get("stream"):
            self._steps.extra.append(f"step {at + 1} needs a request that streams")
            return 0, _refusal(f"step {at + 1} of the script needs a request that streams")
        return at + 1, reply

    def show(self, path: str) -> tuple[int, Any]:
        """The answer to a GET: its status and JSON."""
        if path.endswith("/models"):
            return 200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
        if path.endswith("/requests"):
            shown = [{"path": r.path, "body": r.body, "ended": r.ended} for r in self.requests]
            return 200, shown
        if path.endswith("/check"):
            problems = self.problems()
            return (409 if problems else 200), {"ok": not problems, "problems": problems}
        return 404, {"error": {"message": f"there is nothing at {path}"}}

    def opened(self, connection: _Connection) -> None:
        """Called by a connection when it is made."""
        self.connections += 1
        self._open.add(connection)

    def closed(self, connection: _Connection) -> None:
        """Called by a connection when it is gone."""
        self._open.discard(connection)


def _refusal(said: str) -> Reply:
    return Reply(http=400, body={"error": {"message": said, "type": "script_exhausted"}})


@dataclass(slots=True)
class _Incoming:
    """A request whose body is still arriving."""

    method: str
    path: str
    headers: dict[str, str]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = int(self.headers.get("content-length", "0"))


class _Connection(asyncio.Protocol):
    """One client. Requests are answered one after another; a client that leaves ends the answer."""

    _transport: asyncio.Transport

    def __init__(self, server: ScriptedServer) -> None:
        self._server = server
        self._buffer = bytearray()
        self._incoming: _Incoming | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._server.closed(self)
        if self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._advance()

    def _advance(self) -> None:
        if self._task is not None:
            return
        if self._incoming is None:
            head, found, rest = bytes(self._buffer).partition(b"\r\n\r\n")
            if not found:
                return
            self._incoming = _parse_head(head)
            self._buffer = bytearray(rest)
        incoming = self._incoming
        if len(self._buffer) < incoming.size:
            return
        body = bytes(self._buffer[: incoming.size])
        del self._buffer[: incoming.size]
        self._incoming = None
        self._task = asyncio.get_running_loop().create_task(self._handle(incoming, body))
        self._task.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled() and task.exception() is None and not self._transport.is_closing():
            self._advance()

    async def _handle(self, incoming: _Incoming, raw: bytes) -> None:
        if incoming.method == "GET":
            status, value = self._server.show(incoming.path)
            self._plain(status, encode(value), {"content-type": "application/json"})
            return
        body = _parse_object(raw)
        if body is None or not incoming.path.endswith("/chat/completions"):
            said = encode({"error": {"message": "send JSON to /v1/chat/completions"}})
            self._plain(400, said, {"content-type": "application/json"})
            return
        request = RecordedRequest(path=incoming.path, headers=incoming.headers, body=body, raw=raw)
        step, reply = self._server.answer(request)
        try:
            await self._reply(reply, step, request)
            request.ended = "done"
        except asyncio.CancelledError:
            request.ended = "dropped"
            raise

    async def _reply(self, reply: Reply, step: int, request: RecordedRequest) -> None:
        model = str(request.body.get("model", ""))
        await asyncio.sleep(reply.latency_ms / 1000)
        if reply.http == 0:
            await self._break(reply)
        elif reply.body is not None:
            text = isinstance(reply.body, str)
            body = reply.body.encode() if text else encode(reply.body)
            kind = "text/plain; charset=utf-8" if text else "application/json"
            self._plain(reply.http, body, {"content-type": kind, **reply.headers})
        elif request.body.get("stream"):
            self._head(
                200,
                {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
                | reply.headers,
            )
            await self._stream(reply, step, model)
        else:
            body = whole_body(reply, step=step, model=model)
            headers = {"content-type": "application/json", **reply.headers}
            await self._whole(reply, body, headers)

    async def _stream(self, reply: Reply, step: int, model: str) -> None:
        if reply.raw:
            for item in reply.raw:
                await self._raw(RawItem(text=item) if isinstance(item, str) else item)
        else:
            for event in stream_events(reply, step=step, model=model):
                await asyncio.sleep(reply.pace_ms / 1000)
                self._chunk(event)
        if reply.end in ("done", "eof"):
            self._transport.write(b"0\r\n\r\n")
        else:
            await self._break(reply)

    async def _raw(self, item: RawItem) -> None:
        data = bytes.fromhex(item.hex) or item.text.encode("utf-8", "surrogatepass")
        if data:
            self._chunk(data)
        await asyncio.sleep(item.sleep_ms / 1000)
        if item.reset:
            await self._reset()

    async def _whole(self, reply: Reply, body: bytes, headers: dict[str, str]) -> None:
        if reply.end in ("done", "eof"):
            self._plain(200, body, headers)
            return
        self._head(200, {**headers, "content-length": str(len(body))})
        self._transport.write(body[: len(body) // 2])
        await self._break(reply)

    async def _break(self, reply: Reply) -> None:
        if reply.end == "reset":
            await self._reset()
        self._transport.close()

    async def _reset(self) -> None:
        await asyncio.sleep(_RESET_AFTER_S)
        sock: socket.socket = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()
        await asyncio.sleep(0)

    def _plain(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self._head(status, {**headers, "content-length": str(len(body))})
        self._transport.write(body)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {'OK' if status == 200 else 'Scripted'}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._transport.write("\r\n".join((*lines, "", "")).encode("latin-1"))

    def _chunk(self, data: bytes) -> None:
        self._transport.write(b"%x\r\n%b\r\n" % (len(data), data))


def _parse_object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _parse_head(head: bytes) -> _Incoming:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = (*first.split(" "), "", "")[:3]
    pairs = (line.partition(":") for line in lines)
    return _Incoming(
        method, path, {name.strip().lower(): value.strip() for name, _, value in pairs}
    )


async def _serve(script: Script, host: str, port: int) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with ScriptedServer(script, host=host, port=port) as server:
        print(f"Scripted model at {server.url}", flush=True)  # noqa: T201 - this is its output
        await stop.wait()
    for problem in server.problems():
        print(f"{script.name}: {problem}", file=sys.stderr)  # noqa: T201
    return 1 if server.problems() else 0


def main(argv: list[str] | None = None) -> int:
    """Run `wenfang-scripted`. Exit codes: 0 the script was used up exactly, 1 it was not, 2 it cannot be
    served."""
    parser = argparse.ArgumentParser(
        prog="wenfang-scripted", description="A scripted model that speaks chat completions."
    )
    parser.add_argument("script", help="the script, a .toml or .json file")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=0, help="port; 0 takes a free one")
    options = parser.parse_args(argv)
    try:
        script = load_script(options.script)
        return asyncio.run(_serve(script, options.host, options.port))
    except ScriptError as error:
        print(error, file=sys.stderr)  # noqa: T201
    except OSError as error:
        reason = error.strerror or error
        print(f"cannot listen on {options.host}:{options.port}: {reason}", file=sys.stderr)  # noqa: T201
    return 2


if __name__ == "__main__":
    sys.exit(main())
