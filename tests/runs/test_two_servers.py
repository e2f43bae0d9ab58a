"""Two servers on one PostgreSQL database (durable.md §10: K2, S3, S4, T1), and what they tell each other."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.postgres import psql
from tests.runs.rig import ALONE, QUICK, Counter, Puppet, Rig, call, maker, open_rig, say
from tests.runs.test_takeover import mortal
from tests.workspace.stores import wipe

from wenfang.problems import Problem
from wenfang.runs import Runs, open_runs
from wenfang.runs.bus import Asked, Grown, Message, Over, Poked, Shown, Told, pieces
from wenfang.runs.facts import BlockDelta
from wenfang.runs.hub import Hub
from wenfang.runs.journal import Page
from wenfang.runs.lease import Identity, LeaseKeeper, identify
from wenfang.runs.notice_bus import NoticeBus
from wenfang.runs.records import Frame
from wenfang.storage.postgres import LONGEST_NOTICE_BYTES, open_postgres

pytestmark = pytest.mark.anyio


@pytest.fixture
async def url(postgres_url: str) -> str:
    async with open_postgres(postgres_url) as database:
        await database.write(wipe)
    return postgres_url


@asynccontextmanager
async def two(
    folder: Path, url: str, client: Any, tools: Any = None, **more: Any
) -> AsyncGenerator[tuple[Rig, Runs]]:
    """One that drives what it is asked, and another that has not been asked anything."""
    more = {"options": ALONE, "database": url} | more
    async with (
        open_rig(folder / "a", client, tools, **more) as one,
        open_runs(folder / "b", make_agent=maker(client, tools), **more) as other,
    ):
        while not all(connected(runs) for runs in (one.runs, other)):
            await asyncio.sleep(0.005)
        yield one, other


def connected(runs: Runs) -> bool:
    bus: Any = runs._hub._bus
    return bus._notices is not None and bus._notices.is_open


class Viewer:
    """Shows a run as the studio does: facts by their number, text by its offset."""

    def __init__(self) -> None:
        self.seqs: list[int] = []
        self.texts: dict[str, str] = {}
        self.gaps = 0

    def see(self, frame: Frame) -> None:
        if frame.seq is not None:
            self.seqs.append(frame.seq)
        event = json.loads(frame.data)
        if event["type"] == "message.delta":
            text = self.texts.get(event["message_id"], "")
            units = text.encode("utf-16-le")
            if event["off"] * 2 > len(units):
                self.gaps += 1
                return
            before = units[: event["off"] * 2].decode("utf-16-le")
            self.texts[event["message_id"]] = before + event["text"]

    @property
    def text(self) -> str:
        return "".join(self.texts.values())


async def watch(runs: Runs, project_id: str, viewer: Viewer, until: Callable[[], bool]) -> None:
    async with runs.subscribe(project_id, after=0) as frames:
        while not until():
            for frame in await frames.batch():
                viewer.see(frame)


async def test_a_run_is_seen_live_where_it_is_not_driven(tmp_path: Path, url: str) -> None:
    """Text as it is written, also by who comes in the middle of a message; nobody looks around here."""
    gate = asyncio.Event()
    words = "文房四宝 one 😀 two three"
    async with two(tmp_path, url, Puppet([say(words)], gate=gate)) as (one, other):
        early = Viewer()
        seen = asyncio.ensure_future(
            watch(other, one.project_id, early, lambda: early.text == "文房四宝")
        )
        await asyncio.sleep(0)
        run = await one.ask()
        await asyncio.wait_for(seen, 10)
        late = Viewer()
        await asyncio.wait_for(
            watch(other, one.project_id, late, lambda: late.text == "文房四宝"), 10
        )
        gate.set()
        done = await asyncio.wait_for(other.wait(run.id), 10)
        assert done.status == "done"
        assert early.gaps == late.gaps == 0
        snapshot = await other.snapshot(one.project_id, one.session.id)
        assert snapshot.partials == ()
        assert words in json.loads(snapshot.frames[-1])["answer"]


async def test_stop_and_words_from_another_server(tmp_path: Path, url: str) -> None:
    """T1: a run is stopped by a server that does not drive it, at once."""
    gate = asyncio.Event()
    puppet = Puppet([call("look", "c1", text="a b"), say("done")], gate=gate)
    async with two(tmp_path, url, puppet, Counter().tools()) as (one, other):
        run = await one.ask()
        await puppet.reached.wait()
        await other.steer(run.id, "more words")
        stopped = await other.stop(run.id)
        assert stopped.status == "running"
        done = await asyncio.wait_for(other.wait(run.id), 10)
        assert (done.status, done.reason) == ("stopped", "cancelled_by_user")
        facts = await one.facts(run.id)
        assert [f["text"] for f in facts if f["type"] == "user.message"][1:] == ["more words"]


async def test_without_the_bus_everything_still_works(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3, bus down: facts arrive by looking around, and a stop by the next look."""
    monkeypatch.setattr(NoticeBus, "say", lambda self, message: None)
    gate = asyncio.Event()
    puppet = Puppet([say("a b c")], gate=gate)
    async with two(tmp_path, url, puppet, options=QUICK) as (one, other):
        run = await one.ask()
        await puppet.reached.wait()
        waiting = asyncio.ensure_future(other.wait(run.id))
        await other.stop(run.id)
        done = await asyncio.wait_for(waiting, 10)
        assert done.status == "stopped"


