"""Text dialects as conversations: replies to blocks, blocks to well-formed history, requests that only grow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenfang.core import (
    DIALECTS,
    Agent,
    Assistant,
    Delta,
    Message,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    new_id,
    tool,
    user,
)
from wenfang.core.dialects.text import render_observation
from wenfang.core.dialects.text.conversation import TextConversation
from wenfang.core.dialects.text.forms import FORMS
from wenfang.core.dialects.told_conversation import UNREADABLE
from wenfang.testing import Reply, ScriptedModel, ToolUse, say

pytestmark = pytest.mark.anyio

NAMES = ("tagged", "markdown", "plain_zh", "bracket", "classic")
EACH = pytest.mark.parametrize("name", NAMES)
ADD = ToolSpec(
    name="add",
    description="Add two integers.\n\nMore about it.",
    parameters={
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
    patterns={},
)
NOTE = ToolSpec(
    name="note",
    description="Keep a note.",
    parameters={"type": "object", "properties": {"text": {}}, "required": ["text"]},
    patterns={},
)


def opened(name: str, *tools: ToolSpec, choice: str = "auto") -> TextConversation:
    made = DIALECTS[name].open(tools or (ADD, NOTE), lambda: new_id("call"), choice)  # type: ignore[index]
    assert isinstance(made, TextConversation)
    return made


def asked(conversation: TextConversation, *messages: Message, choice: Any = "auto") -> list[str]:
    """The texts of a request."""
    request = conversation.request(messages, tool_choice=choice, stream=True)
    assert request.tools == ()
    return [m.content if isinstance(m, System) else m.text for m in request.messages]  # type: ignore[union-attr]


def read(
    conversation: TextConversation, text: str, *, stop: Any = "stop", size: int = 0
) -> tuple[Assistant, list[Delta]]:
    """The reply that `text` is, and the live pieces; `size` 0 is a reply that was not streamed."""
    decoder = conversation.decoder()
    live: list[Delta] = []
    for at in range(0, len(text) if size else 0, size or 1):
        live += decoder.feed(Delta(kind="text", text=text[at : at + size], index=1))
        if decoder.is_complete:
            break
    raw = Assistant(content=(Text(text=text),), stop=stop, usage=Usage(input=1, output=1))
    reply = decoder.close(raw)
    assert size or not decoder.late
    return reply, [*live, *decoder.late]


def plain(blocks: Sequence[Any]) -> list[Any]:
    return [
        (block.name, dict(block.arguments))
        if isinstance(block, ToolCall)
        else (type(block), block.text)
        for block in blocks
    ]


def action(name: str, arguments: Any, thought: str = "So.") -> str:
    form = FORMS[opened(name).shape.name]["en"]
    written = form.action.format(name="add", arguments=json.dumps(arguments))
    return f"{form.thought.format(thought=thought)}\n{written}"


def answer(name: str, text: str) -> str:
    return FORMS[opened(name).shape.name]["en"].answer.format(answer=text)


@EACH
@pytest.mark.parametrize("size", [0, 1, 7, 10_000])
def test_an_action_and_an_answer(name: str, size: int) -> None:
    conversation = opened(name)
    text = action(name, {"a": 1, "b": 2}) + "\nObservation: 99\nThought: invented"
    reply, live = read(conversation, text, size=size)
    assert plain(reply.content) == [(Thinking, "So."), ("add", {"a": 1, "b": 2})]
    assert reply.stop == "tool_use"
    assert "invented" not in "".join(delta.text for delta in live)
    if size:
        assert [delta.name for delta in live if delta.kind == "call"] == ["add"]
    reply, live = read(conversation, answer(name, "It is three."), size=size)
    assert plain(reply.content) == [(Text, "It is three.")]
    assert reply.stop == "stop"
    if size:
        assert "".join(delta.text for delta in live if delta.kind == "text") == "It is three."


@EACH
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_what_is_certain_only_at_the_end_is_shown_as_well(name: str, size: int) -> None:
    """A closing fence and the start of a label are held back until it is clear what they are."""
    for text in ("Like this:\n```\na\n```", "See the Act", "Three.\n\nFinal"):
        written = answer(name, text).removesuffix("\n</final_answer>")
        reply, live = read(opened(name), written, size=size)
        assert reply.text == text
        assert "".join(d.text for d in live if d.kind == "text").strip() == text


@EACH
def test_the_reply_is_ended_when_its_action_is_complete(name: str) -> None:
    decoder = opened(name).decoder()
    text = action(name, {"a": 1, "b": 2})
    cut = text.index("2}") + 1
    decoder.feed(Delta(kind="text", text=text[:cut], index=0))
    assert not decoder.is_complete
    decoder.feed(Delta(kind="text", text=text[cut:] + "\n\n", index=0))
    assert decoder.is_complete


@EACH
def test_what_only_the_end_makes_certain_is_told_then(name: str) -> None:
    """5.7: the end of an answer may be the beginning of a tag until nothing follows."""
    decoder = opened(name).decoder()
    text = answer(name, "a <tool").partition("</")[0].rstrip()
    live = list(decoder.feed(Delta(kind="text", text=text, index=0)))
    assert "".join(delta.text for delta in live if delta.kind == "text") == "a"
    reply = decoder.close(Assistant(content=(Text(text=text),), stop="stop"))
    assert "".join(delta.text for delta in decoder.late if delta.kind == "text") == " <tool"
    assert plain(reply.content) == [(Text, "a <tool")]


def test_a_whole_reply_has_no_last_pieces() -> None:
    decoder = opened("tagged").decoder()
    reply = Assistant(content=(Text(text=answer("tagged", "3")),), stop="stop")
    assert plain(decoder.close(reply).content) == [(Text, "3")]
    assert list(decoder.late) == []


async def test_5_5_aliases_and_quotations_reach_the_tool() -> None:
    """What the parser may read more generously follows from the tool itself."""

    @tool(aliases={"name": "text"})
    def look(text: str) -> str:
        """Look it up."""
        return f"found {text}"

    @tool(access="write", aliases={"name": "text"})
    def put(text: str) -> str:
        """Put it away."""
        return f"put {text}"

    replies = [
        Reply(text='Action: look\nAction Input: {"name": "the "old" man"}'),
        Reply(text='Action: put\nAction Input: {"name": "the "old" man"}'),
        Reply(text='Action: put\nAction Input: {"name": "man"}'),
        Reply(text="Final Answer: done"),
    ]
    agent = Agent(ScriptedModel(*replies), [look, put], dialect=DIALECTS["classic"])
    end = await agent.run("Go.")
    results = [message for message in agent.transcript if isinstance(message, ToolResult)]
    assert [result.error_type for result in results] == [None, "malformed", None]
    assert (results[0].text, results[2].text) == ('found the "old" man', "put man")
    assert end.answer == "done"


def test_text_whose_role_was_open_stays_what_was_shown() -> None:
    """5.7: in an open dialect words before a call were shown as the reply."""
    conversation = opened("plain_zh")
    text = '我来加。\n工具调用：{"tool": "add", "parameters": {"a": 1, "b": 2}}'
    for size in (0, 1, 100):
        reply, live = read(conversation, text, size=size)
        assert plain(reply.content) == [(Text, "我来加。"), ("add", {"a": 1, "b": 2})]
        if size:
            assert "".join(d.text for d in live if d.kind == "text").strip() == "我来加。"


@EACH
def test_reasoning_of_the_provider_comes_first_and_is_no_protocol(name: str) -> None:
    conversation = opened(name)
    decoder = conversation.decoder()
    thought = Delta(kind="thinking", text=action(name, {"a": 1, "b": 2}), index=0)
    assert list(decoder.feed(thought)) == [thought]
    list(decoder.feed(Delta(kind="text", text=answer(name, "3"), index=1)))
    content = (Thinking(text=thought.text), Text(text=answer(name, "3")))
    reply = decoder.close(Assistant(content=content, stop="stop"))
    assert plain(reply.content) == [(Thinking, thought.text), (Text, "3")]


@EACH
def test_a_call_that_the_provider_has_read_wins(name: str) -> None:
    call = ToolCall(id="c", name="add", arguments={"a": 1, "b": 2})
    reply = Assistant(content=(Text(text=answer(name, "x")), call), stop="tool_use")
    assert opened(name).decoder().close(reply) == replace(reply, content=(Text(text="x"), call))
    leaked = action(name, {"a": 5, "b": 5}, "So.")
    reply = replace(reply, content=(Text(text=leaked), call))
    assert opened(name).decoder().close(reply).content == (Thinking(text="So."), call)


@EACH
@pytest.mark.parametrize(
    ("arguments", "word"),
    [("[1]", "object"), ('{"a": 1, "b"', "ended"), ('{"a": 1}', "b")],
)
def test_what_cannot_be_run_is_explained(name: str, arguments: str, word: str) -> None:
    conversation = opened(name)
    form = FORMS[conversation.shape.name]["en"]
    text = form.action.format(name="add", arguments=arguments)
    if '"b"' in arguments:
        text = text[: text.index(arguments) + len(arguments)]
    asked(conversation, user("Add."))
    (call,) = read(conversation, text)[0].calls
    assert call.error is not None
    assert dict(call.arguments) == {}
    told = conversation.repair(call)
    assert told.startswith("Nothing was run: ")
    assert word in told
    assert form.action.split("{")[0].strip() in told


@EACH
def test_an_unknown_tool_is_refused_like_any_other(name: str) -> None:
    form = FORMS[opened(name).shape.name]["en"]
    (call,) = read(opened(name), form.action.format(name="fly", arguments="{}"))[0].calls
    assert call.name.startswith("fly")
    assert call.error is None


@pytest.mark.parametrize("name", ["tagged", "markdown", "bracket", "classic"])
def test_plain_text_is_refused_once_and_then_taken_for_the_answer(name: str) -> None:
    """FB30: one repair turn, then a plain answer."""
    conversation = opened(name)
    asked(conversation, user("Add."))
    (call,) = read(conversation, "It is three.")[0].calls
    assert call.name == UNREADABLE
    assert answer(name, "the whole answer") in conversation.repair(call)
    reply, _ = read(conversation, "It is three.")
    assert plain(reply.content) == [(Text, "It is three.")]


def test_without_tools_plain_text_is_the_answer() -> None:
    conversation = opened("tagged")
    asked(conversation, user("Add."), choice="none")
    assert plain(read(conversation, "It is three.")[0].content) == [(Text, "It is three.")]


def test_an_answer_that_the_limit_cut() -> None:
    reply, _ = read(opened("tagged"), "<final_answer>\nIt is th", stop="length")
    assert (plain(reply.content), reply.stop) == ([(Text, "It is th")], "length")
    reply, _ = read(
        opened("tagged"), "<final_answer>\nIt is three.\n</final_answer>", stop="length"
    )
    assert (plain(reply.content), reply.stop) == ([(Text, "It is three.")], "stop")
    reply, _ = read(opened("tagged"), "Thought: so", stop="length")
    assert reply.stop in ("length", "tool_use")


def test_a_reply_that_broke_off_keeps_its_thought_and_no_call() -> None:
    reply, _ = read(opened("tagged"), "Thought: so\nAction:\n<tool_name>add", stop="error")
    assert reply.calls == ()
    assert reply.stop == "error"


# A call that is required (FB09)

NEEDED = pytest.mark.parametrize(("choice", "said"), [("required", "a tool"), ("add", "add")])


@EACH
@NEEDED
@pytest.mark.parametrize("size", [0, 1, 7, 10_000])
def test_fb09_an_answer_is_refused_and_not_shown_where_a_call_is_required(
    name: str, choice: str, said: str, size: int
) -> None:
    conversation = opened(name, choice=choice)
    asked(conversation, user("Add."), choice=choice)
    for text in (answer(name, "It is three."), "It is three."):
        reply, live = read(conversation, text, size=size)
        (call,) = reply.calls
        assert call.name == UNREADABLE
        assert call.error
        assert reply.text == ""
        assert not [delta for delta in live if delta.kind == "text"]
        told = conversation.repair(call)
        assert told.startswith(f"Nothing was run: this step has to call {said}.")
        form = FORMS[conversation.shape.name]["en"]
        assert form.action.partition("{")[0] in told
        assert answer(name, "the whole answer") not in told
        assert ("add" in told) is (choice == "add")
    reply, _ = read(conversation, action(name, {"a": 1, "b": 2}), size=size)
    assert plain(reply.content) == [(Thinking, "So."), ("add", {"a": 1, "b": 2})]
    asked(conversation, user("Add."))
    assert read(conversation, answer(name, "3"), size=size)[0].text == "3"


@EACH
def test_fb09_a_call_of_another_tool_is_refused_where_one_is_required(name: str) -> None:
    conversation = opened(name, choice="note")
    asked(conversation, user("Add."), choice="note")
    (call,) = read(conversation, action(name, {"a": 1, "b": 2}))[0].calls
    assert (call.name, call.error) == ("add", "this step has to call note.")
    assert "note" in conversation.repair(call)


def test_fb09_words_beside_a_required_call_are_its_thought() -> None:
    """In an open dialect they would be shown, and then the reply might be refused."""
    conversation = opened("plain_zh", choice="required")
    asked(conversation, user("Add."), choice="required")
    text = '我来加。\n工具调用：{"tool": "add", "parameters": {"a": 1, "b": 2}}'
    for size in (0, 1, 100):
        reply, live = read(conversation, text, size=size)
        assert plain(reply.content) == [(Thinking, "我来加。"), ("add", {"a": 1, "b": 2})]
        assert not [delta for delta in live if delta.kind == "text"]


@EACH
@NEEDED
@pytest.mark.parametrize(("question", "zh"), [("Add 1 and 2", False), ("把 1 和 2 加起来", True)])
def test_fb09_the_model_is_told_and_the_prefix_stays(
    name: str, choice: str, said: str, question: str, zh: bool
) -> None:
    conversation = opened(name, choice=choice)
    messages = (user(question), *TURN[2:])
    first = conversation.request(messages[:1], tool_choice=choice, stream=True).messages
    later = conversation.request(messages, tool_choice="auto", stream=True).messages
    assert all(a is b for a, b in zip(first, later, strict=False))
    rule = f"第一步必须用 {said}".replace(" a tool", "一个工具") if zh else f"has to call {said};"
    assert rule in first[0].content  # type: ignore[operator]
    resumed = opened(name, choice=choice).request(messages, tool_choice="auto", stream=True)
    assert resumed.messages[0] == first[0]
    assert rule not in asked(opened(name), *messages)[0]


@pytest.mark.parametrize("stop", ["error", "aborted"])
@EACH
def test_fb09_a_reply_that_broke_off_is_not_refused(name: str, stop: str) -> None:
    conversation = opened(name, choice="required")
    asked(conversation, user("Add."), choice="required")
    reply, _ = read(conversation, answer(name, "It is th"), stop=stop)
    assert (reply.calls, reply.text, reply.stop) == ((), "", stop)


@EACH
def test_fb09_without_tools_nothing_is_required(name: str) -> None:
    conversation = DIALECTS[name].open((), lambda: "c", "required")  # type: ignore[index]
    assert isinstance(conversation, TextConversation)
    shown = asked(conversation, user("Add."), choice="required")
    assert "has to call" not in shown[0]
    assert read(conversation, answer(name, "3"))[0].text == "3"


# What is never an answer (5.11)

TAKEN_APART = ToolSpec(
    name="look",
    description="Look.",
    parameters={
        "type": "object",
        "properties": {"where": {"type": "string"}, "deep": {"type": "boolean"}},
    },
    patterns={},
)
WITHOUT_FORM = (
    "add",
    "add(1, 2)",
    "`add(a=1, b=2)`",
    'add[{"a": 1}]',
    'add\n{"a": 1, "b": 2}',
    'add(1, "2")\n<arguments>\n{"a": 1, "b": 2}\n</arguments>',
)


@pytest.mark.parametrize("name", ["tagged", "markdown", "bracket", "classic"])
@pytest.mark.parametrize("text", WITHOUT_FORM)
def test_5_11_a_call_without_its_form_never_becomes_the_answer(name: str, text: str) -> None:
    """Plain text is taken for the answer after one repair; a call that only lacks its form is not."""
    conversation = opened(name)
    asked(conversation, user("Add."))
    for _ in range(3):
        reply, live = read(conversation, text, size=5)
        (call,) = reply.calls
        assert (call.name, reply.text) == ("add", "")
        assert call.error == "a call of add has to be written in the form of an action."
        assert not [delta for delta in live if delta.kind == "text"]
    reply, _ = read(conversation, "Adding gives three.")
    assert plain(reply.content) == [(Text, "Adding gives three.")]


@pytest.mark.parametrize("name", ["tagged", "markdown", "bracket", "classic"])
@pytest.mark.parametrize("text", ["See <tool_result>3</tool_result>.", "So <|im_end|> three."])
def test_5_11_markup_never_becomes_the_answer(name: str, text: str) -> None:
    conversation = opened(name)
    asked(conversation, user("Add."))
    for _ in range(3):
        (call,) = read(conversation, text, size=5)[0].calls
        assert call.name == UNREADABLE


@EACH
def test_5_11_a_repair_names_the_tool_that_was_meant_and_its_arguments(name: str) -> None:
    conversation = opened(name, ADD, TAKEN_APART)
    asked(conversation, user("Add."))
    form = FORMS[conversation.shape.name]["en"]
    (call,) = read(conversation, form.action.format(name="add", arguments="[1]"))[0].calls
    written = form.action.format(name="add", arguments='{"a": 1, "b": 1}')
    assert written in conversation.repair(call)
    (call,) = read(conversation, form.action.format(name="look", arguments="[1]"))[0].calls
    written = form.action.format(name="look", arguments='{"where": "...", "deep": true}')
    assert written in conversation.repair(call)


def refused(conversation: TextConversation, name: str) -> str:
    """A reply that could not be used becomes a part of the conversation; what the model was told."""
    form = FORMS[conversation.shape.name]["en"]
    reply = read(conversation, form.action.format(name="add", arguments="[1]"))[0]
    (call,) = reply.calls
    told = conversation.repair(call)
    result = ToolResult(
        call_id=call.id, name=call.name, content=(Text(text=told),), error_type="malformed"
    )
    asked(conversation, user("Add."), reply, result, user(LIMIT, source="limit"), choice="none")
    return told


LIMIT = "Your last two replies cannot be read. Do not call any more tools. Answer now with what you have."


@EACH
@pytest.mark.parametrize("size", [0, 1, 7, 10_000])
def test_5_11_what_the_model_was_told_about_its_reply_is_never_the_answer(
    name: str, size: int
) -> None:
    """Seen with a small model: the last words that it read, as its final answer."""
    conversation = opened(name)
    told = refused(conversation, name)
    reason = told.split("\n")[0].removeprefix("Nothing was run: ")
    for words in (told.split("\n")[0], reason, f"**{reason}**", LIMIT, f"{LIMIT}\n\n{reason}"):
        for text in (answer(name, words), words):
            reply, live = read(conversation, text, size=size)
            assert reply.text == "", text
            assert reply.calls[0].error
            assert not [delta for delta in live if delta.kind == "text"]


@EACH
@pytest.mark.parametrize("size", [0, 1, 7, 10_000])
@pytest.mark.parametrize(
    "text",
    ["3", "They are three.", "Nothing was run: I know it.", "Your last two replies were fine."],
)
def test_an_answer_that_only_begins_like_it_is_one_and_is_shown(
    name: str, size: int, text: str
) -> None:
    conversation = opened(name)
    refused(conversation, name)
    reply, live = read(conversation, answer(name, text), size=size)
    assert plain(reply.content) == [(Text, text)]
    if size:
        assert "".join(d.text for d in live if d.kind == "text") == text


@EACH
@given(data=st.data())
def test_what_may_be_our_own_words_is_held_back_at_every_cut(
    name: str, data: st.DataObject
) -> None:
    """What a viewer saw is what the message says, also of an answer that is refused."""
    conversation = opened(name)
    told = refused(conversation, name)
    pieces = st.sampled_from([*told.split("\n"), *LIMIT.split(". "), "It is 3.", " ", "\n", "."])
    text = "".join(data.draw(st.lists(pieces, min_size=1, max_size=4)))
    size = data.draw(st.integers(1, 30))
    reply, live = read(conversation, answer(name, text), size=size)
    shown = "".join(delta.text for delta in live if delta.kind == "text")
    assert shown.strip() == reply.text.strip()


@EACH
def test_5_11_a_limit_says_how_to_answer(name: str) -> None:
    conversation = opened(name)
    last = asked(conversation, user("Add."), user(LIMIT, source="limit"), choice="none")[-1]
    assert last.startswith(LIMIT)
    assert answer(name, "the whole answer") in last


async def test_our_words_as_the_last_answer_end_the_run_without_one() -> None:
    bad = Reply(text="Action:\n<tool_name>total</tool_name>\n<arguments>[]</arguments>", repeat=2)
    echo = Reply(text="<final_answer>\nThey are not a JSON object like {...}.\n</final_answer>")
    end = await Agent(ScriptedModel(bad, echo), [total], dialect=DIALECTS["tagged"]).run("1 + 2?")
    assert (end.status, end.reason, end.answer) == ("failed", "invalid_model_output", "")


# What the model reads

CALL = ToolCall(id="c1", name="add", arguments={"a": 1, "b": 2})
TURN: tuple[Message, ...] = (
    System(content="Be brief."),
    user("1 + 2?"),
    Assistant(content=(Thinking(text="I add."), CALL), stop="tool_use"),
    ToolResult(call_id="c1", name="add", content=(Text(text="3"),)),
    Assistant(content=(Text(text="Three."),), stop="stop"),
)


@EACH
def test_history_is_written_in_the_form(name: str) -> None:
    conversation = opened(name)
    system, question, said, seen, final = asked(conversation, *TURN)
    form = FORMS[conversation.shape.name]["en"]
    assert system.startswith("Be brief.\n\nYou work step by step")
    assert "- add(a: integer, b: integer): Add two integers.\n" in system
    assert "More about it" not in system
    assert form.answer.format(answer="the whole answer") in system
    assert question == "1 + 2?"
    assert said == action(name, {"a": 1, "b": 2}, "I add.")
    assert seen == form.result.format(result="3")
    assert final == form.answer.format(answer="Three.")


@EACH
def test_history_is_read_as_it_was_meant(name: str) -> None:
    """What a model sees of itself is what it should write."""
    conversation = opened(name)
    _, _, said, _, final = asked(conversation, *TURN)
    assert plain(read(conversation, said)[0].content) == plain(TURN[2].content)  # type: ignore[union-attr]
    assert plain(read(conversation, final)[0].content) == plain(TURN[4].content)  # type: ignore[union-attr]


TEXTS = st.text(st.sampled_from("ab \n<>/:：*`[]{}\"'\\，。中"), max_size=40) | st.sampled_from(
    [
        "Action: add",
        "Thought: x\nFinal Answer: y",
        "<final_answer>z</final_answer>",
        "答案：7",
        "`a`",
    ]
)


@EACH
@given(text=TEXTS, thought=TEXTS)
def test_blocks_there_and_back(name: str, text: str, thought: str) -> None:
    """Arguments come back as they are; answers too, unless they look like protocol: then they are read
    as an answer all the same."""
    conversation = opened(name)
    call = ToolCall(id="c", name="note", arguments={"text": text})
    reply = Assistant(content=(Thinking(text=thought), call), stop="tool_use")
    said = asked(conversation, System(content=""), user("x"), reply)[-1]
    back = read(conversation, said)[0]
    assert [(c.name, dict(c.arguments), c.error) for c in back.calls] == [
        ("note", {"text": text}, None)
    ]
    if not text.strip():
        return
    final = Assistant(content=(Text(text=text),), stop="stop")
    said = asked(opened(name), System(content=""), user("x"), final)[-1]
    back = read(opened(name), said)[0]
    assert back.calls == ()
    shape = conversation.shape
    if render_observation(text, shape) == text and "final_answer" not in text:
        assert back.text == text.strip()


@EACH
@given(text=TEXTS)
def test_no_result_is_protocol(name: str, text: str) -> None:
    conversation = opened(name)
    result = ToolResult(call_id="c1", name="add", content=(Text(text=text),))
    seen = asked(conversation, *TURN[:3], result)[-1]
    _, _, tail = seen.partition("\n")
    reply, _ = read(
        conversation, tail.removeprefix("<tool_result>\n").removesuffix("\n</tool_result>")
    )
    assert all(call.error is not None for call in reply.calls)


@EACH
def test_a_malformed_reply_and_what_it_was_told(name: str) -> None:
    conversation = opened(name)
    asked(conversation, user("Add."))
    text = (
        "Thought: so\nAction: add [1]"
        if name != "tagged"
        else "Action:\n<tool_name>add</tool_name>"
    )
    reply = read(conversation, text)[0]
    (call,) = reply.calls
    told = conversation.repair(call)
    result = ToolResult(
        call_id=call.id, name=call.name, content=(Text(text=told),), error_type="malformed"
    )
    shown = asked(conversation, user("Add."), reply, result)
    assert shown[-2:] == [text, told]


@EACH
def test_several_calls_of_another_model_become_one_step_each(name: str) -> None:
    other = ToolCall(id="c2", name="add", arguments={"a": 3, "b": 4})
    messages = (
        user("x"),
        Assistant(content=(CALL, other), stop="tool_use"),
        ToolResult(call_id="c1", name="add", content=(Text(text="3"),)),
        ToolResult(call_id="c2", name="add", content=(Text(text="7"),)),
    )
    shown = asked(opened(name), *messages)[2:]
    form = FORMS[opened(name).shape.name]["en"]
    assert shown == [
        form.action.format(name="add", arguments='{"a": 1, "b": 2}'),
        form.result.format(result="3"),
        form.action.format(name="add", arguments='{"a": 3, "b": 4}'),
        form.result.format(result="7"),
    ]


@EACH
def test_request_n_is_a_prefix_of_the_next_and_made_of_the_same_objects(name: str) -> None:
    conversation = opened(name)
    requests = [
        conversation.request(TURN[:end], tool_choice="auto", stream=True).messages
        for end in (2, 4, 5)
    ]
    for one, two in pairwise(requests):
        assert all(a is b for a, b in zip(one, two, strict=False))
        assert len(one) < len(two)


@pytest.mark.parametrize(
    ("question", "words"),
    [("把 1 和 2 加起来", "你借助工具"), ("Add 1 and 2", "You work step by step")],
)
def test_the_language_of_the_question(question: str, words: str) -> None:
    assert words in asked(opened("plain_zh"), user(question))[0]


def test_without_tools_only_the_answer_is_asked_for() -> None:
    conversation = DIALECTS["tagged"].open((), lambda: "c")
    request = conversation.request((user("hi"),), tool_choice="auto", stream=True)
    first = request.messages[0]
    assert isinstance(first, System)
    assert "tool_name" not in first.content
    assert "<final_answer>" in first.content


def test_stop_sequences_are_the_shapes_and_few() -> None:
    for name in NAMES:
        request = opened(name).request((user("hi"),), tool_choice="auto", stream=True)
        assert 0 < len(request.stop) <= 4


def test_an_image_is_named() -> None:
    from wenfang.core import Image

    result = ToolResult(
        call_id="c1", name="add", content=(Text(text="a"), Image(data="", media_type="image/png"))
    )
    assert (
        "[an image, which cannot be shown here]" in asked(opened("bracket"), *TURN[:3], result)[-1]
    )


def file_tools() -> tuple[ToolSpec, ...]:
    """The tools that the worked examples need."""

    def spec(name: str, argument: str) -> ToolSpec:
        schema = {"type": "object", "properties": {argument: {"type": "string"}}}
        return ToolSpec(name=name, description="It works.", parameters=schema, patterns={})

    return (spec("list_files", "path"), spec("read_file", "path"), spec("calculator", "expression"))


@EACH
@pytest.mark.parametrize(
    ("question", "said"), [("Add 1 and 2", "520"), ("把 1 和 2 加起来", "520 克")]
)
def test_worked_examples_are_steps_as_they_should_be_written(
    name: str, question: str, said: str
) -> None:
    """Each reply in them is read as what it shows, and no example needs a tool that is not there."""
    conversation = opened(name, *file_tools())
    messages = conversation.request((user(question),), tool_choice="auto", stream=True).messages
    played = messages[1:-1]
    assert [m.role for m in played] == ["user", "assistant"] * (len(played) // 2)
    kinds: list[str] = []
    for message in played:
        if isinstance(message, Assistant):
            (*_, block) = read(conversation, message.text)[0].content
            kinds.append(block.name if isinstance(block, ToolCall) else block.text)
            assert not isinstance(block, ToolCall) or block.error is None
    assert [kind for kind in kinds if kind in ("list_files", "read_file", "calculator")] == [
        "list_files", "calculator", "read_file", "read_file", "calculator", "read_file",
    ]  # fmt: skip
    assert len(kinds) == 6 + 3
    assert said in "".join(kinds)
    system = messages[0]
    assert isinstance(system, System)
    assert ("first 3 tasks" in system.content) != ("开头的 3 个任务" in system.content)
    fewer = opened(name, *file_tools()[:2])
    assert "calculator" not in "".join(asked(fewer, user(question)))


# Whole runs


@tool
def total(a: int, b: int) -> int:
    """Add."""
    return a + b


@EACH
@pytest.mark.parametrize("streaming", [True, False])
async def test_a_run(name: str, streaming: bool) -> None:
    form = FORMS[opened(name).shape.name]["en"]
    step = form.action.format(name="total", arguments='{"a": 1, "b": 2}')
    model = ScriptedModel(say(f"{step}\nObservation: 5"), say(form.answer.format(answer="3")))
    agent = Agent(model, [total], dialect=DIALECTS[name], streaming=streaming)  # type: ignore[index]
    end = await agent.run("1 + 2?")
    assert (end.status, end.answer, end.tool_calls) == ("done", "3", 1)
    assert [type(m).__name__ for m in agent.transcript] == [
        "User", "Assistant", "ToolResult", "Assistant",
    ]  # fmt: skip
    assert end.usage.input > 0


async def test_identical_nonsense_ends_the_run() -> None:
    nonsense = Reply(
        text="Action:\n<tool_name>total</tool_name>\n<arguments>[]</arguments>", repeat=0
    )
    model = ScriptedModel(nonsense)
    end = await Agent(model, [total], dialect=DIALECTS["tagged"]).run("1 + 2?")
    assert end.reason == "invalid_model_output"
    assert len(model.requests) == 3
    assert "<tool_name>" not in end.answer


async def test_a_native_call_in_a_text_dialect_runs() -> None:
    model = ScriptedModel(
        Reply(tools=[ToolUse(name="total", args={"a": 1, "b": 2})]),
        say("<final_answer>3</final_answer>"),
    )
    end = await Agent(model, [total], dialect=DIALECTS["tagged"]).run("1 + 2?")
    assert (end.answer, end.tool_calls) == ("3", 1)
