"""The tables of the core, said a second time: what a row means must not change unnoticed."""

from __future__ import annotations

import re
from dataclasses import MISSING, asdict, fields, is_dataclass

import pytest

import wenfang.core
from wenfang.core import (
    REASONS,
    Assistant,
    CallDone,
    CallDue,
    Image,
    Limits,
    ModelDone,
    ModelDue,
    ModelRequest,
    Ok,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    User,
    estimate_request,
    estimate_tokens,
    events,
    native,
    nearest,
    new_id,
    schema_steps,
    user,
    utf16_len,
)
from wenfang.core.dialects.examples import examples
from wenfang.core.dialects.schema_grammar import step_schema
from wenfang.core.dialects.schema_prompt import observation, system_text
from wenfang.core.effects import FileCreated, FileDeleted, FileRead, FileRenamed, FileWritten
from wenfang.core.models import needed_tools

# code: status, retryable, refundable, resumable
OUTCOMES = {
    "completed": ("done", False, False, False),
    "max_steps": ("partial", False, False, True),
    "max_tool_calls": ("partial", False, False, True),
    "no_progress": ("partial", False, False, True),
    "budget": ("partial", False, False, True),
    "invalid_model_output": ("partial", True, False, True),
    "output_truncated": ("partial", True, False, True),
    "stream_incomplete": ("failed", True, False, True),
    "provider_error": ("failed", True, True, True),
    "context_overflow": ("failed", False, False, True),
    "refused": ("failed", False, True, False),
    "failover_exhausted": ("failed", True, True, True),
    "cancelled_by_user": ("stopped", False, False, True),
    "deadline": ("expired", True, False, True),
    "interrupted": ("failed", True, False, True),
    "listener_failed": ("failed", True, False, True),
    "internal_error": ("failed", True, True, True),
}


def test_reasons() -> None:
    found = {
        code: (row.status, row.retryable, row.refundable, row.resumable)
        for code, row in REASONS.items()
    }
    assert found == OUTCOMES
    assert all(row.code == code and row.zh and row.en for code, row in REASONS.items())


NOTHING = {"input": 0, "output": 0, "cache_read": 0, "reasoning": 0, "estimated": False}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Text(text="a"), {"text": "a", "signature": None, "type": "text"}),
        (
            Thinking(text="a"),
            {"text": "a", "signature": None, "redacted": False, "type": "thinking"},
        ),
        (
            Image(data="eA==", media_type="image/png"),
            {"data": "eA==", "media_type": "image/png", "type": "image"},
        ),
        (
            ToolCall(id="c", name="n", arguments={}),
            {
                "id": "c",
                "name": "n",
                "arguments": {},
                "error": None,
                "raw": None,
                "repaired": (),
                "type": "tool_call",
            },
        ),
        (Usage(), NOTHING),
        (System(content="s"), {"content": "s", "role": "system"}),
        (
            user("u"),
            {
                "content": ({"text": "u", "signature": None, "type": "text"},),
                "source": "user",
                "role": "user",
            },
        ),
        (
            Assistant(content=(), stop="stop"),
            {
                "content": (),
                "stop": "stop",
                "usage": NOTHING,
                "model": "",
                "error": None,
                "attempts": (),
                "role": "assistant",
            },
        ),
        (
            ToolResult(call_id="c", name="n", content=()),
            {
                "call_id": "c",
                "name": "n",
                "content": (),
                "is_error": False,
                "error_type": None,
                "details": None,
                "effects": (),
                "terminate": False,
                "seconds": None,
                "role": "tool_result",
            },
        ),
        (
            FileRead(path="a", revision="r"),
            {
                "path": "a",
                "revision": "r",
                "file_id": None,
                "whole": False,
                "type": "file_read",
            },
        ),
        (
            FileCreated(path="a", revision="r", size_bytes=1),
            {
                "path": "a",
                "revision": "r",
                "size_bytes": 1,
                "file_id": None,
                "kind": None,
                "reused": False,
                "type": "file_created",
            },
        ),
        (
            FileWritten(path="a", revision="r", previous="p", size_bytes=1),
            {
                "path": "a",
                "revision": "r",
                "previous": "p",
                "size_bytes": 1,
                "file_id": None,
                "kind": None,
                "words_added": 0,
                "type": "file_written",
            },
        ),
        (
            FileDeleted(path="a", file_id="f", kind="draft"),
            {"path": "a", "file_id": "f", "kind": "draft", "type": "file_deleted"},
        ),
        (
            FileRenamed(path="b", previous_path="a", file_id="f", kind="draft"),
            {
                "path": "b",
                "previous_path": "a",
                "file_id": "f",
                "kind": "draft",
                "type": "file_renamed",
            },
        ),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, dict) else "",
)
def test_values_and_their_defaults(value: object, expected: dict) -> None:
    shown = asdict(value)  # type: ignore[call-overload]
    shown.pop("_wire", None)
    assert shown == expected


