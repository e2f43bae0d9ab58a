"""Every wait of a run, by a clock that jumps: how long it may take, and what ends it (C#4, FB §G6)."""

from __future__ import annotations

import asyncio
import threading

import pytest
from tests.core.scripted import FakeModel, Hang, calls, says
from tests.core.virtual_time import seconds_of

from wenfang.core import (
    Abort,
    Agent,
    Delta,
    Failure,
    Limits,
    ModelStart,
    Reset,
    RunEnd,
    ToolResult,
    ToolStart,
    Usage,
    native,
    run_loop,
    tool,
    user,
)
from wenfang.core.tools import Toolbox

LIMITS = Limits(first_s=100, idle_s=30, whole_s=500, tool_timeout_s=50, cleanup_s=7, model_calls=3)


class Pause:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class SlowModel(FakeModel):
    """A `Pause` among the pieces of a reply is silence."""

    async def stream(self, request):
        pieces = self.replies.pop(0)
        for piece in pieces:
            if isinstance(piece, Pause):
                await asyncio.sleep(piece.seconds)
            elif isinstance(piece, Hang):
                await asyncio.Event().wait()
            else:
                yield piece


WORD = Delta(kind="text", text="a")
RESET = Reset(attempt=2, failure=Failure(kind="network", message="x"), usage=Usage())


@pytest.mark.parametrize(
    ("streaming", "pieces", "seconds", "is_whole"),
    [
        (True, [Hang()], 100, False),
        (True, [Pause(99), says("ok")], 99, True),
        (True, [WORD, Hang()], 30, False),
        (True, [Pause(99), WORD, Pause(29), WORD, Pause(29), says("ok")], 157, True),
        (True, [Pause(60), WORD, Pause(29), WORD, Pause(31), says("ok")], 119, False),
        (True, [WORD, Pause(29), RESET, Hang()], 129, False),
        (True, [WORD, RESET, Pause(99), WORD, Pause(29), says("ok")], 128, True),
        (True, [WORD, RESET, WORD, Hang()], 30, False),
        (False, [Hang()], 500, False),
        (False, [Pause(499), says("ok")], 499, True),
    ],
)
def test_c4_how_long_a_model_may_be_silent(
    streaming: bool, pieces: list, seconds: float, is_whole: bool
) -> None:
    agent = Agent(SlowModel(pieces), limits=LIMITS, streaming=streaming)
    end, took = seconds_of(agent.run("go"))
    assert took == pytest.approx(seconds)
    if is_whole:
        assert (end.status, end.answer) == ("done", "ok")
        return
    assert end.status == "failed"
    assert end.failure == Failure(kind="network", message="the model sent nothing for too long")


def test_a_slow_listener_is_not_the_models_silence() -> None:
    async def emit(event: object) -> None:
        await asyncio.sleep(1000)

    agent = Agent(SlowModel([WORD, Pause(29), says("ok")]), limits=LIMITS)
    end, _ = seconds_of(agent.run("go", emit=emit))
    assert end.answer == "ok"


def test_a_client_that_times_out_by_itself_crashed() -> None:
    class Impatient(FakeModel):
        async def stream(self, request):
            yield WORD
            raise TimeoutError

    end, _ = seconds_of(Agent(Impatient()).run("go"))
    assert end.failure == Failure(
        kind="fatal", message="the model client crashed with TimeoutError"
    )


