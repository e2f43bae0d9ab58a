"""Running the app: a bound loopback socket, uvicorn on uvloop, an orderly end on SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
import threading
from collections.abc import Callable, Generator

import uvicorn
from fastapi import FastAPI

from wenfang.problems import Problem

from .security import is_loopback

DRAIN_S = 5


def bind(host: str, port: int, *, is_public: bool = False) -> socket.socket:
    """A bound socket, of a loopback address unless the server `is_public`; port 0 takes a free one.

    Raises Problem `port_taken` or `address_unusable`.
    """
    if not is_public and not is_loopback(host):
        why = "without --public-url it serves this machine only"
        raise Problem("address_unusable", host=host, problem=why)
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, proto)
    except OSError as error:
        raise Problem("address_unusable", host=host, problem=str(error.strerror)) from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(1024)  # fails here too if another socket listens on the port
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise Problem("port_taken", port=port) from error
        raise Problem("address_unusable", host=host, problem=str(error.strerror)) from error
    return bound


def url_of(bound: socket.socket) -> str:
    """The address to open in a browser."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Server(uvicorn.Server):
    """Ends on SIGTERM or SIGINT without dying of it, so that what was opened around it is closed.
    `closing` is called first: event streams must end before connections can drain."""

    def __init__(
        self, app: FastAPI, *, closing: Callable[[], None], ready: Callable[[], None] | None = None
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                access_log=False,
                log_config=None,
                lifespan="off",
                ws="none",
                server_header=False,
                timeout_graceful_shutdown=DRAIN_S,
            )
        )
        self._closing = closing
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._ready is not None:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._closing()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
