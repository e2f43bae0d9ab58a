"""The live stream: rings, readers, and the text that is held back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wenfang.core import MessageDelta, ToolUpdate
from wenfang.runs.facts import BlockDelta
from wenfang.runs.hub import RING_BYTES, RING_FRAMES, Hub, Subscription, without_message
from wenfang.runs.journal import Page
from wenfang.runs.records import Frame, Options
from wenfang.runs.voice import Voice

pytestmark = pytest.mark.anyio

P = "prj"


class Book:
    """A journal in a list. `arrived` runs while a page is on its way."""

    def __init__(self, page_size: int = 1000) -> None:
        self.frames: list[Frame] = []
        self.page_size = page_size
        self.reads = 0
        self.arrived: Callable[[], None] | None = None

    def write(
        self, count: int = 1, kind: str = "notice", run_id: str = "r", size: int = 1
    ) -> list[Frame]:
        first = len(self.frames) + 1
        new = [
            Frame(n, b'{"seq":%d,"x":"%b"}' % (n, b"x" * size), run_id, kind)
            for n in range(first, first + count)
        ]
        self.frames += new
        return new

    async def page(self, project_id: str, after: int, run_id: str | None) -> Page:
        self.reads += 1
        wanted = [f for f in self.frames[after:] if run_id in (None, f.run_id)]
        frames = tuple(wanted[: self.page_size])
        complete = len(frames) == len(wanted)
        ended = complete and any(
            f.type == "run.finished" for f in self.frames if f.run_id == run_id
        )
        upto = len(self.frames) if complete else frames[-1].seq
        await asyncio.sleep(0)
        if self.arrived is not None:
            self.arrived()
        return Page(frames=frames, upto=upto or 0, complete=complete, ended=ended)


def seqs(frames: Any) -> list[int | None]:
    return [frame.seq for frame in frames]


def delta(text: str, off: int, *, message_id: str = "m", index: int = 0) -> BlockDelta:
    return BlockDelta(
        step=1, message_id=message_id, attempt=1, kind="text", index=index, off=off, text=text
    )


def texts(frames: Any) -> list[tuple[int, str]]:
    found = [json.loads(f.data) for f in frames if f.type == "message.delta"]
    return [(each["off"], each["text"]) for each in found]


async def test_the_journal_first_then_live() -> None:
    book = Book()
    hub = Hub(book.page)
    hub.publish(P, book.write(3))
    async with hub.subscribe(P, 1) as reader:
        assert seqs(await reader.batch()) == [2, 3]
        hub.publish(P, book.write(2))
        assert seqs(await reader.batch()) == [4, 5]
        waiting = asyncio.ensure_future(reader.batch())
        await asyncio.sleep(0)
        assert not waiting.done()
        hub.publish(P, book.write())
        assert seqs(await waiting) == [6]
    assert hub._channels == {}


async def test_long_journals_come_in_pages() -> None:
    book = Book(page_size=2)
    hub = Hub(book.page)
    book.write(5)
    async with hub.subscribe(P, 0) as reader:
        assert [seqs(await reader.batch()) for _ in range(3)] == [[1, 2], [3, 4], [5]]


async def test_frames_one_by_one() -> None:
    book = Book()
    hub = Hub(book.page)
    book.write(2)
    async with hub.subscribe(P, 0) as reader:
        assert (await anext(reader)).seq == 1
        assert seqs(await reader.batch()) == [2]
        hub.close()
        with pytest.raises(StopAsyncIteration):
            await anext(reader)


async def test_what_is_committed_while_a_page_is_read_comes_once() -> None:
    book = Book()
    hub = Hub(book.page)
    book.write(2)
    async with hub.subscribe(P, 0) as reader:

        def arrive() -> None:
            book.arrived = None
            hub.publish(P, book.write(2))

        book.arrived = arrive
        assert seqs(await reader.batch()) == [1, 2]
        assert seqs(await reader.batch()) == [3, 4]


async def test_a_fact_that_is_published_late_comes_once() -> None:
    """The page already had it."""
    book = Book()
    hub = Hub(book.page)
    late = book.write(2)
    async with hub.subscribe(P, 0) as reader:
        assert seqs(await reader.batch()) == [1, 2]
        hub.publish(P, late)
        hub.publish(P, late)
        hub.publish(P, book.write())
        assert seqs(await reader.batch()) == [3]


@pytest.mark.parametrize("frames", [RING_FRAMES + 10, 3])
async def test_a_reader_that_fell_behind_pulls(frames: int) -> None:
    """S2: too many frames, or too many bytes."""
    book = Book()
    hub = Hub(book.page)
    size = 1 if frames > RING_FRAMES else RING_BYTES
    async with hub.subscribe(P, 0) as reader:
        hub.publish(P, book.write())
        assert seqs(await reader.batch()) == [1]
        reads = book.reads
        for _ in range(frames):
            hub.publish(P, book.write(size=size))
        hub.show(P, "s", "r", delta("abc", 0))
        channel = hub._channels[P]
        assert len(channel._ring) <= RING_FRAMES
        assert channel._size <= RING_BYTES + 1000
        got = await reader.batch()
        assert seqs(got) == [*range(2, frames + 2), None]
        assert texts(got) == [(0, "abc")]
        assert book.reads == reads + 1


async def test_one_frame_larger_than_the_ring_is_kept() -> None:
    book = Book()
    hub = Hub(book.page)
    async with hub.subscribe(P, 0) as reader:
        hub.publish(P, book.write())
        await reader.batch()
        hub.publish(P, book.write(size=2 * RING_BYTES))
        reads = book.reads
        assert seqs(await reader.batch()) == [2]
        assert book.reads == reads


async def test_a_gap_sends_everyone_to_the_journal() -> None:
    """Another process wrote in between, or a driver was cancelled before it could tell."""
    book = Book()
    hub = Hub(book.page)
    async with hub.subscribe(P, 0) as reader:
        hub.publish(P, book.write())
        assert seqs(await reader.batch()) == [1]
        book.write(2)
        hub.publish(P, book.write())
        assert seqs(await reader.batch()) == [2, 3, 4]


async def test_a_fact_of_another_process_before_the_first_of_ours() -> None:
    """The hub knew no number yet when the reader came."""
    book = Book()
    hub = Hub(book.page)
    book.write(2)
    async with hub.subscribe(P, 0) as reader:
        assert seqs(await reader.batch()) == [1, 2]
        book.write()
        hub.show(P, "s", "r", delta("x", 0))
        hub.publish(P, book.write())
        assert seqs(await reader.batch()) == [None]
        assert seqs(await reader.batch()) == [3, 4, None]


async def test_a_look_around_finds_what_others_wrote() -> None:
    book = Book()
    hub = Hub(book.page)
    hub.skip(P, 5)
    async with hub.subscribe(P, 0) as reader:
        assert hub.watched() == [P]
        hub.publish(P, book.write())
        assert seqs(await reader.batch()) == [1]
        waiting = asyncio.ensure_future(reader.batch())
        await asyncio.sleep(0)
        late = book.write()
        hub.skip(P, 2)
        assert seqs(await waiting) == [2]
        assert hub._channels[P].head == 2
        hub.publish(P, late)
        hub.skip(P, 2)
        hub.publish(P, book.write())
        assert seqs(await reader.batch()) == [3]
    assert hub.watched() == []


async def test_one_run_of_a_project() -> None:
    book = Book()
    hub = Hub(book.page)
    book.write(1, run_id="a")
    book.write(2, run_id="b")
    async with hub.subscribe(P, 0, "a") as reader:
        assert seqs(await reader.batch()) == [1]
        hub.show(P, "s", "b", delta("other", 0))
        hub.publish(P, book.write(2, run_id="b"))
        hub.show(P, "s", "a", delta("mine", 0))
        hub.publish(P, book.write(1, "run.finished", run_id="b"))
        hub.publish(P, book.write(1, "run.finished", run_id="a"))
        got = await reader.batch()
        assert (seqs(got), texts(got)) == ([None, 7], [(0, "mine")])
        assert await reader.batch() == ()
    async with hub.subscribe(P, 7, "a") as late:
        assert await late.batch() == ()
    async with hub.subscribe(P, 0, "a") as late:
        assert seqs(await late.batch()) == [1, 7]
        assert await late.batch() == ()


async def test_a_late_reader_gets_the_message_so_far() -> None:
    book = Book()
    hub = Hub(book.page)
    hub.publish(P, book.write(1, "step.started"))
    hub.show(P, "s", "r", delta("Hel", 0))
    hub.show(P, "s", "r", delta("lo", 3))
    hub.show(P, "s", "r", delta("think", 0, index=1))
    async with hub.subscribe(P, 0) as reader:
        got = await reader.batch()
        assert texts(got) == [(0, "Hello"), (0, "think")]
        hub.show(P, "s", "r", delta("!", 5))
        assert texts(await reader.batch()) == [(5, "!")]
        assert hub.live(P, "r") is not None
        hub.publish(P, book.write(1, "message.finished"))
        await reader.batch()
        assert hub.live(P, "r") is None
    assert hub.live(P, "r") is None


async def test_a_message_that_the_page_finished_is_not_shown_again() -> None:
    """Its last fact is committed, but the hub has not heard of it yet."""
    book = Book()
    hub = Hub(book.page)
    hub.publish(P, book.write(1, "step.started"))
    hub.show(P, "s", "r", delta("Hello", 0))
    late = book.write(1, "message.finished")
    async with hub.subscribe(P, 0) as reader:
        assert texts(await reader.batch()) == []
        hub.publish(P, late)
        hub.publish(P, book.write())
        assert seqs(await reader.batch()) == [3]


async def test_nobody_listens() -> None:
    hub = Hub(Book().page)
    hub.tell(P, Frame(None, b"{}", "r", "tool.progress"))
    hub.publish(P, Book().write())
    hub.drop(P, "r")
    assert hub._channels == {}
    hub.show(P, "s", "r", delta("x", 0))
    hub.tell(P, Frame(None, b"{}", "r", "tool.progress"))
    assert hub._channels[P].end == 0
    hub.drop(P, "r")
    assert hub._channels == {}


async def test_a_channel_that_nobody_needs_is_forgotten() -> None:
    """With its last message, by a fact or without one, and with its last reader."""
    hub = Hub(Book().page)
    for end in (
        lambda: hub.publish(P, Book().write(1, "message.finished")),
        lambda: hub.drop(P, "r"),
    ):
        hub.show(P, "s", "r", delta("x", 0))
        assert list(hub._channels) == [P]
        end()
        assert hub._channels == {}
    async with hub.subscribe(P, 0):
        hub.show(P, "s", "r", delta("x", 0))
        hub.drop(P, "r")
        assert list(hub._channels) == [P]
    assert hub._channels == {}


async def test_closing_ends_every_stream() -> None:
    book = Book()
    hub = Hub(book.page)
    async with hub.subscribe(P, 0) as reader:
        waiting = asyncio.ensure_future(reader.batch())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        hub.close()
        assert await waiting == ()
        async with hub.subscribe(P, 0) as late:
            assert await late.batch() == ()


def test_the_size_of_a_ring() -> None:
    assert (RING_FRAMES, RING_BYTES) == (256, 1024 * 1024)


SMALL = [1] * RING_FRAMES
# sizes of facts; whether a reader that has seen nothing of them finds all in the ring
RINGS = [
    ("as many frames as it holds", SMALL, True),
    ("one more", [*SMALL, 1], False),
    ("as many bytes as it holds", [RING_BYTES // 2] * 2, True),
    ("one more byte", [RING_BYTES // 2, RING_BYTES // 2 + 1], False),
    ("a frame that is larger than the ring", [RING_BYTES + 1], True),
    ("and another one", [RING_BYTES + 1, 1], False),
]


@pytest.mark.parametrize("before", ["nothing", "a flood", "a skip"])
@pytest.mark.parametrize(("sizes", "is_held"), [r[1:] for r in RINGS], ids=[r[0] for r in RINGS])
async def test_what_a_ring_holds(before: str, sizes: list[int], is_held: bool) -> None:
    """Whatever went through it before."""
    book = Book()
    hub = Hub(book.page)

    def put(size: int) -> None:
        (frame,) = book.write()
        padded = Frame(frame.seq, frame.data.ljust(size), frame.run_id, frame.type)
        book.frames[-1] = padded
        hub.publish(P, [padded])

    async with hub.subscribe(P, 0) as reader:
        if before == "nothing":
            put(1)
        elif before == "a flood":
            for _ in range(RING_FRAMES + 7):
                put(1)
            put(RING_BYTES)
        else:
            put(500)
            book.write()
            hub.skip(P, 2)
        while await reader.batch():
            if reader._last == len(book.frames):
                break
        if before == "a flood":  # the ring is full of small ones, then holds nothing but the last
            assert hub._channels[P].end == RING_FRAMES + 8
        hub.skip(P, len(book.frames))  # nothing new: nobody is sent anywhere
        if before != "nothing":
            book.write()
            hub.skip(P, len(book.frames))
            await reader.batch()
        first = len(book.frames) + 1
        for size in sizes:
            small = len(b'{"seq":1000,"x":"x"}')
            put(size if size > small else 1)
        reads = book.reads
        assert seqs(await reader.batch()) == list(range(first, len(book.frames) + 1))
        assert (book.reads == reads) is is_held


@pytest.mark.parametrize(
    ("types", "is_over"),
    [
        ([], False),
        (["notice"], False),
        (["step.started"], False),
        (["message.finished"], True),
        (["step.reset"], True),
        (["run.finished"], True),
        (["message.finished", "tool.started"], True),
        (["message.finished", "step.started"], False),
        (["step.started", "step.reset"], True),
    ],
)
async def test_when_no_message_is_being_written(types: list[str], is_over: bool) -> None:
    """As a reader's page says, and as the hub hears it."""
    frames = [Frame(n, b"{}", "r", kind) for n, kind in enumerate(types, 1)]
    other = Frame(9, b"{}", "other", "notice")
    assert without_message([*frames, other]) == ({"r"} if is_over else set())
    hub = Hub(Book().page)
    hub.show(P, "s", "r", delta("x", 0))
    hub.show(P, "s", "other", delta("y", 0))
    hub.publish(P, frames)
    ended = {"message.finished", "step.reset", "run.finished"} & set(types)
    assert (hub.live(P, "r") is None) is bool(ended)
    assert hub.live(P, "other") is not None
    hub.drop(P, "other")
    assert (hub._channels == {}) is bool(ended)


