"""FO-2, FO-3, FO-4, FO-6: who is asked. Breakers and pins by a clock that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.fake import ask, seen_until_failure

from wenfang.core import Assistant, Delta, ModelError, ModelEvent, ModelRequest, Text
from wenfang.models import Chooser, ChooserRules, Resilient, RetryPolicy, Route

pytestmark = pytest.mark.anyio
A, B = "a", "b"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class World:
    """A chooser, its clock, and calls of sessions that go as the test says."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.chooser = Chooser(clock=self.clock)

    def route(self, session: str = "s", *providers: str) -> Route:
        return self.chooser.route(providers or (A, B), session)

    def call(self, outcome: Any = "answered", session: str = "s") -> str:
        """One try; returns who was asked."""
        route = self.route(session)
        at = route.pick()
        assert at is not None
        route.begin(at).end(outcome)
        return route.providers[at]

    def open(self, provider: str = A) -> None:
        for _ in range(3):
            self.route("other", provider).begin(0).end("failed")


@pytest.fixture
def world() -> World:
    return World()


def test_the_first_provider_is_preferred(world: World) -> None:
    assert [world.call(session=str(n)) for n in range(3)] == [A, A, A]


def test_three_failures_in_a_row_open_the_breaker(world: World) -> None:
    """FO-4."""
    assert [world.call("failed") for _ in range(3)] == [A, A, A]
    assert world.call() == B
    assert world.chooser.is_open(A)


def test_an_answer_between_failures_counts_anew(world: World) -> None:
    """FO-6: consecutive."""
    for outcome in ("failed", "failed", "answered", "failed", "failed", "left"):
        assert world.call(outcome, session="") == A
    assert not world.chooser.is_open(A)


def test_failures_far_apart_do_not_open_it(world: World) -> None:
    """FO-6: within 60 s."""
    for _ in range(9):
        assert world.call("failed") == A
        world.clock.now += 30
    assert not world.chooser.is_open(A)


def test_after_thirty_seconds_one_call_probes(world: World) -> None:
    """FO-6: half-open."""
    world.open()
    world.clock.now += 29.9
    assert world.route("").pick() == 1
    world.clock.now += 0.1
    probing = world.route("").begin(0)
    assert probing.is_probe
    assert world.route("").pick() == 1  # everyone else still passes it over
    probing.end("answered")
    assert world.route("").pick() == 0


@pytest.mark.parametrize(("outcome", "again"), [("failed", 1), ("left", 0), ("answered", 0)])
def test_how_a_probe_ends(world: World, outcome: Any, again: int) -> None:
    """A failed probe opens it anew; one that was abandoned leaves its place to the next."""
    world.open()
    world.clock.now += 30
    world.route("").begin(0).end(outcome)
    assert world.route("").pick() == again
    world.clock.now += 30
    assert world.route("").pick() == 0


def test_calls_from_before_it_opened_change_nothing(world: World) -> None:
    early = [world.route("").begin(0) for _ in range(4)]
    world.open()
    world.clock.now += 20
    for asked, outcome in zip(early, ("answered", "failed", "failed", "failed"), strict=True):
        asked.end(outcome)  # type: ignore[arg-type]
        assert world.chooser.is_open(A)
    world.clock.now += 10
    assert not world.chooser.is_open(A)


def test_only_the_first_word_about_a_try_counts(world: World) -> None:
    asked = world.route("").begin(0)
    asked.end("answered")
    for _ in range(3):
        asked.end("failed")
    assert not world.chooser.is_open(A)


def test_a_session_stays_with_who_answered_it(world: World) -> None:
    """FO-3: also when the first provider is well again."""
    world.open()
    assert world.call() == B
    world.clock.now += 300
    assert world.call() == B
    assert world.call(session="new") == A


def test_a_pin_ends_after_half_an_hour_of_silence(world: World) -> None:
    """FO-6."""
    world.open()
    assert world.call() == B
    for _ in range(3):
        world.clock.now += 1799
        assert world.call() == B
    world.clock.now += 1800
    assert world.call() == A
    assert len(world.chooser._pins) == 1


def test_a_pin_ends_when_its_breaker_opens(world: World) -> None:
    """FO-6: and does not come back when it closes."""
    assert world.call(session="s") == A
    world.open(A)
    assert world.chooser.pinned("s") is None
    world.clock.now += 30
    assert world.chooser.pinned("s") is None


