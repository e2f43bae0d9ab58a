"""Readers of a run: they drop, come back, never read, and get their deltas in any state."""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.plan import Plan, answer, make_agent
from tests.faults.process import OPTIONS, nowhere, start

from wenfang.problems import Problem
from wenfang.runs import Frame, Runs, open_runs

_READERS = 1000
_MOST_MB = 60


@dataclass
class Reader:
    """A tab: the facts it has, and the message being written by the rule of `BlockDelta`."""

    seqs: list[int] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    final: dict[str, str] = field(default_factory=dict)
    live: dict[str, str] = field(default_factory=dict)
    gaps: int = 0

    @property
    def last(self) -> int:
        return self.seqs[-1] if self.seqs else 0

    def take(self, frame: Frame) -> None:
        event: dict[str, Any] = json.loads(frame.data)
        if frame.seq is not None:
            self.seqs.append(frame.seq)
            self.types.append(event["type"])
        key = event.get("message_id", "")
        match event["type"]:
            case "message.delta":
                if key in self.final:
                    return
                text = self.live.get(key, "")
                if len(text) < event["off"]:
                    self.gaps += 1
                else:
                    self.live[key] = text[: event["off"]] + event["text"]
            case "step.reset":
                self.live.pop(key, None)
            case "message.finished":
                blocks = event["message"]["content"]
                self.final[key] = "".join(b["text"] for b in blocks if b["type"] == "text")
                self.live.pop(key, None)
            case _:
                pass

    def wrong(self, everything: Sequence[int], plan: Plan) -> list[str]:
        found: list[str] = []
        if self.seqs != list(everything):
            found.append(f"a reader has the numbers {self.seqs}, there are {list(everything)}")
        if self.types.count("run.finished") != 1 or self.types[-1] != "run.finished":
            found.append(f"a reader saw {self.types.count('run.finished')} ends")
        if any(text != answer(plan) for text in self.final.values()):
            found.append(f"a reader's texts are {self.final}")
        if self.live:
            found.append(f"a reader still waits for {self.live}")
        return found


async def _numbers(runs: Runs, run_id: str) -> list[int]:
    info = await runs.info(run_id)
    page = await runs._journal.page(info.project_id, 0, run_id)
    return [frame.seq or 0 for frame in page.frames]


async def s1(data: Path, random: Random) -> list[str]:
    """Drop after each few frames and come back with the last number; also with 0 and nonsense."""
    plan = Plan(name="reader", words=12, pace_s=0.003)
    found: list[str] = []
    async with open_runs(data, make_agent=make_agent(data, nowhere), options=OPTIONS) as runs:
        run_id = await start(runs, plan)
        readers = [Reader() for _ in range(8)]

        async def follow(reader: Reader) -> None:
            while "run.finished" not in reader.types:
                async with runs.subscribe_run(run_id, reader.last) as frames:
                    left = random.randint(1, 4)
                    async for frame in frames:
                        reader.take(frame)
                        left -= 1
                        if left == 0:
                            break

        await asyncio.gather(*map(follow, readers))
        numbers = await _numbers(runs, run_id)
        for reader in readers:
            found += reader.wrong(numbers, plan)
        for after in (0, random.choice(numbers[:-1])):
            found += await _late(runs, run_id, after, [n for n in numbers if n > after])
        if await runs.has_more(run_id, numbers[-1]) or not await runs.has_more(run_id, numbers[-2]):
            found.append("it is wrong about what is left")
        found += await _late(runs, run_id, numbers[-1], [])
        for nonsense in (-1, numbers[-1] + 1000):
            found += await _refused(runs, run_id, nonsense)
    return found


async def _late(runs: Runs, run_id: str, after: int, expected: list[int]) -> list[str]:
    reader = Reader()
    async with runs.subscribe_run(run_id, after) as frames:
        async for frame in frames:
            reader.take(frame)
    return [] if reader.seqs == expected else [f"after {after} there came {reader.seqs}"]


async def _refused(runs: Runs, run_id: str, after: int) -> list[str]:
    try:
        async with runs.subscribe_run(run_id, after):
            return [f"the number {after} was taken"]
    except Problem as problem:
        return [] if problem.code == "invalid_request" else [problem.code]


