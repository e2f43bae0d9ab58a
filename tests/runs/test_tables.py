"""The tables and values of the room, said a second time: what a row means must not change unnoticed."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import sqlalchemy as sa
from tests.runs.rig import Counter

from wenfang.core import (
    Assistant,
    Hooks,
    Limits,
    RunEnd,
    System,
    Text,
    Thinking,
    Toolbox,
    ToolCall,
    ToolResult,
    Usage,
    estimate_tokens,
    native,
    user,
)
from wenfang.runs import AgentSpec, Envelope, Options, RunContext, RunInfo, engine, sql
from wenfang.runs.catalog import find_project, find_session, title_of
from wenfang.runs.codec import encode, wrap
from wenfang.runs.ending import ending_of
from wenfang.runs.entries import entry_of, steer_fact
from wenfang.runs.facts import (
    BlockDelta,
    Fact,
    FileChanged,
    MessageFinished,
    NoticeGiven,
    RunFinished,
    RunStarted,
    SessionChanged,
    StepReset,
    StepStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    UserMessage,
)
from wenfang.runs.fold import INTERRUPTED, NEVER_RUN, Fold, fold, interrupted
from wenfang.runs.hub import RING_BYTES, RING_FRAMES
from wenfang.runs.journal import Claim, Entry, Signal
from wenfang.runs.keyed import KeyedToolbox
from wenfang.runs.lease import LeaseKeeper, identify
from wenfang.runs.settlement import POLICY
from wenfang.runs.snapshots import RUNS
from wenfang.runs.steering import Steering
from wenfang.runs.takeover import (
    closing_reason,
    context_of_claim,
    missing_results,
    unknown_outcomes,
    void_request,
)
from wenfang.storage import SqliteTx, events, projects, runs, sessions

pytestmark = pytest.mark.anyio


def test_options() -> None:
    assert asdict(Options()) == {
        "slots": 256,
        "user_runs": 256,
        "lease_ttl_s": 15.0,
        "beat_s": 5.0,
        "reconcile_s": 5.0,
        "poll_s": 0.25,
        "attempts": 5,
        "delta_s": 0.04,
        "delta_chars": 64,
        "partial_s": 1.0,
        "patience_s": 0.04,
        "deadline_s": None,
        "retry_s": (0.05, 0.25, 1.0, 3.0),
        "reserve_tokens": 200_000,
    }


def test_what_an_agent_is_if_nothing_is_said() -> None:
    spec = AgentSpec(client=None, tools=Toolbox(), dialect=native)  # type: ignore[arg-type]
    assert (spec.instructions, spec.agent, spec.streaming, spec.tool_choice) == (
        "",
        "solo",
        True,
        "auto",
    )
    assert (spec.hooks, spec.limits) == (Hooks(), Limits())
    context = RunContext(
        run_id="r", session_id="s", project_id="p", files=cast("Any", None), text="t"
    )
    assert context.user_id == "local"


@pytest.mark.parametrize(
    ("status", "is_finished"),
    [
        ("queued", False),
        ("running", False),
        ("done", True),
        ("partial", True),
        ("stopped", True),
        ("expired", True),
        ("failed", True),
    ],
)
def test_which_runs_have_ended(status: Any, is_finished: bool) -> None:
    run = RunInfo(
        id="r",
        session_id="s",
        project_id="p",
        status=status,
        reason=None,
        created_at=1.0,
        finished_at=None,
        usage=Usage(),
    )
    assert run.is_finished is is_finished


REPLY = Assistant(content=(Text(text="t"),), stop="stop", model="m")
RESULT = ToolResult(call_id="c", name="n", content=())
ENDED = RunFinished(
    status="done", reason="completed", answer="a", usage=Usage(), steps=1, tool_calls=0
)

# a fact with what must be said of it; what is added by itself; how it goes into the journal
FACTS: list[tuple[Fact, dict[str, Any], dict[str, Any]]] = [
    (RunStarted(agent="a", model="m", dialect="d"), {"type": "run.started"}, {}),
    (
        UserMessage(message_id="m", text="x"),
        {"type": "user.message", "source": "user", "signal": None},
        {},
    ),
    (
        UserMessage(message_id="m", text="x", source="steer", signal=3),
        {"type": "user.message", "source": "steer", "signal": 3},
        {"signal": 3},
    ),
    (StepStarted(step=1, message_id="m", model="x"), {"type": "step.started"}, {}),
    (
        StepReset(step=1, message_id="m", attempt=2, reason="network"),
        {"type": "step.reset", "usage": asdict(Usage())},
        {"ends_message": True},
    ),
    (
        MessageFinished(step=1, message_id="m", message=REPLY),
        {"type": "message.finished"},
        {"is_step": True, "ends_message": True},
    ),
    (
        ToolStarted(call_id="c", name="n", args={}, access="read", replay="read"),
        {"type": "tool.started"},
        {},
    ),
    (ToolFinished(call_id="c", name="n", args={}, result=RESULT), {"type": "tool.finished"}, {}),
    (NoticeGiven(level="info", code="c"), {"type": "notice", "params": {}}, {}),
    (ENDED, {"type": "run.finished", "failure": None}, {}),
    (
        FileChanged(path="a", change="deleted", by="author"),
        {"type": "file.changed", "revision": "", "to": None},
        {},
    ),
    (SessionChanged(title="t"), {"type": "session.changed", "deleted": False}, {}),
]


@pytest.mark.parametrize(("fact", "added", "flags"), FACTS, ids=[row[1]["type"] for row in FACTS])
def test_facts_and_their_entries(fact: Fact, added: dict[str, Any], flags: dict[str, Any]) -> None:
    body = encode(fact)
    values = json.loads(body)
    assert {name: values[name] for name in added} == added
    entry = Entry(kind=added["type"], body=body)
    nothing = {"signal": None, "is_step": False, "ends_message": False}
    for name, value in (nothing | flags).items():
        assert getattr(entry_of(fact), name) == value
        assert getattr(entry, name) == nothing[name]
    assert (entry_of(fact).kind, entry_of(fact).body) == (entry.kind, entry.body)


def test_every_fact_has_a_row() -> None:
    assert {type(fact) for fact, _, _ in FACTS} == set(Fact.__args__)  # type: ignore[attr-defined]


def test_what_is_said_of_ephemeral_frames() -> None:
    delta = BlockDelta(step=1, message_id="m", attempt=1, kind="text", index=0, off=0, text="x")
    assert (delta.name, delta.type) == (None, "message.delta")
    progress = ToolProgress(call_id="c", text="t")
    assert (progress.fraction, progress.type) == (None, "tool.progress")
    assert asdict(Envelope()) == {"seq": 0, "ts": 0.0, "run_id": "", "session_id": ""}
    data = wrap(encode(delta), seq=0, ts=1.25, run_id="r", session_id="s")
    assert data.startswith(b'{"seq":0,"ts":1.25,"run_id":"r","session_id":"s","step":1,')


def test_steering_words_have_one_fact_whoever_writes_it() -> None:
    assert steer_fact("run_1", Signal(n=2, text="x")) == UserMessage(
        message_id="run_1_2", text="x", source="steer", signal=2
    )


def test_who_pays() -> None:
    found = {case: (rule.payer, rule.capped, rule.flagged) for case, rule in POLICY.items()}
    assert found == {
        "unseen": ("nobody", False, False),
        "reported": ("user", False, False),
        "unreported": ("user", True, True),
        "superseded": ("operator", False, False),
    }


# The fold


def reply(*calls: str, text: str = "") -> MessageFinished:
    blocks = (Text(text=text),) if text else ()
    made = tuple(ToolCall(id=c, name=f"t{c}", arguments={"n": c}) for c in calls)
    message = Assistant(content=(*blocks, *made), stop="stop", usage=Usage(input=3, output=2))
    return MessageFinished(step=1, message_id="m1", message=message)


def intent(call: str, replay: Any = "unsafe") -> ToolStarted:
    return ToolStarted(
        call_id=call, name=f"t{call}", args={"n": call}, access="exec", replay=replay
    )


def result(call: str) -> ToolFinished:
    done = ToolResult(call_id=call, name=f"t{call}", content=(Text(text=f"r{call}"),))
    return ToolFinished(call_id=call, name=f"t{call}", args={"n": call}, result=done)


BEGIN = RunStarted(agent="solo", model="m", dialect="native")
STEP = StepStarted(step=1, message_id="m1", model="m")
AGAIN = StepReset(step=1, message_id="m1", attempt=3, reason="network")
ASKED = UserMessage(message_id="u", text="q")


def test_a_fold_of_nothing() -> None:
    state = fold([])
    assert state == Fold(
        messages=[], start=0, attempt=1, open_calls={}, calls=(), results={}, steps=0, tool_calls=0
    )
    assert state.transcript() == []


@pytest.mark.parametrize("started", [True, False])
def test_a_call_without_a_result(started: bool) -> None:
    assert interrupted("c", "n", started=started) == ToolResult(
        call_id="c",
        name="n",
        content=(Text(text=INTERRUPTED if started else NEVER_RUN),),
        is_error=True,
        error_type="interrupted",
    )


def test_a_batch_that_is_closed_says_that_outcomes_are_unknown() -> None:
    state = fold([BEGIN, ASKED, reply("a"), StepStarted(step=2, message_id="m2", model="m")])
    assert state.messages[-1] == interrupted("a", "ta", started=True)
    assert (state.calls, state.results) == ((), {})


def test_the_state_of_a_run_step_by_step() -> None:
    """What a run's facts leave, and that the next run begins anew."""
    state = fold([BEGIN, ASKED, STEP, AGAIN])
    assert (state.open_step, state.attempt) == (STEP, 3)
    state.add(reply("a", "b", text="Answer."))
    assert state.open_step is None
    state.add(intent("a"))
    state.add(result("a"))
    assert (state.open_calls, list(state.results)) == ({}, ["a"])
    state.add(intent("b"))
    assert list(state.open_calls) == ["b"]
    second = StepStarted(step=2, message_id="m2", model="m")
    state.add(second)
    assert (state.open_step, state.attempt) == (second, 1)
    assert (state.start, state.steps, state.tool_calls, state.answer) == (0, 1, 1, "Answer.")
    assert state.ledger.total == Usage(input=3, output=2)
    state.add(ENDED)
    assert (state.open_step, state.open_calls) == (None, {})
    state.add(BEGIN)
    assert (state.start, state.steps, state.tool_calls, state.answer) == (4, 0, 0, "")
    assert state.ledger.total == Usage()
    state.add(ASKED)
    state.add(reply(text=" \n"))
    assert (state.steps, state.answer) == (1, "")


