"""Import and export over a real socket: studio.md test 5 without the studio."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from tests.workspace.documents_made import docx, epub, paragraph, zipped

from wenfang.server.security import MAX_BODY_BYTES
from wenfang.workspace.documents import DEFAULT_LIMITS, ImportLimits

from .conftest import Running, envelope

pytestmark = pytest.mark.anyio

PLACES = ("database", "folder")
Start = Callable[..., Any]

BOOK = "第一章 雨夜\n\n　　下雨了。\n\n第二章 归人\n\n他回来了。\n"
HEADED = docx(
    paragraph("第一章 雨夜", "Heading1") + paragraph("下雨了。") + paragraph("第二章 归人", "Heading1") + paragraph("他回来了。"),
    styles='<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>',
)  # fmt: skip


async def post(server: Running, pid: str, name: str, data: bytes, folder: str = "") -> Any:
    query = f"name={quote(name)}" + (f"&folder={quote(folder)}" if folder else "")
    return await server.http.post(f"/api/projects/{pid}/import?{query}", content=data)


async def imported(server: Running, pid: str, name: str, data: bytes, folder: str = "") -> Any:
    answer = await post(server, pid, name, data, folder)
    assert answer.status_code == 201, answer.text
    return answer.json()


def where(place: str, folder: Path) -> dict[str, str]:
    return {"path": str(folder)} if place == "folder" else {}


async def project(server: Running, title: str = "书") -> str:
    return (await server.json("POST", "/api/projects", {"title": title}, 201))["id"]


async def paths(server: Running, pid: str) -> list[str]:
    tree = await server.json("GET", f"/api/projects/{pid}/files")
    return [each["path"] for each in tree["entries"] if each["kind"] == "file"]


CHAPTERS = ["雨夜归人/01 第一章 雨夜.md", "雨夜归人/02 第二章 归人.md"]
ROWS: dict[str, tuple[str, bytes, list[str]]] = {
    "txt": ("雨夜归人.txt", BOOK.encode(), CHAPTERS),
    "gbk": ("雨夜归人.txt", BOOK.encode("gbk"), CHAPTERS),
    "docx": ("雨夜归人.docx", HEADED, CHAPTERS),
    "epub": (
        "x.epub",
        epub({"a": "<h1>第一章</h1><p>雨。</p>", "b": "<h1>第二章</h1><p>雪。</p>"}, title="雨夜归人"),
        ["雨夜归人/01 雨夜归人.md", "雨夜归人/02 第一章.md", "雨夜归人/03 第二章.md"],
    ),
    "zip": (
        "x.zip",
        zipped({"a.txt": "雨。", "雨夜归人.txt": BOOK.encode("gbk")}),
        ["a.md", *CHAPTERS],
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
async def test_UI_7_import(shared: Running, row: str) -> None:
    name, data, expected = ROWS[row]
    pid = await project(shared)
    out = await imported(shared, pid, name, data)
    assert [each["path"] for each in out["files"]] == expected
    assert (out["warnings"], out["problems"]) == ([], [])
    assert await paths(shared, pid) == expected
    for each in out["files"]:
        read = await shared.json("GET", f"/api/projects/{pid}/files/{quote(each['path'])}")
        assert read["size_bytes"] == each["size_bytes"]


async def test_UI_7_each_new_file_is_told_to_the_project(shared: Running) -> None:
    pid = await project(shared)
    session = await shared.json("POST", f"/api/projects/{pid}/sessions", None, 201)
    out = await imported(shared, pid, "雨夜归人.txt", BOOK.encode(), "草稿")
    await shared.json("PATCH", f"/api/sessions/{session['id']}", {"title": "完"})
    facts = await shared.events(f"/api/projects/{pid}/events", until="session.changed")
    facts += await shared.events(f"/api/projects/{pid}/events?after=1", until="session.changed")
    told = {
        (each["seq"], each["path"], each["change"], each["by"])
        for each in facts
        if each["type"] == "file.changed"
    }
    assert [each[1:] for each in sorted(told)] == [
        (each["path"], "created", "author") for each in out["files"]
    ]
    assert all(each["path"].startswith("草稿/雨夜归人/") for each in out["files"])


async def test_UI_7_names_that_are_taken(shared: Running) -> None:
    pid = await project(shared)
    for expected in ("雨夜归人/", "雨夜归人 (2)/", "雨夜归人 (3)/"):
        out = await imported(shared, pid, "雨夜归人.txt", BOOK.encode())
        assert [each["path"].startswith(expected) for each in out["files"]] == [True, True]
    assert len(await paths(shared, pid)) == 6


async def test_warnings_and_problems_have_codes_and_words(shared: Running) -> None:
    pid = await project(shared)
    data = zipped({"1.docx": "雨。", "2.pdf": b"%PDF-1.4\n", "3.txt": "雪。"})
    out = await imported(shared, pid, "x.zip", data)
    assert [each["path"] for each in out["files"]] == ["1.md", "3.md"]
    assert out["warnings"] == [
        {
            "code": "type_differs",
            "params": {"named": "docx", "found": "txt"},
            "message": "The name says docx, the content is txt; it was read as that",
        }
    ]
    (problem,) = out["problems"]
    assert (problem["name"], problem["code"]) == ("2.pdf", "document_unsupported")
    assert problem["params"] == {"name": "2.pdf", "found": "PDF"}
    assert "PDF" in problem["message"]


REFUSED: dict[str, tuple[str, bytes, int, str]] = {
    "empty": ("name=a.txt", b"", 422, "document_empty"),
    "no name": ("", b"x", 400, "invalid_request"),
    "an empty name": ("name=", b"x", 400, "invalid_request"),
    "a name too long": (f"name={'a' * 1001}", b"x", 400, "invalid_request"),
    "a pdf": ("name=a.pdf", b"%PDF-1.4\n", 415, "document_unsupported"),
    "broken": ("name=a.docx", b"PK\x03\x04 no more", 422, "document_damaged"),
    "hostile": ("name=a.zip", zipped({"../../a.txt": "x"}), 422, "document_unsafe"),
    "outside": ("name=a.txt&folder=../x", b"x", 400, "path_invalid"),
    "absolute": ("name=a.txt&folder=/etc", b"x", 400, "path_invalid"),
    "ours": ("name=a.txt&folder=.wenfang", b"x", 400, "path_invalid"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("row", REFUSED)
async def test_what_is_refused_leaves_nothing(
    shared: Running, tmp_path: Path, place: str, row: str
) -> None:
    query, data, status, code = REFUSED[row]
    made = await shared.json(
        "POST", "/api/projects", {"title": "书", **where(place, tmp_path)}, 201
    )
    answer = await shared.http.post(f"/api/projects/{made['id']}/import?{query}", content=data)
    assert (answer.status_code, envelope(answer)["code"]) == (status, code)
    assert str(tmp_path) not in answer.text
    assert await paths(shared, made["id"]) == []


@pytest.mark.parametrize("call", ["import?name=a.txt", "export?format=txt"])
async def test_no_such_project(shared: Running, call: str) -> None:
    method = "POST" if call.startswith("import") else "GET"
    answer = await shared.http.request(method, f"/api/projects/prj_x/{call}")
    assert (answer.status_code, envelope(answer)["code"]) == (404, "project_not_found")


@pytest.mark.parametrize("is_announced", [True, False])
async def test_a_body_above_the_limit(
    start: Start, monkeypatch: pytest.MonkeyPatch, is_announced: bool
) -> None:
    """Refused by its announced length, or as soon as more than that has come."""
    monkeypatch.setattr("wenfang.workspace.documents.DEFAULT_LIMITS", ImportLimits(max_bytes=1000))

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(11):
            yield b"x" * 100

    async with start() as server:
        pid = await project(server)
        body = b"x" * 1100 if is_announced else pieces()
        answer = await server.http.post(f"/api/projects/{pid}/import?name=a.txt", content=body)
        assert answer.status_code == 413
        error = envelope(answer)
        assert error["code"] == "document_too_large"
        assert error["params"] == {"name": "a.txt", "value": 1100, "limit": 1000}
        assert await paths(server, pid) == []


async def test_an_import_may_be_larger_than_other_bodies(shared: Running) -> None:
    """Six texts of two million characters; only imports have this limit."""
    assert DEFAULT_LIMITS.max_bytes > MAX_BODY_BYTES
    pid = await project(shared)
    data = zipped(
        {f"{at}.txt": ("雨" * 80 + "\n") * 25_000 for at in range(6)}, method=zipfile.ZIP_STORED
    )
    assert len(data) > MAX_BODY_BYTES
    out = await imported(shared, pid, "x.zip", data)
    assert [each["path"] for each in out["files"]] == [f"{at}.md" for at in range(6)]
    answer = await shared.http.post(f"/api/projects/{pid}/folders", content=data)
    assert envelope(answer)["code"] == "request_too_large"


async def test_another_site_may_not_import(shared: Running) -> None:
    pid = await project(shared)
    answer = await shared.http.post(
        f"/api/projects/{pid}/import?name=a.txt",
        content=b"x",
        headers={"origin": "https://evil.example"},
    )
    assert (answer.status_code, envelope(answer)["code"]) == (403, "origin_refused")


TYPES = {
    "txt": "text/plain; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "epub": "application/epub+zip",
    "zip": "application/zip",
}


@pytest.mark.parametrize("to", TYPES)
async def test_UI_11_export_and_import_again(shared: Running, to: str) -> None:
    pid = await project(shared, "雨夜 归人/下")
    await imported(shared, pid, "书.txt", BOOK.encode())
    answer = await shared.http.get(f"/api/projects/{pid}/export?format={to}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == TYPES[to]
    assert answer.headers["x-content-type-options"] == "nosniff"
    kind, _, name = answer.headers["content-disposition"].partition("; filename*=UTF-8''")
    assert (kind, unquote(name)) == ("attachment", f"雨夜 归人_下.{to}")
    other = await project(shared)
    out = await imported(shared, other, f"x.{to}", answer.content)
    # A zip holds the folder; a book holds its title, which no folder can be named by.
    assert [each["path"] for each in out["files"]] == (
        ["书/01 第一章 雨夜.md", "书/02 第二章 归人.md"]
        if to == "zip"
        else [
            "雨夜 归人_下/01 雨夜 归人_下.md",
            "雨夜 归人_下/02 第一章 雨夜.md",
            "雨夜 归人_下/03 第二章 归人.md",
        ]
    )


async def test_UI_11_export_of_a_folder_and_of_a_file(shared: Running) -> None:
    pid = await project(shared)
    out = await imported(shared, pid, "雨夜归人.txt", BOOK.encode())
    for path, title in [("雨夜归人", "雨夜归人"), (out["files"][1]["path"], "第二章 归人")]:
        answer = await shared.http.get(
            f"/api/projects/{pid}/export", params={"format": "txt", "path": path}
        )
        assert answer.content.decode("utf-8-sig").startswith(f"{title}\n")
        assert unquote(answer.headers["content-disposition"]).endswith(f"{title}.txt")


async def test_a_zip_is_the_files_as_they_are(shared: Running) -> None:
    pid = await project(shared)
    await imported(shared, pid, "雨夜归人.txt", BOOK.encode())
    answer = await shared.http.get(f"/api/projects/{pid}/export?format=zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as package:
        assert package.namelist() == CHAPTERS
        assert package.read(CHAPTERS[1]).decode() == "# 第二章 归人\n\n他回来了。\n"


EXPORTS: dict[str, tuple[str, int, str]] = {
    "nothing": ("format=txt", 409, "nothing_to_export"),
    "an empty zip": ("format=zip", 409, "nothing_to_export"),
    "no format": ("", 400, "invalid_request"),
    "another format": ("format=pdf", 400, "invalid_request"),
    "missing": ("format=txt&path=no.md", 404, "file_not_found"),
    "outside": ("format=txt&path=../..", 400, "path_invalid"),
    "ours": ("format=zip&path=.wenfang", 400, "path_invalid"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("row", EXPORTS)
async def test_what_cannot_be_exported(
    shared: Running, tmp_path: Path, place: str, row: str
) -> None:
    query, status, code = EXPORTS[row]
    made = await shared.json(
        "POST", "/api/projects", {"title": "书", **where(place, tmp_path)}, 201
    )
    answer = await shared.http.get(f"/api/projects/{made['id']}/export?{query}")
    assert (answer.status_code, envelope(answer)["code"]) == (status, code)
    assert str(tmp_path) not in answer.text


async def test_a_body_that_breaks_off_leaves_nothing(
    shared: Running, caplog: pytest.LogCaptureFixture
) -> None:
    pid = await project(shared)
    port = int(shared.url.rpartition(":")[2])
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /api/projects/{pid}/import?name=a.txt HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    writer.write(f"{head}Content-Length: 1000\r\n\r\n".encode() + b"x" * 10)
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    assert await paths(shared, pid) == []
    assert [each for each in caplog.records if each.levelname == "ERROR"] == []
