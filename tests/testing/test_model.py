"""The scripted model in process."""

from __future__ import annotations

import pytest

from wenfang.core import Agent, Assistant, Delta, ModelError, ModelRequest, Thinking, tool, user
from wenfang.testing import Reply, ScriptedModel, ToolUse, call, say

pytestmark = pytest.mark.anyio


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def test_an_agent_on_a_script() -> None:
    model = ScriptedModel(call("add", preamble="So:", a=2, b=3), say("5", thinking="easy"))
    agent = Agent(model, [add])
    end = await agent.run("How much is 2 + 3?")
    assert (end.status, end.answer) == ("done", "5")
    model.check()
    assert [len(request.messages) for request in model.requests] == [1, 3]
    last = agent.transcript[-1]
    assert isinstance(last, Assistant)
    assert last.content[0] == Thinking(text="easy")


async def test_streams_and_whole_replies_are_the_same_message() -> None:
    reply = Reply(text="a b", thinking="t", tools=[ToolUse(name="add", args={"a": 1})])
    model = ScriptedModel(reply, reply, new_id=lambda prefix: f"{prefix}_1")
    streamed = [e async for e in model.stream(ModelRequest(messages=[user("x")]))]
    whole = [e async for e in model.stream(ModelRequest(messages=[user("x")], stream=False))]
    assert streamed[-1:] == whole
    assert streamed[:-1] == [
        Delta(kind="thinking", text="t", index=0),
        Delta(kind="text", text="a", index=1),
        Delta(kind="text", text=" b", index=1),
        Delta(kind="call", text='{"a": 1}', index=2, name="add"),
    ]


async def test_broken_arguments_and_length() -> None:
    model = ScriptedModel(Reply(tools=[ToolUse(name="add", args='{"a":')], finish="length"))
    [reply] = [e async for e in model.stream(ModelRequest(messages=[user("x")], stream=False))]
    assert isinstance(reply, Assistant)
    assert reply.stop == "length"
    assert reply.calls[0].error
    assert reply.calls[0].raw == '{"a":'


async def test_an_error_is_raised_and_usage_is_told() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    model = ScriptedModel(
        ModelError("rate", "slow down"),
        Reply(text="ok", usage=usage),
        Reply(text="ok", usage=[usage]),
    )
    assert (await Agent(model).run("x")).reason == "provider_error"
    for _ in range(2):
        end = await Agent(model).run("x")
        assert (end.usage.input, end.usage.output) == (7, 2)
    model.check()


async def test_unused_and_extra_steps_are_told() -> None:
    model = ScriptedModel(say("a"), say("b"), Reply(text="c", repeat=0))
    with pytest.raises(AssertionError, match=r"step 1 was used 0 of 1 times; step 2 was used 0"):
        model.check()
    for _ in range(6):
        await Agent(model).run("x")
    model.check()
    short = ScriptedModel(say("a"))
    for _ in range(2):
        end = await Agent(short).run("x")
    assert end.failure is not None
    assert "no reply for request 2" in end.failure.message
    with pytest.raises(AssertionError, match="an extra request"):
        short.check()


@pytest.mark.parametrize("reply", [Reply(raw=["x"]), Reply(chunks=[{}]), Reply(http=500, body="x")])
def test_what_needs_http_is_refused(reply: Reply) -> None:
    with pytest.raises(ValueError, match="reply 2 describes HTTP"):
        ScriptedModel(say("a"), reply)