# A takeover

SHELF: Any = SimpleNamespace(files=lambda *who: who)
CLAIM = Claim(
    run_id="run_1",
    session_id="ses_1",
    project_id="prj_1",
    folder=Path("/p"),
    template=None,
    user_id="ada",
    worker="w",
    epoch=2,
    attempts=5,
    deadline_at=100.0,
    stop_requested=False,
    next_signal=3,
    newest_signal=4,
    reserved=1000,
)


@pytest.mark.parametrize(
    ("stopped", "deadline_at", "now", "attempts", "reason"),
    [
        (False, 100.0, 99.0, 5, None),
        (False, None, 1e12, 5, None),
        (False, 100.0, 100.0, 5, "deadline"),
        (False, 100.0, 101.0, 6, "deadline"),
        (False, None, 0.0, 6, "interrupted"),
        (True, 100.0, 101.0, 6, "cancelled_by_user"),
        (True, None, 0.0, 1, "cancelled_by_user"),
    ],
)
def test_why_a_run_is_only_to_be_closed(
    stopped: bool, deadline_at: float | None, now: float, attempts: int, reason: str | None
) -> None:
    claim = replace(CLAIM, stop_requested=stopped, deadline_at=deadline_at, attempts=attempts)
    assert closing_reason(claim, now, attempts=5) == reason


