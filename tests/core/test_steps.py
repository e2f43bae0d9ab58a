"""The schema dialect at its edges: each unit of an escape, each bound, each kind of message."""

from __future__ import annotations

import json
import string

import pytest
from tests.core.scripted import FakeModel, says

from wenfang.core import (
    Agent,
    Assistant,
    CallDone,
    CallDue,
    Delta,
    Deny,
    Message,
    Ok,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
    User,
    schema_steps,
    user,
)
from wenfang.core.dialects.schema_conversation import Repeats, write_step
from wenfang.core.dialects.schema_grammar import cut_in, input_schema
from wenfang.core.dialects.schema_reader import StepReader

SPECS = tuple(
    ToolSpec(name=name, description="", parameters={}, patterns={})
    for name in ("list_files", "read_file", "calculator")
)


def opened(specs: tuple[ToolSpec, ...] = SPECS):
    return schema_steps.open(specs, lambda: "id")


def answer_of(escaped: str) -> str:
    reader = StepReader()
    reader.feed(f'{{"answer": "{escaped}"}}')
    return reader.text("answer")


# Reading


@pytest.mark.parametrize(
    "char", sorted(set(string.printable) - set(string.whitespace) - {"\\", '"'})
)
def test_an_escape_has_hex_digits(char: str) -> None:
    is_hex = char in string.hexdigits
    assert answer_of(rf"\u004{char}.") == (chr(int(f"4{char}", 16)) if is_hex else "\ufffd") + "."


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"\ud7ff", "\ud7ff"),
        (r"\ud800", "\ufffd"),
        (r"\udbff", "\ufffd"),
        (r"\udc00", "\ufffd"),
        (r"\udfff", "\ufffd"),
        (r"\ue000", "\ue000"),
        (r"\ud800\udc00", "\U00010000"),
        (r"\ud800\udfff", "\U000103ff"),
        (r"\udbff\udc00", "\U0010fc00"),
        (r"\udbff\udfff", "\U0010ffff"),
        (r"\ud800\udbff\udc00", "\ufffd\U0010fc00"),
        (r"\ud800\ue000", "\ufffd\ue000"),
        (r"\ud800a", "\ufffda"),
        (r"\ud800\n", "\ufffd\n"),
        (r"\udc00\ud800\udc00", "\ufffd\U00010000"),
    ],
)
def test_halves_of_a_pair(escaped: str, text: str) -> None:
    assert answer_of(escaped) == text


def test_each_delta_says_which_block_it_is_of() -> None:
    def feed(*pieces: str, index: int = 3) -> list[tuple[str, str, int, str | None]]:
        decoder = opened().decoder()
        return [
            (d.kind, d.text, d.index, d.name)
            for piece in pieces
            for d in decoder.feed(Delta(kind="text", text=piece, index=index))
        ]

    assert feed('{"thought": "t", "action": "final", "answer": "a"}') == [
        ("thinking", "t", 3, None),
        ("text", "a", 4, None),
    ]
    assert feed('{"action": "read_file", "input": {"a"', ": 1}}") == [
        ("call", '{"a"', 4, "read_file"),
        ("call", ": 1}", 4, "read_file"),
    ]
    assert feed('{"input": {}', ', "action": "x"}', index=0) == [("call", "{}", 1, None)]
    decoder = opened().decoder()
    assert [*decoder.feed(Delta(kind="call", text="{}", name="read_file"))] == []
    thought = Delta(kind="thinking", text="hm", index=7)
    assert [*decoder.feed(thought)] == [thought]


def test_what_a_call_keeps_of_what_was_written() -> None:
    def call_of(text: str, specs: tuple[ToolSpec, ...] = SPECS) -> ToolCall:
        decoder = opened(specs).decoder()
        (call,) = decoder.close(says(text)).calls
        return call

    good = call_of('{"action": "read_file", "input": {"path": "＜|a"}}')
    assert (good.id, good.arguments, good.raw, good.error) == ("id", {"path": "＜|a"}, None, None)
    mended = call_of('{"action": "read_file", "input": {"path": "a",}}')
    assert (mended.raw, mended.repaired) == ('{"path": "a",}', ("trailing_comma",))
    assert mended.arguments == {"path": "a"}
    bad = call_of('{"action": "read_file", "input": {"path": }}')
    assert (bad.raw, bad.arguments) == ('{"path": }', {})
    assert (
        opened().repair(bad).startswith("Nothing was run: the input of read_file is not usable: ")
    )
    unreadable = call_of("x" * 501)
    assert (unreadable.name, unreadable.raw) == ("unreadable", "x" * 500)
    assert opened().repair(unreadable).startswith("Nothing was run: the reply is not one JSON")