async def test_a_message_so_far_as_frames() -> None:
    hub = Hub(Book().page)
    hub.show(P, "s", "r", delta("Hel", 0))
    hub.show(P, "s", "r", delta("lo", 3))
    live = hub.live(P, "r")
    assert live is not None
    (frame,) = live.frames()
    assert (frame.seq, frame.run_id, frame.type) == (None, "r", "message.delta")
    told = json.loads(frame.data)
    assert (told["seq"], told["run_id"], told["session_id"]) == (0, "r", "s")
    assert (told["off"], told["text"], told["index"]) == (0, "Hello", 0)


async def test_after_a_gap_nothing_is_given_from_the_ring() -> None:
    """Also not what stands behind it."""
    book = Book()
    hub = Hub(book.page)
    async with hub.subscribe(P, 0) as reader:
        hub.publish(P, book.write())
        assert seqs(await reader.batch()) == [1]
        hub.publish(P, book.write())
        book.write()
        hub.publish(P, book.write())
        hub.show(P, "s", "r", delta("x", 0))
        assert seqs(await reader.batch()) == [2]
        assert seqs(await reader.batch()) == [3, 4, None]
        reads = book.reads
        hub.publish(P, book.write(2))
        assert seqs(await reader.batch()) == [5, 6]
        hub.skip(P, 6)  # known already
        hub.publish(P, book.write())
        assert seqs(await reader.batch()) == [7]
        assert book.reads == reads


