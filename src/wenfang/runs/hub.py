"""The live stream: one ring of frames per project, and any number of readers (durable.md §6, S1-S3).

A frame is put once, whoever reads. A reader holds a position in the ring and nothing else; one that
fell out of it, or finds a gap, pulls facts from the journal and gets the running messages anew, so a
reader that never reads costs nothing. Correctness never depends on the ring.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

from .bus import Asked, Bus, Grown, Heard, Over, Poked, Shown, Told, pieces
from .facts import BlockDelta
from .journal import Page
from .live import Live, delta_frame
from .records import Frame

RING_FRAMES, RING_BYTES = 256, 1024 * 1024
_ASK_EACH = 25  # unfitting pieces: about a second of one run
_ENDS_MESSAGE = frozenset({"message.finished", "step.reset", "run.finished"})

ReadPage = Callable[[str, int, str | None], Awaitable[Page]]


def without_message(frames: Iterable[Frame]) -> set[str]:
    """The runs of which these facts say that no message is being written, also if the hub has not
    heard of it yet."""
    newest = {
        f.run_id: f.type for f in frames if f.type in _ENDS_MESSAGE or f.type == "step.started"
    }
    return {run_id for run_id, kind in newest.items() if kind in _ENDS_MESSAGE}


class Channel:
    """A project's ring. `head` is the number of the newest fact we know of, 0 before the first;
    positions count frames since the channel was made. The ring may have gaps; readers see them."""

    def __init__(self) -> None:
        self.head = 0
        self.readers = 0
        self.unfitting = 0  # pieces heard since the last beginning that fit nothing
        self.live: dict[str, Live] = {}
        self._ring: deque[Frame] = deque()
        self._size = 0
        self._first = 0
        self._changed = asyncio.Event()

    @property
    def end(self) -> int:
        return self._first + len(self._ring)

    def put(self, frame: Frame) -> None:
        """Facts that are known already are dropped."""
        if frame.seq is not None:
            if frame.type in _ENDS_MESSAGE:
                self.live.pop(frame.run_id, None)
            if frame.seq <= self.head:
                return
            self.head = frame.seq
        self._ring.append(frame)
        self._size += len(frame.data)
        while len(self._ring) > RING_FRAMES or (self._size > RING_BYTES and len(self._ring) > 1):
            self._size -= len(self._ring.popleft().data)
            self._first += 1
        self.wake()

    def skip(self) -> None:
        """Send every reader to the journal."""
        self._first = self.end + 1
        self._ring.clear()
        self._size = 0
        self.wake()

    def since(self, position: int) -> list[Frame] | None:
        """Frames from a position on; None if some of them are gone."""
        if position < self._first:
            return None
        start = position - self._first
        return [self._ring[at] for at in range(start, len(self._ring))]

    def end_heard(self, run_id: str) -> None:
        """What another process said of a message of this run holds no longer."""
        live = self.live.get(run_id)
        if live is not None and live.is_heard:
            del self.live[run_id]

    def wake(self) -> None:
        self._changed.set()
        self._changed.clear()

    async def changed(self) -> None:
        await self._changed.wait()


class Subscription:
    """A reader of a project's or one run's frames; an async iterator, by one frame or by `batch`."""

    def __init__(
        self, channel: Channel, read_page: ReadPage, project_id: str, after: int, run_id: str | None
    ) -> None:
        self._channel = channel
        self._read_page = read_page
        self._project_id = project_id
        self._run_id = run_id
        self._last = self._given = (
            after  # the newest fact seen, and seen when frames were given out
        )
        self._position: int | None = None
        self._waiting: deque[Frame] = deque()
        self._closed = False

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Frame:
        if not self._waiting:
            self._waiting.extend(await self.batch())
        if not self._waiting:
            raise StopAsyncIteration
        return self._waiting.popleft()

    async def batch(self) -> tuple[Frame, ...]:
        """All frames that are there, at least one; `()` at the end of the stream."""
        if self._waiting:
            waiting, self._waiting = tuple(self._waiting), deque()
            return waiting
        while not self._closed:
            if self._position is None:
                frames = await self._pull()
            else:
                frames = self._take()
            if frames:
                return frames
            if self._position == self._channel.end and not self._closed:
                await self._channel.changed()
        return ()

    def close(self) -> None:
        """End the stream; a reader that waits gets its end."""
        self._closed = True
        self._channel.wake()

    def _take(self) -> tuple[Frame, ...]:
        position = self._position
        assert position is not None
        frames = self._channel.since(position)
        if frames is None:
            self._position = None
            return ()
        self._position = self._channel.end
        fresh: list[Frame] = []
        for frame in frames:
            if frame.seq is not None:
                if frame.seq <= self._last:
                    continue
                if frame.seq > self._last + 1:  # facts in between were not published here
                    self._position = None
                    break
                self._last = frame.seq
            fresh.append(frame)
        return self._wanted(fresh)

    async def _pull(self) -> tuple[Frame, ...]:
        """A page of the journal. The last one is followed by the running messages, and the reader
        is live again; nothing is awaited in between."""
        page = await self._read_page(self._project_id, self._last, self._run_id)
        self._last = max(self._last, page.upto)
        frames = self._wanted(page.frames)
        channel = self._channel
        if page.ended:
            self._closed = True
        elif page.complete and page.upto >= channel.head:
            self._position = channel.end
            done = without_message(page.frames)
            for run_id, message in channel.live.items():
                if run_id not in done and self._run_id in (None, run_id):
                    frames += tuple(message.frames())
        return frames

    def _wanted(self, frames: Iterable[Frame]) -> tuple[Frame, ...]:
        """What this reader asked for. A run's last fact ends its stream."""
        if self._run_id is None:
            return tuple(frames)
        wanted = tuple(frame for frame in frames if frame.run_id == self._run_id)
        self._closed |= any(frame.type == "run.finished" for frame in wanted)
        return wanted