# Requests


def shown(*messages: Message, specs: tuple[ToolSpec, ...] = ()) -> list[Message]:
    """What is sent after the system message and the examples."""
    conversation = opened(specs)
    opening = conversation.request(messages[:0], tool_choice="auto", stream=True).messages
    return [*conversation.request(messages, tool_choice="auto", stream=True).messages][
        len(opening) :
    ]


def observed(text: str, *earlier: Message) -> str:
    call = ToolCall(id="c", name="read_file", arguments={})
    asked = Assistant(content=(call,), stop="tool_use")
    result = ToolResult(call_id="c", name="read_file", content=(Text(text=text),))
    last = shown(*earlier, asked, result)[-1]
    assert isinstance(last, User)
    return last.text


@pytest.mark.parametrize("size", [1, 3999, 4000])
def test_a_result_is_shown_whole_up_to_4000_characters(size: int) -> None:
    assert (
        observed("x" * size) == f"<tool_response>\n{'x' * size}\n</tool_response>\nUse this for: "
    )


def test_a_longer_result_is_its_first_3500_and_its_last_500_characters() -> None:
    text = "a" * 3500 + "b" + "c" * 500
    assert observed(text).splitlines()[1:4] == [
        "a" * 3500,
        "[... 1 characters left out; ask for a smaller part ...]",
        "c" * 500,
    ]


@pytest.mark.parametrize(
    ("source", "is_task"),
    [
        ("user", True),
        ("steer", True),
        ("follow_up", True),
        ("observation", True),
        ("repair", False),
        ("limit", False),
    ],
)
def test_results_are_for_the_newest_words_of_a_person(source: str, is_task: bool) -> None:
    text = observed("x", user("first"), user("second", source=source))  # type: ignore[arg-type]
    assert text.endswith(f"Use this for: {'second' if is_task else 'first'}")


@pytest.mark.parametrize(("task", "told"), [("x" * 300, "x" * 300), ("x" * 301, "x" * 300 + "...")])
def test_a_long_task_is_told_by_its_beginning(task: str, told: str) -> None:
    assert observed("x", user(task)).endswith(f"\nUse this for: {told}")


@pytest.mark.parametrize(
    ("messages", "language"),
    [
        ([], "en"),
        ([System(content="请用中文回答。")], "zh"),
        ([user("读文件。"), user("Your reply was empty.", source="repair")], "zh"),
        ([user("Read it."), user("读文件。", source="steer")], "en"),
        ([System(content="请用中文回答。"), user("Read it.")], "en"),
        ([user("Read it."), user("读文件。")], "zh"),
    ],
)
def test_examples_are_finished_conversations_in_the_language_of_the_question(
    messages: list[Message], language: str
) -> None:
    sent = opened().request(messages, tool_choice="auto", stream=True).messages
    steps = [json.loads(m.text) for m in sent if isinstance(m, Assistant)]
    assert [step["action"] for step in steps] == [
        *("list_files", "calculator", "final", "read_file", "read_file", "calculator", "final"),
        *("read_file", "final"),
    ]
    for step in steps:
        kept = "answer" if step["action"] == "final" else "input"
        assert [*step] == ["thought", "action", kept]
        assert step["thought"]
    assert ("文件" in steps[0]["thought"]) is (language == "zh")
    assert steps[0]["input"] == {"path": "notes"}
    results = [m for m in sent if isinstance(m, User) and m.source == "observation"]
    assert len(results) == 6
    assert all("\nUse this for: " in m.text for m in results)
    assert all(m.stop == "stop" for m in sent if isinstance(m, Assistant))


def test_what_a_message_of_each_kind_becomes() -> None:
    call = ToolCall(id="c", name="read_file", arguments={"path": "文"})
    asked = user("go")
    first, *rest = shown(
        asked,
        Assistant(content=(Thinking(text="t"), Text(text="said")), stop="stop"),
        Assistant(content=(Text(text="said"), call), stop="tool_use"),
        Assistant(content=(Thinking(text="t"),), stop="aborted"),
        System(content="more"),
    )
    assert first is asked
    assert [m.content if isinstance(m, System) else m.text for m in rest] == [
        '{"thought": "t", "action": "final", "answer": "said"}',
        '{"thought": "said", "action": "read_file", "input": {"path": "文"}}',
        "more",
    ]


