"""A project that began with a template: the agent writes at the desk of a writer (writing.md §7, §8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from wenfang.testing import Reply, call, say

from .conftest import Running

pytestmark = pytest.mark.anyio

Start = Callable[..., Any]
BODY = "　　夜色渐深，他推开了那扇门。\n\n　　没有人。"
CREATE = call("create_file", title="第一章 风雪", file_type="draft")
PATH = "正文/第一章 风雪.md"


async def novel(server: Running) -> tuple[str, str]:
    body = {"title": "长篇", "template": "novel", "language": "zh"}
    project = await server.json("POST", "/api/projects", body, 201)
    session = await server.json("POST", f"/api/projects/{project['id']}/sessions", None, 201)
    return project["id"], session["id"]


async def text(server: Running, pid: str, path: str = PATH) -> str:
    return (await server.json("GET", f"/api/projects/{pid}/files/{quote(path)}"))["text"]


async def test_a_chapter_streams_into_its_file(start: Start) -> None:
    replies = (CREATE, say(f"<file>\n{BODY}\n</file>"), say("第一章写好了。"))
    async with start(replies) as server:
        pid, sid = await novel(server)
        events = await server.finished(await server.run(sid, "写第一章。"))
        assert await text(server, pid) == BODY
        told = [(e["change"], e["path"], e["by"]) for e in events if e["type"] == "file.changed"]
        assert told == [("created", PATH, "ai"), ("written", PATH, "ai")]
        assert (events[-1]["status"], events[-1]["answer"]) == ("done", "第一章写好了。")
        shown = [e for e in events if e["type"] == "message.delta"]
        assert not [e for e in shown if e["kind"] == "text" and "夜色" in e["text"]]
        assert server.provider is not None
        asked = [each.body for each in server.provider.requests]
        names = [tool["function"]["name"] for tool in asked[0]["tools"]]
        assert names == [
            "create_file", "edit_file", "delete_file", "rename_file", "query_files",
            "parallel_execute", "calculator", "python_interpreter",
        ]  # fmt: skip
        assert asked[2]["messages"][4] == {
            "role": "assistant", "content": f"<file>\n{BODY}\n</file>",
        }  # fmt: skip
        assert asked[2]["messages"][:4] == asked[1]["messages"]
        assert "用中文回复作者" in asked[0]["messages"][0]["content"]
        server.provider.check()


async def test_FC_12_a_stop_in_the_middle_of_a_chapter_keeps_it(start: Start) -> None:
    pieces = [f"第{n}句。" for n in range(400)]
    replies = (CREATE, Reply(text=["<file>\n", *pieces, "</file>"], pace_ms=5))
    async with start(replies) as server:
        pid, sid = await novel(server)
        run = await server.run(sid, "写第一章。")

        async def stop_soon() -> None:
            while "第9句" not in str(
                await server.json("GET", f"/api/projects/{pid}/snapshot?session_id={sid}")
            ):
                await asyncio.sleep(0.02)
            await server.json("POST", f"/api/runs/{run}/stop")

        stopping = asyncio.create_task(stop_soon())
        events = await server.finished(run)
        await stopping
        assert events[-1]["status"] == "stopped"
        kept = await text(server, pid)
        assert kept.startswith("第0句。第1句。")
        assert "".join(pieces).startswith(kept)
        notices = [(e["code"], e["params"]) for e in events if e["type"] == "notice"]
        assert notices == [("body_kept", {"path": PATH})]


async def test_TL_16_what_the_author_wrote_is_not_deleted(start: Start) -> None:
    replies = (call("delete_file", id=PATH), say("没有删除。"))
    async with start(replies) as server:
        pid, sid = await novel(server)
        at = f"/api/projects/{pid}/files/{quote(PATH)}"
        await server.json("PUT", at, {"text": BODY, "base": None})
        events = await server.finished(await server.run(sid, "删掉第一章。"))
        results = [e["result"] for e in events if e["type"] == "tool.finished"]
        assert results[0]["is_error"]
        assert "author_edit_protected" in results[0]["content"][0]["text"]
        assert await text(server, pid) == BODY


async def test_the_language_is_that_of_the_request(start: Start) -> None:
    async with start((say("Yes."),)) as server:
        _, sid = await novel(server)
        await server.finished(await server.run(sid, "Is there a chapter yet?"))
        assert server.provider is not None
        assert (
            "Answer the author in English."
            in server.provider.requests[0].body["messages"][0]["content"]
        )


async def test_a_project_without_a_template_has_the_plain_tools(start: Start) -> None:
    async with start((say("好。"),)) as server:
        _, sid = await server.session()
        await server.finished(await server.run(sid))
        assert server.provider is not None
        names = [t["function"]["name"] for t in server.provider.requests[0].body["tools"]]
        assert "write_file" in names
        assert "create_file" not in names
