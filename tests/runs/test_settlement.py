"""What a run costs whom (behaviours §G5, FB28)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wenfang.core import Assistant, Attempt, Failure, Text, Usage
from wenfang.runs.facts import Fact, MessageFinished, RunFinished, StepReset
from wenfang.runs.settlement import POLICY, case_of, ledger_of

RESERVED = 1000
FAILED = Failure(kind="network", message="x")


def reply(
    text: str, usage: Usage, *, attempts: Any = (), failed: bool = False, message_id: str = "m"
) -> Fact:
    message = Assistant(
        content=(Text(text=text),) if text else (),
        stop="error" if failed else "stop",
        error=FAILED if failed else None,
        usage=usage,
        attempts=attempts,
    )
    return MessageFinished(step=1, message_id=message_id, message=message)


def reset(usage: Usage, *, reason: str = "network", message_id: str = "m") -> Fact:
    return StepReset(step=1, message_id=message_id, attempt=2, reason=reason, usage=usage)


KNOWN = Usage(input=100, output=50)
GUESS = Usage(input=100, output=50, estimated=True)
HUGE = Usage(input=5000, estimated=True)
LOST = Attempt(model="a", failure=FAILED, usage=Usage(input=7))

TABLE = [
    ("nothing happened", [], 0, 0, False),
    (
        "upstream error before the first byte: full refund",
        [reply("", GUESS, failed=True)],
        0,
        0,
        False,
    ),
    ("usage known: actual", [reply("hi", KNOWN)], 150, 0, False),
    (
        "cut after 50 %, usage unknown: estimate, flagged",
        [reply("hi", GUESS, failed=True)],
        150,
        0,
        True,
    ),
    ("an estimate is capped by the reservation", [reply("hi", HUGE)], RESERVED, 0, True),
    ("actual is not capped", [reply("hi", Usage(input=5000))], 5000, 0, False),
    (
        "an estimate after actual takes what is left",
        [reply("a", Usage(input=900)), reply("b", GUESS)],
        RESERVED,
        0,
        True,
    ),
    (
        "and nothing if nothing is left",
        [reply("a", Usage(input=2000)), reply("b", GUESS)],
        2000,
        0,
        True,
    ),
    (
        "failover: the loser is the operator's",
        [reset(Usage(input=7)), reply("hi", KNOWN, attempts=(LOST,))],
        150,
        7,
        False,
    ),
    ("a loser whose message never came", [reset(Usage(input=7))], 0, 7, False),
    ("what a loser wrote counts too", [reset(Usage(input=7, output=3))], 0, 10, False),
    (
        "a takeover is the operator's",
        [reset(Usage(input=9), reason="takeover"), reply("hi", KNOWN, message_id="n")],
        150,
        9,
        False,
    ),
    (
        "a lost try and a takeover of one message",
        [
            reset(Usage(input=7)),
            reset(Usage(input=9), reason="takeover"),
            reply("hi", KNOWN, message_id="n"),
        ],
        150,
        16,
        False,
    ),
]


@pytest.mark.parametrize(
    ("facts", "charge", "operator", "estimated"), [r[1:] for r in TABLE], ids=[r[0] for r in TABLE]
)
def test_policy(facts: list[Fact], charge: int, operator: int, estimated: bool) -> None:
    end = RunFinished(
        status="done", reason="completed", answer="", usage=Usage(), steps=1, tool_calls=0
    )
    settled = ledger_of([*facts, end]).settle(RESERVED)
    assert (settled.charge, settled.operator, settled.estimated) == (charge, operator, estimated)
    assert settled.refund == RESERVED - charge


def test_usage_is_all_that_was_used_whoever_pays() -> None:
    facts = [reset(Usage(input=7)), reply("hi", KNOWN, attempts=(LOST,))]
    assert ledger_of(facts).total == Usage(input=107, output=50)
    assert ledger_of(facts[:1]).total == Usage(input=7)


def test_the_policy_has_a_row_for_every_case() -> None:
    replies = [reply("", GUESS, failed=True), reply("x", KNOWN), reply("x", GUESS)]
    assert {case_of(r.message) for r in replies} | {"superseded"} == set(POLICY)  # type: ignore[union-attr]


usages = st.builds(
    Usage, input=st.integers(0, 500), output=st.integers(0, 500), estimated=st.booleans()
)
replies = st.builds(reply, st.sampled_from(["", "x"]), usages, failed=st.booleans())
resets = st.builds(reset, usages, reason=st.sampled_from(["network", "takeover"]))


@settings(deadline=None)
@given(st.lists(replies | resets), st.integers(0, 2000))
def test_no_drift(facts: list[Fact], reserved: int) -> None:
    settled = ledger_of(facts).settle(reserved)
    assert reserved - settled.charge - settled.refund == 0
    assert settled.charge >= 0
