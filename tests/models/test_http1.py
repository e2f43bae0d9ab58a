"""HTTP/1.1 as servers really speak it: any cutting, any framing, ends in the middle, TLS, proxies."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import sys
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from wenfang.models import HttpRequest, HttpTransport, TransportError, http1

pytestmark = pytest.mark.anyio

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
HELLO = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"


class Server:
    """Answers each request with the next item: bytes, or pieces with a turn of the loop in between.
    `None` in the end closes the connection."""

    def __init__(self, *answers: bytes | list[bytes | None]) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.connections = 0
        self.gone = asyncio.Event()  # a client has left

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(
                    (
                        int(line.split(b":")[1])
                        for line in head.split(b"\r\n")
                        if line.startswith(b"content-length:")
                    ),
                    0,
                )
                self.requests.append(head + await reader.readexactly(length))
                answer = self.answers.pop(0)
                for piece in [answer] if isinstance(answer, bytes) else answer:
                    if piece is None:
                        return
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.gone.set()
        finally:
            writer.close()


@asynccontextmanager
async def serving(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncGenerator[str]:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http{'s' if tls else ''}://127.0.0.1:{port}"


def post(url: str, body: bytes | None = b"{}", **headers: str) -> HttpRequest:
    return HttpRequest(method="POST", url=url, headers=headers, body=body)


async def fetch(request: HttpRequest, **options: Any) -> tuple[int, dict[str, str], bytes]:
    pieces: list[bytes] = []
    async with HttpTransport(**options).send(request) as response:
        while data := await response.read():
            pieces.append(data)
        return response.status, dict(response.headers), b"".join(pieces)


FRAMED = {
    "length": HELLO,
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=1\r\nllo\r\n0\r\n\r\n",
    "trailers": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n",
    "after 100": b"HTTP/1.1 100 Continue\r\nx-a: 1\r\n\r\n" + HELLO,
    "after 103": b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" + HELLO,
}


@given(at=st.lists(st.integers(1, 100), max_size=6), name=st.sampled_from([*FRAMED]))
def test_any_cutting_gives_the_same_response(at: list[int], name: str) -> None:
    data = FRAMED[name]
    cuts = [0, *sorted({cut for cut in at if cut < len(data)}), len(data)]
    pieces: list[bytes | None] = [data[a:b] for a, b in pairwise(cuts)]

    async def once() -> None:
        server = Server(pieces, HELLO)
        async with serving(server) as url:
            status, headers, body = await fetch(post(url))
            assert (status, body) == (200, b"hello")
            assert not {"x-a", "link"} & headers.keys()
            assert (await fetch(post(url)))[2] == b"hello"
            assert server.connections == 1

    asyncio.run(once())


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n",
    ],
)
async def test_a_body_without_a_length_ends_with_the_connection(head: bytes) -> None:
    server = Server([head + b"hel", b"lo", None], HELLO)
    async with serving(server) as url:
        assert (await fetch(post(url)))[2] == b"hello"
        assert (await fetch(post(url)))[2] == b"hello"
    assert server.connections == 2


@pytest.mark.parametrize(
    "head", [b"HTTP/1.0 200 OK\r\n", b"HTTP/1.1 200 OK\r\nconnection: close\r\n"]
)
async def test_a_connection_that_will_close_is_not_kept(head: bytes) -> None:
    server = Server(head + b"content-length: 5\r\n\r\nhello", HELLO)
    async with serving(server) as url:
        assert (await fetch(post(url)))[2] == b"hello"
        assert (await fetch(post(url)))[2] == b"hello"
    assert server.connections == 2


async def test_no_content_has_none() -> None:
    server = Server(b"HTTP/1.1 204 No Content\r\n\r\n", HELLO)
    async with serving(server) as url:
        assert await fetch(post(url)) == (204, {}, b"")
        assert (await fetch(post(url)))[2] == b"hello"
    assert server.connections == 1


async def test_the_request_as_it_is_sent() -> None:
    server = Server(HELLO, HELLO)
    async with serving(server) as url:
        await fetch(post(f"{url}/v1/chat?a=b", b"{}", authorization="Bearer k"))
        await fetch(HttpRequest(method="GET", url=url, headers={}))
    host = url.removeprefix("http://").encode()
    assert server.requests[0] == (
        b"POST /v1/chat?a=b HTTP/1.1\r\nhost: " + host + b"\r\naccept-encoding: identity\r\n"
        b"user-agent: wenfang\r\nauthorization: Bearer k\r\ncontent-length: 2\r\n\r\n{}"
    )
    assert server.requests[1].startswith(b"GET / HTTP/1.1\r\n")
    assert b"content-length" not in server.requests[1]


def test_names_of_hosts() -> None:
    for url, host in [
        ("https://api.example.com/v1", b"host: api.example.com\r\n"),
        ("https://api.example.com:8443/v1", b"host: api.example.com:8443\r\n"),
        ("http://[::1]:80/v1", b"host: [::1]:80\r\n"),
        ("http://例子.example/v1", b"host: xn--fsqu00a.example\r\n"),
    ]:
        origin, line = http1._place(url)
        assert line.endswith(host)
        assert origin.is_tls is url.startswith("https")
        assert origin.port in (80, 443, 8443)


async def test_a_header_that_comes_twice() -> None:
    twice = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\ncontent-length: 0\r\n\r\n"
    async with serving(Server(twice)) as url:
        assert (await fetch(post(url)))[1]["x-a"] == "1, 2"


@pytest.mark.parametrize(
    ("coding", "data"),
    [
        (b"gzip", gzip.compress(b"hello", mtime=0)),
        (b"deflate", zlib.compress(b"hello")),
        (b"identity", b"hello"),
    ],
    ids=["gzip", "deflate", "identity"],
)
async def test_a_compression_nobody_asked_for(coding: bytes, data: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: %b\r\ncontent-length: %d\r\n\r\n"
    async with serving(Server(head % (coding, len(data)) + data)) as url:
        assert (await fetch(post(url)))[2] == b"hello"


BROKEN: dict[str, tuple[list[bytes | None], str]] = {
    "nothing": ([None], "closed the connection"),
    "half a head": ([b"HTTP/1.1 200 OK\r\nx-a", None], "closed the connection"),
    "half a body": ([HELLO[:-1], None], "closed the connection"),
    "half a chunk": (
        [b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel", None],
        "closed the connection",
    ),
    "no last chunk": (
        [b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n", None],
        "closed the connection",
    ),
    "no http": ([b"SSH-2.0-OpenSSH_9.2\r\n"], "is no HTTP"),
    "a bad length": ([b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"], "is no HTTP"),
    "a bad chunk": (
        [b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"],
        "is no HTTP",
    ),
    "another protocol": (
        [b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
        "another protocol",
    ),
    "a head without end": (
        [b"HTTP/1.1 200 OK\r\n", *[b"x-a: %b\r\n" % (b"a" * 8192)] * 20],
        "does not end",
    ),
    "brotli": ([b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 1\r\n\r\nx"], "br"),
    "no gzip": (
        [b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nxx"],
        "damaged",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_answer(name: str) -> None:
    pieces, words = BROKEN[name]
    server = Server(pieces, HELLO)
    async with serving(server) as url:
        with pytest.raises(TransportError, match=words):
            await fetch(post(url))
        server.answers = [HELLO]
        assert (await fetch(post(url)))[2] == b"hello"  # over another connection
        assert server.connections == 2


async def test_what_came_before_the_break_is_read_first() -> None:
    async with (
        serving(Server([HELLO[:-1], None])) as url,
        HttpTransport().send(post(url)) as response,
    ):
        assert await response.read() == b"hell"
        for _ in range(2):
            with pytest.raises(TransportError):
                await response.read()


async def test_a_connection_the_server_has_closed_is_not_used() -> None:
    server = Server([HELLO, None], HELLO)
    async with serving(server) as url:
        assert (await fetch(post(url)))[2] == b"hello"
        await asyncio.sleep(0.05)  # the news arrives
        assert (await fetch(post(url)))[2] == b"hello"
    assert server.connections == 2


async def test_a_connection_of_yesterday_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "_KEPT_S", -1.0)
    server = Server(HELLO, HELLO)
    async with serving(server) as url:
        await fetch(post(url))
        await fetch(post(url))
        await server.gone.wait()
    assert server.connections == 2


async def test_no_more_connections_are_kept_than_are_good_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http1, "_KEPT", 1)
    server = Server(*[HELLO] * 4)
    async with serving(server) as url:
        await asyncio.gather(*(fetch(post(url)) for _ in range(3)))
        await server.gone.wait()
        await fetch(post(url))
    assert server.connections == 3


async def test_words_after_the_answer_end_the_connection() -> None:
    server = Server([HELLO, b"HTTP/1.1 408 Request Timeout\r\n\r\n"], HELLO)
    async with serving(server) as url:
        assert (await fetch(post(url)))[2] == b"hello"
        await server.gone.wait()
        assert (await fetch(post(url)))[2] == b"hello"
    assert server.connections == 2


async def test_a_body_that_was_not_read_to_its_end_is() -> None:
    server = Server([HELLO[:-2], HELLO[-2:]], HELLO)
    async with serving(server) as url:
        async with HttpTransport().send(post(url)) as response:
            assert response.status == 200
        await fetch(post(url))
    assert server.connections == 1


async def test_who_does_not_read_holds_the_server_up() -> None:
    wrote = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal wrote
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
                wrote += 65536
        except ConnectionError:
            writer.close()

    async with serving(flood) as url, HttpTransport().send(post(url)) as response:
        seen, held = -1, 0
        while seen != wrote:
            seen = wrote
            await asyncio.sleep(0.1)
        assert wrote < 32 * 1024 * 1024
        while held < 40 * 1024 * 1024:
            held += len(await response.read())


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (post("ftp://127.0.0.1/"), "no web address"),
        (post("127.0.0.1:80/v1"), "no web address"),
        (post("http://me:secret@127.0.0.1/"), "user name"),
        (post("http://127.0.0.1:99999/"), "Port"),
        (post("http://127.0.0.1/a b"), "characters"),
        (post("http://127.0.0.1/é"), "characters"),
        (post("http://127.0.0.1/", authorization="secret\r\nx: y"), "authorization"),
        (post("http://127.0.0.1/", authorization="secret密"), "authorization"),
    ],
)
async def test_a_request_that_cannot_be_sent(request_: HttpRequest, words: str) -> None:
    with pytest.raises(TransportError, match=words) as caught:
        await fetch(request_)
    assert "secret" not in str(caught.value)


async def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    import aiohappyeyeballs

    async def forever(*_: Any, **__: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(aiohappyeyeballs, "start_connection", forever)
    with pytest.raises(TransportError, match=r"no answer within 0\.01 s"):
        await fetch(post("http://127.0.0.1:9/"), connect_s=0.01)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(made)
    return made


async def speaks_first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await reader.read()
    writer.close()


async def test_tls(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    server = Server(HELLO, HELLO)
    async with serving(server, context(authority, "127.0.0.1")) as url:
        assert (await fetch(post(url)))[2] == b"hello"
        assert (await fetch(post(url)))[2] == b"hello"
        assert server.connections == 1
    async with serving(Server(), context(authority, "other.example")) as url:
        with pytest.raises(TransportError, match="not trusted: IP address mismatch"):
            await fetch(post(url))
    async with serving(speaks_first) as url:
        with pytest.raises(TransportError, match=r"(?i)wrong.version|record layer"):
            await fetch(post(url.replace("http:", "https:")))


async def test_a_certificate_of_a_stranger(authority: trustme.CA) -> None:
    async with serving(Server(), context(authority, "127.0.0.1")) as url:
        with pytest.raises(TransportError, match="the certificate is not trusted"):
            await fetch(post(url))


async def test_a_proxy_is_asked_for_what_is_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a process of its own: proxies are looked up once."""
    near, proxy = Server(HELLO), Server(HELLO)
    code = (
        "import asyncio, sys; sys.path.insert(0, '.')\n"
        "from tests.models.test_http1 import fetch, post\n"
        "async def both():\n"
        "    for url in sys.argv[1:]: assert (await fetch(post(url)))[2] == b'hello'\n"
        "asyncio.run(both())"
    )
    async with serving(near) as near_url, serving(proxy) as proxy_url:
        monkeypatch.setenv("HTTP_PROXY", proxy_url)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, near_url, "http://far.example/v1/chat"
        )
        assert await process.wait() == 0
    assert near.requests[0].startswith(b"POST / HTTP/1.1")
    assert proxy.requests[0].startswith(b"POST http://far.example/v1/chat HTTP/1.1")