async def test_a_server_that_died_is_taken_over(tmp_path: Path, url: str) -> None:
    """K2, S4: who reads there goes on, the half message is void, every fact is there once, one end."""
    more: dict[str, Any] = {"options": ALONE, "database": url}
    slow = Puppet([say("a b c")], gate=asyncio.Event())
    there = maker(Puppet([say("from the other")]))
    async with open_runs(tmp_path / "b", make_agent=there, **more) as other:
        viewer = Viewer()
        async with mortal(tmp_path / "a", slow, **more) as one:
            while not all(connected(runs) for runs in (one.runs, other)):
                await asyncio.sleep(0.005)
            project_id = one.project_id
            run = await one.ask()
            await asyncio.wait_for(watch(other, project_id, viewer, lambda: viewer.text == "a"), 10)
        watching = asyncio.ensure_future(
            watch(other, project_id, viewer, lambda: "from the other" in viewer.text)
        )
        await other._engine.reconcile()
        assert (await asyncio.wait_for(other.wait(run.id), 10)).status == "done"
        await asyncio.wait_for(watching, 10)
        page = await other._journal.page(project_id, 0)
        assert [frame.seq for frame in page.frames] == list(range(1, page.upto + 1))
        kinds = [frame.type for frame in page.frames]
        assert kinds[3:] == [
            "step.started",
            "step.reset",
            "step.started",
            "message.finished",
            "run.finished",
        ]


async def test_another_host_is_refused(tmp_path: Path, url: str) -> None:
    """durable.md §8, guard: runs are driven on one host; the words say which is there already."""
    far = Identity(id="far", host="elsewhere", pid=1, born="1")
    async with open_postgres(url) as database:
        keeper = LeaseKeeper(
            database,
            far,
            ttl_s=60.0,
            beat_s=60.0,
            clock=database.clock,
            monotonic=lambda: 0.0,
            fenced=lambda: None,
        )
        await keeper.renew()
    with pytest.raises(Problem) as failure:
        async with open_runs(tmp_path, make_agent=maker(Puppet([say("x")])), database=url):
            pass
    assert (failure.value.code, failure.value.params) == ("database_busy", {"host": "elsewhere"})
    assert "elsewhere" in failure.value.text("zh")
    assert "elsewhere" in failure.value.text("en")


async def test_a_lease_is_renewed_while_the_event_loop_stands_still(url: str) -> None:
    """Z3: by the server's clock, on a connection of the beating thread's own."""
    async with open_postgres(url) as database:
        keeper = LeaseKeeper(
            database,
            identify("me"),
            ttl_s=15.0,
            beat_s=0.01,
            clock=database.clock,
            monotonic=time.monotonic,
            fenced=lambda: None,
        )
        await keeper.start()
        until = "SELECT expires_at FROM workers"
        first = float(psql(url, until))
        assert abs(first - 15.0 - database.clock()) < 5
        while float(psql(url, until)) <= first:  # nothing is awaited
            pass
        await keeper.stop()
        assert psql(url, until) == ""


async def test_a_cut_bus_is_joined_again(tmp_path: Path, url: str) -> None:
    async with two(tmp_path, url, Puppet([say("x")])) as (one, other):
        psql(
            url,
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'wenfang notices'"
            " AND datname = current_database()",
        )
        both = (one.runs, other)
        while any(map(connected, both)):
            await asyncio.sleep(0.005)
        while not all(map(connected, both)):
            await asyncio.sleep(0.005)
        run = await one.ask()
        assert (await asyncio.wait_for(other.wait(run.id), 10)).status == "done"


# What is said, without a database


class Net:
    """Hands what hubs say to the others; `fate` decides how often a message arrives, `late` keeps it
    back behind the next one."""

    def __init__(self, fate: Callable[[], int] = lambda: 1) -> None:
        self.hubs: list[Hub] = []
        self.fate = fate
        self.said: list[Message] = []

    def join(self, hub: Hub) -> Hub:
        net = self

        class Here:
            def say(self, message: Message) -> None:
                net.said.append(message)
                for _ in range(net.fate()):
                    for each in net.hubs:
                        if each is not hub and not isinstance(message, Poked):
                            each.hear(message)

        hub.join(Here())
        self.hubs.append(hub)
        return hub