BROKEN = {"error": "why", "arguments": {}}


@pytest.mark.parametrize(
    ("thought", "text", "call", "written"),
    [
        ("t", "a", None, '{"thought": "t", "action": "final", "answer": "a"}'),
        (
            "t" * 161,
            "a" * 5000,
            None,
            f'{{"thought": "{"t" * 160}", "action": "final", "answer": "{"a" * 5000}"}}',
        ),
        (
            "",
            "b" * 161,
            {"name": "x", "arguments": {"k": 1}},
            f'{{"thought": "{"b" * 160}", "action": "x", "input": {{"k": 1}}}}',
        ),
        (
            "t",
            "b",
            {"name": "x", "arguments": {}},
            '{"thought": "t", "action": "x", "input": {}}',
        ),
        (
            "t",
            "",
            {"name": "x", "raw": "{bad", **BROKEN},
            '{"thought": "t", "action": "x", "input": {}}',
        ),
        ("t", "", {"name": "unreadable", "raw": "It is <|4|>", **BROKEN}, "It is ＜|4|>"),
        ("t", "", {"name": "unreadable", **BROKEN}, ""),
        (
            "t",
            "",
            {"name": "unreadable", "arguments": {}, "raw": "x"},
            '{"thought": "t", "action": "unreadable", "input": {}}',
        ),
    ],
)
def test_a_step_as_it_is_written(thought: str, text: str, call: dict | None, written: str) -> None:
    made = None if call is None else ToolCall(id="c", **call)
    assert write_step(thought, text, made) == written


@pytest.mark.anyio
async def test_plain_text_in_the_loop_is_asked_for_once_more() -> None:
    model = FakeModel(says("It is 4."), says("It is 4."))
    end = await Agent(model, dialect=schema_steps).run("2+2?")
    assert (end.status, end.answer, end.steps) == ("done", "It is 4.", 2)
    step, repair = model.requests[1].messages[-2:]
    assert step.text == "It is 4."
    assert "Nothing was run: the reply is not one JSON object" in repair.text


def test_a_call_that_was_not_usable_is_not_known() -> None:
    repeats = Repeats()
    bad = ToolCall(id="1", name="read", arguments={}, error="why")
    good = ToolCall(id="2", name="read", arguments={})
    for call in (bad, bad, good):
        assert isinstance(repeats.observe(CallDue(call=call)), Ok)
        result = ToolResult(call_id=call.id, name="read", content=())
        assert isinstance(repeats.observe(CallDone(call=call, result=result)), Ok)
    kinds = []
    for _ in range(3):
        verdict = repeats.observe(CallDue(call=good))
        assert isinstance(verdict, Deny)
        kinds.append(verdict.error_type)
        repeats.observe(
            CallDone(call=good, result=ToolResult(call_id="2", name="read", content=()))
        )
    assert kinds == ["denied", "repeated", "repeated"]


# The grammar


def schema_of(parameters: dict, **patterns: str) -> dict:
    return input_schema(
        ToolSpec(name="t", description="", parameters=parameters, patterns=patterns)
    )


def test_a_tool_without_arguments_takes_none() -> None:
    assert schema_of({}) == {"properties": {}, "additionalProperties": False}
    assert schema_of({"additionalProperties": True}) == {
        "properties": {},
        "additionalProperties": True,
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 1, "maxLength": 2},
        {"type": "string", "enum": ["a"]},
        {"type": "string", "const": "a"},
        {"type": "integer", "minimum": 1, "maximum": 2},
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        {"type": "number", "minimum": 0.5},
        {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "null"}},
        {"type": "object", "required": ["a"], "additionalProperties": False},
        {"type": "object", "additionalProperties": True},
        {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
    ],
)
def test_what_a_decoder_knows_is_kept(schema: dict) -> None:
    noise = {"title": "T", "description": "d", "default": None, "format": "f", "multipleOf": 2}
    assert schema_of({"properties": {"a": {**schema, **noise}}})["properties"]["a"] == schema


