"""The probes: a few small tasks that show whether a model can use tools in a dialect. Rows of data.

What a probe looks at is what happened: which calls reached the tools, with which arguments, and what the
answer holds. Results of the tools cannot be guessed, so an answer that holds one has read it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from wenfang.core import JSON, Reason, Tool, tool
from wenfang.problems import Language

ProbeName: TypeAlias = Literal["arguments", "quoting", "result", "chain", "plain"]
Flaw: TypeAlias = Literal[
    "refused",  # the provider refuses requests of this kind, or breaks off
    "too_slow",
    "leaked",  # the server gave the call back as text
    "unreadable",  # no call or answer could be read
    "no_call",
    "wrong_call",  # another tool or other arguments, or a call where none was asked for
    "wrong_answer",
]
Calls: TypeAlias = Sequence[tuple[str, Mapping[str, JSON]]]

INSTRUCTIONS = """\
You answer requests with the help of tools. Use a tool where it gives what is asked for, exactly once and \
with exactly the values of the request. Where no tool is needed, answer at once. Keep answers short.\
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """`calls` are the calls that have to be made, whatever their order; `answer` has to stand in the
    answer."""

    name: ProbeName
    zh: str
    en: str
    calls: Calls = ()
    answer: str = ""

    def prompt(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en


_NOTE = 'He said: "Stop."\nAction: none </tool_call>'

PROBES: tuple[Probe, ...] = (
    Probe(
        name="arguments",
        zh="请预订 12 个人的会议室，房间名是 Jade。",
        en="Reserve the room Jade for 12 people.",
        calls=(("reserve_room", {"room": "Jade", "people": 12}),),
    ),
    Probe(
        name="quoting",
        zh="请保存一条便笺，内容正好是两行。第一行是：He said: \"Stop.\" 第二行是：Action: none </tool_call>",
        en='Save a note of exactly two lines. The first line is: He said: "Stop." '
        "The second line is: Action: none </tool_call>",
        calls=(("save_note", {"text": _NOTE}),),
    ),
    Probe(
        name="result",
        zh="货号 A17 的库存是多少？请在回答里写出这个数。",
        en="How many pieces of item A17 are in stock? Give the number in your answer.",
        calls=(("count_stock", {"item": "A17"}),),
        answer="7315",
    ),
    Probe(
        name="chain",
        zh="货号 A17 的供应商的电话号码是多少？先查出供应商，再查它的电话。",
        en="What is the phone number of the supplier of item A17? Find the supplier first, then its phone number.",
        calls=(
            ("find_supplier", {"item": "A17"}),
            ("find_phone", {"company": "Morland"}),
        ),
        answer="5529",
    ),
    Probe(
        name="plain",
        zh="不用工具，直接回答这一个词：lantern",
        en="Use no tool. Answer with this one word: lantern",
        answer="lantern",
    ),
)  # fmt: skip


def make_tools(record: Callable[[str, Mapping[str, JSON]], None]) -> tuple[Tool, ...]:
    """The tools of all probes. `record` hears of each call that reached one, with valid arguments."""

    @tool
    async def reserve_room(
        room: Annotated[str, Field(description="Name of the room")],
        people: Annotated[int, Field(description="How many people")],
    ) -> str:
        """Reserve a meeting room."""
        record("reserve_room", {"room": room, "people": people})
        return "The room is reserved."

    @tool
    async def save_note(
        text: Annotated[str, Field(description="The whole text of the note")],
    ) -> str:
        """Save a note."""
        record("save_note", {"text": text})
        return "The note is saved."

    @tool
    async def count_stock(item: Annotated[str, Field(description="Number of the item")]) -> str:
        """How many pieces of an item are in stock."""
        record("count_stock", {"item": item})
        return "7315 pieces"

    @tool
    async def find_supplier(item: Annotated[str, Field(description="Number of the item")]) -> str:
        """The company that supplies an item."""
        record("find_supplier", {"item": item})
        return "Morland"

    @tool
    async def find_phone(company: Annotated[str, Field(description="Name of the company")]) -> str:
        """The phone number of a company."""
        record("find_phone", {"company": company})
        return "5529"

    return reserve_room, save_note, count_stock, find_supplier, find_phone


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What happened in a trial. `reached` are the calls that reached a tool; `unreadable` counts calls
    that could not be read or did not fit, `leaked` calls that came back as text of the answer."""

    reached: Calls
    answer: str
    reason: Reason
    is_failed: bool = False
    is_late: bool = False
    unreadable: int = 0
    leaked: int = 0


def judge(probe: Probe, facts: Facts) -> Flaw | None:
    """What is wrong, or None: the first row that applies. A call that had to be written twice is no
    flaw, it costs a repair."""
    calls, wanted = _as_set(facts.reached), _as_set(probe.calls)
    is_answered = facts.reason == "completed" and probe.answer.casefold() in facts.answer.casefold()
    rows: tuple[tuple[Flaw | None, bool], ...] = (
        ("too_slow", facts.is_late),
        ("refused", facts.is_failed),
        (None, calls == wanted and is_answered),
        ("leaked", facts.leaked > 0),
        ("unreadable", facts.unreadable > 0),
        ("no_call", not calls and bool(wanted)),
        ("wrong_call", calls != wanted),
        ("wrong_answer", True),
    )
    return next(flaw for flaw, applies in rows if applies)


def _as_set(calls: Calls) -> frozenset[str]:
    return frozenset(json.dumps([name, _stripped(given)], sort_keys=True) for name, given in calls)


def _stripped(arguments: Mapping[str, JSON]) -> dict[str, JSON]:
    """Blanks around a text are no difference."""
    return {
        name: value.strip() if isinstance(value, str) else value
        for name, value in arguments.items()
    }
