"""One contender in a process of its own: reads a JSON command per line, answers a JSON line.

    worker.py bare|wenfang|sdk BASE_URL

`import` is measured first, so nothing heavy is imported before it.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import pairwise
from typing import Any

SYSTEM = "You are a test agent. Use the add tool, then answer."
MARKS: list[float] = []
CALLS = 0


def tick() -> None:
    global CALLS
    CALLS += 1
    MARKS.append(time.process_time())


async def add(a: int, b: int) -> str:
    """Add two integers.

    Args:
        a: first number
        b: second number
    """
    tick()
    return str(a + b)


SCHEMA = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two integers.",
        "parameters": {
            "type": "object",
            "properties": {
                "a": {"type": "integer", "description": "first number"},
                "b": {"type": "integer", "description": "second number"},
            },
            "required": ["a", "b"],
            "additionalProperties": False,
        },
    },
}


def ignore(text: str) -> None:
    del text


Run = Callable[[str, bool, Callable[[str], None]], Awaitable[str]]


async def read_stream(lines: Any, on_text: Callable[[str], None]) -> dict[str, Any]:
    text: list[str] = []
    calls: list[Any] = []
    async for line in lines:
        if not line.startswith(b"data: ") or line.startswith(b"data: [DONE]"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            delta = choice["delta"]
            if delta.get("content"):
                text.append(delta["content"])
                on_text(delta["content"])
            for call in delta.get("tool_calls", ()):
                if call["index"] == len(calls):
                    calls.append(call)
                else:
                    target = calls[call["index"]]["function"]
                    target["arguments"] += call["function"]["arguments"]
    message: dict[str, Any] = {"role": "assistant", "content": "".join(text)}
    return message | ({"tool_calls": calls} if calls else {})


async def loop(ask: Any, prompt: str, stream: bool, on_text: Callable[[str], None]) -> str:
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": prompt},
    ]
    while True:
        reply = await ask(messages, stream, on_text)
        messages.append(reply)
        if not reply.get("tool_calls"):
            return reply["content"]
        for call in reply["tool_calls"]:
            result = await add(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def bare(base_url: str) -> Run:
    """The yardstick: what anybody would write on aiohttp and json in an hour."""
    import aiohttp

    session: list[aiohttp.ClientSession] = []

    async def ask(messages: list[Any], stream: bool, on_text: Callable[[str], None]) -> Any:
        if not session:
            session.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        body = {"model": "bench", "messages": messages, "tools": [SCHEMA], "stream": stream}
        async with session[0].post(base_url + "/chat/completions", json=body) as response:
            response.raise_for_status()
            if not stream:
                return (await response.json())["choices"][0]["message"]
            return await read_stream(response.content, on_text)

    return partial(loop, ask)


def sdk(base_url: str) -> Run:
    """A bare loop on the official client, if it is installed: the unit of design §8."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=base_url, api_key="x", max_retries=0)

    async def ask(messages: list[Any], stream: bool, on_text: Callable[[str], None]) -> Any:
        tools: Any = [SCHEMA]
        if not stream:
            made = await client.chat.completions.create(
                model="bench", messages=messages, tools=tools
            )
            return made.choices[0].message.model_dump(exclude_none=True)
        text: list[str] = []
        calls: list[Any] = []
        async for chunk in await client.chat.completions.create(
            model="bench", messages=messages, tools=tools, stream=True
        ):
            for choice in chunk.choices:
                if choice.delta.content:
                    text.append(choice.delta.content)
                    on_text(choice.delta.content)
                for call in choice.delta.tool_calls or ():
                    if call.index == len(calls):
                        calls.append(call.model_dump())
                    else:
                        calls[call.index]["function"]["arguments"] += call.function.arguments
        return {"role": "assistant", "content": "".join(text)} | (
            {"tool_calls": calls} if calls else {}
        )

    return partial(loop, ask)


def wenfang(base_url: str) -> Run:
    """Ours, through the public door."""
    from wenfang import Agent, ChatClient, Limits, MessageDelta, tool

    client = ChatClient(base_url=base_url, model="bench", api_key="x")
    add_tool = tool(add)
    limits = Limits(model_calls=1000, tool_calls=1000)

    async def run(prompt: str, stream: bool, on_text: Callable[[str], None]) -> str:
        agent = Agent(client, [add_tool], instructions=SYSTEM, limits=limits, streaming=stream)
        if not stream:
            return (await agent.run(prompt)).answer
        async with agent.stream(prompt) as events:
            async for event in events:
                if type(event) is MessageDelta and event.kind == "text":
                    on_text(event.text)
        assert events.end is not None
        return events.end.answer

    return run