async def s2(data: Path, random: Random) -> list[str]:
    """Many readers, some stuck, some slow: memory is bounded and the others get everything."""
    plan = Plan(name="crowd", words=200, pace_s=0.0005, steps=("look",))
    found: list[str] = []
    async with open_runs(data, make_agent=make_agent(data, nowhere), options=OPTIONS) as runs:
        projects = await runs.create_project("Crowd")
        session = await runs.create_session(projects.id)
        before_mb = _peak_mb()
        readers = [Reader() for _ in range(_READERS)]
        ready = asyncio.Event()
        ready_count = 0

        async def follow(reader: Reader, kind: str) -> None:
            nonlocal ready_count
            async with runs.subscribe(projects.id, 1) as frames:
                ready_count += 1
                if ready_count == _READERS:
                    ready.set()
                if kind == "stuck":
                    await over.wait()
                while "run.finished" not in reader.types:
                    batch = await frames.batch()
                    for frame in batch if kind != "quick" else batch[-1:]:
                        reader.take(frame)
                    if kind == "slow":
                        await asyncio.sleep(0.02)

        over = asyncio.Event()
        kinds = ["stuck"] * 300 + ["slow"] * 20 + ["whole"] * 20 + ["quick"] * (_READERS - 340)
        tasks = [asyncio.create_task(follow(r, k)) for r, k in zip(readers, kinds, strict=True)]
        await ready.wait()
        run = await runs.submit(session.id, plan.text())
        await runs.wait(run.id)
        over.set()
        await asyncio.gather(*tasks)
        numbers = await _numbers(runs, run.id)
        for reader, kind in zip(readers, kinds, strict=True):
            if kind != "quick":
                found += reader.wrong(numbers, plan)
            elif reader.types[-1] != "run.finished":
                found.append("a quick reader missed the end")
        grown = _peak_mb() - before_mb
        if grown > _MOST_MB:
            found.append(f"a thousand readers took {grown} MB")
    return found[:5]


async def s3(data: Path, random: Random) -> list[str]:
    """The live text is lossy by contract: what a reader ends with is the finished message, and a stop
    arrives also if nobody is poked."""
    plan = Plan(name="lossy", words=60, pace_s=0.001)
    found: list[str] = []
    options = with_(OPTIONS, delta_s=0.0, delta_chars=1)
    async with open_runs(data, make_agent=make_agent(data, nowhere), options=options) as runs:
        run_id = await start(runs, plan)
        reader, exact = Reader(), Reader()

        async def follow(take: Reader, lossy: bool) -> None:
            async with runs.subscribe_run(run_id, 0) as frames:
                while batch := await frames.batch():
                    for frame in _mangled(batch, random) if lossy else batch:
                        take.take(frame)

        await asyncio.gather(follow(reader, True), follow(exact, False))
        numbers = await _numbers(runs, run_id)
        found += reader.wrong(numbers, plan) + exact.wrong(numbers, plan)
        if exact.gaps:
            found.append(f"{exact.gaps} gaps without a loss")
        found += await _stop_without_a_poke(runs)
    return found


async def _stop_without_a_poke(runs: Runs) -> list[str]:
    run_id = await start(runs, Plan(name="deaf", words=50, pace_s=0.2))
    while runs._engine.find(run_id) is None:
        await asyncio.sleep(0.005)
    find, runs._engine.find = runs._engine.find, lambda _: None  # type: ignore[method-assign]
    began = asyncio.get_running_loop().time()
    await runs.stop(run_id)
    ended = await runs.wait(run_id)
    runs._engine.find = find  # type: ignore[method-assign]
    took = asyncio.get_running_loop().time() - began
    return (
        [] if ended.status == "stopped" and took < 5.0 else [f"{ended.status} after {took:.1f} s"]
    )


def _mangled(batch: Sequence[Frame], random: Random) -> list[Frame]:
    """Deltas lost, doubled and out of order; facts as they are."""
    facts = [frame for frame in batch if frame.seq is not None]
    deltas = [frame for frame in batch if frame.seq is None and random.random() > 0.2]
    deltas += [frame for frame in deltas if random.random() < 0.2]
    random.shuffle(deltas)
    return [*deltas, *facts]


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