async def test_a_reader_waits_and_does_not_ask_again_and_again() -> None:
    book = Book()
    hub = Hub(book.page)
    async with hub.subscribe(P, 0) as reader:
        waiting = asyncio.ensure_future(reader.batch())
        await pause(20)
        assert (waiting.done(), book.reads) == (False, 1)
        hub.publish(P, book.write())
        assert seqs(await waiting) == [1]
        assert hub._subscriptions == {reader}
    assert hub._subscriptions == set()


async def test_a_reader_of_one_run_waits_through_the_frames_of_others() -> None:
    book = Book()
    hub = Hub(book.page)
    async with hub.subscribe(P, 0, "a") as reader:
        waiting = asyncio.ensure_future(reader.batch())
        await pause(5)
        hub.publish(P, book.write(1, run_id="b"))
        hub.show(P, "s", "b", delta("x", 0))
        await pause(5)
        assert (waiting.done(), book.reads) == (False, 1)
        hub.tell(P, Frame(None, b"{}", "a", "tool.progress"))
        assert [frame.type for frame in await waiting] == ["tool.progress"]


async def test_a_late_reader_of_one_run_gets_its_message_only() -> None:
    book = Book()
    hub = Hub(book.page)
    for run_id in ("a", "b"):
        hub.show(P, "s", run_id, delta(run_id, 0))
    async with hub.subscribe(P, 0, "b") as reader, hub.subscribe(P, 0) as everything:
        assert texts(await reader.batch()) == [(0, "b")]
        assert texts(await everything.batch()) == [(0, "a"), (0, "b")]