# What a value is if nothing is said; `type` and `role` stand in tables of their own.
DEFAULTS = {
    "AttemptReset": {},
    "Delta": {"index": 0, "name": None},
    "Failure": {"retry_after_s": None},
    "Limits": {
        "model_calls": 25,
        "tool_calls": 60,
        "repeat_hint": 3,
        "repeat_block": 5,
        "invented_names": 3,
        "invalid_output": 2,
        "empty_replies": 1,
        "tokens": None,
        "wall_s": None,
        "tool_timeout_s": 120.0,
        "first_s": 120.0,
        "idle_s": 60.0,
        "whole_s": 600.0,
        "cleanup_s": 10.0,
    },
    "MessageDelta": {"attempt": 1, "name": None},
    "ModelRequest": {
        "tools": (),
        "tool_choice": "auto",
        "response_schema": None,
        "stop": (),
        "max_tokens": None,
        "temperature": None,
        "stream": True,
    },
    "Reset": {"model": "", "next_model": ""},
    "RunEnd": {"failure": None},
    "Stop": {"answer_turn": True},
    "Tool": {"mode": "parallel", "access": "read", "replay": "unsafe", "timeout_s": None},
    "ToolOutput": {"details": None, "effects": (), "is_error": False, "terminate": False},
    "ToolUpdate": {"fraction": None},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name: str) -> None:
    kind = getattr(wenfang.core, name)
    assert is_dataclass(kind)
    found = {
        each.name: each.default
        for each in fields(kind)
        if each.default is not MISSING and each.name not in ("type", "role")
    }
    assert found == DEFAULTS[name]


def test_every_limit_answers_every_event_with_a_verdict() -> None:
    call = ToolCall(id="c", name="n", arguments={})
    done = CallDone(call=call, result=ToolResult(call_id="c", name="n", content=()))
    reply = Assistant(content=(Text(text="x"),), stop="stop")
    happened = (ModelDue(seconds=0.0), ModelDone(reply=reply), CallDue(call=call), done)
    every = Limits(tokens=1000, wall_s=1000).start(schema_steps.limits())._limits
    assert len(every) == 10
    for limit in every:
        assert [type(limit.observe(event)) for event in happened] == [Ok] * 4


def test_names_of_dialects() -> None:
    assert (native.name, schema_steps.name) == ("native", "schema")


def test_ids_have_80_random_bits() -> None:
    assert re.fullmatch(r"call_[0-9a-f]{20}", new_id("call"))
    assert new_id("call") != new_id("call")


@pytest.mark.parametrize(
    ("text", "units"), [("", 0), ("ab", 2), ("长", 1), ("😀", 2), ("a\ud83d", 2), ("𠮷长a", 4)]
)
def test_length_in_utf16_units(text: str, units: int) -> None:
    assert utf16_len(text) == units


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Read_File", "read_file"),
        (" <read_file/> ", "read_file"),
        ("read file", "read_file"),
        ("read_files", "read_file"),
        ("LIST", "List"),
        ("zzz", None),
        ("", None),
    ],
)
def test_the_name_that_was_meant(name: str, meant: str | None) -> None:
    assert nearest(name, ("write_file", "read_file", "List", "list_files")) == meant


