"""Native calls that leaked into the text: read where they can stand, never shown, examples left alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenfang.core import (
    DIALECTS,
    Agent,
    Assistant,
    Delta,
    Limits,
    MessageDelta,
    Text,
    Thinking,
    ToolCall,
    ToolSpec,
    lenient,
    new_id,
    tool,
    user,
)
from wenfang.core.dialects.told_conversation import UNREADABLE
from wenfang.testing import Reply, ScriptedModel, ToolUse, say

pytestmark = pytest.mark.anyio

ADD = ToolSpec(
    name="add",
    description="Add two integers.",
    parameters={
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
    patterns={},
)
ARGS = {"a": 1, "b": 2}
JSON = '{"a": 1, "b": 2}'
SIZES = pytest.mark.parametrize("size", [0, 1, 7, 10_000])


def read(
    text: str, *calls: ToolCall, size: int = 0, stop: Any = "stop", tools: tuple = (ADD,)
) -> tuple[Assistant, str]:
    """The reply that `text` is, and the text that was shown; `size` 0 is a reply that was not streamed."""
    decoder = lenient.open(tools, lambda: new_id("call")).decoder()
    live: list[Delta] = []
    for at in range(0, len(text) if size else 0, size or 1):
        live += decoder.feed(Delta(kind="text", text=text[at : at + size], index=0))
        assert not decoder.is_complete
    for at, call in enumerate(calls, 1):
        delta = Delta(kind="call", text="{}", index=at, name=call.name)
        assert list(decoder.feed(delta)) == [delta]
    reply = decoder.close(Assistant(content=(Text(text=text), *calls), stop=stop))
    assert size or not decoder.late
    live += decoder.late
    assert {delta.index for delta in live} <= {0}
    return reply, "".join(delta.text for delta in live)


def made(reply: Assistant) -> list[Any]:
    return [(call.name, dict(call.arguments), call.error is None) for call in reply.calls]


LEAKS = {
    "hermes": f'<tool_call>\n{{"name": "add", "arguments": {JSON}}}\n</tool_call>',
    "hermes, no opener": f'{{"name": "add", "arguments": {JSON}}}\n</tool_call>',
    "hermes, no closer": f'<tool_call>\n{{"name": "add", "arguments": {JSON}}}',
    "hermes, in a fence": f'```json\n<tool_call>{{"name": "add", "arguments": {JSON}}}</tool_call>\n```',
    "qwen3-coder": "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n"
    "</parameter>\n</function>\n</tool_call>",
    "qwen3-coder, no opener": "<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n"
    "</parameter>\n</function>\n</tool_call>",
    "deepseek v3": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n"
    f"{JSON}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek v3.1": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{JSON}"
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek v3.2": '<｜DSML｜function_calls><｜DSML｜invoke name="add"><｜DSML｜parameter name="a" '
    'string="false">1</｜DSML｜parameter><｜DSML｜parameter name="b" string="false">2</｜DSML｜parameter>'
    "</｜DSML｜invoke></｜DSML｜function_calls>",
    "llama 3": f'{{"name": "add", "parameters": {JSON}}}',
    "llama 3, tag": f'<|python_tag|>{{"name": "add", "parameters": {JSON}}}',
    "llama 3, tag and program": "<|python_tag|>add(a=1, b=2)",
    "mistral": f'[TOOL_CALLS] [{{"name": "add", "arguments": {JSON}}}]',
    "mistral, named": f"[TOOL_CALLS]add[ARGS]{JSON}",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>"
    f"{JSON}<|tool_call_end|><|tool_calls_section_end|>",
    "glm": "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n<arg_key>b</arg_key>\n"
    "<arg_value>2</arg_value>\n</tool_call>",
    "minimax": '<minimax:tool_call>\n<invoke name="add">\n<parameter name="a">1</parameter>\n'
    '<parameter name="b">2</parameter>\n</invoke>\n</minimax:tool_call>',
    "harmony": f"<|channel|>commentary to=functions.add <|constrain|>json<|message|>{JSON}<|call|>",
}  # fmt: skip
# Without a mark it counts as the first thing only, and a fence behind words is an example.
_ONLY_FIRST = ("llama 3", "hermes, in a fence")
EACH = pytest.mark.parametrize("name", LEAKS)
BEHIND_WORDS = pytest.mark.parametrize("name", [name for name in LEAKS if name not in _ONLY_FIRST])


@EACH
@SIZES
def test_dialects_5_13_a_leaked_call_is_the_call(name: str, size: int) -> None:
    reply, shown = read(LEAKS[name], size=size)
    assert made(reply) == [("add", ARGS, True)]
    assert (reply.text, shown, reply.stop) == ("", "", "tool_use")


@BEHIND_WORDS
@SIZES
def test_dialects_5_13_behind_words_it_is_the_call_and_the_words_stay(name: str, size: int) -> None:
    reply, shown = read(f"I add them.\n\n{LEAKS[name]}\n", size=size)
    assert made(reply) == [("add", ARGS, True)]
    assert reply.text == "I add them."
    assert shown == ("I add them." if size else "")


@EACH
@SIZES
def test_dialects_5_12_the_providers_field_wins(name: str, size: int) -> None:
    call = ToolCall(id="c", name="add", arguments={"a": 5, "b": 5})
    reply, shown = read(LEAKS[name], call, size=size, stop="tool_use")
    assert (reply.calls, reply.text, shown, reply.stop) == ((call,), "", "", "tool_use")
    reply, _ = read(f"I add.\n\n{LEAKS['hermes']}", call, size=size, stop="tool_use")
    assert (reply.calls, reply.text) == ((call,), "I add.")
    unknown = LEAKS["hermes"].replace("add", "fly")
    reply, _ = read(unknown, call, size=size, stop="tool_use")
    assert (reply.calls, reply.text) == ((call,), "")


LEFT_ALONE = {
    "prose": "It is three.",
    "blanks around": "\n\n  It is three.\n\n",
    "nothing": "",
    "in a sentence": "The opener <tool_call> begins a call, <function=add> as well.",
    "a program": "[add(a=1, b=2)]",
    "behind words, bare": f'Like this: {{"name": "add", "arguments": {JSON}}}',
    "bare data": '{"name": "add up", "value": 3}',
    "bare, not called": '{"name": "Ada", "age": 36}',
    "text on both sides": f"A call is\n{LEAKS['hermes']}\nand that is all.",
    "text on both sides, xml": f"A call is\n{LEAKS['qwen3-coder']}\nand that is all.",
    "fence behind words": f"Like this:\n```\n{LEAKS['hermes']}\n```",
    "inline code": f"Write `{LEAKS['mistral, named']}` then.",
    "quoted line": f"> {LEAKS['kimi']}",
    "in quotation marks": f'It said "{LEAKS["minimax"]}"',
    "unknown tool": LEAKS["hermes"].replace("add", "fly"),
    "unknown tool behind words": "Try\n" + LEAKS["kimi"].replace("add", "fly"),
    "unknown tool, cut": '<tool_call>{"name": "fly", "arguments": {"a"',
    "an open think tag in a sentence": "The <think> tag begins a thought.",
    "mark at the end": "The opener is <tool_call>",
}


@pytest.mark.parametrize("name", LEFT_ALONE)
@pytest.mark.parametrize("stop", ["stop", "length"])
@SIZES
def test_dialects_5_4_what_is_no_call_is_left_as_it_is(name: str, stop: str, size: int) -> None:
    text = LEFT_ALONE[name]
    reply, shown = read(text, size=size, stop=stop)
    assert (reply.calls, reply.text.strip(), reply.stop) == ((), text.strip(), stop)
    assert shown == (text.strip() if size else "")
    call = ToolCall(id="c", name="add", arguments=ARGS)
    if "unknown" not in name and "mark" not in name:
        assert read(text, call, size=size)[0].text.strip() == text.strip()


UNREAD = {
    "cut": (LEAKS["hermes"][:50], "length", "add", "ended"),
    "cut, says the server not": (LEAKS["hermes"][:50], "stop", "add", "ended"),
    "cut xml": (LEAKS["qwen3-coder"][:60], "length", "add", "ended"),
    "a list": (LEAKS["hermes"].replace(JSON, "[1, 2]"), "stop", "add", "object"),
    "one missing": (LEAKS["kimi"].replace(', "b": 2', ""), "stop", "add", "b"),
    "two values": (LEAKS["mistral, named"].replace('"b"', '"a"'), "stop", "add", "twice"),
    "no JSON": (LEAKS["hermes"].replace('"name"', '"name" "name"'), "stop", UNREADABLE, ""),
    "no name, cut": ('<tool_call>\n{"na', "length", UNREADABLE, "ended"),
}


@pytest.mark.parametrize("name", UNREAD)
@SIZES
def test_dialects_5_9_a_leaked_call_that_cannot_be_read_never_runs(name: str, size: int) -> None:
    text, stop, called, word = UNREAD[name]
    reply, shown = read(text, size=size, stop=stop)
    assert made(reply) == [(called, {}, False)]
    assert (reply.text, shown) == ("", "")
    assert reply.stop == ("tool_use" if stop == "stop" else "length")
    (call,) = reply.calls
    assert word in (call.error or "")
    assert call.raw == text
    assert "Nothing was run." in lenient.open((ADD,), lambda: "c").repair(call)


def test_dialects_5_9_a_call_that_was_complete_before_the_cut_runs() -> None:
    reply, _ = read(LEAKS["hermes"], stop="length")
    assert (made(reply), reply.stop) == ([("add", ARGS, True)], "tool_use")


def test_dialects_5_3_several_leaked_calls() -> None:
    text = LEAKS["hermes"] + "\n" + LEAKS["hermes"].replace("1", "5")
    reply, _ = read(text)
    assert made(reply) == [("add", ARGS, True), ("add", {"a": 5, "b": 2}, True)]
    assert len({call.id for call in reply.calls}) == 2


def test_thoughts_in_the_text_become_thoughts() -> None:
    reply, shown = read(f"<think>I add.</think>\n{LEAKS['hermes']}", size=5)
    assert (made(reply), reply.thinking, reply.text, shown) == (
        [("add", ARGS, True)], "I add.", "", "",
    )  # fmt: skip
    reply, _ = read("<think>I know.</think>\nThree.", size=5)
    assert (reply.calls, reply.thinking, reply.text) == ((), "I know.", "Three.")
    reply, _ = read(f"<think>It would be {LEAKS['hermes']}</think>\nThree.", size=5)
    assert (reply.calls, reply.text) == ((), "Three.")


def test_reasoning_of_the_provider_stays_in_front_and_is_no_call() -> None:
    thought = Thinking(text=LEAKS["hermes"], signature="s")
    decoder = lenient.open((ADD,), lambda: "c").decoder()
    delta = Delta(kind="thinking", text=thought.text)
    assert list(decoder.feed(delta)) == [delta]
    reply = decoder.close(Assistant(content=(thought, Text(text="Three.")), stop="stop"))
    assert reply.content == (thought, Text(text="Three."))
    leak = Assistant(content=(thought, Text(text=LEAKS["hermes"])), stop="stop")
    reply = lenient.open((ADD,), lambda: "c").decoder().close(leak)
    assert reply.content == (thought, ToolCall(id="c", name="add", arguments=ARGS))


def test_what_changes_nothing_gives_the_same_reply() -> None:
    for reply in (
        Assistant(content=(Text(text="Three.", signature="s"),), stop="stop"),
        Assistant(content=(ToolCall(id="c", name="add", arguments=ARGS),), stop="tool_use"),
        Assistant(content=(), stop="stop"),
    ):
        assert lenient.open((ADD,), lambda: "c").decoder().close(reply) is reply


def test_a_reply_that_failed_keeps_its_end() -> None:
    failed = Assistant(content=(Text(text=LEAKS["hermes"]),), stop="error")
    assert lenient.open((ADD,), lambda: "c").decoder().close(failed).stop == "error"


def test_requests_are_native_and_without_tools_nothing_is_looked_for() -> None:
    ask = [user("1 + 2?")]
    one = lenient.open((ADD,), lambda: "c").request(ask, tool_choice="required", stream=True)
    two = (
        DIALECTS["native"]
        .open((ADD,), lambda: "c")
        .request(ask, tool_choice="required", stream=True)
    )
    assert one == two
    assert one.messages is ask
    reply, shown = read(LEAKS["hermes"], tools=(), size=7)
    assert (reply.calls, reply.text, shown) == ((), LEAKS["hermes"], LEAKS["hermes"])


ROOT = Path(__file__).parents[2]
DOCUMENTS = [*sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("src/wenfang/core/**/*.py"))]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_ordinary_files_are_answers(path: Path) -> None:
    """Documentation and programs, among them parsers of just these calls, are neither run nor changed."""
    text = path.read_text("utf-8")
    named = tuple(
        replace(ADD, name=name) for name in ("add", "name", "search", "read_file", "final")
    )
    reply, _ = read(text, size=1000, tools=named)
    assert reply.calls == ()
    assert reply.text.strip() == text.strip()


PIECES = st.lists(
    st.sampled_from([*LEAKS.values(), *LEFT_ALONE.values(), "\n", " ", "`", "```\n", "> ", "<think>",
                     "</think>", "Three.", '"', "<|im_end|>", "\r\n"]),
    max_size=5,
).map("".join)  # fmt: skip


@given(text=PIECES, cut=st.integers(0, 400), stop=st.sampled_from(["stop", "length"]))
def test_any_cutting_gives_the_same_reply(text: str, cut: int, stop: str) -> None:
    text = text[: len(text) - cut] if cut < len(text) // 2 else text
    whole, _ = read(text, stop=stop)
    for size in (1, 5, 10_000):
        reply, shown = read(text, size=size, stop=stop)
        assert (made(reply), reply.text, reply.stop) == (made(whole), whole.text, whole.stop)
        if "think" not in text:
            assert shown == reply.text
    assert all(call.arguments in (ARGS, {}) for call in whole.calls)


# Whole runs


@tool
def total(a: int, b: int) -> int:
    """Add."""
    return a + b


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_run_with_a_leak(streaming: bool) -> None:
    leak = LEAKS["hermes"].replace("add", "total")
    model = ScriptedModel(say(f"I add.\n{leak}"), say("Three."))
    agent = Agent(model, [total], dialect=lenient, streaming=streaming)
    shown: list[str] = []

    async def emit(event: object) -> None:
        if isinstance(event, MessageDelta):
            shown.append(event.text)

    end = await agent.run("1 + 2?", emit=emit)
    assert (end.status, end.answer, end.tool_calls) == ("done", "Three.", 1)
    assert "".join(shown) == ("I add.Three." if streaming else "")
    assert [call.name for call in model.requests[1].messages[1].calls] == ["total"]  # type: ignore[union-attr]


async def test_the_limits_are_those_of_native_calls() -> None:
    leak = LEAKS["hermes"].replace("add", "total")
    model = ScriptedModel(Reply(text=leak, repeat=0))
    end = await Agent(model, [total], dialect=lenient, limits=Limits(model_calls=3)).run("1 + 2?")
    assert (end.reason, end.tool_calls) == ("max_steps", 4)
    assert end.answer == ""
    broken = leak.replace(JSON, "[1]")
    model = ScriptedModel(Reply(text=broken, repeat=2), say("I could not."))
    end = await Agent(model, [total], dialect=lenient).run("1 + 2?")
    assert (end.reason, end.answer, len(model.requests)) == (
        "invalid_model_output", "I could not.", 3,
    )  # fmt: skip


async def test_native_calls_run_as_ever() -> None:
    call = Reply(text="I add.", tools=[ToolUse(name="total", args=ARGS)])
    end = await Agent(ScriptedModel(call, say("Three.")), [total], dialect=lenient).run("1 + 2?")
    assert (end.answer, end.tool_calls) == ("Three.", 1)
