"""What a run says while it works: text held back for a moment and sent together (durable.md §6).

Text goes out at once if the last piece is older than the window, otherwise when the window is over,
64 characters have come together, or another block or a fact follows. Nothing here is needed for
correctness: the finished message says everything again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from wenfang.core import MessageDelta, ToolUpdate
from wenfang.problems import Problem

from .codec import encode, wrap
from .facts import BlockDelta, ToolProgress
from .hub import Hub
from .records import Frame, Options


class Voice:
    """One run's ephemeral frames. `save` keeps what was shown, called at most once per `partial_s`
    and never twice at the same time; its failure is not the run's."""

    def __init__(
        self,
        hub: Hub,
        *,
        project_id: str,
        session_id: str,
        run_id: str,
        clock: Callable[[], float],
        options: Options,
        save: Callable[[bytes], Awaitable[None]],
    ) -> None:
        self._hub = hub
        self._project_id = project_id
        self._session_id = session_id
        self._run_id = run_id
        self._clock = clock
        self._options = options
        self._save = save
        self._loop = asyncio.get_running_loop()
        self._block: tuple[str, int, int] | None = None
        self._first: MessageDelta | None = None
        self._texts: list[str] = []
        self._chars = 0
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = self._free_at = float("-inf")
        self._saved_at = self._loop.time()
        self._saving: asyncio.Task[None] | None = None

    def delta(self, delta: MessageDelta) -> float:
        """Take a piece of the message. Returns how long to wait before the next one is read, in seconds:
        where pieces of a block come faster than they are sent on, they may as well add up in the
        model's connection and cost one turn of the loop together."""
        now = self._loop.time()
        block = (delta.message_id, delta.index, delta.attempt)
        is_next = block == self._block
        if not is_next:
            self.flush()
            self._block = block
        self._first = self._first or delta
        self._texts.append(delta.text)
        self._chars += len(delta.text)
        if self._chars >= self._options.delta_chars:
            self.flush()
        elif self._timer is None:
            due = self._sent_at + self._options.delta_s
            if now >= due:
                self.flush()
            else:
                self._timer = self._loop.call_at(due, self.flush)
        is_fast = is_next and now - self._free_at < self._options.delta_s
        pause_s = self._options.delta_s if is_fast else 0.0
        self._free_at = now + pause_s
        return pause_s

    def flush(self) -> None:
        """Send what is held back."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        first = self._first
        if first is None:
            return
        delta = BlockDelta(
            ts=self._clock(),
            step=first.step,
            message_id=first.message_id,
            attempt=first.attempt,
            kind=first.kind,
            index=first.index,
            off=first.off,
            text="".join(self._texts),
            name=first.name,
        )
        self._forget()
        self._sent_at = now = self._loop.time()
        self._hub.show(self._project_id, self._session_id, self._run_id, delta)
        if now - self._saved_at >= self._options.partial_s and self._saving is None:
            self._saved_at = now
            self._saving = self._loop.create_task(self._keep())

    def end(self) -> None:
        """The message, or this try for it, is over: its fact follows."""
        self.flush()
        self._hub.drop(self._project_id, self._run_id)
        self._saved_at = self._loop.time()

    def progress(self, update: ToolUpdate) -> None:
        """Tell what a tool does."""
        event = ToolProgress(call_id=update.call_id, text=update.text, fraction=update.fraction)
        data = wrap(
            encode(event),
            seq=0,
            ts=self._clock(),
            run_id=self._run_id,
            session_id=self._session_id,
        )
        self._hub.tell(self._project_id, Frame(None, data, self._run_id, event.type))

    async def close(self) -> None:
        """Send and keep the rest."""
        self.flush()
        if self._saving is not None:
            await self._saving
        self._hub.drop(self._project_id, self._run_id)

    def _forget(self) -> None:
        self._first = None
        self._texts = []
        self._chars = 0

    async def _keep(self) -> None:
        live = self._hub.live(self._project_id, self._run_id)
        if live is not None:
            with suppress(Problem):
                await self._save(b"\n".join(frame.data for frame in live.frames()))
        self._saving = None
