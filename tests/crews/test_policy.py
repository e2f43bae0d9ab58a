"""The turn policy (design M3): one table judges calls and one text says the same (writing.md LP-11 to LP-16,
TL-16, TL-19, TL-21, TL-22), and an agent that is held to it."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.writing_desk import Study, open_study

from wenfang.core import Agent, Allow, FileDeleted, FileWritten, ToolCall, ToolEnd, ToolResult, tool
from wenfang.crews.policy import (
    NOT_THIS_ROUND,
    RULES,
    Denial,
    LengthBounds,
    TurnPolicy,
    authorize,
    directive,
    listed,
    policy_hooks,
)
from wenfang.testing import Reply, ScriptedModel, ToolUse, call, say
from wenfang.tools.writing import (
    ERRORS,
    WRITE_TOOLS,
    Target,
    Waiting,
    World,
    error_type_of,
    make_writing_tools,
)

FREE = TurnPolicy()
READ_ONLY = TurnPolicy(write=False)
CLARIFY = TurnPolicy(clarify_only=True)
REVIEWER = TurnPolicy(role_writes=False, handoff_targets=frozenset({"writer"}))
NO_PROSE = TurnPolicy(body=False)

WORLD = World(
    targets={
        "prose": Target(kind="draft", authored=("正文/一.md",)),
        "ai": Target(kind="draft"),
        "lore": Target(kind="lore"),
        "unknown": Target(kind="folder", authored=None),
    }
)
WAITING = replace(
    WORLD, blocker=Waiting(path="正文/第一章.md", file_id="F"), blocker_title="第一章"
)
CREATE = {"title": "第二章", "file_type": "draft"}
EDIT = {"id": "ai", "edits": []}


def task(kind: str, /, **params: Any) -> dict[str, Any]:
    return {"tasks": [{"type": "query_files", "params": {}}, {"type": kind, "params": params}]}


# policy, tool, arguments, world, the refusal (None: it may)
ROWS: dict[str, tuple[TurnPolicy, str, dict[str, Any], World, str | None]] = {
    "free-create": (FREE, "create_file", CREATE, WORLD, None),
    "free-edit": (FREE, "edit_file", {"id": "prose"}, WORLD, None),
    "free-delete": (FREE, "delete_file", {"id": "ai"}, WORLD, None),
    "free-unknown-name": (FREE, "delete_file", {"id": "nobody"}, WORLD, None),
    "free-handoff": (FREE, "handoff_to_agent", {"target_agent": "writer"}, WORLD, None),
    "LP-13-create": (READ_ONLY, "create_file", CREATE, WORLD, "read_only_request"),
    "LP-13-edit": (READ_ONLY, "edit_file", EDIT, WORLD, "read_only_request"),
    "LP-13-delete": (READ_ONLY, "delete_file", {"id": "ai"}, WORLD, "read_only_request"),
    "LP-13-rename": (READ_ONLY, "rename_file", {"id": "ai"}, WORLD, "read_only_request"),
    "LP-13-query": (READ_ONLY, "query_files", {}, WORLD, None),
    "LP-13-project": (READ_ONLY, "update_project", {"summary": "x"}, WORLD, None),
    "LP-13-clarify": (READ_ONLY, "request_clarification", {"question": "?"}, WORLD, None),
    "LP-13-handoff-to-a-writer": (
        replace(READ_ONLY, handoff_targets=frozenset({"quality_reviewer"})),
        "handoff_to_agent",
        {"target_agent": "writer"},
        WORLD,
        "permission_denied",
    ),
    "LP-13-handoff-to-a-reader": (
        replace(READ_ONLY, handoff_targets=frozenset({"quality_reviewer"})),
        "handoff_to_agent",
        {"target_agent": "quality_reviewer"},
        WORLD,
        None,
    ),
    "TL-21-whole-batch": (READ_ONLY, "parallel_execute", task("query_files"), WORLD, "read_only_request"),
    "TL-21-whole-batch-clarify": (CLARIFY, "parallel_execute", task("query_files"), WORLD, "clarify_first"),
    "RT-14-create": (CLARIFY, "create_file", CREATE, WORLD, "clarify_first"),
    "RT-14-handoff": (CLARIFY, "handoff_to_agent", {"target_agent": "writer"}, WORLD, "clarify_first"),
    "RT-14-query": (CLARIFY, "query_files", {"id": "ai"}, WORLD, None),
    "RT-14-before-read-only": (
        replace(CLARIFY, write=False), "edit_file", EDIT, WORLD, "clarify_first",
    ),
    "LP-14-reviewer": (REVIEWER, "edit_file", EDIT, WORLD, "permission_denied"),
    "LP-14-reviewer-batch": (REVIEWER, "parallel_execute", task("query_files"), WORLD, "permission_denied"),
    "LP-14-reviewer-read-only-first": (
        replace(REVIEWER, write=False), "edit_file", EDIT, WORLD, "read_only_request",
    ),
    "LP-14-reviewer-hands-back": (
        REVIEWER, "handoff_to_agent", {"target_agent": "writer"}, WORLD, None,
    ),
    "LP-11-no-review": (
        replace(FREE, handoff_targets=frozenset()),
        "handoff_to_agent",
        {"target_agent": "quality_reviewer"},
        WORLD,
        "permission_denied",
    ),
    "no-prose-create": (NO_PROSE, "create_file", CREATE, WORLD, "permission_denied"),
    "no-prose-create-script": (
        NO_PROSE, "create_file", CREATE | {"file_type": "script"}, WORLD, "permission_denied",
    ),
    "no-prose-create-outline": (NO_PROSE, "create_file", CREATE | {"file_type": "outline"}, WORLD, None),
    "no-prose-edit": (NO_PROSE, "edit_file", EDIT, WORLD, "permission_denied"),
    "no-prose-edit-lore": (NO_PROSE, "edit_file", {"id": "lore"}, WORLD, None),
    "no-prose-batch": (
        NO_PROSE, "parallel_execute", task("write_chapter", title="一"), WORLD, "permission_denied",
    ),
    "no-prose-batch-lore": (
        NO_PROSE, "parallel_execute", task("write_chapter", title="一", kind="lore"), WORLD, None,
    ),
    "no-prose-batch-edit": (
        NO_PROSE, "parallel_execute", task("edit_file", file_id="ai"), WORLD, "permission_denied",
    ),
    "no-delete": (replace(FREE, delete=False), "delete_file", {"id": "ai"}, WORLD, "permission_denied"),
    "no-delete-batch": (
        replace(FREE, delete=False), "parallel_execute", task("delete_file", id="ai"), WORLD, "permission_denied",
    ),
    "no-rename": (replace(FREE, rename=False), "rename_file", {"id": "ai"}, WORLD, "permission_denied"),
    "TL-16-delete": (FREE, "delete_file", {"id": "prose"}, WORLD, "author_edit_protected"),
    "TL-16-not-found-out": (FREE, "delete_file", {"id": "unknown"}, WORLD, "author_edit_protected"),
    "TL-16-batch": (
        FREE, "parallel_execute", task("delete_file", path="prose"), WORLD, "author_edit_protected",
    ),
    "TL-16-by-hand": (
        replace(FREE, overwrite_author_text=True), "delete_file", {"id": "prose"}, WORLD, None,
    ),
    "TL-3-another": (FREE, "create_file", CREATE, WAITING, "pending_empty_file_unwritten"),
    "TL-4-the-same": (FREE, "create_file", CREATE | {"title": " 第一章"}, WAITING, None),
    "TL-3-folder": (FREE, "create_file", CREATE | {"file_type": "folder"}, WAITING, None),
    "TL-3-edit": (FREE, "edit_file", EDIT, WAITING, None),
    "TL-19-blank": (
        FREE, "parallel_execute", task("query_files"), WAITING, "pending_empty_file_unwritten",
    ),
    "odd-tasks": (READ_ONLY, "parallel_execute", {"tasks": "all"}, WORLD, "read_only_request"),
    "odd-params": (FREE, "parallel_execute", {"tasks": [1, {"type": 2, "params": []}]}, WORLD, None),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_authorize(row: str) -> None:
    policy, name, arguments, world, error_type = ROWS[row]
    judgement = authorize(ToolCall(id="c", name=name, arguments=arguments), policy, world)
    if error_type is None:
        assert judgement == Allow()
        return
    assert isinstance(judgement, Denial)
    assert judgement.error_type == error_type
    assert judgement.for_author == ERRORS[judgement.error_type].zh
    assert judgement.for_model.startswith("Not run")
    assert "{" not in judgement.for_model
    in_english = authorize(
        ToolCall(id="c", name=name, arguments=arguments), replace(policy, language="en"), world
    )
    assert isinstance(in_english, Denial)
    assert in_english.for_author == ERRORS[judgement.error_type].en


POLICIES = st.builds(
    TurnPolicy,
    write=st.booleans(),
    role_writes=st.booleans(),
    body=st.booleans(),
    delete=st.booleans(),
    rename=st.booleans(),
    overwrite_author_text=st.booleans(),
    handoff_targets=st.none() | st.frozensets(st.sampled_from(["writer", "planner"])),
    clarify_only=st.booleans(),
    review=st.booleans(),
    scope=st.sampled_from(["", "只改第三章", "{x}"]),
    language=st.sampled_from(["zh", "en"]),
    length=st.builds(
        LengthBounds, least=st.none() | st.integers(1, 9), most=st.none() | st.integers(1, 9)
    ),
    summary_owner=st.none() | st.just("作者助手"),
)


def test_the_properties_vary_every_field_that_decides() -> None:
    assert {each.name for each in fields(TurnPolicy)} == {
        *("write", "role_writes", "body", "delete", "rename", "overwrite_author_text"),
        *("handoff_targets", "clarify_only", "review", "max_reviews", "scope", "language"),
        *("length", "summary_owner"),
    }


@given(policy=POLICIES, row=st.sampled_from(sorted(ROWS)))
def test_what_is_refused_was_said_and_what_was_said_is_refused(
    policy: TurnPolicy, row: str
) -> None:
    _, name, arguments, _, _ = ROWS[row]
    judgement = authorize(ToolCall(id="c", name=name, arguments=arguments), policy, WORLD)
    told = directive(policy)
    at = 0 if policy.language == "zh" else 1
    said = [
        rule
        for rule in RULES
        if (rule.zh, rule.en)[at] and (rule.zh, rule.en)[at].split("{")[0] in told
    ]
    assert said == [rule for rule in RULES if rule.holds(policy) and rule.zh]
    if isinstance(judgement, Denial):
        assert judgement.error_type in {rule.error_type for rule in said}


@given(policy=POLICIES)
def test_a_policy_only_takes_away(policy: TurnPolicy) -> None:
    """What a policy allows stays allowed when it gets more; nothing is allowed that the free one forbids."""
    for _, name, arguments, world, _ in ROWS.values():
        each = ToolCall(id="c", name=name, arguments=arguments)
        by_hand = replace(FREE, overwrite_author_text=policy.overwrite_author_text)
        if isinstance(authorize(each, policy, world), Allow):
            assert isinstance(authorize(each, by_hand, world), Allow)


# policy, lines that are in the directive, lines that are not
DIRECTIVES: dict[str, tuple[TurnPolicy, list[str], list[str]]] = {
    "free": (FREE, ["- 作者亲手写过", "- 用中文回复作者。"], ["只读", "篇幅", "送审"]),
    "read-only": (READ_ONLY, ["- 这一轮只读"], ["送审"]),
    "scope-first": (replace(FREE, scope=" 只改\n第三章 "), ["：只改 第三章"], []),
    "scope-is-text": (replace(FREE, scope="{targets}"), ["：{targets}"], []),
    "fast": (replace(FREE, review=False), ["写完就直接结束"], []),
    "length": (replace(FREE, length=LengthBounds(least=800, most=1200)), ["800 到 1200 字"], []),
    "least": (replace(FREE, length=LengthBounds(least=800)), ["不少于 800 字"], ["到"]),
    "most": (replace(FREE, length=LengthBounds(most=800)), ["不超过 800 字"], ["不少于"]),
    "targets": (replace(FREE, handoff_targets=frozenset({"b", "a"})), ["只能交接给：a, b。"], []),
    "no-targets": (replace(FREE, handoff_targets=frozenset()), ["只能交接给：没有。"], []),
    "owner": (replace(FREE, summary_owner="writer"), ["由 writer 向作者"], []),
    "english": (
        replace(READ_ONLY, language="en", scope="chapter 3"),
        ["(above all else): chapter 3", "only reads", "Answer the author in English."],
        ["只读"],
    ),
}


@pytest.mark.parametrize("row", DIRECTIVES)
def test_directive(row: str) -> None:
    policy, there, not_there = DIRECTIVES[row]
    told = directive(policy)
    assert [each for each in there if each not in told] == []
    assert [each for each in not_there if each in told] == []
    if policy.scope:
        assert policy.scope.split()[0] in told.splitlines()[0]


# In an agent


class Conversation:
    """An agent with the writing tools and a scripted model, held to a policy."""

    def __init__(self, study: Study, policy: TurnPolicy, *replies: Reply) -> None:
        self.model = ScriptedModel(*replies)
        self.results: list[ToolResult] = []
        tools = listed(make_writing_tools(study.desk), policy)
        self.agent = Agent(self.model, tools, hooks=policy_hooks(policy, study.desk))

    async def run(self) -> list[ToolResult]:
        async def emit(event: Any) -> None:
            if isinstance(event, ToolEnd):
                self.results.append(event.result)

        end = await self.agent.run("写吧", emit=emit)
        assert end.status == "done", end
        self.model.check()
        return self.results


def told(result: ToolResult) -> dict[str, Any]:
    return json.loads(result.text)


@pytest.mark.anyio
async def test_an_agent_creates_edits_queries_and_deletes(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        old = await study.write_as_ai("设定/旧.md", "旧设定", kind="lore")
        chat = Conversation(
            study,
            FREE,
            call("create_file", title="第一章 风起", file_type="draft"),
            call(
                "edit_file", id="正文/第一章 风起", edits=[{"op": "append", "text": "风从北边来。"}]
            ),
            Reply(
                tools=[
                    ToolUse(name="query_files", args={"id": "正文/第一章 风起"}),
                    ToolUse(name="delete_file", args={"id": old, "recursive": "false"}),
                ]
            ),
            call(
                "parallel_execute",
                tasks=[
                    {
                        "type": "write_chapter",
                        "description": "第二章",
                        "params": {"title": "第二章", "content": "雨停了。"},
                    },
                    {"type": "query_files", "description": "看看", "params": {}},
                ],
            ),
            say("写好了。"),
        )
        results = await chat.run()
        assert [error_type_of(each) for each in results] == [None] * 5
        assert await study.text("正文/第一章 风起") == "风从北边来。"
        assert told(results[2])["data"]["content"] == "风从北边来。"
        assert sorted(await study.paths()) == [
            "正文",
            "正文/第一章 风起.md",
            "正文/第二章.md",
            "设定",
        ]
        kinds = [effect.type for each in results for effect in each.effects]
        assert kinds.count(FileWritten.__dataclass_fields__["type"].default) == 2
        assert kinds.count(FileDeleted.__dataclass_fields__["type"].default) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("policy", "error_type", "said"),
    [
        (READ_ONLY, "read_only_request", "这一轮只看不改，没有动文件。"),
        (CLARIFY, "clarify_first", "先确认你的想法，再动文件。"),
        (replace(REVIEWER, language="en"), "permission_denied", "This step is outside"),
    ],
)
async def test_tl_21_tools_stay_listed_and_are_refused(
    tmp_path: Path, policy: TurnPolicy, error_type: str, said: str
) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", "原文", kind="draft")
        tasks = [{"type": "query_files", "description": "", "params": {}}]
        chat = Conversation(
            study,
            policy,
            call("create_file", title="第一章", file_type="draft"),
            call("edit_file", id=ref, edits=[{"op": "append", "text": "x"}]),
            call("delete_file", id=ref),
            call("rename_file", id=ref, title="b"),
            call("parallel_execute", tasks=tasks),
            call("query_files", id=ref),
            say("好。"),
        )
        results = await chat.run()
        assert [error_type_of(each) for each in results] == [error_type] * 5 + [None]
        for each in results[:5]:
            assert told(each)["error_type"] == error_type
            assert isinstance(each.details, dict)
            assert str(each.details["user_message"]).startswith(said)
            assert each.effects == ()
        assert await study.paths() == ["a.md"]
        assert await study.text(ref) == "原文"
        shown = {each.name: each.description for each in chat.model.requests[0].tools}
        barred = {name for name, text in shown.items() if text.startswith(NOT_THIS_ROUND)}
        assert barred == WRITE_TOOLS
        assert "query_files" in shown


@pytest.mark.anyio
async def test_tl_21_nothing_is_marked_when_all_is_allowed(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        tools = make_writing_tools(study.desk)
        assert listed(tools, FREE) == tools
        marked = [
            each.name
            for each in listed(tools, replace(NO_PROSE, delete=False))
            if each.description.startswith(NOT_THIS_ROUND)
        ]
        assert marked == ["delete_file"]


@pytest.mark.anyio
async def test_tl_22_a_tool_that_is_not_there(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        chat = Conversation(study, FREE, call("write_novel", title="x"), say("好。"))
        (result,) = await chat.run()
        assert error_type_of(result) == "tool_not_found"
        assert "query_files" in result.text


@pytest.mark.anyio
async def test_tl_14_the_loop_says_when_a_read_is_known(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        ref = await study.write_as_ai("a.md", "第一稿", kind="draft")
        edit = {"id": ref, "edits": [{"op": "append", "text": "完"}]}

        @tool(access="read")
        async def wait_for_the_author() -> str:
            """Wait."""
            await study.write("a.md", "作者的第二稿", kind="draft")
            return "ok"

        chat = Conversation(
            study,
            FREE,
            call("query_files", id=ref),
            call("wait_for_the_author"),
            Reply(
                tools=[
                    ToolUse(name="query_files", args={"id": ref}),
                    ToolUse(name="edit_file", args=edit),
                ]
            ),
            call("edit_file", **edit),
            say("好。"),
        )
        chat.agent = Agent(
            chat.model,
            [*make_writing_tools(study.desk), wait_for_the_author],
            hooks=policy_hooks(FREE, study.desk),
        )
        results = await chat.run()
        assert [error_type_of(each) for each in results] == [
            None,
            None,
            None,
            "stale_content",
            None,
        ]
        assert told(results[2])["data"]["author_edits"].startswith("<author_edits>")
        assert await study.text(ref) == "作者的第二稿\n完"


@pytest.mark.anyio
async def test_a_blank_file_that_is_dealt_with_in_the_same_reply_is_no_obstacle(
    tmp_path: Path,
) -> None:
    async with open_study(tmp_path) as study:
        chat = Conversation(
            study,
            FREE,
            call("create_file", title="第一章", file_type="draft"),
            Reply(
                tools=[
                    ToolUse(name="create_file", args={"title": "第二章", "file_type": "draft"}),
                    ToolUse(name="delete_file", args={"id": "正文/第一章"}),
                    ToolUse(name="create_file", args={"title": "第二章", "file_type": "draft"}),
                ]
            ),
            say("好。"),
        )
        results = await chat.run()
        assert [error_type_of(each) for each in results] == [
            None,
            "pending_empty_file_unwritten",
            None,
            None,
        ]


@pytest.mark.anyio
async def test_tl_25_the_tools_that_write_are_the_write_set(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        tools = make_writing_tools(study.desk)
        assert {each.name for each in tools if each.access != "read"} == WRITE_TOOLS
        assert {each.name for each in tools if each.mode == "exclusive"} == WRITE_TOOLS
        barred = [each.name for each in listed(tools, READ_ONLY) if each not in tools]
        assert set(barred) == WRITE_TOOLS


@pytest.mark.anyio
async def test_a_desk_is_made_again_from_the_effects_of_its_run(tmp_path: Path) -> None:
    """After a crash, the journal's effects and the moments the model was asked say what was seen and what
    still waits for its text."""
    async with open_study(tmp_path) as study:
        old = await study.write_as_ai("设定/旧.md", "旧设定", kind="lore")
        gone = await study.write_as_ai("设定/弃.md", "弃", kind="lore")
        chat = Conversation(
            study,
            FREE,
            Reply(
                tools=[
                    ToolUse(name="query_files", args={"id": old, "max_chars": 2}),
                    ToolUse(name="query_files", args={"id": gone}),
                ]
            ),
            call("edit_file", id=old, edits=[{"op": "append", "text": "补。"}]),
            call("delete_file", id=gone),
            call("create_file", title="第一章", file_type="draft"),
            say("好。"),
        )
        results = await chat.run()
        again = study.with_desk().desk
        for result in results:
            if result is not results[1]:  # the second call of the first reply
                again.seen.next_call()
            again.observe(*result.effects)
        again.seen.next_call()
        assert again.seen.revisions() == study.desk.seen.revisions()
        assert list(again.seen.revisions()) != []
        waiting = again.blanks.newest()
        assert waiting == study.desk.blanks.newest()
        assert waiting is not None
        assert waiting.path == "正文/第一章.md"


@pytest.mark.anyio
async def test_a_desk_may_not_do_more_than_its_policy(tmp_path: Path) -> None:
    async with open_study(tmp_path, overwrite_author_text=True) as study:
        with pytest.raises(ValueError, match="overwrite"):
            policy_hooks(FREE, study.desk)
        policy_hooks(replace(FREE, overwrite_author_text=True), study.desk)


@pytest.mark.anyio
async def test_an_authors_text_is_safe_from_an_agent(tmp_path: Path) -> None:
    async with open_study(tmp_path) as study:
        await study.write("正文/第一章.md", "作者写的", kind="draft")
        tasks = [{"type": "delete_file", "params": {"path": "正文"}}]
        chat = Conversation(
            study,
            FREE,
            call("delete_file", path="正文/第一章"),
            call("delete_file", id="正文", recursive=True),
            call("parallel_execute", tasks=tasks),
            say("好。"),
        )
        results = await chat.run()
        assert [error_type_of(each) for each in results] == ["author_edit_protected"] * 3
        assert "'正文/第一章.md'" in results[1].text
        assert await study.text("正文/第一章") == "作者写的"
