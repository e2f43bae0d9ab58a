"""The writing hand of a driver."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from wenfang.problems import Problem
from wenfang.runs.facts import NoticeGiven
from wenfang.runs.journal import Ack, Entry, Fenced
from wenfang.runs.pen import Pen, persist

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    """The loop of the tests, and the one of the server and the command line."""
    return "asyncio", {"use_uvloop": request.param}


def note(code: str) -> NoticeGiven:
    return NoticeGiven(level="info", code=code)


class Paper:
    """A journal that only appends; fails with the given errors first, and holds while `hold` is."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.written: list[list[str]] = []
        self.tries = 0
        self.hold: asyncio.Event | None = None
        self.heard: list[int] = []
        self.pen = Pen(self, "claim", self._hear, retry_s=(0.0,))  # type: ignore[arg-type]

    def _hear(self, ack: Ack) -> None:
        self.heard.append(ack.newest_signal)

    async def append(self, claim: object, entries: Sequence[Entry]) -> Ack:
        assert claim == "claim"
        self.tries += 1
        if self.hold is not None:
            await self.hold.wait()
        if self.errors:
            raise self.errors.pop(0)
        codes = [entry.body.decode().split('"code":"')[1].split('"')[0] for entry in entries]
        self.written.append(codes)
        return Ack(frames=(), stop_requested=False, newest_signal=len(self.written))


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_facts_of_one_turn_are_written_together_and_soon() -> None:
    paper = Paper()
    paper.pen.add([note("a")])
    paper.pen.add([note("b"), note("c")])
    assert paper.written == []
    await turns()
    assert paper.written == [["a", "b", "c"]]
    paper.pen.add([note("d")])
    await turns()
    assert paper.written == [["a", "b", "c"], ["d"]]
    assert paper.heard == [1, 2]


async def test_a_patient_fact_waits_for_an_intent_or_for_its_time() -> None:
    paper = Paper()
    paper.pen.add([note("a")], patience_s=0.03)
    await turns()
    assert paper.written == []
    await paper.pen.flush()
    assert paper.written == [["a"]]
    paper.pen.add([note("b")], patience_s=0.03)
    await asyncio.sleep(0.06)
    assert paper.written == [["a"], ["b"]]


async def test_the_least_patient_fact_decides() -> None:
    paper = Paper()
    paper.pen.add([note("a")], patience_s=30)
    paper.pen.add([note("b")], patience_s=60)
    await turns()
    assert paper.written == []
    paper.pen.add([note("c")])
    paper.pen.add([note("d")], patience_s=60)
    await turns()
    assert paper.written == [["a", "b", "c", "d"]]


async def test_an_intent_takes_what_waits_along() -> None:
    paper = Paper()
    paper.pen.add([note("a")])
    paper.pen.add([note("b")])
    await paper.pen.flush()
    assert (paper.written, paper.heard) == ([["a", "b"]], [1])
    await paper.pen.flush()
    await turns()
    assert paper.tries == 1  # nothing to write is not written


async def test_facts_stay_in_order_while_a_write_is_under_way() -> None:
    paper = Paper()
    paper.hold = asyncio.Event()
    paper.pen.add([note("a")])
    await turns()
    paper.pen.add([note("b")])
    flushing = asyncio.ensure_future(paper.pen.flush())
    await turns()
    assert (paper.tries, flushing.done()) == (1, False)
    paper.hold.set()
    await flushing
    assert (paper.written, paper.heard) == ([["a"], ["b"]], [1, 2])


async def test_a_write_that_failed_is_tried_again() -> None:
    paper = Paper(Problem("disk_full"))
    paper.pen.add([note("a")])
    await paper.pen.flush()
    assert (paper.written, paper.tries, paper.heard) == ([["a"]], 2, [1])
    assert paper.pen.failure is None


@pytest.mark.parametrize(
    ("errors", "tries"),
    [([Problem("disk_full")] * 2, 2), ([Fenced()], 1), ([ZeroDivisionError()], 1)],
    ids=["problem", "fenced", "bug"],
)
async def test_after_a_failure_nothing_more_is_written(errors: list[Exception], tries: int) -> None:
    paper = Paper(*errors)
    kind = type(errors[0])
    paper.pen.add([note("a")])
    for _ in range(2):
        with pytest.raises(kind):
            await paper.pen.flush()
    with pytest.raises(kind):
        paper.pen.add([note("b")])
    await turns()
    assert paper.pen.failure is errors[-1]
    assert (paper.tries, paper.written, paper.heard) == (tries, [], [])


@pytest.mark.parametrize(("failures", "slept"), [(0, []), (1, [0.5]), (2, [0.5, 2.0])])
async def test_pauses(monkeypatch: pytest.MonkeyPatch, failures: int, slept: list[float]) -> None:
    paused: list[float] = []
    left = failures

    async def sleep(seconds: float) -> None:
        paused.append(seconds)

    async def write() -> str:
        nonlocal left
        if left:
            left -= 1
            raise Problem("disk_full")
        return "written"

    with monkeypatch.context() as patch:
        patch.setattr(asyncio, "sleep", sleep)
        assert await persist(write, (0.5, 2.0)) == "written"
        assert paused == slept
        left = 3
        with pytest.raises(Problem, match="disk_full"):
            await persist(write, (0.5, 2.0))
    assert left == 0