class Hub:
    """The channels of this process. A channel exists while someone reads or writes in it. What is said
    here is told to other processes, if there is a way to them; what they say (`hear`) is only shown."""

    def __init__(self, read_page: ReadPage) -> None:
        self._read_page = read_page
        self._bus: Bus | None = None
        self._channels: dict[str, Channel] = {}
        self._subscriptions: set[Subscription] = set()
        self._closed = False

    def join(self, bus: Bus) -> None:
        """There is a way to other processes."""
        self._bus = bus

    def poke(self, run_id: str) -> None:
        """Tell the process that drives a run, if another does, to look at its signals."""
        if self._bus is not None:
            self._bus.say(Poked(run_id))

    def publish(self, project_id: str, frames: Iterable[Frame]) -> None:
        """Facts that have been committed, in order."""
        frames = tuple(frames)
        if self._bus is not None and frames:
            for frame in frames:
                if frame.type in _ENDS_MESSAGE:
                    self._bus.say(Over(project_id, frame.run_id))
            self._bus.say(Grown(project_id, frames[-1].seq or 0))
        channel = self._channels.get(project_id)
        if channel is None:
            return
        for frame in frames:
            channel.put(frame)
        self._forget(project_id, channel)

    def show(self, project_id: str, session_id: str, run_id: str, delta: BlockDelta) -> None:
        """A piece of a message that is being written."""
        channel = self._channel(project_id)
        live = channel.live.get(run_id)
        is_first = live is None or live.is_heard
        if live is None or is_first:
            live = channel.live[run_id] = Live(run_id, session_id)
        live.add(delta)
        self._say(project_id, live, [delta], is_first=is_first)
        if channel.readers:
            channel.put(delta_frame(run_id, session_id, delta))

    def _say(
        self, project_id: str, live: Live, deltas: Iterable[BlockDelta], *, is_first: bool
    ) -> None:
        if self._bus is None:
            return
        for piece in (piece for delta in deltas for piece in pieces(delta)):
            self._bus.say(Shown(project_id, live.session_id, live.run_id, is_first, piece))
            is_first = False

    def tell(self, project_id: str, frame: Frame) -> None:
        """An ephemeral frame of another kind."""
        if self._bus is not None:
            self._bus.say(Told(project_id, frame.run_id, frame.type, frame.data.decode()))
        channel = self._channels.get(project_id)
        if channel is not None and channel.readers:
            channel.put(frame)

    def drop(self, project_id: str, run_id: str) -> None:
        """The message being written will not go on here."""
        channel = self._channels.get(project_id)
        if channel is not None:
            if channel.live.pop(run_id, None) is not None and self._bus is not None:
                self._bus.say(Over(project_id, run_id))
            self._forget(project_id, channel)

    def live(self, project_id: str, run_id: str) -> Live | None:
        channel = self._channels.get(project_id)
        return channel.live.get(run_id) if channel is not None else None

    def skip(self, project_id: str, seq: int) -> None:
        """The journal has grown to `seq` without us: readers must look there."""
        channel = self._channels.get(project_id)
        if channel is not None and channel.head < seq:
            channel.head = seq
            channel.skip()

    def hear(self, message: Heard) -> None:
        """What another process says. Whatever does not fit what is known here is asked for anew."""
        channel = self._channels.get(message.project_id)
        if channel is None:
            return
        match message:
            case Grown():
                self.skip(message.project_id, message.seq)
            case Asked():
                for live in channel.live.values():
                    if not live.is_heard:
                        self._say(message.project_id, live, live.whole(), is_first=True)
            case _ if not channel.readers:
                pass  # nobody is here to show it to
            case Shown():
                self._follow(channel, message)
            case Told():
                channel.put(Frame(None, message.data.encode(), message.run_id, message.kind))
            case Over():
                channel.end_heard(message.run_id)

    def _follow(self, channel: Channel, shown: Shown) -> None:
        live = channel.live.get(shown.run_id)
        if live is not None and not live.is_heard:
            return  # this process drives the run; the other is a zombie
        if shown.first:
            live = channel.live[shown.run_id] = Live(shown.run_id, shown.session_id, is_heard=True)
            channel.unfitting = 0
        if live is None or not live.follow(shown.delta):
            channel.end_heard(shown.run_id)
            if channel.unfitting % _ASK_EACH == 0:
                self._ask(shown.project_id)
            channel.unfitting += 1
            return
        channel.put(delta_frame(shown.run_id, shown.session_id, shown.delta))

    def _ask(self, project_id: str) -> None:
        if self._bus is not None:
            self._bus.say(Asked(project_id))

    def missed(self) -> None:
        """Something that another process said may not have been heard."""
        for project_id, channel in self._channels.items():
            for run_id in tuple(channel.live):
                channel.end_heard(run_id)
            if channel.readers:
                self._ask(project_id)

    def watched(self) -> list[str]:
        """The projects someone reads."""
        return [project_id for project_id, channel in self._channels.items() if channel.readers]

    @asynccontextmanager
    async def subscribe(
        self, project_id: str, after: int, run_id: str | None = None
    ) -> AsyncGenerator[Subscription]:
        """Frames with a number above `after`, then live ones."""
        channel = self._channel(project_id)
        channel.readers += 1
        if channel.readers == 1:
            self._ask(project_id)
        subscription = Subscription(channel, self._read_page, project_id, after, run_id)
        self._subscriptions.add(subscription)
        if self._closed:
            subscription.close()
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)
            channel.readers -= 1
            if not channel.readers:
                for heard in tuple(channel.live):
                    channel.end_heard(heard)
            self._forget(project_id, channel)

    def close(self) -> None:
        """End every stream."""
        self._closed = True
        for subscription in self._subscriptions:
            subscription.close()

    def _channel(self, project_id: str) -> Channel:
        channel = self._channels.get(project_id)
        if channel is None:
            channel = self._channels[project_id] = Channel()
        return channel

    def _forget(self, project_id: str, channel: Channel) -> None:
        if not channel.readers and not channel.live:
            self._channels.pop(project_id, None)
