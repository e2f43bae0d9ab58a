from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.anyio
Start = Callable[..., Any]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    root = tmp_path / "static"
    (root / "assets").mkdir(parents=True)
    (root / "index.html").write_text("<title>studio</title>")
    (root / "assets" / "main-abc123.js").write_text("1")
    (root / "favicon.svg").write_text("<svg/>")
    (root / ".stamp").write_text("secret")
    (tmp_path / "outside.txt").write_text("secret")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    return root


async def test_page_assets_and_fallback(start: Start, built: Path) -> None:
    async with start(static=built) as server:
        for path in ("/", "/projects/p1", "/settings", "/index.html"):
            page = await server.http.get(path)
            assert (page.status_code, page.text) == (200, "<title>studio</title>")
            assert page.headers["cache-control"] == "no-cache"
            assert "default-src 'self'" in page.headers["content-security-policy"]
        asset = await server.http.get("/assets/main-abc123.js")
        assert "immutable" in asset.headers["cache-control"]
        assert "javascript" in asset.headers["content-type"]
        icon = await server.http.get("/favicon.svg")
        assert icon.headers["cache-control"] == "no-cache"
        head = await server.http.head("/")
        assert (head.status_code, head.content) == (200, b"")


async def test_a_page_that_is_known_is_not_sent_again(start: Start, built: Path) -> None:
    async with start(static=built) as server:
        first = await server.http.get("/")
        again = await server.http.get("/", headers={"if-none-match": first.headers["etag"]})
        assert again.status_code == 304


@pytest.mark.parametrize(
    "path",
    ["/assets/none.js", "/assets/../../outside.txt", "/%2e%2e/outside.txt", "/.stamp", "/link.txt",
     "/assets/%2e%2e/.stamp", "/..%2foutside.txt", "/%00", "/api/x", "/api"],
)  # fmt: skip
async def test_nothing_else_is_served(start: Start, built: Path, path: str) -> None:
    async with start(static=built) as server:
        answer = await server.http.get(path)
        assert "secret" not in answer.text
        assert answer.status_code in (200, 404)
        assert answer.status_code == 404 or "studio" in answer.text


async def test_other_methods_are_refused(start: Start, built: Path) -> None:
    async with start(static=built) as server:
        assert await server.error("POST", "/projects/p1", {}) == (405, "method_not_allowed")


async def test_a_page_that_is_not_built_says_so(start: Start, tmp_path: Path) -> None:
    async with start(static=tmp_path / "none") as server:
        page = await server.http.get("/")
        assert page.status_code == 200
        assert "make start" in page.text
