"""What a request looks like on the wire (engine A3, design M10)."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from wenfang.core import (
    Assistant,
    Image,
    Message,
    ModelRequest,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
    User,
    user,
)
from wenfang.models import Profile
from wenfang.models.wire import RequestEncoder, safe_id

ADD = ToolSpec(
    name="add", description="Adds 文.", parameters={"type": "object"}, patterns={"a": "x"}
)


def call(call_id: str = "c1", **fields: Any) -> ToolCall:
    return ToolCall(id=call_id, name="add", arguments={"a": 1}, **fields)


def result(call_id: str = "c1", *content: Text | Image) -> ToolResult:
    return ToolResult(call_id=call_id, name="add", content=content or (Text(text="3"),))


def reply(*content: Any, stop: Any = "stop", model: str = "m") -> Assistant:
    return Assistant(content=content, stop=stop, model=model)


def body(messages: list[Message], profile: Profile | None = None, **fields: Any) -> dict[str, Any]:
    encoder = RequestEncoder("m", profile or Profile())
    return json.loads(encoder.body(ModelRequest(messages=messages, **fields)))


def sent(messages: list[Message], profile: Profile | None = None) -> list[dict[str, Any]]:
    return body(messages, profile)["messages"]


def test_every_kind_of_message() -> None:
    messages: list[Message] = [
        System(content="be brief"),
        user("2+3?"),
        reply(Thinking(text="hm"), Text(text="so"), call(), stop="tool_use"),
        result(),
        reply(Text(text="5")),
    ]
    function = {"name": "add", "arguments": '{"a":1}'}
    assert sent(messages) == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "2+3?"},
        {
            "role": "assistant",
            "content": "so",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
        {"role": "assistant", "content": "5"},
    ]


@pytest.mark.parametrize(
    ("profile", "fields", "expected"),
    [
        pytest.param(Profile(), {}, {"stream": True, "stream_options": {"include_usage": True}}, id="stream"),
        pytest.param(Profile(), {"stream": False}, {"stream": False}, id="whole"),
        pytest.param(Profile(stream_usage=False), {}, {"stream": True}, id="no-stream-usage"),
        pytest.param(Profile(), {"stream": False, "max_tokens": 9, "temperature": 0.5, "stop": ("x",)},
                     {"stream": False, "max_tokens": 9, "temperature": 0.5, "stop": ["x"]}, id="options"),
        pytest.param(Profile(max_output=99_000), {"stream": False}, {"stream": False, "max_tokens": 32_000}, id="default-output"),
        pytest.param(Profile(max_output=900, max_tokens_field="max_completion_tokens", fixed_temperature=True),
                     {"stream": False, "temperature": 1.0}, {"stream": False, "max_completion_tokens": 900}, id="reasoning-family"),
        pytest.param(Profile(temperature=0.0), {"stream": False}, {"stream": False, "temperature": 0.0}, id="temperature-of-the-family"),
        pytest.param(Profile(), {"stream": False, "response_schema": {"type": "object"}},
                     {"stream": False, "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": {"type": "object"}}}}, id="schema"),
        pytest.param(Profile(schema="json_object"), {"stream": False, "response_schema": {"type": "object"}},
                     {"stream": False, "response_format": {"type": "json_object", "schema": {"type": "object"}}}, id="json-object"),
    ],
)  # fmt: skip
def test_options(profile: Profile, fields: dict[str, Any], expected: dict[str, Any]) -> None:
    found = body([user("x")], profile, **fields)
    assert found.pop("messages") == [{"role": "user", "content": "x"}]
    assert found == {"model": "m", **expected}


_NONE, _ANY = frozenset[str](), frozenset({"none", "required"})
_NAMED = {"type": "function", "function": {"name": "add"}}


@pytest.mark.parametrize(
    ("choices", "choice", "has_tools", "sent_choice"),
    [
        (_ANY, "auto", True, None), (_ANY, "none", True, "none"), (_ANY, "required", True, "required"),
        (_NONE, "auto", True, None), (_NONE, "none", False, None), (_NONE, "required", True, None),
        (_ANY | {"named"}, "add", True, _NAMED), (_ANY, "add", True, "required"), (_NONE, "add", True, None),
    ],
)  # fmt: skip
def test_tools_and_choice(
    choices: frozenset[str], choice: Any, has_tools: bool, sent_choice: Any
) -> None:
    found = body([user("x")], Profile(tool_choices=choices), tools=(ADD,), tool_choice=choice)
    assert ("tools" in found) == has_tools
    assert found.get("tool_choice") == sent_choice
    if has_tools:
        function = {"name": "add", "description": "Adds 文.", "parameters": {"type": "object"}}
        assert found["tools"] == [{"type": "function", "function": function}]


def test_tool_sets_are_encoded_once_and_not_kept_for_ever() -> None:
    encoder = RequestEncoder("m", Profile())
    for number in range(100):
        tools = (ToolSpec(name=f"t{number}", description="", parameters={}, patterns={}),)
        for _ in range(2):
            sent = encoder.body(ModelRequest(messages=[user("x")], tools=tools))
            assert f'"t{number}"'.encode() in sent


def test_messages_stand_last_and_request_n_is_a_prefix_of_the_next() -> None:
    encoder = RequestEncoder("m", Profile())
    messages: list[Message] = [System(content="s"), user("文")]
    bodies = []
    for number in range(5):
        bodies.append(encoder.body(ModelRequest(messages=messages, tools=(ADD,))))
        messages += [reply(call(f"c{number}"), stop="tool_use"), result(f"c{number}")]
    for one, two in itertools.pairwise(bodies):
        assert one.endswith(b"]}")
        assert two.startswith(one[:-2])


def test_a_message_is_encoded_once_for_all_like_encoders() -> None:
    message = user("hello")
    first, second = RequestEncoder("m", Profile()), RequestEncoder("other", Profile())
    first.body(ModelRequest(messages=[message]))
    remembered = message._wire
    second.body(ModelRequest(messages=[message]))
    assert message._wire is remembered
    RequestEncoder("m", Profile(vision=True)).body(ModelRequest(messages=[message]))
    assert message._wire is not remembered
    assert message == user("hello")


def test_the_developer_role() -> None:
    assert sent([System(content="s")], Profile(system_role="developer"))[0]["role"] == "developer"


@pytest.mark.parametrize(
    ("echo", "model", "expected"),
    [(True, "m", "hm"), (True, "other", None), (False, "m", None)],
)
def test_reasoning_is_echoed_to_its_own_model_only(
    echo: bool, model: str, expected: str | None
) -> None:
    messages: list[Message] = [
        user("x"),
        reply(Thinking(text="hm"), call(), stop="tool_use", model=model),
        result(),
        reply(Thinking(text="hm"), Text(text="y"), model=model),
    ]
    found = sent(messages, Profile(echo_reasoning=echo))
    assert found[1].get("reasoning_content") == expected
    assert "reasoning_content" not in found[3]


def test_broken_arguments_go_out_as_an_empty_object() -> None:
    bad = ToolCall(id="c1", name="add", arguments={}, error="cut", raw='{"a":')
    found = sent([user("x"), reply(bad, stop="length"), result()])
    assert found[1]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_lone_surrogates_are_replaced() -> None:
    spoiled = ToolCall(id="c1", name="add", arguments={"a": ["x\ud83d"], "k\ud83d": "文"})
    found = sent(
        [user("a\ud83d"), reply(spoiled, stop="tool_use"), result("c1", Text(text="\ude00"))]
    )
    assert found[0]["content"] == "a\ufffd"
    assert json.loads(found[1]["tool_calls"][0]["function"]["arguments"]) == {
        "a": ["x\ufffd"],
        "k\ufffd": "文",
    }
    assert found[2]["content"] == "\ufffd"


@pytest.mark.parametrize("bad", ["", "a b", "x" * 41, "toolu|1", "呼", "\ud83d"])
def test_foreign_ids_are_replaced_alike(bad: str) -> None:
    found = sent([user("x"), reply(call(bad), stop="tool_use"), result(bad)])
    new = found[1]["tool_calls"][0]["id"]
    assert found[2]["tool_call_id"] == new == safe_id(bad)
    assert safe_id(new) == new


def test_an_empty_result_says_so() -> None:
    found = sent([user("x"), reply(call(), stop="tool_use"), result("c1", Text(text=""))])
    assert found[2]["content"] == "(no output)"


PIC = Image(data="QUJD", media_type="image/png")
URL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}


def test_images_for_a_model_that_sees() -> None:
    messages: list[Message] = [
        User(content=(Text(text="look"), PIC)),
        reply(call("c1"), call("c2"), stop="tool_use"),
        result("c1", Text(text="a"), PIC),
        result("c2", PIC),
        reply(Text(text="ok")),
    ]
    found = sent(messages, Profile(vision=True))
    assert found[0]["content"] == [{"type": "text", "text": "look"}, URL]
    assert [message["role"] for message in found[2:]] == ["tool", "tool", "user", "assistant"]
    assert found[4]["content"] == [URL, URL]
    assert sent(messages, Profile(vision=True)) == found


def test_images_for_a_model_that_does_not() -> None:
    messages: list[Message] = [
        User(content=(Text(text="look"), PIC)),
        reply(call(), stop="tool_use"),
        result("c1", PIC),
    ]
    found = sent(messages)
    assert [message["role"] for message in found] == ["user", "assistant", "tool"]
    assert all("left out" in found[at]["content"] for at in (0, 2))


def test_a_transcript_that_needs_mending_is_mended() -> None:
    found = sent(
        [
            user("x"),
            reply(Text(text="half"), stop="error"),
            user("y"),
            reply(call(), stop="tool_use"),
        ]
    )
    assert [message["role"] for message in found] == ["user", "user", "assistant", "tool"]
    assert sent([]) == []
