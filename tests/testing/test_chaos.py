"""The provider that fails: what is asked for is what a client sees, in process and over HTTP."""

from __future__ import annotations

import asyncio

import pytest

from wenfang.core import Delta, ModelClient, ModelError, ModelRequest, Usage, user
from wenfang.models import ChatClient
from wenfang.testing import (
    FAULT_KINDS,
    FAULT_POINTS,
    ChaosModel,
    Fault,
    FaultKind,
    FaultPoint,
    Reply,
    Script,
    ScriptedServer,
    ScriptError,
    ToolUse,
    broken,
    say,
)

pytestmark = pytest.mark.anyio
REPLY = Reply(
    text=["one ", "two"], thinking="hm", tools=[ToolUse(name="add", args={"first": 1, "second": 2})]
)
WHOLE = {"thinking": "hm", "text": "one two", "call": '{"first": 1, "second": 2}'}
# What has to be there when it fails, and what must not be complete.
COMPLETE: dict[FaultPoint, set[str]] = {
    "connect": set(), "headers": set(), "thinking": set(), "text": {"thinking"},
    "arguments": {"thinking", "text"}, "finish": {"thinking", "text", "call"},
}  # fmt: skip
BEGUN: dict[FaultPoint, set[str]] = {
    **COMPLETE, "thinking": {"thinking"}, "text": {"thinking", "text"}, "arguments": set(WHOLE),
}  # fmt: skip


async def parts(client: ModelClient) -> tuple[dict[str, str], str]:
    """What was said by kind, and how it failed."""
    said: dict[str, str] = {}
    try:
        async with asyncio.timeout(0.2):
            async for event in client.stream(ModelRequest(messages=(user("hi"),))):
                if isinstance(event, Delta):
                    said[event.kind] = said.get(event.kind, "") + event.text
    except ModelError as error:
        return said, error.failure.kind
    except TimeoutError:
        return said, "silent"
    return said, ""


def check(said: dict[str, str], at: FaultPoint) -> None:
    assert {kind for kind in said if said[kind]} == BEGUN[at]
    assert all(said[kind] == WHOLE[kind] for kind in COMPLETE[at])
    assert all(WHOLE[kind].startswith(text) for kind, text in said.items())
    if at in ("text", "arguments"):
        last = "text" if at == "text" else "call"
        assert said[last] != WHOLE[last]


@pytest.mark.parametrize("at", FAULT_POINTS)
@pytest.mark.parametrize("kind", FAULT_KINDS)
async def test_in_process(at: FaultPoint, kind: FaultKind) -> None:
    model = ChaosModel(REPLY, Fault(at=at, kind=kind))
    said, failed = await parts(model)
    assert failed == kind
    check(said, at)
    assert model.silent.is_set() == (kind == "silent")
    assert await parts(model) == (WHOLE, "")
    assert len(model.requests) == 2


@pytest.mark.parametrize("at", FAULT_POINTS)
@pytest.mark.parametrize("kind", FAULT_KINDS)
async def test_over_http(at: FaultPoint, kind: FaultKind) -> None:
    script = Script(name="chaos", replies=(broken(REPLY, Fault(at=at, kind=kind)),))
    async with ScriptedServer(script) as server:
        said, failed = await parts(ChatClient(base_url=server.url, model="m"))
    # A reply that was begun and then reset is an incomplete stream, before it there was no connection.
    as_seen = {"network": "network" if at == "connect" else "stream_incomplete"}
    if at == "connect":
        as_seen["stream_incomplete"] = "network"
    assert failed == as_seen.get(kind, kind)
    check(said, at)


async def test_a_fault_says_what_the_provider_says() -> None:
    usage = Usage(input=3, output=1)
    fault = Fault(at="text", kind="rate", retry_after_s=7, usage=usage)
    with pytest.raises(ModelError) as caught:
        async for _ in ChaosModel(REPLY, fault).stream(ModelRequest(messages=(user("hi"),))):
            pass
    assert (caught.value.failure.retry_after_s, caught.value.usage) == (7, usage)
    assert broken(REPLY, Fault(at="connect", kind="rate", retry_after_s=7)).headers == {
        "retry-after": "7"
    }


async def test_none_is_no_fault() -> None:
    model = ChaosModel(say("ok"), None, Fault(at="connect"), name="a")
    assert [(await parts(model))[1] for _ in range(3)] == ["", "network", ""]
    assert model.name == "a"


@pytest.mark.parametrize("at", ["thinking", "arguments"])
def test_a_point_that_a_reply_does_not_have(at: FaultPoint) -> None:
    with pytest.raises(ValueError, match="fail at"):
        ChaosModel(say("ok"), Fault(at=at))
    with pytest.raises(ScriptError, match="fail at"):
        broken(say("ok"), Fault(at=at))
