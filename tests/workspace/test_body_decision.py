"""Whether an ended body becomes the text of its file (FC-9, FC-12, FC-14)."""

from __future__ import annotations

import pytest

from wenfang.workspace.body import (
    ENDINGS,
    BodyClosed,
    BodyReason,
    Commit,
    Decision,
    Keep,
    commit_decision,
)

# reason: for a file that was blank, for one with a text
DECISIONS: dict[BodyReason, tuple[Decision, Decision]] = {
    "end": (Commit(), Commit()),
    "oversized": (Commit(), Commit()),  # FC-7
    "boundary": (Commit(), Keep("truncated")),  # FC-8, FC-9
    "stop": (Commit(), Keep("truncated")),  # FC-12 for these four
    "disconnect": (Commit(), Keep("truncated")),
    "timeout": (Commit(), Keep("truncated")),
    "error": (Commit(), Keep("truncated")),
    "reset": (Keep("void"), Keep("void")),
    "literal_end": (Keep("void"), Keep("void")),  # FC-8
    "control_marker": (Keep("void"), Keep("void")),
    "malformed": (Keep("void"), Keep("void")),
    "duplicate_key": (Keep("void"), Keep("void")),
}


def test_every_reason_has_a_row() -> None:
    assert DECISIONS.keys() == ENDINGS.keys()


@pytest.mark.parametrize("reason", DECISIONS)
def test_FC_9_decisions(reason: BodyReason) -> None:
    closed = BodyClosed(file_id="f", reason=reason)
    assert (
        commit_decision(True, closed, "正文"),
        commit_decision(False, closed, "正文"),
    ) == DECISIONS[reason]


@pytest.mark.parametrize("text", ["", " \n\u3000"])
@pytest.mark.parametrize("reason", DECISIONS)
def test_FC_14_a_blank_body_changes_nothing(reason: BodyReason, text: str) -> None:
    for before_blank in (True, False):
        decision = commit_decision(before_blank, BodyClosed(file_id="f", reason=reason), text)
        assert isinstance(decision, Keep)
