"""A scripted model server for the benchmark: replies are bytes made once, requests are hardly read.

The scenario rides in the prompt as `bench:<steps>:<texts>:<arguments>:<answer>:<latency_ms>:<pace_us>:<run>`:
tool steps before the answer, text and argument deltas per step, deltas of the answer, latency of each
reply, gap between deltas of the answer (0: all at once; else each carries the time it was written). A run
whose name begins with "calculator" calls that tool instead of `add`.
Prints its port; ends when its input does.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from functools import lru_cache
from itertools import pairwise

PROMPT = re.compile(rb"bench:(\d+):(\d+):(\d+):(\d+):(\d+):(\d+):([\w-]+)")
USAGE = {"prompt_tokens": 900, "completion_tokens": 30, "total_tokens": 930}
OPEN = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def frame(data: str) -> bytes:
    body = b"data: %b\n\n" % data.encode()
    return b"%x\r\n%b\r\n" % (len(body), body)


def chunk(delta: dict, finish: str | None = None, **more: object) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps(
        {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
        | {"choices": [choice]}
        | more
    )


def word(number: int) -> str:
    return f"w{number % 1000:03d} "


def arguments(step: int, pieces: int, tool: str) -> list[str]:
    a, b = 5_000_000 + step, 3_000_000 + step
    text = json.dumps({"a": a, "b": b} if tool == "add" else {"expression": f"{a}+{b}"})
    text = "{" + " " * max(0, pieces - len(text)) + text[1:]
    cuts = [len(text) * at // pieces for at in range(pieces + 1)]
    return [text[a:b] for a, b in pairwise(cuts)]


@lru_cache
def streamed(step: int, texts: int, pieces: int, tool: str) -> bytes:
    """One reply as server-sent events; `pieces` 0 is the final answer."""
    frames = [chunk({"role": "assistant", "content": ""})]
    frames += [chunk({"content": word(at)}) for at in range(texts)]
    if pieces:
        call = {"index": 0, "id": f"call_{step}", "type": "function"}
        call["function"] = {"name": tool, "arguments": ""}
        frames.append(chunk({"tool_calls": [call]}))
        frames += [
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
            for piece in arguments(step, pieces, tool)
        ]
    return OPEN + b"".join(map(frame, frames)) + ending("tool_calls" if pieces else "stop")


@lru_cache
def ending(finish: str) -> bytes:
    usage = json.dumps(
        {"id": "c-1", "object": "chat.completion.chunk", "choices": [], "usage": USAGE}
    )
    return frame(chunk({}, finish)) + frame(usage) + frame("[DONE]") + b"0\r\n\r\n"


@lru_cache
def whole(step: int, texts: int, pieces: int, tool: str) -> bytes:
    message: dict = {"role": "assistant", "content": "".join(map(word, range(texts)))}
    if pieces:
        function = {"name": tool, "arguments": "".join(arguments(step, pieces, tool))}
        message["tool_calls"] = [{"id": f"call_{step}", "type": "function", "function": function}]
    finish = "tool_calls" if pieces else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    body = json.dumps(
        {"id": "c-1", "object": "chat.completion", "model": "bench"}
        | {"choices": [choice], "usage": USAGE}
    ).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % len(body) + body


STEPS: dict[bytes, int] = {}


class Connection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.data = bytearray()

    def data_received(self, data: bytes) -> None:
        self.data += data
        head = self.data.find(b"\r\n\r\n")
        if head < 0:
            return
        length = re.search(rb"content-length: *(\d+)", self.data[:head].lower())
        end = head + 4 + int(length[1] if length else 0)
        if len(self.data) >= end:
            body, self.data = bytes(self.data[head + 4 : end]), self.data[end:]
            self.answer(body)

    def answer(self, body: bytes) -> None:
        found = PROMPT.search(body)
        if found is None:
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            return
        steps, texts, pieces, answer, latency, pace = map(int, found.groups()[:6])
        step = STEPS.get(found[7], 0)
        STEPS[found[7]] = step + 1
        if step and body.rfind(b"%d" % (8_000_000 + 2 * (step - 1))) < 0:
            self.transport.write(b"HTTP/1.1 409 Conflict\r\ncontent-length: 0\r\n\r\n")
            return
        last = step >= steps
        if last and pace:
            asyncio.ensure_future(self.paced(answer, pace))
            return
        make = streamed if re.search(rb'"stream": *true', body) else whole
        tool = "calculator" if found[7].startswith(b"calculator") else "add"
        reply = make(step, answer if last else texts, 0 if last else pieces, tool)
        asyncio.get_running_loop().call_later(latency / 1000, self.transport.write, reply)

    async def paced(self, answer: int, pace: int) -> None:
        self.transport.write(OPEN)
        at = time.monotonic()
        for _ in range(answer):
            at += pace / 1e6
            await asyncio.sleep(max(0.0, at - time.monotonic()))
            self.transport.write(frame(chunk({"content": f"T{time.monotonic_ns()} "})))
        self.transport.write(ending("stop"))


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
