"""Wenfang as a contender of the peers' benchmark, which lives outside this project.

Copy this file to that benchmark's `adapters/` and add the table below to its `adapters.toml`:

    [ours]
    file = "ours"
    venv = "ours"
    kind = "ours"
    pip = ["-e", "<path to this checkout>"]
"""

import benchlib

from wenfang import Agent, ChatClient, Limits, MessageDelta, tool


class Wenfang:
    def __init__(self, base_url: str) -> None:
        self.client = ChatClient(base_url=base_url.rstrip("/"), model=benchlib.MODEL, api_key="x")
        self.add = tool(benchlib.add)
        self.limits = Limits(model_calls=1000, tool_calls=10_000)

    def agent(self, *, streaming: bool) -> Agent:
        return Agent(
            self.client,
            [self.add],
            instructions=benchlib.SYSTEM,
            limits=self.limits,
            streaming=streaming,
        )


build = Wenfang


async def run(made: Wenfang, prompt: str, stream: bool, on_text) -> str:
    agent = made.agent(streaming=stream)
    if not stream:
        return (await agent.run(prompt)).answer
    async with agent.stream(prompt) as events:
        async for event in events:
            if type(event) is MessageDelta and event.kind == "text":
                on_text(event.text)
    assert events.end is not None
    return events.end.answer
