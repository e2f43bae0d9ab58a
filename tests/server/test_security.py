"""The guard as a table: what a browser, an attacker's page and a plain client may send."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from wenfang.server import is_loopback
from wenfang.server.security import MAX_BODY_BYTES, refusal

HOST = "127.0.0.1:8000"
OK = None


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (HOST, OK),
        ("127.0.0.1", OK),
        ("127.8.8.8:80", OK),
        ("localhost:8000", OK),
        ("LOCALHOST:8000", OK),
        ("localhost.:8000", OK),
        ("studio.localhost:8000", OK),
        ("[::1]:8000", OK),
        ("", "host_refused"),
        ("evil.example", "host_refused"),
        ("127.0.0.1.evil.example", "host_refused"),
        ("localhost.evil.example", "host_refused"),
        ("evil.example:8000@127.0.0.1", "host_refused"),
        ("127.0.0.1@evil.example", "host_refused"),
        ("127.0.0.1:8000/evil", "host_refused"),
        ("127.0.0.1:port", "host_refused"),
        ("0.0.0.0:8000", "host_refused"),
        ("192.168.1.4:8000", "host_refused"),
        ("[::ffff:192.168.1.4]:8000", "host_refused"),
        ("127.0.0.1:8000 evil.example", "host_refused"),
        ("2130706433", "host_refused"),
    ],
)
def test_host(host: str, expected: str | None) -> None:
    problem = refusal(Headers({"host": host}), "/api/projects")
    assert (problem and problem.code) == expected


def test_two_hosts_are_refused() -> None:
    raw = [(b"host", HOST.encode()), (b"host", b"evil.example")]
    problem = refusal(Headers(raw=raw), "/health")
    assert problem is not None
    assert problem.code == "host_refused"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, OK),
        ({"origin": f"http://{HOST}"}, OK),
        ({"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}, OK),
        ({"sec-fetch-site": "none"}, OK),
        ({"origin": "https://evil.example"}, "origin_refused"),
        ({"origin": "null"}, "origin_refused"),
        ({"origin": ""}, "origin_refused"),
        ({"origin": "http://127.0.0.1:9000"}, "origin_refused"),
        ({"origin": "http://localhost:8000"}, "origin_refused"),
        ({"origin": f"https://{HOST}"}, "origin_refused"),
        ({"origin": f"http://{HOST}.evil.example"}, "origin_refused"),
        ({"sec-fetch-site": "cross-site"}, "origin_refused"),
        ({"sec-fetch-site": "same-site"}, "origin_refused"),
        ({"content-length": str(MAX_BODY_BYTES + 1)}, "request_too_large"),
        ({"content-length": "-1"}, "request_too_large"),
    ],
)
def test_origin_and_size(headers: dict[str, str], expected: str | None) -> None:
    problem = refusal(Headers({"host": HOST, **headers}), "/api/projects")
    assert (problem and problem.code) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/projects/p1/import", OK),
        ("/api/projects/p1/files/import", "request_too_large"),
        ("/api/projects/p1/import/x", "request_too_large"),
        ("/api/projects/p1/export", "request_too_large"),
    ],
)
def test_only_imports_count_their_body_themselves(path: str, expected: str | None) -> None:
    problem = refusal(Headers({"host": HOST, "content-length": str(MAX_BODY_BYTES + 1)}), path)
    assert (problem and problem.code) == expected


def test_a_link_from_another_site_opens_the_studio() -> None:
    headers = Headers({"host": HOST, "sec-fetch-site": "cross-site"})
    assert refusal(headers, "/projects/p1") is None


@pytest.mark.parametrize("name", ["::1", "127.0.0.1", "localhost", "a.localhost"])
def test_loopback(name: str) -> None:
    assert is_loopback(name)
