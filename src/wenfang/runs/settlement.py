"""What a run costs whom: a reservation, and one settlement that is a fold over the journal (M9, FB28).

Amounts are tokens. `reserve` books +R; the end books `settle` -charge and `refund` -(R - charge), so
the rows of a run sum to zero whatever happened.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from wenfang.core import Assistant, Usage

from .facts import Fact, MessageFinished, StepReset

Case: TypeAlias = Literal["unseen", "reported", "unreported", "superseded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Who pays for one request. `capped`: together with its like, no more than the reservation
    leaves. `flagged`: the charge is marked as estimated."""

    payer: Literal["nobody", "user", "operator"]
    capped: bool
    flagged: bool


POLICY: dict[Case, Rule] = {
    # a request that failed before its first byte
    "unseen": Rule(payer="nobody", capped=False, flagged=False),
    # bytes arrived and the provider reported their usage
    "reported": Rule(payer="user", capped=False, flagged=False),
    # bytes arrived, their usage is counted from the text
    "unreported": Rule(payer="user", capped=True, flagged=True),
    # a try that was given up: failover, or a takeover asked again
    "superseded": Rule(payer="operator", capped=False, flagged=False),
}
"""Behaviours §G5 as data; the fifth row, a second settlement without effect, is the primary key of
`quota` and the guard of the closing transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """Tokens. `charge` is the user's, `refund` what is left of the reservation (negative if more
    was used than reserved), `operator` what failed tries cost."""

    charge: int
    refund: int
    operator: int
    estimated: bool


def case_of(reply: Assistant) -> Case:
    """The row of the policy that a finished reply falls under."""
    if reply.stop == "error" and not reply.content:
        return "unseen"
    return "unreported" if reply.usage.estimated else "reported"


@dataclass(slots=True)
class Ledger:
    """The fold. `usage` is all that was used, whoever pays; a reply's given-up tries are part of it,
    their `step.reset` facts count only while the reply has not come."""

    usage: Usage = field(default_factory=Usage)
    actual: int = 0
    estimate: int = 0
    operator: int = 0
    _open: list[StepReset] = field(default_factory=list[StepReset])

    def add(self, fact: Fact) -> None:
        if isinstance(fact, StepReset):
            if fact.reason == "takeover":
                self._book("superseded", fact.usage)
            else:
                self._open.append(fact)
        elif isinstance(fact, MessageFinished):
            finished = [reset for reset in self._open if reset.message_id == fact.message_id]
            self._open = [reset for reset in self._open if reset not in finished]
            for attempt in fact.message.attempts:
                self._book("superseded", attempt.usage)
            self._book(case_of(fact.message), fact.message.usage)

    def settle(self, reserved: int) -> Settlement:
        """The closing rows for a run that has ended."""
        lost = sum((reset.usage for reset in self._open), Usage())
        estimate = max(0, min(self.estimate, reserved - self.actual))
        charge = self.actual + estimate
        return Settlement(
            charge=charge,
            refund=reserved - charge,
            operator=self.operator + lost.input + lost.output,
            estimated=self.estimate > 0,
        )

    @property
    def total(self) -> Usage:
        return sum((reset.usage for reset in self._open), self.usage)

    def _book(self, case: Case, usage: Usage) -> None:
        rule, tokens = POLICY[case], usage.input + usage.output
        self.usage = self.usage + usage
        if rule.payer == "operator":
            self.operator += tokens
        elif rule.payer == "user" and rule.capped:
            self.estimate += tokens
        elif rule.payer == "user":
            self.actual += tokens


def ledger_of(facts: Iterable[Fact]) -> Ledger:
    """The ledger of a run's facts."""
    ledger = Ledger()
    for fact in facts:
        ledger.add(fact)
    return ledger