CONTENDERS: dict[str, Callable[[str], Run]] = {"bare": bare, "sdk": sdk, "wenfang": wenfang}


def rss_kb() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1000


class Bench:
    def __init__(self, name: str, base_url: str) -> None:
        began = time.process_time()
        if name == "wenfang":
            import wenfang  # noqa: F401

            self.import_s = time.process_time() - began
        elif name == "sdk":
            import openai  # noqa: F401

            self.import_s = time.process_time() - began
        else:
            import aiohttp  # noqa: F401

            self.import_s = time.process_time() - began
        self.run = CONTENDERS[name](base_url)
        self.ready_s = time.process_time() - began
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.count = 0

    def prompt(self, steps: int, answer: int = 5, latency: int = 0, pace: int = 0) -> str:
        self.count += 1
        return f"bench:{steps}:10:20:{answer}:{latency}:{pace}:{os.getpid()}-{self.count}"

    def once(self, steps: int, stream: bool, on_text: Any = None, **more: int) -> float:
        """CPU seconds of one run, checked: the tool ran as often as it should."""
        gc.collect()
        before, began = CALLS, time.process_time()
        prompt = self.prompt(steps, **more)
        self.loop.run_until_complete(self.run(prompt, stream, on_text or ignore))
        spent = time.process_time() - began
        if CALLS - before != steps:
            raise RuntimeError(f"the tool ran {CALLS - before} times, not {steps}")
        return spent

    def steps(self, stream: bool) -> dict[str, float]:
        return {"us": self.once(20, stream) * 1e6 / 21}

    def burst(self, deltas: int = 20_000) -> dict[str, float]:
        got: list[int] = []
        spent = self.once(0, True, lambda text: got.append(len(text)), answer=deltas)
        if sum(got) != deltas * 5:
            raise RuntimeError(f"got {sum(got)} characters, not {deltas * 5}")
        return {"us": spent * 1e6 / deltas}

    def paced(self, deltas: int = 1000) -> dict[str, float]:
        lags: list[float] = []

        def seen(text: str) -> None:
            now = time.monotonic_ns()
            lags.extend((now - int(stamp[1:])) / 1e3 for stamp in text.split())

        spent = self.once(0, True, seen, answer=deltas, pace=1000)
        return {"us": spent * 1e6 / deltas, "lag_us": statistics.median(lags)}

    def concurrent(self, runs: int = 200) -> dict[str, float]:
        gc.collect()
        base = rss_kb()
        peak = [base]

        async def one(prompt: str) -> None:
            await self.run(prompt, True, ignore)
            peak[0] = max(peak[0], rss_kb())

        async def all_of_them() -> None:
            await asyncio.gather(*(one(self.prompt(5, latency=50)) for _ in range(runs)))

        began, cpu = time.perf_counter(), time.process_time()
        self.loop.run_until_complete(all_of_them())
        return {
            "runs_s": runs / (time.perf_counter() - began),
            "cpu_us": (time.process_time() - cpu) * 1e6 / runs,
            "kb": (peak[0] - base) / runs,
        }

    def history(self, steps: int = 300) -> dict[str, float]:
        MARKS.clear()
        self.once(steps, False)
        gaps = [(b - a) * 1e6 for a, b in pairwise(MARKS)]
        return {
            "us_at_10": statistics.median(gaps[5:15]),
            "us_at_300": statistics.median(gaps[-16:-1]),
        }

    def dialects(self) -> dict[str, float]:
        from dialects import above_native

        return above_native()

    def importing(self) -> dict[str, float]:
        return {"us": self.import_s * 1e6, "ready_us": self.ready_s * 1e6}


def main() -> None:
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    bench = Bench(sys.argv[1], sys.argv[2])
    print("{}", file=out)
    for line in sys.stdin:
        command = json.loads(line)
        print(json.dumps(getattr(bench, command.pop("do"))(**command)), file=out)
    os._exit(0)  # nobody cares how the contenders would close their connections


if __name__ == "__main__":
    main()
