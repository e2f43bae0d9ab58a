"""The queue of appends: together, in order, and none of them forgotten (durable.md §3)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from wenfang.runs.appends import Append, AppendQueue
from wenfang.runs.journal import Ack, Claim

pytestmark = pytest.mark.anyio


def append(run_id: str) -> Append:
    values: dict[str, Any] = dict.fromkeys(Claim.__dataclass_fields__)
    return Append(claim=Claim(**values | {"run_id": run_id}), entries=(), after=None)


ACK = Ack(frames=(), stop_requested=False, newest_signal=0)


async def test_who_appends_again_as_soon_as_it_is_told_is_not_forgotten() -> None:
    """Both writers find nothing more to do in the moment in which those they served come back."""
    gate = asyncio.Event()

    async def write(batch: Sequence[Append]) -> list[Ack | None]:
        await gate.wait()
        return [ACK] * len(batch)

    queue = AppendQueue(write)

    async def run(run_id: str, times: int) -> None:
        for _ in range(times):
            await queue.append(append(run_id))

    runs = [asyncio.create_task(run("one", 2))]
    await asyncio.sleep(0.01)  # each has a writer of its own
    runs.append(asyncio.create_task(run("two", 1)))
    await asyncio.sleep(0.01)
    gate.set()
    async with asyncio.timeout(5):
        await asyncio.gather(*runs)


async def test_what_waits_goes_together_and_of_each_run_one_at_a_time() -> None:
    batches: list[list[str]] = []

    async def write(batch: Sequence[Append]) -> list[Ack | None]:
        batches.append([each.claim.run_id for each in batch])
        await asyncio.sleep(0.01)
        return [ACK] * len(batch)

    queue = AppendQueue(write)
    names = ["a", "b", "a", "c", "b", "a"]
    async with asyncio.timeout(5):
        await asyncio.gather(*(queue.append(append(name)) for name in names))
    assert all(len(set(batch)) == len(batch) for batch in batches)
    assert sorted(name for batch in batches for name in batch) == sorted(names)
    assert len(batches) <= 4
