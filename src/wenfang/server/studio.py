"""The studio's built files: hashed assets for ever, the page itself always fresh."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

BUILT = Path(__file__).parent.parent / "web" / "static"

_MISSING = """<!doctype html>
<html lang="zh">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Wenfang</title>
<style>body{font:17px/1.8 serif;max-width:40em;margin:4em auto;padding:0 1em}</style>
<h1>文房 Wenfang</h1>
<p>服务已经启动，但网页还没有构建。<code>make start</code> 会构建它，之后刷新本页。命令行可以照常使用：<code>wenfang chat</code>。</p>
<p lang="en">The server is running, but the studio has not been built. <code>make start</code> builds
it; reload this page then. The command line works meanwhile: <code>wenfang chat</code>.</p>
<p><a href="/api/openapi.json">OpenAPI</a></p>
</html>
"""


class Studio:
    """The ASGI app for everything that is no route: files of `root`, and its page for the studio's own
    addresses."""

    def __init__(self, root: Path = BUILT) -> None:
        self._root = root
        self._files = StaticFiles(directory=root, check_dir=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path = str(scope["path"]).lstrip("/")
        if path == "api" or path.startswith("api/"):
            raise HTTPException(404)
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405)
        await self._answer(path, scope)(scope, receive, send)

    def _answer(self, path: str, scope: Scope) -> Response:
        file = _file(self._root, path)
        if file is None:
            if path.startswith("assets/"):
                raise HTTPException(404)
            path, file = "index.html", self._root / "index.html"
        if not file.is_file():
            return HTMLResponse(_MISSING, headers={"cache-control": "no-cache"})
        answer = self._files.file_response(file, file.stat(), scope)
        answer.headers["cache-control"] = _caching(path)
        return answer


def _file(root: Path, path: str) -> Path | None:
    """The built file at `path`, never one outside of `root` and never a hidden one."""
    if not path or "\0" in path or any(part.startswith(".") for part in path.split("/")):
        return None
    file = (root / path).resolve()
    return file if file.is_relative_to(root.resolve()) and file.is_file() else None


def _caching(path: str) -> str:
    return "public, max-age=31536000, immutable" if path.startswith("assets/") else "no-cache"