@pytest.mark.parametrize(("own_s", "allowed_s"), [(None, 50), (3.5, 3.5), (0.0, 0)])
@pytest.mark.parametrize("how", ["hangs", "gives up"])
def test_how_long_a_tool_may_take(own_s: float | None, allowed_s: float, how: str) -> None:
    @tool(timeout_s=own_s)
    async def slow() -> str:
        """Take long."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if how == "hangs":
                raise
            raise TimeoutError("mine") from None
        return ""

    agent = Agent(FakeModel(calls(("slow", {})), says("ok")), [slow], limits=LIMITS)
    end, took = seconds_of(agent.run("go"))
    (result,) = (m for m in agent.transcript if isinstance(m, ToolResult))
    assert (end.answer, took) == ("ok", pytest.approx(allowed_s))
    assert result.error_type == "timeout"
    assert result.text == f"slow did not finish within {allowed_s:g} s and was stopped."


def test_a_tool_that_times_out_by_itself_failed() -> None:
    @tool
    async def fetch() -> str:
        """Fetch."""
        raise TimeoutError("no route")

    agent = Agent(FakeModel(calls(("fetch", {})), says("ok")), [fetch])
    seconds_of(agent.run("go"))
    (result,) = (m for m in agent.transcript if isinstance(m, ToolResult))
    assert result.error_type == "failed"
    assert result.text == "fetch failed unexpectedly: TimeoutError: no route"


def test_a_tool_in_a_thread_is_left_behind() -> None:
    go_on, ended = threading.Event(), threading.Event()

    @tool(timeout_s=0.02)
    def block() -> str:
        """Block a thread."""
        go_on.wait(60)
        ended.set()
        return "late"

    agent = Agent(FakeModel(calls(("block", {})), says("ok")), [block])

    async def drive() -> bool:
        end = await agent.run("go")
        assert end.answer == "ok"
        was_left = not ended.is_set()
        go_on.set()
        return was_left

    assert asyncio.run(drive())


@pytest.mark.parametrize("stops_after_s", [5, 6.9, 7.1, 1000])
def test_how_long_an_aborted_tool_may_clean_up(stops_after_s: float) -> None:
    @tool
    async def deaf() -> str:
        """Ignore cancellation for a while."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            until = asyncio.get_running_loop().time() + stops_after_s
            while asyncio.get_running_loop().time() < until:
                try:
                    await asyncio.sleep(until - asyncio.get_running_loop().time())
                except asyncio.CancelledError:
                    return "shut down"
        return "cleaned up"

    agent = Agent(FakeModel(calls(("deaf", {}))), [deaf], limits=LIMITS)

    async def emit(event: object) -> None:
        if isinstance(event, ToolStart):
            asyncio.get_running_loop().call_later(1, agent.abort)

    end, took = seconds_of(agent.run("go", emit=emit))
    (result,) = (m for m in agent.transcript if isinstance(m, ToolResult))
    assert end.status == "stopped"
    is_in_time = stops_after_s < 7
    assert result.text == (
        "cleaned up" if is_in_time else "This call was stopped before it finished."
    )
    assert took == pytest.approx(1 + min(stops_after_s, 7))


def test_the_clock_of_a_run() -> None:
    """`clock` measures the run from its beginning and each tool; the wall limit ends it at once."""
    now = 5000.0

    @tool
    async def work(n: int) -> str:
        """Take four seconds."""
        nonlocal now
        now += 4
        return str(n)

    model = FakeModel(*[calls(("work", {"n": n})) for n in range(5)])
    transcript: list = []
    ends: list[object] = []

    async def emit(event: object) -> None:
        ends.append(event)

    end, _ = seconds_of(
        run_loop(
            transcript,
            model,
            Toolbox([work]),
            dialect=native,
            emit=emit,
            limits=Limits(wall_s=12),
            prompts=(user("go"),),
            clock=lambda: now,
        )
    )
    assert (end.status, end.reason, end.steps) == ("expired", "deadline", 3)
    assert [m.seconds for m in transcript if isinstance(m, ToolResult)] == [4.0] * 3
    assert ends[-1] is end


def test_leaving_a_stream_at_once_takes_no_time() -> None:
    agent = Agent(FakeModel([Hang()]))

    async def leave() -> RunEnd:
        async with agent.stream("go"):
            pass
        return await Agent(FakeModel(says("x"))).run("go")

    _, took = seconds_of(leave())
    assert took == 0
    assert agent.transcript
    assert agent.client.closed == len(agent.client.requests)  # type: ignore[attr-defined]


def test_leaving_a_stream_that_waits_for_its_reader() -> None:
    words = [WORD for _ in range(2000)]
    agent = Agent(FakeModel([*words, Hang()]))

    async def leave() -> int:
        async with agent.stream("go") as events:
            async for event in events:
                if isinstance(event, ModelStart):
                    break
            for _ in range(3000):
                await asyncio.sleep(0)
            return len(events._events)

    waiting, took = seconds_of(leave())
    assert (waiting, took) == (256, 0)
    assert agent.transcript[-1].stop == "aborted"  # type: ignore[union-attr]


def test_an_abort_that_came_first_lets_nothing_begin() -> None:
    abort, begun = Abort(), []
    abort.request()

    async def work(scope: asyncio.Timeout) -> None:
        begun.append(scope)

    async def guarded() -> str:
        try:
            await abort.guard(work)
        except Exception as error:  # noqa: BLE001 - its type is the outcome
            return type(error).__name__
        return "done"

    assert seconds_of(guarded()) == ("Aborted", 0)
    assert begun == []


@pytest.mark.parametrize("turns", range(3))
def test_an_abort_in_the_moment_of_a_silence_is_heard(turns: int) -> None:
    """The scope of the request ends already when the abort wants to end it."""
    errors: list[object] = []
    agent = Agent(SlowModel([Hang()]), limits=LIMITS)

    async def both() -> RunEnd:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: errors.append(context))

        def later(left: int) -> None:
            if left:
                loop.call_soon(later, left - 1)
            else:
                agent.abort()

        loop.call_later(LIMITS.first_s, later, turns)
        return await agent.run("go")

    end, took = seconds_of(both())
    assert (end.reason, took, errors) == ("cancelled_by_user", LIMITS.first_s, [])