def test_for_whom_an_agent_is_made_after_a_takeover() -> None:
    """The newest run's words, not those of the runs before it."""
    steer = UserMessage(message_id="u", text="more", source="steer", signal=1)
    new = UserMessage(message_id="u", text="new", source="user")
    state = fold([BEGIN, ASKED, reply(text="a"), ENDED, BEGIN, new, reply(text="b"), steer])
    made = context_of_claim(CLAIM, state, SHELF)
    assert made.files == ("prj_1", Path("/p"), "ai", "run_1")
    assert made == RunContext(
        run_id="run_1",
        session_id="ses_1",
        project_id="prj_1",
        files=cast("Any", None),
        text="new",
        user_id="ada",
    )
    assert context_of_claim(CLAIM, Fold(), SHELF).text == ""


def test_what_a_request_that_was_cut_has_cost() -> None:
    """The words of the conversation, not the instructions, and what was shown of the reply."""
    asked, written = "a question of some length " * 9, "half an answer " * 7
    thought = Assistant(
        content=(Thinking(text="long thoughts " * 50), Text(text=written)), stop="stop"
    )
    past = Fold(messages=[System(content="instructions " * 50), user(asked), thought], attempt=2)
    lines = [
        encode(BlockDelta(step=1, message_id="m1", attempt=2, kind="text", index=0, off=0, text=t))
        for t in (written, asked)
    ]
    lines.append(encode(ToolProgress(call_id="c", text="no words of the model " * 9)))
    cost = estimate_tokens(asked) + estimate_tokens(written)
    assert void_request(STEP, past, b"\n".join(lines)) == StepReset(
        step=1,
        message_id="m1",
        attempt=3,
        reason="takeover",
        usage=Usage(input=cost, output=cost, estimated=True),
    )


