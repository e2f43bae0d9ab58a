"""What a run says while it works, by a clock that stands still until it is moved."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from wenfang.core import MessageDelta, ToolUpdate
from wenfang.runs.hub import Hub
from wenfang.runs.journal import Page
from wenfang.runs.records import Frame, Options
from wenfang.runs.voice import Voice

pytestmark = pytest.mark.anyio


class Timer:
    def __init__(self) -> None:
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Clock:
    """The part of an event loop that a voice uses; `now` is the time, in seconds."""

    def __init__(self) -> None:
        self.now = 100.0
        self.calls: list[tuple[float, Callable[[], object], Timer]] = []
        self.create_task = asyncio.get_running_loop().create_task

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[[], object]) -> Timer:
        timer = Timer()
        self.calls.append((when, callback, timer))
        return timer

    @property
    def due(self) -> list[float]:
        return [when for when, _, timer in self.calls if not timer.is_cancelled]

    def move(self, by_s: float) -> None:
        self.now += by_s
        for call in [call for call in self.calls if call[0] <= self.now]:
            self.calls.remove(call)
            if not call[2].is_cancelled:
                call[1]()


class Speaker:
    """A voice and what was heard of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, readers: int = 1, **options: Any) -> None:
        async def nothing(project_id: str, after: int, run_id: str | None) -> Page:
            raise AssertionError

        self.hub = Hub(nothing)
        self.clock = Clock()
        self.saved: list[list[str]] = []
        self.hold: asyncio.Event | None = None
        with monkeypatch.context() as patch:
            patch.setattr(asyncio, "get_running_loop", lambda: self.clock)
            self.voice = Voice(
                self.hub,
                project_id="p",
                session_id="s",
                run_id="r",
                clock=lambda: 7.5,
                options=Options(**options),
                save=self._save,
            )
        self.channel = self.hub._channel("p")
        self.channel.readers = readers

    async def _save(self, lines: bytes) -> None:
        self.saved.append([json.loads(line)["text"] for line in lines.splitlines()])
        if self.hold is not None:
            await self.hold.wait()

    def say(self, text: str, off: int = 0, **more: Any) -> float:
        values = {"step": 3, "message_id": "m", "kind": "text", "index": 0} | more
        return self.voice.delta(MessageDelta(text=text, off=off, **values))

    @property
    def frames(self) -> list[Frame]:
        return self.channel.since(0) or []

    @property
    def heard(self) -> list[str]:
        return [json.loads(frame.data)["text"] for frame in self.frames]


async def test_what_a_piece_says(monkeypatch: pytest.MonkeyPatch) -> None:
    speaker = Speaker(monkeypatch)
    speaker.say("x", 5, kind="call", name="put", index=2, attempt=4)
    (frame,) = speaker.frames
    assert (frame.seq, frame.run_id, frame.type) == (None, "r", "message.delta")
    assert json.loads(frame.data) == {
        "seq": 0,
        "ts": 7.5,
        "run_id": "r",
        "session_id": "s",
        "step": 3,
        "message_id": "m",
        "attempt": 4,
        "kind": "call",
        "index": 2,
        "off": 5,
        "text": "x",
        "name": "put",
        "type": "message.delta",
    }
    live = speaker.hub.live("p", "r")
    assert live is not None
    (whole,) = live.frames()
    assert json.loads(whole.data) == json.loads(frame.data) | {"off": 0}
    assert (whole.seq, whole.run_id, whole.type) == (None, "r", "message.delta")
    await speaker.voice.close()


async def test_what_progress_says(monkeypatch: pytest.MonkeyPatch) -> None:
    speaker = Speaker(monkeypatch)
    speaker.voice.progress(ToolUpdate(call_id="c", text="half", fraction=0.5))
    (frame,) = speaker.frames
    assert (frame.seq, frame.run_id, frame.type) == (None, "r", "tool.progress")
    assert json.loads(frame.data) == {
        "seq": 0,
        "ts": 7.5,
        "run_id": "r",
        "session_id": "s",
        "call_id": "c",
        "text": "half",
        "fraction": 0.5,
        "type": "tool.progress",
    }