async def no_page(project_id: str, after: int, run_id: str | None) -> Page:
    return Page(frames=(), upto=0, complete=True, ended=False)


def delta(text: str, off: int, index: int = 0, message_id: str = "m") -> BlockDelta:
    return BlockDelta(
        step=1, message_id=message_id, attempt=1, kind="text", index=index, off=off, text=text
    )


async def test_only_what_follows_is_shown_and_the_rest_asked_for() -> None:
    net = Net()
    a, b = net.join(Hub(no_page)), net.join(Hub(no_page))
    a.show("p", "s", "r", delta("one ", 0))
    async with b.subscribe("p", 0):
        assert Asked("p") in net.said
        heard = b.live("p", "r")
        assert heard is not None
        assert [d.text for d in heard.whole()] == ["one "]
        net.fate = lambda: 0
        a.show("p", "s", "r", delta("two ", 4))
        net.fate = lambda: 1
        a.show("p", "s", "r", delta("three", 8))
        heard = b.live("p", "r")
        assert heard is not None
        assert [d.text for d in heard.whole()] == ["one two three"]
        a.drop("p", "r")
        assert b.live("p", "r") is None
    assert b._channels == {}


async def test_a_zombie_is_not_shown_where_its_run_is_driven() -> None:
    net = Net()
    a, b = net.join(Hub(no_page)), net.join(Hub(no_page))
    async with b.subscribe("p", 0):
        b.show("p", "s", "r", delta("mine", 0))
        a.show("p", "s", "r", delta("zombie", 0))
        mine = b.live("p", "r")
        assert mine is not None
        assert [d.text for d in mine.whole()] == ["mine"]
        b.missed()
        assert b.live("p", "r") is mine


@given(seed=st.integers(0, 2**32), words=st.lists(st.sampled_from(["a", "文", "😀", "bc"])))
async def test_what_arrives_is_a_beginning_of_what_was_said(seed: int, words: list[str]) -> None:
    """S3: lost and doubled, what is shown is never anything else than the text up to some point."""
    dice = random.Random(seed)
    net = Net(fate=lambda: dice.choice([0, 1, 1, 2]))
    a, b = net.join(Hub(no_page)), net.join(Hub(no_page))
    text = ""
    async with b.subscribe("p", 0):
        for word in words:
            a.show("p", "s", "r", delta(word, len(text.encode("utf-16-le")) // 2))
            text += word
            live = b.live("p", "r")
            assert live is None or text.startswith("".join(d.text for d in live.whole()))
        net.fate = lambda: 1
        b.missed()
        live = b.live("p", "r")
        assert ("".join(d.text for d in live.whole()) if live else "") == text


@pytest.mark.parametrize("text", ["", "short", "😀" * 2500, "\x00" * 2500])
def test_pieces_fit_and_follow(text: str) -> None:
    bus: Any = NoticeBus("wrk_0123456789abcdef", print, print)
    found = pieces(delta(text, 7))
    assert "".join(piece.text for piece in found) == text
    off = 7
    for piece in found:
        assert piece.off == off
        off += len(piece.text.encode("utf-16-le")) // 2
    bus._notices = type("Open", (), {"is_open": True})()
    bus._flushing = type("Never", (), {"done": lambda self: False})()
    for piece in found:
        bus.say(Shown("p", "s", "r", False, piece))
    bus.say(Told("p", "r", "tool.progress", "x" * 9000))
    bus.say(Over("p", "r"))
    bus.say(Grown("p", 3))
    payloads = bus._payloads()
    assert all(len(payload.encode()) <= LONGEST_NOTICE_BYTES for payload in payloads)
    heard: list[Message] = []
    other = NoticeBus("wrk_2", heard.append, lambda: heard.append(Poked("lost")))
    for payload in payloads:
        other._receive(payload)
        bus._receive(payload)
    assert heard == [
        *(Shown("p", "s", "r", False, p) for p in found),
        Over("p", "r"),
        Grown("p", 3),
    ]
    other._receive('["wrk_3", [["new", 1]]]')
    assert heard[-1] == Poked("lost")


async def test_half_a_character_and_no_connection_are_not_said() -> None:
    bus: Any = NoticeBus("w", print, print)
    bus.say(Grown("p", 1))
    assert not bus._waiting
    bus._notices = type("Open", (), {"is_open": True})()
    bus.say(Shown("p", "s", "r", True, replace(delta("x", 0), text="\ud800")))
    assert not bus._waiting