def test_calls_that_a_takeover_or_an_end_leaves_without_a_result() -> None:
    state = fold([BEGIN, ASKED, reply("a", "b", "c", "d"), result("d")])
    for call, replay in (("a", "unsafe"), ("b", "idempotent")):
        state.add(intent(call, replay))

    def told(call: str, *, started: bool) -> ToolFinished:
        name = f"t{call}"
        given = interrupted(call, name, started=started)
        return ToolFinished(call_id=call, name=name, args={"n": call}, result=given)

    assert unknown_outcomes(state) == [told("a", started=True)]
    assert missing_results(state) == [
        told("a", started=True),
        told("b", started=True),
        told("c", started=False),
    ]


def test_how_a_run_is_closed() -> None:
    past = fold([BEGIN, ASKED, reply(text="a")])
    end = RunEnd(
        status="partial", reason="budget", answer="a", usage=Usage(input=99), steps=4, tool_calls=7
    )
    ending = ending_of("run_1", end, past, 1000)
    assert (ending.run_id, ending.status, ending.reason) == ("run_1", "partial", "budget")
    assert ending.usage == Usage(input=3, output=2)
    assert (ending.settlement.charge, ending.settlement.refund) == (5, 995)
    last = RunFinished(
        status="partial",
        reason="budget",
        answer="a",
        usage=Usage(input=3, output=2),
        steps=4,
        tool_calls=7,
    )
    assert ending.entries == [entry_of(last)]


# Steering


class Letters:
    """A journal that only knows signals, and counts how often it is asked."""

    def __init__(self, *known: int) -> None:
        self.known = [Signal(n=n, text=f"words {n}") for n in known]
        self.asked: list[tuple[str, int]] = []

    async def signals(self, run_id: str, after: int) -> list[Signal]:
        self.asked.append((run_id, after))
        return [signal for signal in self.known if signal.n > after]


async def test_steering_words_are_read_once_and_handed_out_once() -> None:
    journal = Letters(1, 2, 3, 4)
    steering = Steering(journal, CLAIM)  # type: ignore[arg-type]
    assert steering.take() == []
    await steering.load()
    first = steering.take()
    assert [(m.text, m.source) for m in first] == [("words 3", "steer"), ("words 4", "steer")]
    assert steering.take() == []
    await steering.load()
    assert journal.asked == [("run_1", 2)]
    assert steering.signal_of(first[1]) == Signal(n=4, text="words 4")
    assert steering.signal_of(first[1]) is None
    assert steering.signal_of(user("words 3", source="steer")) is None
    journal.known.append(Signal(n=5, text="words 5"))
    await steering.load()
    steering.look(5)
    steering.look(2)
    assert steering.newest == 5
    await steering.load()
    assert journal.asked[1:] == [("run_1", 4)]
    assert [m.text for m in steering.take()] == ["words 5"]
    steering.look(6)  # told of before it can be read
    await steering.load()
    await steering.load()
    assert journal.asked[2:] == [("run_1", 5)] * 2
    assert steering.take() == []


# Tools with keys


