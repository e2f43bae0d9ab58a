"""FB02: one place tries again, never behind a viewer's back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from tests.models.fake import seen_until_failure

from wenfang.core import (
    Assistant,
    Delta,
    ModelError,
    ModelEvent,
    ModelRequest,
    Reset,
    Text,
    Usage,
    user,
)
from wenfang.models import Chooser, Resilient, RetryPolicy

pytestmark = pytest.mark.anyio
REQUEST = ModelRequest(messages=(user("hi"),))
SILENCE = object()
DONE = Assistant(content=(Text(text="ok"),), stop="stop", model="x")


class Model:
    """Each try is a list of events; an error among them is raised."""

    def __init__(self, name: str, *tries: list[Any]) -> None:
        self.name = name
        self.tries = list(tries)
        self.asked = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asked += 1
        for item in self.tries.pop(0):
            if isinstance(item, ModelError):
                raise item
            if item is SILENCE:
                await asyncio.Event().wait()
            yield item


def error(kind: Any, **more: Any) -> ModelError:
    return ModelError(kind, kind, **more)


def piece(text: str) -> Delta:
    return Delta(kind="text", text=text)


async def run(*models: Model, random: float = 0.0, **policy: Any) -> tuple[list[Any], list[float]]:
    sleeps: list[float] = []

    async def sleep(seconds: float) -> None:
        sleeps.append(seconds)

    client = Resilient(models, policy=RetryPolicy(**policy), sleep=sleep, random=lambda: random)
    assert client.name == models[0].name
    seen, error = await seen_until_failure(client, REQUEST)
    return [*seen, error] if error else seen, sleeps


async def test_a_good_reply_passes_unchanged() -> None:
    seen, sleeps = await run(Model("a", [piece("ok"), DONE]))
    assert seen == [piece("ok"), DONE]
    assert sleeps == []


@pytest.mark.parametrize("kind", ["rate", "overload", "network", "stream_incomplete"])
async def test_what_may_pass_is_tried_again(kind: Any) -> None:
    seen, sleeps = await run(Model("a", [error(kind)], [error(kind)], [DONE]))
    assert [type(event) for event in seen] == [Reset, Reset, Assistant]
    assert [event.attempt for event in seen[:2]] == [2, 3]
    assert [attempt.model for attempt in seen[2].attempts] == ["a", "a"]
    assert sleeps == [2.0, 4.0]


@pytest.mark.parametrize("kind", ["auth", "quota", "refused", "overflow", "fatal"])
async def test_what_will_not_pass_is_not(kind: Any) -> None:
    seen, sleeps = await run(Model("a", [error(kind)]))
    assert [e.failure.kind for e in seen] == [kind]
    assert sleeps == []


async def test_three_retries_then_the_error() -> None:
    model = Model("a", *[[error("overload")] for _ in range(9)])
    seen, sleeps = await run(model)
    assert isinstance(seen[-1], ModelError)
    assert (model.asked, sleeps) == (4, [2.0, 4.0, 8.0])


async def test_waits_are_capped_and_shortened_at_random() -> None:
    model = Model("a", *[[error("overload")] for _ in range(9)])
    _, sleeps = await run(model, retries=6, random=1.0)
    assert sleeps == [1.5, 3.0, 6.0, 12.0, 24.0, 45.0]


@pytest.mark.parametrize(
    ("asked", "waits"), [(1.0, [1.0]), (60.0, [60.0]), (0.0, []), (61.0, None)]
)
async def test_the_provider_says_how_long(asked: float, waits: list[float] | None) -> None:
    seen, sleeps = await run(Model("a", [error("rate", retry_after_s=asked)], [DONE]))
    assert isinstance(seen[-1], ModelError if waits is None else Assistant)
    assert sleeps == (waits or [])


async def test_visible_output_ends_the_tries_of_one_client() -> None:
    model = Model("a", [piece("half"), error("network")], [DONE])
    seen, _ = await run(model)
    assert seen[0] == piece("half")
    assert isinstance(seen[1], ModelError)
    assert model.asked == 1


async def test_failover_takes_back_what_was_seen() -> None:
    seen, sleeps = await run(Model("a", [piece("half"), error("network")]), Model("b", [DONE]))
    half, reset, reply = seen
    assert half == piece("half")
    failure = error("network").failure
    expected = Reset(attempt=2, failure=failure, usage=reset.usage, model="a", next_model="b")
    assert reset == expected
    assert reset.usage.estimated
    assert reset.usage.input > 0
    assert reset.usage.output > 0
    assert reply.attempts[0].usage == reset.usage
    assert sleeps == []


async def test_reported_usage_of_a_lost_try_is_kept() -> None:
    usage = Usage(input=7, output=1)
    lost = [piece("half"), error("network", usage=usage)]
    seen, _ = await run(Model("a", lost), Model("b", [DONE]))
    assert seen[1].usage == usage


async def test_a_try_without_output_costs_nothing() -> None:
    seen, _ = await run(Model("a", [error("rate")]), Model("b", [DONE]), retries=0)
    assert seen[0].usage == Usage()


@pytest.mark.parametrize("kind", ["refused", "overflow", "auth", "quota", "fatal"])
async def test_no_shopping_around(kind: Any) -> None:
    """FO-6: what is about the request, the key or the account is not asked elsewhere."""
    other = Model("b", [DONE])
    seen, _ = await run(Model("a", [error(kind)]), other)
    assert isinstance(seen[0], ModelError)
    assert other.asked == 0


async def test_the_second_client_is_tried_again_too() -> None:
    seen, sleeps = await run(
        Model("a", [piece("half"), error("network")]), Model("b", [error("rate")], [DONE])
    )
    assert [type(event) for event in seen] == [Delta, Reset, Reset, Assistant]
    assert sleeps == [2.0]
    assert [attempt.model for attempt in seen[-1].attempts] == ["a", "b"]


async def test_a_client_that_just_stops_is_an_incomplete_stream() -> None:
    seen, _ = await run(Model("a", [piece("x")]))
    assert seen[-1].failure.kind == "stream_incomplete"


async def test_a_silent_client_has_failed_if_another_is_left() -> None:
    silent = Model("a", [SILENCE], [piece("half"), SILENCE])
    seen, _ = await run(
        silent, Model("b", [piece("ok"), DONE]), retries=1, silent_s=0.01, idle_s=0.01
    )
    assert [type(event) for event in seen] == [Reset, Delta, Reset, Delta, Assistant]
    assert [attempt.failure.kind for attempt in seen[-1].attempts] == ["network", "network"]


async def test_whole_replies_and_the_last_client_may_be_silent() -> None:
    client = Resilient([Model("a", [DONE]), Model("b")], policy=RetryPolicy(silent_s=0.0))
    whole = ModelRequest(messages=(user("hi"),), stream=False)
    assert (await seen_until_failure(client, whole))[0] == [DONE]
    last = Resilient([Model("a", [DONE])], policy=RetryPolicy(silent_s=0.0))
    assert (await seen_until_failure(last, REQUEST))[0] == [DONE]


def test_no_clients_is_misuse() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Resilient([])
    with pytest.raises(ValueError, match="at least one"):
        Chooser().route([])
    with pytest.raises(ValueError, match="one provider for each"):
        Resilient([Model("a")], route=Chooser().route(["a", "b"]))


async def test_one_switch_in_a_call() -> None:
    """FO-6: a third client is not asked."""
    third = Model("c", [DONE])
    seen, _ = await run(Model("a", [error("rate")]), Model("b", [error("rate")]), third, retries=0)
    assert [type(event) for event in seen] == [Reset, ModelError]
    assert third.asked == 0


async def test_after_output_a_failure_may_be_surfaced_instead() -> None:
    """FO-5: the policy of crews whose text is read while it is written."""
    other = Model("b", [DONE])
    lost = Model("a", [piece("half"), error("network")])
    seen, _ = await run(lost, other, after_output="surface")
    assert [type(event) for event in seen] == [Delta, ModelError]
    assert other.asked == 0
    first = Model("a", [error("network")])
    seen, _ = await run(first, Model("b", [DONE]), after_output="surface", retries=0)
    assert [type(event) for event in seen] == [Reset, Assistant]


@pytest.mark.parametrize(("asked", "is_waited_for"), [(9.0, True), (11.0, False)])
async def test_with_a_backup_nobody_waits_long(asked: float, is_waited_for: bool) -> None:
    first = Model("a", [error("rate", retry_after_s=asked)], [DONE])
    seen, sleeps = await run(first, Model("b", [DONE]))
    assert first.asked == (2 if is_waited_for else 1)
    assert sleeps == ([asked] if is_waited_for else [])
    assert isinstance(seen[-1], Assistant)


async def test_both_failing_is_the_last_failure() -> None:
    """FO-8."""
    seen, _ = await run(Model("a", [error("rate")]), Model("b", [error("auth")]), retries=0)
    assert seen[-1].failure.kind == "auth"