async def test_channels_are_each_projects_own() -> None:
    book = Book()
    hub = Hub(book.page)
    async with hub.subscribe(P, 0) as reader, hub.subscribe(P, 0), hub.subscribe("other", 0):
        assert hub.watched() == [P, "other"]
        hub.skip("nowhere", 5)
        hub.skip("other", 5)
        hub.publish("other", [Frame(6, b"{}", "r", "notice")])
        hub.publish(P, book.write())
        assert seqs(await reader.batch()) == [1]
    assert hub.live("nowhere", "r") is None
    hub.show("other", "s", "r", delta("x", 0))
    assert hub.watched() == []


ACTIONS = ["publish", "lose", "double", "late", "skip", "show", "pause", "flood"]


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(ACTIONS), max_size=30),
    st.integers(1, 5),
    st.sampled_from([None, "r"]),
)
def test_any_schedule_gives_dense_numbers(
    actions: list[str], page_size: int, run_id: str | None
) -> None:
    """Publishing may be late, double or missing, at any time of a reader's life; a look around comes
    at the end."""

    async def play() -> None:
        book = Book(page_size)
        hub = Hub(book.page)
        got: list[int] = []
        pending: list[Frame] = []

        async def read(reader: Subscription) -> None:
            while batch := await reader.batch():
                got.extend(frame.seq for frame in batch if frame.seq is not None)

        async with hub.subscribe(P, 0, run_id) as reader:
            task = asyncio.ensure_future(read(reader))
            for action in actions:
                pending = await _play(action, book, hub, pending)
            hub.publish(P, pending)
            await pause(20)
            hub.skip(P, len(book.frames))
            await pause(20 + 4 * len(book.frames))
            hub.close()
            await task
        assert got == list(range(1, len(book.frames) + 1))

    asyncio.run(play())