async def test_tools_that_know_the_key_of_their_call() -> None:
    given = Counter().tools()
    keyed = KeyedToolbox(given, "run_1")
    assert (list(keyed), len(keyed), keyed.specs) == (list(given), 3, given.specs)
    assert "look" in keyed
    assert keyed["look"] is keyed["look"]
    assert keyed["look"].handler is not given["look"].handler
    assert keyed["look"].replay == given["look"].replay
    with pytest.raises(KeyError):
        keyed["nope"]


# Numbers and statements that hold for every test, without a database of one's own


@pytest.mark.parametrize(("given", "kept"), [(200, 200), (201, 200)])
def test_the_longest_title(given: int, kept: int) -> None:
    assert title_of("x" * given) == "x" * kept
    assert title_of(" a \n b ") == "a b"


def test_numbers_of_the_room() -> None:
    assert (RING_FRAMES, RING_BYTES) == (256, 1024 * 1024)
    assert RUNS == 50
    assert logging.getLogger("wenfang.runs") is engine._log


@pytest.mark.parametrize(("seconds", "is_alive"), [(7.9, True), (8.0, False)])
def test_a_lease_is_good_for_most_of_its_life(seconds: float, is_alive: bool) -> None:
    now = 0.0
    keeper = LeaseKeeper(
        None,  # type: ignore[arg-type]
        identify("w"),
        ttl_s=10.0,
        beat_s=1.0,
        clock=lambda: 0.0,
        monotonic=lambda: now,
        fenced=lambda: None,
    )
    now = seconds
    assert keeper.is_alive is is_alive


@contextmanager
def in_memory() -> Iterator[SqliteTx]:
    connection = sa.create_engine("sqlite://", poolclass=sa.StaticPool).connect()
    with connection:
        events.metadata.create_all(connection)
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        yield SqliteTx(raw, connection)
    connection.engine.dispose()


def insert(tx: SqliteTx, table: sa.Table, **values: Any) -> None:
    tx.sa.execute(table.insert().values(**values))


@pytest.mark.parametrize(
    ("sizes", "on_page"),
    [
        ([1] * 200, 200),
        ([1] * 201, 200),
        ([512 * 1024, 1], 2),
        ([512 * 1024 + 1, 1], 1),
        ([256 * 1024] * 3, 3),
    ],
    ids=["200", "201", "half a megabyte", "more", "the last may go beyond"],
)
def test_how_much_is_on_a_page(sizes: list[int], on_page: int) -> None:
    with in_memory() as tx:
        empty = len(wrap(b"{}", seq=1000, ts=1.0, run_id="", session_id="s"))
        for at, size in enumerate(sizes):
            body = b"{" + b" " * max(1, size - empty + 1)
            insert(
                tx,
                events,
                project_id="p",
                pseq=1000 + at,
                session_id="s",
                ts=1.0,
                kind="k",
                body=body,
            )
        frames, is_all = sql.page_frames(tx.raw, "p", 0, None)
    if sizes[0] > 1:
        assert len(frames[0].data) == sizes[0]
    assert (len(frames), is_all) == (on_page, on_page == len(sizes))


@pytest.mark.parametrize(
    ("status", "is_active"), [("queued", True), ("running", True), ("done", False)]
)
def test_which_runs_are_active(status: str, is_active: bool) -> None:
    """Of a session and of its project, not of others."""
    times = {"created_at": 1.0, "updated_at": 2.0}
    with in_memory() as tx:
        for name in ("a", "b"):
            project = f"prj_{name}"
            insert(tx, projects, id=project, title="", path=name, managed=1, **times)
            for n in (1, 2):
                session = f"ses_{name}{n}"
                insert(tx, sessions, id=session, project_id=project, title="", **times)
        insert(
            tx,
            runs,
            id="run_1",
            session_id="ses_a1",
            project_id="prj_a",
            user_id="u",
            begin_pseq=1,
            status=status,
            created_at=1.0,
        )
        counts = [find_project(tx, f"prj_{name}").running for name in ("a", "b")]
        active = [find_session(tx, f"ses_{name}").active_run for name in ("a1", "a2", "b1")]
    assert counts == [int(is_active), 0]
    assert active == ["run_1" if is_active else None, None, None]