def test_idle_pins_take_no_room(world: World) -> None:
    for number in range(50):
        world.call(session=str(number))
        world.clock.now += 100
    assert len(world.chooser._pins) == 18


def test_if_all_are_open_the_longest_is_asked(world: World) -> None:
    """FO-8: a call is never refused without asking, and asks one."""
    world.open(B)
    world.clock.now += 1
    world.open(A)
    assert world.route().pick() == 1
    assert world.route().pick(given_up=(1,)) is None


def test_a_route_of_one_never_looks_at_breakers(world: World) -> None:
    world.open(A)
    route = world.route("s", A)
    assert (route.pick(), route.pick(given_up=(0,))) == (0, None)


@given(st.lists(st.tuples(st.sampled_from(["answered", "failed", "left"]), st.integers(0, 70))))
def test_nobody_who_is_open_is_asked_while_another_is_not(script: list[tuple[Any, int]]) -> None:
    world = World()
    for outcome, seconds in script:
        is_open = [world.chooser.is_open(name) for name in (A, B)]
        at = world.route().pick()
        assert at is not None
        assert not is_open[at] or all(is_open)
        world.call(outcome)
        world.clock.now += seconds


# Through the client


class Model:
    """A model that is well, or fails at once, or is silent."""

    def __init__(self, name: str, kind: Any = None) -> None:
        self.name = name
        self.kind = kind
        self.asked = 0
        self.begun = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        del request
        self.asked += 1
        self.begun.set()
        if self.kind == "silent":
            await asyncio.Event().wait()
        if self.kind is not None:
            raise ModelError(self.kind, self.kind)
        yield Delta(kind="text", text="ok")
        yield Assistant(content=(Text(text="ok"),), stop="stop", model=self.name)


async def no_sleep(_seconds: float) -> None:
    pass


def client(world: World, *models: Model, session: str = "s", **policy: Any) -> Resilient:
    route = world.chooser.route([model.name for model in models], session)
    return Resilient(models, route=route, policy=RetryPolicy(**policy), sleep=no_sleep)


async def test_an_open_breaker_ends_the_retries_of_a_call(world: World) -> None:
    """FO-2, FO-4: the third failure in a row, not the fourth, is followed by the switch; the next call
    of any session begins elsewhere."""
    first, second = Model(A, "overload"), Model(B)
    seen, _ = await seen_until_failure(client(world, first, second), ask())
    assert (first.asked, second.asked) == (3, 1)
    assert (seen[-1].model, [a.model for a in seen[-1].attempts]) == (B, [A, A, A])
    other = client(world, first, second, session="other")
    assert other.name == B
    await seen_until_failure(other, ask())
    assert (first.asked, second.asked) == (3, 2)


@pytest.mark.parametrize("kind", ["auth", "quota", "refused", "overflow", "fatal"])
async def test_what_is_not_the_providers_fault_opens_nothing(world: World, kind: Any) -> None:
    """FO-6."""
    first, second = Model(A, kind), Model(B)
    for _ in range(5):
        await seen_until_failure(client(world, first, second), ask())
    assert (first.asked, second.asked) == (5, 0)


async def test_a_reader_who_leaves_after_the_first_word_was_answered(world: World) -> None:
    """A text dialect closes the stream when the reply is complete for it."""
    world.open(A)
    world.clock.now += 30
    async for _ in (stream := client(world, Model(A), Model(B)).stream(ask())):
        break
    await stream.aclose()
    assert (world.chooser.is_open(A), world.chooser.pinned("s")) == (False, A)


async def test_a_call_that_is_stopped_frees_the_probe(world: World) -> None:
    world.open(A)
    world.clock.now += 30
    silent = Model(A, "silent")
    call = asyncio.create_task(seen_until_failure(client(world, silent, Model(B)), ask()))
    await silent.begun.wait()
    assert world.chooser.is_open(A)
    call.cancel()
    await asyncio.wait([call])
    assert not world.chooser.is_open(A)


async def test_both_open_and_both_failing(world: World) -> None:
    """FO-8: the failure of the one that was asked, after its own retries."""
    world.open(A)
    world.open(B)
    models = Model(A, "rate"), Model(B, "overload")
    _, error = await seen_until_failure(client(world, *models), ask())
    assert error is not None
    assert error.failure.kind == "rate"
    assert [model.asked for model in models] == [4, 0]


def test_rules_are_data() -> None:
    chooser = Chooser(ChooserRules(failures=1))
    chooser.begin(A, "").end("failed")
    assert chooser.is_open(A)