async def pause(turns: int) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)


async def _play(action: str, book: Book, hub: Hub, pending: list[Frame]) -> list[Frame]:
    """One action; returns the facts that are committed and not yet published."""
    if action == "late":
        return pending + book.write()
    if action == "publish":
        hub.publish(P, pending + book.write())
    elif action == "lose":
        book.write()
    elif action == "double":
        new = pending + book.write()
        hub.publish(P, new)
        hub.publish(P, new)
    elif action == "flood":
        hub.publish(P, pending + book.write(RING_FRAMES + 1))
    elif action == "skip":
        hub.skip(P, len(book.frames))
        return pending
    elif action == "show":
        hub.show(P, "s", "r", delta("x", 0))
        return pending
    else:
        await pause(5)
        return pending
    return []


class Ear:
    """A voice, and a reader of what it says."""

    def __init__(self, options: Options, save: Any = None) -> None:
        self.hub = Hub(Book().page)
        self.saved: list[list[tuple[int, str]]] = []

        async def keep(lines: bytes) -> None:
            found = [json.loads(line) for line in lines.splitlines()]
            self.saved.append([(each["off"], each["text"]) for each in found])

        self.voice = Voice(
            self.hub,
            project_id=P,
            session_id="s",
            run_id="r",
            clock=lambda: 1.0,
            options=options,
            save=save or keep,
        )
        self.channel = self.hub._channel(P)
        self.channel.readers = 1

    def say(self, text: str, off: int, **more: Any) -> float:
        values = {"step": 1, "message_id": "m", "kind": "text", "index": 0} | more
        return self.voice.delta(MessageDelta(text=text, off=off, **values))

    def heard(self) -> list[tuple[int, str]]:
        return texts(self.channel.since(0))

    async def until(self, count: int) -> None:
        while len(self.heard()) < count:
            await self.channel.changed()


