"""Texts between `<file>` tags in the loop: from a reply to a file, and back into the next request (writing.md §8)."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.writing_desk import SCREENPLAY, Study, open_study

from wenfang.core import (
    DIALECTS,
    Agent,
    AgentEvent,
    Assistant,
    Delta,
    Message,
    MessageDelta,
    ModelRequest,
    Text,
    Thinking,
    ToolCall,
    ToolEnd,
    ToolResult,
    User,
    user,
)
from wenfang.testing import Reply, ScriptedModel, call, say
from wenfang.tools.writing import FileTags, Waiting, make_writing_tools
from wenfang.workspace.project import Manuscript

pytestmark = pytest.mark.anyio

STORY = "　　夜色渐深，他推开了那扇门。\n\n　　没有人。"
WAITING = Waiting(path="正文/第一章.md", file_id="fil_1", revision="0")


def create(title: str = "第一章", file_type: str = "draft", text: str = "") -> Reply:
    return call("create_file", preamble=text, title=title, file_type=file_type)


async def run(study: Study, *replies: Reply) -> tuple[ScriptedModel, Agent, list[AgentEvent]]:
    """An agent at the desk, whose model says this; every reply is used."""
    model = ScriptedModel(*replies)
    dialect = FileTags(DIALECTS["native"], study.desk.blanks.newest)
    agent = Agent(model, make_writing_tools(study.desk), dialect=dialect)
    async with agent.stream("写第一章。") as stream:
        events = [event async for event in stream]
    model.check()
    return model, agent, events


def results(agent: Agent) -> list[dict[str, Any]]:
    return [json.loads(m.text) for m in agent.transcript if isinstance(m, ToolResult)]


def answer(agent: Agent) -> str:
    last = agent.transcript[-1]
    assert isinstance(last, Assistant)
    return last.text


async def test_fc_1_the_text_of_the_next_reply_is_the_file_s(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        replies = (create(), say(f"<file>\n{STORY}\n</file>"), say("写好了。"))
        _, agent, _ = await run(study, *replies)
        assert await study.text("正文/第一章") == STORY
        assert await study.versions("正文/第一章.md") == [("ai", "create")]
        made, saved = results(agent)
        assert "begin your next reply with <file>" in made["data"]["next_step"]
        assert saved["data"]["id"] == made["data"]["id"]
        assert saved["data"]["word_count"] == 14
        assert answer(agent) == "写好了。"


async def test_fc_13_a_text_is_plain_and_has_no_title(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        made = await study.call("create_file", title="第一章", file_type="draft")
        assert "Plain text, the title not repeated." in made.data["next_step"]


async def test_the_model_sees_what_it_wrote_and_requests_only_grow(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        body = say(f"现在写。\n<file>\n{STORY}\n</file>")
        model, agent, _ = await run(study, create(), body, create("第二章"), say("好。"))
        wrote = model.requests[2].messages[3]
        assert isinstance(wrote, Assistant)
        assert wrote.content == (Text(text=f"现在写。\n\n<file>\n{STORY}\n</file>"),)
        told = model.requests[2].messages[4]
        assert isinstance(told, User)
        assert "'第一章'" not in told.text
        assert '"word_count": 14' in told.text
        for before, after in pairwise(model.requests):
            kept = after.messages[: len(before.messages)]
            assert all(a is b for a, b in zip(kept, before.messages, strict=True))
        for request in model.requests:
            assert "write_text" not in [spec.name for spec in request.tools]
            assert not _calls(request.messages, "write_text")
        assert [c.name for m in agent.transcript if isinstance(m, Assistant) for c in m.calls] == [
            *("create_file", "write_text", "create_file")
        ]


def _calls(messages: Any, name: str) -> list[ToolCall]:
    return [c for m in messages if isinstance(m, Assistant) for c in m.calls if c.name == name]


async def test_fc_2_tl_5_the_next_file_in_the_same_reply(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        both = create("第二章", text="<file>甲。</file>")
        replies = (create(), both, say("<file>乙。</file>"), say("两章都好了。"))
        model, _, _ = await run(study, *replies)
        assert await study.text("正文/第一章") == "甲。"
        assert await study.text("正文/第二章") == "乙。"
        # behind the call's result, since nothing may stand between a call and its result
        kinds = [type(m).__name__ for m in model.requests[2].messages[3:]]
        assert kinds == ["Assistant", "ToolResult", "User"]


# what is said in the second reply, the text of the file, what is left of the answer
SAID: dict[str, tuple[str, str, str]] = {
    "FC-1-tags": ("<file>风起。</file>", "风起。", ""),
    "FC-3-words-around": ("好。\n<file>风起。</file>\n完。", "风起。", "好。\n\n完。"),
    "FC-4-case-and-attributes": ('< FILE name="第一章">风起。</ File >', "风起。", ""),
    "FC-4-another-word": ("<filename>a</filename>", "", "<filename>a</filename>"),
    "FC-5-in-inline-code": ("用 `<file>` 写。", "", "用 `<file>` 写。"),
    "FC-5-an-end-in-code": ("<file>a `</file>` b</file>", "a `</file>` b", ""),
    "FC-6-nested": ("<file>a <file> b</file>", "a \uff1cfile> b", ""),
    "FC-8-no-end": ("<file>风起。", "风起。", ""),
    "FC-8-an-end-that-is-spoken-of": ("<file>写在 `</file>` 之前", "", "写在 `</file>` 之前"),
    "FC-8-the-pair-in-a-fence": ("```\n<file>\n风起。\n</file>\n```", "风起。", "```\n\n```"),
    "FC-10-an-end-alone": ("好。\n</file>\n完。", "", "好。\n完。"),
    "no-word-in-it": ("<file> \n </file>", "", ""),
}


@pytest.mark.parametrize("row", SAID)
async def test_what_a_reply_comes_to(tmp_path: Path, row: str) -> None:
    said, text, left = SAID[row]
    async with open_study(tmp_path) as study:
        has_body = bool(text) or row == "no-word-in-it"
        after = (say("完成。"),) if has_body else ()
        _, agent, events = await run(study, create(), say(said), *after)
        assert await study.text("正文/第一章") == text
        reply = [m for m in agent.transcript if isinstance(m, Assistant)][1]
        assert reply.text == left
        assert reply.stop == ("tool_use" if has_body else "stop")
        shown = [e for e in events if isinstance(e, MessageDelta) and e.step == 2]
        assert "".join(e.text for e in shown if e.kind == "text") == left
        if has_body:
            arguments = "".join(e.text for e in shown if e.kind == "call")
            assert json.loads(arguments)["content"] == reply.calls[0].arguments["content"]


async def test_fc_7_a_body_has_a_limit(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        long = "字" * (400 * 1024)
        await run(study, create(), say(f"<file>{long}</file>"), say("好。"))
        assert await study.text("正文/第一章") == "字" * (1024 * 1024 // 3)


async def test_fc_8_a_reply_at_its_limit(tmp_path: Path) -> None:
    """The text is in the file as far as it came, and the model is told how to go on."""
    async with open_study(tmp_path) as study:
        cut = Reply(text="<file>风起，云", finish="length")
        edit = call(
            "edit_file",
            id="正文/第一章",
            edits=[{"op": "insert_after", "anchor": "风起，云", "text": "涌。"}],
        )
        model, agent, _ = await run(study, create(), cut, edit, say("好。"))
        assert await study.text("正文/第一章") == "风起，云涌。"
        saved = results(agent)[1]
        assert saved["data"]["content_truncated"] is True
        assert "insert_after" in saved["data"]["next_step"]
        wrote = model.requests[2].messages[3]
        assert isinstance(wrote, Assistant)
        assert wrote.text == "<file>\n风起，云"


async def test_fc_8_a_call_that_is_cut_off_behind_a_body(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        cut = Reply(text="<file>风起。</file>", tools=create("第二章").tools, finish="length")
        _, agent, _ = await run(study, create(), cut, say("好。"))
        assert await study.text("正文/第一章") == "风起。"
        assert await study.paths() == ["正文", "正文/第一章.md"]
        refused = [m for m in agent.transcript if isinstance(m, ToolResult)][-1]
        assert refused.is_error
        assert "cut off" in refused.text


EPISODE = "第1集"


async def test_fc_9_a_text_that_was_cut_off_replaces_none(tmp_path: Path) -> None:
    async with open_study(tmp_path, SCREENPLAY) as study:
        await study.write_as_ai(f"剧本/{EPISODE}.md", "旧的一集。", kind="script")
        made = create(EPISODE, "script")
        _, agent, _ = await run(study, made, say("<file>新的一"), say("没有写完。"))
        assert await study.text(f"剧本/{EPISODE}") == "旧的一集。"
        assert await study.text(f"剧本/{EPISODE}（未写完）") == "新的一"
        assert results(agent)[1]["error_type"] == "edit_failed"


async def test_tl_6_a_whole_text_replaces_the_one_it_is_for(tmp_path: Path) -> None:
    async with open_study(tmp_path, SCREENPLAY) as study:
        await study.write_as_ai(f"剧本/{EPISODE}.md", "旧的一集。", kind="script")
        await run(study, create(EPISODE, "script"), say("<file>新的一集。</file>"), say("好。"))
        assert await study.text(f"剧本/{EPISODE}") == "新的一集。"


async def test_what_the_author_wrote_meanwhile_stays(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        made = await study.call("create_file", title="第一章", file_type="draft")
        await study.author.write("正文/第一章.md", "作者的。", base="*")
        late = await study.call("write_text", id=made.data["id"], content="模型的。")
        assert late.error_type == "stale_content"
        assert await study.text("正文/第一章") == "作者的。"
        assert await study.text("正文/第一章（未写完）") == "模型的。"


async def test_what_the_author_saves_in_that_very_moment_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_study(tmp_path) as study:
        made = await study.call("create_file", title="第一章", file_type="draft")
        fill = Manuscript.fill

        async def late(files: Manuscript, ref: str, *more: Any, **rest: Any) -> Any:
            await study.author.write("正文/第一章.md", "作者的。", base="*")
            return await fill(files, ref, *more, **rest)

        monkeypatch.setattr(Manuscript, "fill", late)
        done = await study.call("write_text", id=made.data["id"], content="模型的。")
        assert done.error_type == "stale_content"
        assert await study.text("正文/第一章") == "作者的。"
        assert await study.text("正文/第一章（未写完）") == "模型的。"


async def test_a_text_for_a_file_that_does_not_wait(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        there = await study.write_as_ai("正文/第一章.md", "有了。")
        again = await study.call("write_text", id=there, content="另一个。")
        assert again.error_type == "stale_content"
        assert await study.text("正文/第一章") == "有了。"


async def test_tl_23_a_text_has_the_quotes_of_the_manuscript(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.write("正文/第一章.md", "“走吧。”他说。“好。”" * 3, kind="draft")
        replies = (create("第二章"), say('<file>"走吧。"她说。</file>'), say("好。"))
        await run(study, *replies)
        assert await study.text("正文/第二章") == "“走吧。”她说。"


async def test_fc_11_it_is_stored_before_it_is_said_to_be(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        model = ScriptedModel(create(), say(f"<file>{STORY}</file>"), say("好。"))
        dialect = FileTags(DIALECTS["native"], study.desk.blanks.newest)
        agent = Agent(model, make_writing_tools(study.desk), dialect=dialect)
        seen: list[str] = []

        async def listen(event: AgentEvent) -> None:
            if isinstance(event, MessageDelta) and event.name == "write_text":
                seen.append(f"begins, file: {await study.text('正文/第一章')!r}")
            if isinstance(event, ToolEnd) and event.call.name == "write_text":
                seen.append(f"ended, file: {await study.text('正文/第一章')!r}")

        await agent.run("写。", emit=listen)
        assert seen == ["begins, file: ''", f"ended, file: {STORY!r}"]


def decode(
    pieces: list[str], *, stop: Any = "stop"
) -> tuple[list[tuple[str, int, str]], Assistant]:
    """The blocks that a viewer puts together, and the message."""
    ids = iter(range(100))
    dialect = FileTags(DIALECTS["native"], lambda: WAITING)
    conversation = dialect.open((), lambda: f"call_{next(ids)}")
    conversation.request([user("x")], tool_choice="auto", stream=True)
    decoder = conversation.decoder()
    deltas = [Delta(kind="thinking", text="想。", index=0)]
    deltas += [Delta(kind="text", text=piece, index=1) for piece in pieces]
    shown = [each for delta in deltas for each in decoder.feed(delta)]
    content = (Thinking(text="想。"), Text(text="".join(pieces)))
    message = decoder.close(Assistant(content=content, stop=stop))
    blocks: dict[int, tuple[str, str]] = {}
    for each in [*shown, *decoder.late]:
        kind, text = blocks.get(each.index, (each.kind, ""))
        assert kind == each.kind
        blocks[each.index] = (kind, text + each.text)
    return [(kind, index, text) for index, (kind, text) in blocks.items()], message


PIECES = st.lists(
    st.sampled_from(
        [
            "<file>",
            "</file>",
            "<",
            ">",
            "`",
            "```\n",
            "\n",
            "风起。",
            '"',
            "\\",
            " file",
            "a",
            "\u2028",
        ]
    ),
    max_size=20,
)


@settings(max_examples=300)
@given(pieces=PIECES, data=st.data())
def test_any_cut_gives_the_same_blocks_and_the_same_message(pieces: list[str], data: Any) -> None:
    text = "".join(pieces)
    whole = decode([text] if text else [])
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)) | {0, len(text)})
    cut = decode([text[a:b] for a, b in pairwise(cuts)])
    assert cut == whole
    shown, message = whole
    bodies = [call.arguments["content"] for call in message.calls]
    told = [
        json.loads(text)["content"]
        for kind, _, text in shown
        if kind == "call" and text[-2:] == '"}'
    ]
    assert told[-len(bodies) :] == bodies if bodies else True
    said = "".join(text for kind, _, text in shown if kind == "text")
    assert said == message.text


@pytest.mark.parametrize("stop", ["error", "aborted"])
def test_a_reply_that_broke_off_makes_no_call(stop: str) -> None:
    shown, message = decode(["好。<file>风起"], stop=stop)
    assert message.calls == ()
    assert message.text == "好。"
    assert [text for kind, _, text in shown if kind == "call"] == [
        '{"id": "正文/第一章.md", "content": "风起"}'
    ]


async def test_a_file_that_the_author_renames_meanwhile(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.call("create_file", title="第一章", file_type="draft")
        await study.author.move("正文/第一章.md", "正文/开头.md")
        done = await study.call("write_text", id="正文/第一章.md", content="风起。")
        assert done.error_type is None
        assert await study.text("正文/开头") == "风起。"


async def test_fc_14_another_file_waits_on(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        made = await study.call("create_file", title="第一章", file_type="draft")
        other = await study.write_as_ai("正文/别的.md", "")
        done = await study.call("write_text", id=other, content="别的。")
        assert done.error_type is None
        waiting = study.desk.blanks.newest()
        assert waiting is not None
        assert waiting.file_id == made.data["id"]


async def test_a_model_that_calls_for_everything(tmp_path: Path) -> None:
    """Codec B: the tool is listed, and create_file says so."""
    async with open_study(tmp_path, codec="call") as study:
        made = await study.call("create_file", title="第一章", file_type="draft")
        assert "write_text" in made.data["next_step"]
        done = await study.call("write_text", file=made.data["id"], text=STORY)
        assert done.effects == ["file_written 正文/第一章.md"]
        assert await study.text("正文/第一章") == STORY


def test_requests_do_not_change_the_transcript() -> None:
    ids = iter(range(100))
    dialect = FileTags(DIALECTS["native"], lambda: WAITING)
    conversation = dialect.open((), lambda: f"call_{next(ids)}")
    wrote = ToolCall(id="c", name="write_text", arguments={"id": "fil_1", "content": "风。"})
    messages: list[Message] = [
        user("x"),
        Assistant(content=(wrote,), stop="tool_use"),
        ToolResult(call_id="c", name="write_text", content=(Text(text="ok"),)),
    ]
    before = list(messages)
    request: ModelRequest = conversation.request(messages, tool_choice="auto", stream=True)
    assert messages == before
    assert [type(m).__name__ for m in request.messages] == ["User", "Assistant", "User"]