async def test_pieces_are_held_back_until_the_window_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    speaker = Speaker(monkeypatch, delta_s=2.0)
    speaker.say("a")
    assert (speaker.heard, speaker.clock.due) == (["a"], [])
    speaker.clock.move(0.5)
    speaker.say("b", 1)
    speaker.say("c", 2)
    assert (speaker.heard, speaker.clock.due) == (["a"], [102.0])  # one timer, from the last piece
    speaker.clock.move(1.4)
    assert speaker.heard == ["a"]
    speaker.clock.move(0.1)
    assert speaker.heard == ["a", "bc"]
    assert [json.loads(frame.data)["off"] for frame in speaker.frames] == [0, 1]
    speaker.clock.move(1.9)
    speaker.say("d", 3)
    assert (speaker.heard, speaker.clock.due) == (["a", "bc"], [104.0])
    speaker.voice.flush()
    assert (speaker.heard[2:], speaker.clock.due) == (["d"], [])  # what was sent is not sent again
    speaker.clock.move(2.0)
    speaker.say("e", 4)
    assert (speaker.heard[3:], speaker.clock.due) == (["e"], [])  # the window is just over
    await speaker.voice.close()
    assert len(speaker.heard) == 4


@pytest.mark.parametrize(("text", "is_sent"), [("1234567", False), ("12345678", True)])
async def test_so_many_characters_are_not_held_back(
    monkeypatch: pytest.MonkeyPatch, text: str, is_sent: bool
) -> None:
    speaker = Speaker(monkeypatch, delta_s=2.0, delta_chars=8)
    speaker.say("a" * 8)
    speaker.say(text, 8)
    assert (len(speaker.heard) == 2) is is_sent
    if is_sent:  # and the count begins anew
        speaker.say("1234567", 16)
        assert len(speaker.heard) == 2
    await speaker.voice.close()


async def test_how_long_the_next_piece_is_left_in_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted from when the reader was free, not from when the piece came."""
    speaker = Speaker(monkeypatch, delta_s=2.0)
    assert speaker.say("a") == 0.0
    speaker.clock.move(1.9)
    assert speaker.say("b", 1) == 2.0
    speaker.clock.move(2.0)
    assert speaker.say("c", 2) == 2.0
    speaker.clock.move(3.9)
    assert speaker.say("d", 3) == 2.0
    speaker.clock.move(4.0)
    assert speaker.say("e", 4) == 0.0
    speaker.clock.move(1.0)
    assert speaker.say("other", 0, index=1) == 0.0
    assert speaker.say("more", 5, index=1) == 2.0
    assert speaker.say("again", 0, index=1, attempt=2) == 0.0
    assert speaker.say("anew", 0, index=1, attempt=2, message_id="n") == 0.0
    await speaker.voice.close()


async def test_what_was_shown_is_kept_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """And never twice at the same time; what is being kept is waited for at the end."""
    speaker = Speaker(monkeypatch, delta_s=0.0, partial_s=10.0)
    speaker.clock.move(9.9)
    speaker.say("a")
    await asyncio.sleep(0)
    assert speaker.saved == []
    speaker.clock.move(0.1)
    speaker.say("b", 1)
    await asyncio.sleep(0)
    assert speaker.saved == [["ab"]]
    speaker.clock.move(9.9)
    speaker.say("c", 2)
    await asyncio.sleep(0)
    assert len(speaker.saved) == 1
    speaker.clock.move(0.1)
    speaker.hold = asyncio.Event()
    speaker.say("d", 3)
    speaker.say("X", 0, index=1)
    await asyncio.sleep(0)
    assert speaker.saved[1:] == [["abcd", "X"]]
    speaker.clock.move(10.0)
    speaker.say("e", 4)
    await asyncio.sleep(0)
    assert len(speaker.saved) == 2  # the last one is not done
    closing = asyncio.ensure_future(speaker.voice.close())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not closing.done()
    speaker.hold.set()
    await closing
    assert speaker.hub.live("p", "r") is None


async def test_a_message_that_ends_begins_the_time_of_keeping_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    speaker = Speaker(monkeypatch, delta_s=2.0, partial_s=10.0)
    speaker.say("a")
    speaker.say("b", 1)
    speaker.clock.now += 9.0
    speaker.voice.end()
    assert speaker.heard == ["a", "b"]
    assert speaker.hub.live("p", "r") is None
    speaker.clock.now += 9.0
    speaker.say("c", message_id="n")
    await asyncio.sleep(0)
    assert speaker.saved == []
    speaker.clock.now += 1.0
    speaker.voice.flush()
    speaker.say("d", 1, message_id="n")
    speaker.voice.flush()
    await asyncio.sleep(0)
    assert speaker.saved == [["cd"]]
    await speaker.voice.close()


async def test_without_readers_the_message_is_gathered_and_nothing_is_put(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    speaker = Speaker(monkeypatch, readers=0)
    speaker.say("a")
    speaker.voice.progress(ToolUpdate(call_id="c", text="half"))
    assert speaker.frames == []
    live = speaker.hub.live("p", "r")
    assert live is not None
    assert len(live.frames()) == 1
    await speaker.voice.close()
    assert speaker.hub._channels == {}