async def test_the_first_piece_goes_out_at_once_and_the_next_together() -> None:
    ear = Ear(Options(delta_s=0.02))
    ear.say("a", 0)
    assert ear.heard() == [(0, "a")]
    ear.say("b", 1)
    ear.say("c", 2)
    assert ear.heard() == [(0, "a")]
    await ear.until(2)
    assert ear.heard() == [(0, "a"), (1, "bc")]
    await ear.voice.close()


async def test_the_next_piece_of_a_fast_block_is_not_read_at_once() -> None:
    ear = Ear(Options(delta_s=0.02))
    assert ear.say("a", 0) == 0.0
    assert ear.say("b", 1) == 0.02
    assert ear.say("X", 0, index=1) == 0.0  # another block: both may have come together
    await asyncio.sleep(0.03)
    assert ear.say("Y", 1, index=1) == 0.0  # slow
    assert ear.say("Z", 2, index=1) == 0.02
    await ear.voice.close()
    await asyncio.sleep(0)
    at_once = Ear(Options(delta_s=0.0))
    at_once.say("a", 0)
    assert at_once.say("b", 1) == 0.0
    await at_once.voice.close()


async def test_many_characters_go_out_at_once() -> None:
    ear = Ear(Options(delta_s=60.0, delta_chars=8))
    ear.say("a", 0)
    ear.say("1234567", 1)
    assert len(ear.heard()) == 1
    ear.say("8", 8)
    assert ear.heard() == [(0, "a"), (1, "12345678")]
    ear.say("9", 9)
    await ear.voice.close()
    assert ear.heard()[-1] == (9, "9")


@pytest.mark.parametrize("other", [{"index": 1}, {"attempt": 2}, {"message_id": "n"}])
async def test_another_block_sends_the_last_one(other: dict[str, Any]) -> None:
    ear = Ear(Options(delta_s=60.0))
    ear.say("a", 0)
    ear.say("b", 1)
    ear.say("X", 0, **other)
    assert ear.heard() == [(0, "a"), (1, "b")]
    ear.voice.flush()
    assert ear.heard()[-1] == (0, "X")
    ear.voice.flush()
    assert len(ear.heard()) == 3


async def test_what_was_shown_is_kept_now_and_then() -> None:
    ear = Ear(Options(delta_s=0.0, partial_s=0.0))
    ear.say("a", 0)
    ear.say("b", 1)
    await ear.voice.close()
    assert ear.saved == [[(0, "ab")]]
    seldom = Ear(Options(delta_s=0.0, partial_s=60.0))
    seldom.say("a", 0)
    await seldom.voice.close()
    assert seldom.saved == []


async def test_a_message_that_is_over_before_it_was_kept_is_not() -> None:
    ear = Ear(Options(delta_s=0.0, partial_s=0.0))
    ear.say("a", 0)
    ear.voice.end()
    await ear.voice.close()
    assert ear.saved == []


async def test_keeping_may_fail() -> None:
    from wenfang.problems import Problem

    async def fail(_: bytes) -> None:
        raise Problem("disk_full")

    ear = Ear(Options(delta_s=0.0, partial_s=0.0), save=fail)
    ear.say("a", 0)
    await ear.voice.close()
    ear.say("b", 0)
    await ear.voice.close()


async def test_progress() -> None:
    ear = Ear(Options())
    ear.voice.progress(ToolUpdate(call_id="c", text="half", fraction=0.5))
    (frame,) = ear.channel.since(0) or []
    assert json.loads(frame.data)["text"] == "half"
    assert frame.seq is None


async def test_closing_while_a_page_is_read() -> None:
    book = Book()
    hub = Hub(book.page)
    async with hub.subscribe(P, 0) as reader:
        book.arrived = hub.close
        assert await reader.batch() == ()