EVENTS = {
    "RunStart": "run_start",
    "UserAdded": "user_added",
    "ModelStart": "model_start",
    "MessageDelta": "message_delta",
    "AttemptReset": "attempt_reset",
    "MessageEnd": "message_end",
    "ToolStart": "tool_start",
    "ToolUpdate": "tool_update",
    "ToolEnd": "tool_end",
    "Notice": "notice",
    "RunEnd": "run_end",
}


def test_names_of_events() -> None:
    found = {
        name: field.default
        for name in EVENTS
        for field in fields(getattr(events, name))
        if field.name == "type"
    }
    assert found == EVENTS


def test_sums_of_usage() -> None:
    one = Usage(input=1, output=2, cache_read=3, reasoning=4)
    two = Usage(input=10, output=20, cache_read=30, reasoning=40, estimated=True)
    assert one + two == Usage(input=11, output=22, cache_read=33, reasoning=44, estimated=True)
    assert (one + one).estimated is False
    assert (two + one).estimated is True


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a" * 100, 33),
        ("文" * 100, 87),
        ("文" * 100 + "é" * 100, 120),
        ("é" * 100, 33),
        ("\u2e7f" * 100, 33),
        ("\u2e80" * 100, 87),
    ],
)
def test_tokens_of_a_text(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_tokens_of_a_request() -> None:
    text = "a" * 100  # 33
    call = ToolCall(id="c", name="n" * 50, arguments={"k": "v" * 30})
    messages = (
        System(content=text),
        User(content=(Text(text=text), Image(data="", media_type="image/png"))),
        Assistant(content=(Thinking(text=text), Text(text=text), call), stop="tool_use"),
        ToolResult(call_id="c", name="n", content=(Text(text=text),)),
    )
    of_call = estimate_tokens("n" * 50 + str({"k": "v" * 30}))
    spec = ToolSpec(name="t" * 100, description="d" * 100, parameters={}, patterns={})
    asked = ModelRequest(messages=messages, tools=(spec,))
    assert estimate_request(asked) == 4 * 4 + 5 * 33 + 1200 + of_call + 67
    assert estimate_request(ModelRequest(messages=messages[:1])) == 37


# The schema dialect

TOOLS = tuple(
    ToolSpec(name=name, description="", parameters={}, patterns={})
    for name in ("list_files", "read_file", "calculator")
)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_examples_are_true(language: str) -> None:
    """What a small model imitates has to be right: names, paths, sums, answers."""
    shown = examples(TOOLS, language)  # type: ignore[arg-type]
    assert [[tool for _, tool, _, _ in example.steps] for example in shown] == [
        ["list_files", "calculator"],
        ["read_file", "read_file", "calculator"],
        ["read_file"],
    ]
    for example in shown:
        assert example.language == language
        for thought, tool, arguments, result in example.steps:
            assert thought
            if tool == "calculator":
                (expression,) = arguments.values()
                assert [*arguments] == ["expression"]
                assert result == f"{expression} = {eval(str(expression))}"
                value = result.split(" = ")[1]
                assert value in example.answer
                assert value in example.thought
                assert str(expression) in thought
            else:
                assert [*arguments] == ["path"]
                assert str(arguments["path"]).removeprefix("docs/") in example.task
    listed = shown[0].steps[0]
    assert listed[2] == {"path": "notes"}
    assert listed[3].startswith("notes: 3 files and 0 folders.\nnotes/a.txt (2 KB)")
    assert "10:30" in shown[2].answer
    assert "10:30" in shown[2].steps[0][3]


def test_examples_need_their_tools() -> None:
    assert len(examples(TOOLS[:2], "en")) == 1
    assert examples((), "en") == ()


def test_the_system_message() -> None:
    with_calculator, without = system_text("", TOOLS), system_text("", TOOLS[:2])
    assert "must be computed with calculator" in with_calculator
    assert "computed with" not in without
    assert without.index("Tools:\n- list_files(): ") < without.index("The first three tasks")
    assert not system_text("", ()).startswith("\n")
    assert system_text("Be brief.", ()).startswith("Be brief.\n")
    assert (
        observation("7", "Count.") == "<tool_response>\n7\n</tool_response>\nUse this for: Count."
    )


def test_listing_of_tools() -> None:
    spec = ToolSpec(
        name="find",
        description="Find  a\nfile.\n\nMore.",
        parameters={
            "properties": {
                "name": {"type": "string", "description": "what it\nis called"},
                "kind": {"enum": ["file", 1]},
                "depth": {"type": "integer", "description": "not told: optional"},
                "other": {"type": "string", "description": "what it is called"},
                "any": {},
                "or": {"type": ["string", "null"]},
                "zh": {"enum": ["文"]},
            },
            "required": ["name", "other", "any"],
        },
        patterns={},
    )
    assert (
        '- find(name, kind?: "file"|1, depth?: integer, other, any, or?, zh?: "文"): Find a file.\n'
        "    name: what it is called\n"
    ) in system_text("", (spec,))
    assert "other: " not in system_text("", (spec,))


def test_the_schema_of_a_step() -> None:
    spec = ToolSpec(
        name="t",
        description="",
        parameters={
            "type": "object",
            "properties": {
                "s": {"type": "string", "description": "left out", "minLength": 1},
                "n": {"type": "integer", "minimum": 0},
                "low": {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9},
                "l": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "o": {"oneOf": [{"type": "boolean"}, {"type": "null"}]},
                "m": {"type": "object", "additionalProperties": {"type": "string"}},
                "c": {"const": "x"},
            },
            "required": ["s"],
            "additionalProperties": False,
        },
        patterns={"l": "^[a-z]{1,9}$"},
    )
    thought = {"type": "string", "maxLength": 160}
    step = {"type": "object", "additionalProperties": False}
    assert step_schema((spec,), "auto") == {
        "anyOf": [
            {
                **step,
                "properties": {
                    "thought": thought,
                    "action": {"const": "t"},
                    "input": {
                        "type": "object",
                        "properties": {
                            "s": {"type": "string", "minLength": 1, "maxLength": 4000},
                            "n": {"type": "integer", "minimum": 0, "maximum": 10**12},
                            "low": {
                                "type": "integer",
                                "exclusiveMinimum": 0,
                                "exclusiveMaximum": 9,
                            },
                            "l": {
                                "type": "array",
                                "minItems": 1,
                                "maxItems": 50,
                                "items": {
                                    "type": "string",
                                    "maxLength": 4000,
                                    "pattern": "^[a-z]{1,9}$",
                                },
                            },
                            "o": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
                            "m": {
                                "type": "object",
                                "additionalProperties": {"type": "string", "maxLength": 4000},
                            },
                            "c": {"const": "x"},
                        },
                        "required": ["s"],
                        "additionalProperties": False,
                    },
                },
                "required": ["thought", "action", "input"],
            },
            {
                **step,
                "properties": {
                    "thought": thought,
                    "action": {"const": "final"},
                    "answer": {"type": "string", "maxLength": 2000},
                },
                "required": ["thought", "action", "answer"],
            },
        ]
    }


@pytest.mark.parametrize(
    ("choice", "needed"),
    [
        ("auto", ()),
        ("none", ()),
        ("required", ("auto", "none", "add")),
        ("add", ("add",)),
        ("nobody", ()),
    ],
)
def test_which_tools_a_choice_needs(choice: str, needed: tuple[str, ...]) -> None:
    """Also of tools that have the name of a choice."""
    tools = tuple(
        ToolSpec(name=name, description="", parameters={}, patterns={})
        for name in ("auto", "none", "add")
    )
    assert tuple(each.name for each in needed_tools(tools, choice)) == needed