@pytest.mark.parametrize(
    ("schema", "bounds"),
    [
        ({"type": "string"}, {"maxLength": 4000}),
        ({"type": "array"}, {"maxItems": 50}),
        ({"type": "integer"}, {"minimum": -(10**12), "maximum": 10**12}),
        ({"type": "integer", "exclusiveMinimum": 0}, {"maximum": 10**12}),
        ({"type": "integer", "exclusiveMaximum": 0}, {"minimum": -(10**12)}),
        ({"type": "number"}, {}),
        ({"type": "object"}, {}),
    ],
)
def test_what_can_grow_is_bounded(schema: dict, bounds: dict) -> None:
    assert schema_of({"properties": {"a": schema}})["properties"]["a"] == {**schema, **bounds}


@pytest.mark.parametrize("kind", ["properties", "items", "anyOf", "oneOf", "additionalProperties"])
def test_a_schema_that_refers_to_itself_ends(kind: str) -> None:
    """Twelve levels, each a reference and what holds it; the last one can only be null."""
    inner = {"$ref": "#/$defs/P"}
    holds = {"properties": {"next": inner}, "anyOf": [inner], "oneOf": [inner]}.get(kind, inner)
    schema = schema_of({"$defs": {"P": {kind: holds}}, "properties": {"p": inner}})
    node, levels = schema["properties"]["p"], 0
    while node != {"type": "null"}:
        ((key, held),) = node.items()
        assert key == kind.replace("oneOf", "anyOf")
        node = held["next"] if key == "properties" else held[0] if key == "anyOf" else held
        levels += 1
    assert levels == 6


def test_patterns_reach_every_text_of_an_argument() -> None:
    text = {"type": "string"}
    schema = schema_of(
        {
            "properties": {
                "a": {"anyOf": [text, {"type": "null"}, {"type": "array", "items": text}]},
                "b": {"type": "array", "items": True},
                "c": text,
            }
        },
        a="^a$",
        b="^b$",
    )
    assert json.dumps(schema).count('"pattern": "^a$"') == 2
    assert "^b$" not in json.dumps(schema)
    assert schema["properties"]["c"] == {"type": "string", "maxLength": 4000}


TEXT = {"type": "string", "maxLength": 4}
TEXTS = {"type": "array", "items": TEXT, "maxItems": 2}
RECORD = {"type": "object", "properties": {"a": TEXT}, "additionalProperties": TEXTS}


@pytest.mark.parametrize(
    ("value", "schema", "reason"),
    [
        ("abcd", TEXT, "a text was cut at 4 characters"),
        ("abc", TEXT, None),
        ("abcde", TEXT, None),
        ("abcd", {**TEXT, "const": "abcd"}, None),
        ("abcd", {**TEXT, "enum": ["abcd", "x"]}, None),
        ("abcd", {"anyOf": [{"type": "null"}, TEXT]}, "a text was cut at 4 characters"),
        ("abcd", {"anyOf": [TEXT, {"const": "abcd"}]}, None),
        ("abcd", {**TEXT, "maxLength": 9, "pattern": "^x{1,4}$"}, "a text was cut at 4 characters"),
        ("abcd", {**TEXT, "pattern": "^x{1,9}$"}, None),
        ("abcd", {**TEXT, "pattern": "^x+$"}, "a text was cut at 4 characters"),
        (["a", "b"], TEXTS, "a list was cut at 2 items"),
        (["a"], TEXTS, None),
        (["abcd"], TEXTS, "a text was cut at 4 characters"),
        (["a", "b"], {"anyOf": [TEXT, TEXTS]}, "a list was cut at 2 items"),
        ({"a": "abcd"}, RECORD, "a text was cut at 4 characters"),
        ({"a": "abc", "b": ["a"]}, RECORD, None),
        ({"b": ["a", "b"]}, RECORD, "a list was cut at 2 items"),
        ({"a": "abcd"}, {"anyOf": [{"type": "null"}, RECORD]}, "a text was cut at 4 characters"),
        (["a", ["x" * 4000]], None, "a text was cut at 4000 characters"),
        ({"a": [0] * 50}, None, "a list was cut at 50 items"),
        ({"a": [0] * 49, "b": "x" * 3999}, None, None),
        (1234, TEXT, None),
        (None, TEXT, None),
        (True, RECORD, None),
    ],
)
def test_what_fills_its_bound_was_cut(
    value: object, schema: dict | None, reason: str | None
) -> None:
    found = cut_in(value, schema)  # type: ignore[arg-type]
    assert found == (None if reason is None else f"{reason}; send less at a time.")
